//! Whether the answers to the questions that apply are valid (spec 2.4, 2.6 and 7.2).

use chrono::{Datelike, NaiveDate};
use serde_json::Value;

use super::applicability::{Applicability, list};
use super::{RuleContext, form_names};
use crate::fake::instant;
use crate::fake::problem::Problem;

/// The problems of all questions that apply, in the order of the tree and of the rows.
pub(super) fn problems(input: &Value, context: &RuleContext<'_>) -> Vec<Problem> {
    let applicability = Applicability::new(input, context.questions);
    let rangeland_goats = form_names(input).contains(&"LPAHRG0");
    let mut problems: Vec<_> = question_185(input)
        .filter(|_| rangeland_goats)
        .into_iter()
        .collect();
    applicability.for_each(context.questions, &mut |question, row, given| {
        let mut found = answer_problems(question, row, given, context.today);
        if rangeland_goats && row.is_none() && question["id"] == "185" {
            // `question_185` reports it.
            found.retain(|problem| !problem.is_required());
        }
        problems.extend(found);
    });
    problems
}

/// Rangeland goats need the answer Yes to question 185 (spec 2.6), whether or not the list has it. assumed: a draft without an
/// answer is saved.
fn question_185(input: &Value) -> Option<Problem> {
    let answers = list(&input["answers"]).iter();
    let given = answers.filter(|answer| answer["questionId"] == "185");
    let values: Vec<&str> = given
        .filter_map(|answer| answer["value"].as_str())
        .filter(|value| !value.is_empty())
        .collect();
    let is_draft = input["status"].is_null() || input["status"] == "DRAFT";
    let why = match values.as_slice() {
        [] if is_draft => return Some(Problem::warning("answers.185", "Required")),
        [] => "Question 185 must be answered Yes.",
        values if values.iter().all(|value| *value == "Yes") => return None,
        _ => {
            "The goats are not eligible to be moved without devices. The accreditation is at risk."
        }
    };
    Some(Problem::bad_request("answers.185", why))
}

fn answer_problems(
    question: &Value,
    row: Option<i64>,
    given: &[&str],
    today: NaiveDate,
) -> Vec<Problem> {
    let kind = question["type"].as_str().unwrap_or_default();
    let id = question["id"].as_str().unwrap_or_default();
    // These types have no answer of their own (spec 2.6, and public). The validators of all others count, also of unknown types.
    if id.is_empty() || matches!(kind, "REPEATABLE" | "DISPLAY") {
        return Vec::new();
    }
    let code = match row {
        Some(row) => format!("answers.{id}.{row}"),
        None => format!("answers.{id}"),
    };
    let validators = list(&question["validators"]);
    // An empty text is no answer.
    let given: Vec<&str> = given.iter().copied().filter(|v| !v.is_empty()).collect();
    let mut problems = Vec::new();
    let required = validators.iter().any(|rule| rule["type"] == "required");
    if given.is_empty() && required && question["readOnly"] != true {
        problems.push(Problem::warning(&code, "Required"));
    }
    for value in given {
        problems.extend(outside_choices(question, &code, value));
        if validators.iter().any(|rule| breaks(rule, value, today)) {
            let message = format!("Question {id}: {value} is not valid");
            problems.push(Problem::warning(&code, message));
        }
    }
    problems
}

fn breaks(rule: &Value, value: &str, today: NaiveDate) -> bool {
    let parameter = rule["parameter"].as_str().unwrap_or_default().trim();
    let breaks = |beyond: &dyn Fn(NaiveDate) -> bool| first_day(value).is_none_or(beyond);
    match (rule["type"].as_str(), parameter.parse::<i32>()) {
        (Some("minYear"), Ok(year)) => breaks(&|day| day.year() < year),
        (Some("maxYear"), Ok(year)) => breaks(&|day| day.year() > year),
        (Some("maxYear"), Err(_)) if parameter.eq_ignore_ascii_case("now") => {
            breaks(&|day| day > today)
        }
        // The specification names no other validators.
        _ => false,
    }
}

fn outside_choices(question: &Value, code: &str, value: &str) -> Option<Problem> {
    let choices: Vec<&str> = list(&question["acceptableAnswers"])
        .iter()
        .filter_map(|choice| choice["value"].as_str())
        .collect();
    let kind = question["type"].as_str().unwrap_or_default();
    // The specification has acceptable answers for choices (2.4, 2.6), and an unknown type may be one.
    if let "STRING" | "NUMBER" | "BOOLEAN" | "DATE" | "DATE_TIME" | "DATE_MONTH" | "IMAGE" = kind {
        return None;
    }
    let several = kind != "SINGLE_CHOICE";
    let fits = choices.contains(&value)
        || several && value.split(',').all(|part| choices.contains(&part.trim()));
    (!choices.is_empty() && !fits).then(|| {
        let choices = choices.join(", ");
        let message = format!("Answer: {value} is not valid. Acceptable answers are: {choices}");
        Problem::field(code, message)
    })
}

