//! Answers: sections 2.4, 2.6 and 7.2, by a plain recursive walk down the questions.

use std::collections::{BTreeSet, HashMap};

use chrono::{Datelike, NaiveDate};
use serde_json::Value;

use super::Setting;
use super::tree::{children, on_forms};
use crate::fake::instant;
use crate::fake::problem::Problem;

/// What the walk carries along.
struct Walk<'a> {
    forms: &'a Value,
    today: NaiveDate,
    answers: Answers<'a>,
    /// Where a question stands, for triggers that point elsewhere.
    parents: HashMap<&'a str, Vec<Place<'a>>>,
    problems: Vec<Problem>,
}

/// A question of the forms and the questions above it, outermost first.
type Place<'a> = Vec<&'a Value>;
type Answers<'a> = HashMap<(&'a str, Option<i64>), Vec<&'a str>>;

pub(super) fn problems(input: &Value, setting: &Setting<'_>) -> Vec<Problem> {
    let mut walk = Walk {
        forms: &input["forms"],
        today: setting.today,
        answers: given(input),
        parents: HashMap::new(),
        problems: Vec::new(),
    };
    walk.note_places(setting.questions, &[]);
    for question in setting.questions {
        walk.visit(question, &[], None);
    }
    walk.problems
}

fn given(input: &Value) -> Answers<'_> {
    let mut answers = Answers::new();
    for answer in input["answers"].as_array().into_iter().flatten() {
        if let Some(id) = answer["questionId"].as_str() {
            let value = answer["value"].as_str().unwrap_or_default();
            let row = answer["index"].as_i64();
            answers.entry((id, row)).or_default().push(value);
        }
    }
    answers
}

