//! Whether the answers to the questions that apply are valid (spec 2.4, 2.6 and 7.2).

use chrono::{Datelike, NaiveDate};
use serde_json::Value;

use super::applicability::{Applicability, chosen};
use super::{RuleContext, form_names};
use crate::fake::instant;
use crate::fake::problem::Problem;
use crate::fake::record_fields::list;

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
        || several
            && chosen(value, question)
                .iter()
                .all(|part| choices.contains(part));
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