/// The first day of a day (perhaps with a time), a month or a year; all three were seen as answers (public).
fn first_day(value: &str) -> Option<NaiveDate> {
    let day = match value.len() {
        4 => format!("{value}-01-01"),
        7 => format!("{value}-01"),
        _ => value.to_owned(),
    };
    instant::parse_day(&day).or_else(|| instant::day_of_date_time(value))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn today() -> NaiveDate {
        instant::parse_day("2026-11-20").unwrap()
    }

    #[test]
    fn years_are_read_off_days_months_and_years() {
        let rule = |kind: &str, parameter: &str| json!({"type": kind, "parameter": parameter});
        for (kind, parameter, good, bad) in [
            (
                "minYear",
                "2000",
                ["2000-01-01", "2000-01", "2000"],
                ["1999-12-31", "1999-12", "1999"],
            ),
            (
                "maxYear",
                "2040",
                ["2040-12-31", "2040-12", "2040"],
                ["2041-01-01", "2041-01", "2041"],
            ),
            (
                "maxYear",
                "now",
                ["2026-11-20", "2026-11", "2026"],
                ["2026-11-21", "2026-12", "2027"],
            ),
            (
                "minYear",
                "2000",
                ["2024-02-29"; 3],
                ["2026-02-30", "soon", "12/2024"],
            ),
            (
                "minYear",
                " 2000 ",
                [
                    "2020-05-06T07:08",
                    "2020-05-06T07:08:09",
                    "2020-05-06T07:08:09.5+10:00",
                ],
                ["2020-05-06T07:08:60", "2020-05-06T07:08.5", "2020-05-06T"],
            ),
            (
                "maxYear",
                "2040",
                ["0001", "0001-01", "2040-12-31T23:59:59Z"],
                ["0000", "0000-01", "0000-01-01"],
            ),
            (
                "maxYear",
                "Now",
                ["2026-11-20T23:59:59"; 3],
                ["2026-11-21T00:00"; 3],
            ),
            ("maxLength", "1", ["unnamed kinds pass"; 3], [""; 3]),
        ] {
            let rule = rule(kind, parameter);
            for value in good {
                assert!(!breaks(&rule, value, today()), "{kind} {parameter} {value}");
            }
            for value in bad.into_iter().filter(|value| !value.is_empty()) {
                assert!(breaks(&rule, value, today()), "{kind} {parameter} {value}");
            }
        }
    }

    #[test]
    fn several_choices_may_stand_in_one_answer_where_the_type_allows() {
        let question = |kind: &str| json!({"type": kind, "acceptableAnswers": [{"value": "A"}, {"value": "B"}, {"value": "A, b"}]});
        assert_eq!(
            outside_choices(&question("MULTIPLE_CHOICE"), "answers.1", "A, B"),
            None
        );
        assert_eq!(
            outside_choices(&question("SINGLE_CHOICE"), "answers.1", "A, b"),
            None
        );
        assert!(outside_choices(&question("SINGLE_CHOICE"), "answers.1", "A, B").is_some());
        assert!(outside_choices(&question("MULTIPLE_CHOICE"), "answers.1", "A, C").is_some());
    }

    #[test]
    fn validators_count_whatever_the_type_except_for_headings() {
        let question = |kind: &str| {
            json!({"id": "1", "type": kind, "acceptableAnswers": [{"value": "2001"}, {"value": "2002"}],
                "validators": [{"type": "required"}, {"type": "minYear", "parameter": "2000"}]})
        };
        let count = |kind: &str, given: &[&str]| {
            answer_problems(&question(kind), None, given, today()).len()
        };
        for (given, problems) in [
            (&[][..], 1),
            (&["2001"], 0),
            (&["1999"], 2),
            (&["2003"], 1),
            (&["2001, 2002"], 1),
        ] {
            assert_eq!(count("COLOUR", given), problems, "{given:?}");
            assert_eq!(count("DISPLAY", given), 0, "{given:?}");
            assert_eq!(count("REPEATABLE", given), 0, "{given:?}");
        }
    }

    #[test]
    fn a_question_without_an_id_cannot_be_answered() {
        let question = json!({"type": "STRING", "validators": [{"type": "required"}]});
        assert!(answer_problems(&question, None, &[], today()).is_empty());
    }

    #[test]
    fn read_only_questions_are_never_required() {
        let question = json!({"id": "1", "type": "STRING", "readOnly": true, "validators": [{"type": "required", "parameter": ""}]});
        assert!(answer_problems(&question, None, &[], today()).is_empty());
        let question = json!({"id": "1", "type": "STRING", "validators": [{"type": "required", "parameter": ""}]});
        assert_eq!(
            answer_problems(&question, None, &[""], today()),
            [Problem::warning("answers.1", "Required")]
        );
    }
}