impl<'a> Walk<'a> {
    fn note_places(&mut self, questions: &'a [Value], above: &[&'a Value]) {
        for question in questions.iter().filter(|q| on_forms(q, self.forms)) {
            let place: Vec<_> = above.iter().copied().chain([question]).collect();
            self.note_places(children(question), &place);
            let id = question["id"].as_str().unwrap_or_default();
            self.parents.entry(id).or_default().push(place);
        }
    }

    /// A question whose parents apply, inside a row or outside of all.
    fn visit(&mut self, question: &'a Value, above: &[&'a Value], row: Option<i64>) {
        if !on_forms(question, self.forms) {
            return;
        }
        let place: Vec<_> = above.iter().copied().chain([question]).collect();
        if !self.applies(&place, row, &mut Vec::new()) {
            return;
        }
        self.judge(question, row);
        let rows = if question["type"] == "REPEATABLE" && row.is_none() {
            let mut rows = BTreeSet::new();
            self.rows_under(question, &mut rows);
            rows.into_iter().map(Some).collect()
        } else {
            vec![row]
        };
        for row in rows {
            for child in children(question) {
                self.visit(child, &place, row);
            }
        }
    }

    /// The rows that some answer below this question names.
    fn rows_under(&self, question: &Value, rows: &mut BTreeSet<i64>) {
        for child in children(question)
            .iter()
            .filter(|q| on_forms(q, self.forms))
        {
            let id = child["id"].as_str();
            let named = self
                .answers
                .keys()
                .filter(|(answered, _)| Some(*answered) == id);
            rows.extend(named.filter_map(|(_, row)| *row));
            self.rows_under(child, rows);
        }
    }

    /// Whether the last question of a place applies: all above it do, and its triggers are met. `asking` holds the
    /// questions that wait for this one: a ring of triggers shows none of its members.
    fn applies(&self, place: &[&'a Value], row: Option<i64>, asking: &mut Vec<&'a Value>) -> bool {
        let Some((question, above)) = place.split_last() else {
            return true;
        };
        if asking
            .iter()
            .any(|waiting| std::ptr::eq(*waiting, *question))
        {
            return false;
        }
        asking.push(question);
        let inside = above.iter().any(|q| q["type"] == "REPEATABLE");
        let row = row.filter(|_| inside);
        let yes = self.applies(above, row, asking) && {
            let triggers = question["triggers"]
                .as_array()
                .map_or(&[][..], Vec::as_slice);
            if triggers.is_empty() {
                above.last().is_none_or(|parent| self.opens(parent, row))
            } else {
                // Several values for one question are alternatives; several questions must all agree. assumed
                triggers.iter().all(|trigger| {
                    let source = &trigger["questionId"];
                    let same = triggers
                        .iter()
                        .filter(|other| other["questionId"] == *source);
                    self.met(source, same, row, asking)
                })
            }
        };
        asking.pop();
        yes
    }

    /// Whether children without triggers show: the parent has an answer, or cannot have one of its own.
    fn opens(&self, parent: &'a Value, row: Option<i64>) -> bool {
        match parent["type"].as_str() {
            Some("DISPLAY" | "REPEATABLE") => true,
            // Answered with an empty text (public).
            Some("MULTIPLE_CHOICE") => !self.values(parent, row).is_empty(),
            _ => self.values(parent, row).iter().any(|v| !v.is_empty()),
        }
    }

    fn met<'t>(
        &self,
        source: &Value,
        mut wanted: impl Iterator<Item = &'t Value>,
        row: Option<i64>,
        asking: &mut Vec<&'a Value>,
    ) -> bool {
        let places = source.as_str().and_then(|id| self.parents.get(id));
        let mut found = Vec::new();
        for place in places.into_iter().flatten() {
            let inside = place
                .iter()
                .rev()
                .skip(1)
                .any(|q| q["type"] == "REPEATABLE");
            let row = row.filter(|_| inside);
            // An answer to a question that does not apply is no answer.
            if self.applies(place, row, asking)
                && let Some(question) = place.last()
            {
                found.extend(self.values(question, row).iter().copied());
            }
        }
        wanted.any(|trigger| {
            let value = trigger["value"].as_str().unwrap_or_default();
            found
                .iter()
                .any(|given| parts(given).any(|part| part == value))
        })
    }

    fn values(&self, question: &'a Value, row: Option<i64>) -> &[&'a str] {
        let id = question["id"].as_str().unwrap_or_default();
        self.answers.get(&(id, row)).map_or(&[], Vec::as_slice)
    }

    fn judge(&mut self, question: &'a Value, row: Option<i64>) {
        let kind = question["type"].as_str().unwrap_or_default();
        if kind == "REPEATABLE" || question["readOnly"] == true {
            return;
        }
        let id = question["id"].as_str().unwrap_or_default();
        let code = match row {
            Some(row) => format!("answers.{id}.{row}"),
            None => format!("answers.{id}"),
        };
        let given: Vec<&str> = self
            .values(question, row)
            .iter()
            .copied()
            .filter(|v| !v.is_empty())
            .collect();
        let validators = question["validators"]
            .as_array()
            .map_or(&[][..], Vec::as_slice);
        if given.is_empty() && validators.iter().any(|v| v["type"] == "required") {
            self.problems.push(Problem::warning(&code, "Required"));
        }
        for value in given {
            self.problems
                .extend(outside_choices(question, &code, value));
            if validators.iter().any(|rule| self.breaks(rule, value)) {
                let message = format!("Question {id}: {value} is not valid");
                self.problems.push(Problem::warning(&code, message));
            }
            if id == "185" && value == "No" {
                self.problems.push(Problem::bad_request(
                    &["answers", "185"],
                    "The goats are not eligible to be moved without devices. The accreditation is at risk.",
                ));
            }
        }
    }

    fn breaks(&self, rule: &Value, value: &str) -> bool {
        let parameter = rule["parameter"].as_str().unwrap_or_default();
        match (rule["type"].as_str(), parameter.parse::<i32>()) {
            (Some("minYear"), Ok(year)) => first_day(value).is_none_or(|day| day.year() < year),
            (Some("maxYear"), Ok(year)) => first_day(value).is_none_or(|day| day.year() > year),
            (Some("maxYear"), Err(_)) if parameter == "now" => {
                first_day(value).is_none_or(|day| day > self.today)
            }
            // Validators that the specification does not name are not judged.
            _ => false,
        }
    }
}

fn outside_choices(question: &Value, code: &str, value: &str) -> Option<Problem> {
    let choices: Vec<&str> = question["acceptableAnswers"]
        .as_array()?
        .iter()
        .filter_map(|choice| choice["value"].as_str())
        .collect();
    let several = question["type"] == "MULTIPLE_CHOICE";
    let fits = choices.contains(&value)
        || several && value.split(',').all(|part| choices.contains(&part.trim()));
    (!choices.is_empty() && !fits).then(|| {
        let choices = choices.join(", ");
        let message = format!("Answer: {value} is not valid. Acceptable answers are: {choices}");
        Problem::field(code, message)
    })
}

/// An answer as a whole, and what a list of several choices holds.
fn parts(answer: &str) -> impl Iterator<Item = &str> {
    std::iter::once(answer).chain(answer.split(',').map(str::trim))
}

/// The first day of a day, a month or a year; all three were seen as answers (public).
fn first_day(value: &str) -> Option<NaiveDate> {
    let day = match value.len() {
        4 => format!("{value}-01-01"),
        7 => format!("{value}-01"),
        _ => value.to_owned(),
    };
    instant::parse_day(&day)
}
