//! Determines which questions apply to an input (forms, parents, triggers and rows; spec 2.6), and whether the answers to them
//! are valid (spec 2.4, 2.6 and 7.2).

use std::collections::{BTreeSet, HashMap};

use chrono::{Datelike, NaiveDate};
use serde_json::Value;

use super::{RuleContext, form_names};
use crate::fake::instant;
use crate::fake::problem::ErrorItem;
use crate::fake::records::list;

/// The questions that LPAG3 no longer has (spec 2.6, 9.4).
const NOT_OF_LPAG3: [&str; 3] = ["23", "24", "87"];

/// The tree with effective forms: a child without forms has those of its parent (assumed), and some questions never belong to
/// LPAG3.
pub(in crate::fake) fn with_forms(questions: &[Value], of_parent: &[Value]) -> Vec<Value> {
    let with_forms = questions.iter().map(|question| {
        let mut question = question.clone();
        let mut forms = list(&question["forms"]).to_vec();
        if forms.is_empty() {
            forms = of_parent.to_vec();
        }
        let id = question["id"].as_str().unwrap_or_default();
        forms.retain(|form| form != "LPAG3" || !NOT_OF_LPAG3.contains(&id));
        question["childQuestions"] = with_forms(children(&question), &forms).into();
        question["forms"] = forms.into();
        question
    });
    with_forms.collect()
}

/// The tree without the questions of other forms.
pub(in crate::fake) fn questions_of(questions: &[Value], forms: &Value) -> Vec<Value> {
    let of_forms = questions.iter().filter(|q| is_on_forms(q, forms));
    of_forms
        .map(|question| {
            let mut question = question.clone();
            question["childQuestions"] = questions_of(children(&question), forms).into();
            question
        })
        .collect()
}

fn children(question: &Value) -> &[Value] {
    list(&question["childQuestions"])
}

fn is_on_forms(question: &Value, forms: &Value) -> bool {
    let mut of_question = list(&question["forms"]).iter();
    of_question.any(|form| list(forms).contains(form))
}

/// Whether the child questions are answered per row.
fn is_repeatable(question: &Value) -> bool {
    question["type"] == "REPEATABLE"
}

/// A question and its ancestors, outermost first.
type QuestionPath<'a> = Vec<&'a Value>;

/// The questions of some forms, with their answers.
pub(super) struct Applicability<'a> {
    forms: &'a Value,
    /// Row and value of each answer, by question id.
    answers: HashMap<&'a str, Vec<(Option<i64>, &'a str)>>,
    /// Paths by question id, for triggers that refer to a question elsewhere in the tree.
    paths: HashMap<&'a str, Vec<QuestionPath<'a>>>,
}

impl<'a> Applicability<'a> {
    pub(super) fn new(input: &'a Value, questions: &'a [Value]) -> Self {
        let mut answers: HashMap<_, Vec<_>> = HashMap::new();
        for answer in list(&input["answers"]) {
            if let Some(id) = answer["questionId"].as_str() {
                let value = answer["value"].as_str().unwrap_or_default();
                let row = answer["index"].as_i64();
                answers.entry(id).or_default().push((row, value));
            }
        }
        let mut applicability = Self {
            forms: &input["forms"],
            answers,
            paths: HashMap::new(),
        };
        applicability.index_paths(questions, &[]);
        applicability
    }

    fn index_paths(&mut self, questions: &'a [Value], ancestors: &[&'a Value]) {
        for question in questions.iter().filter(|q| is_on_forms(q, self.forms)) {
            let path: QuestionPath<'_> = ancestors.iter().copied().chain([question]).collect();
            self.index_paths(children(question), &path);
            let id = question["id"].as_str().unwrap_or_default();
            self.paths.entry(id).or_default().push(path);
        }
    }

    /// Calls `visit` with each applicable question in tree order, with its row and its answers.
    pub(super) fn for_each(
        &self,
        questions: &'a [Value],
        visit: &mut impl FnMut(&'a Value, Option<i64>, &[&'a str]),
    ) {
        self.descend(questions, &[], None, visit);
    }

    fn descend(
        &self,
        questions: &'a [Value],
        ancestors: &[&'a Value],
        row: Option<i64>,
        visit: &mut impl FnMut(&'a Value, Option<i64>, &[&'a str]),
    ) {
        for question in questions {
            let path: QuestionPath<'_> = ancestors.iter().copied().chain([question]).collect();
            if !is_on_forms(question, self.forms) || !self.applies(&path, row, &mut Vec::new()) {
                continue;
            }
            visit(question, row, &self.values(&path, row));
            let rows = if is_repeatable(question) && repeatable(ancestors).is_none() {
                self.rows_below(question)
            } else {
                BTreeSet::from([row])
            };
            for row in rows {
                self.descend(children(question), &path, row, visit);
            }
        }
    }

    /// The rows of all answers to questions below this one. Answers without an index, as in the samples (spec 2.4), form a row
    /// too. assumed
    fn rows_below(&self, question: &Value) -> BTreeSet<Option<i64>> {
        let mut rows = BTreeSet::new();
        let on_forms = |q: &&Value| is_on_forms(q, self.forms);
        for child in children(question).iter().filter(on_forms) {
            let answers = child["id"].as_str().and_then(|id| self.answers.get(id));
            rows.extend(answers.into_iter().flatten().map(|(row, _)| *row));
            rows.extend(self.rows_below(child));
        }
        rows
    }

    /// Whether the last question of a path applies: all its ancestors apply, and its triggers are met. `evaluating` has the
    /// questions under evaluation, so that no question in a trigger cycle applies.
    fn applies(
        &self,
        path: &[&'a Value],
        row: Option<i64>,
        evaluating: &mut Vec<&'a Value>,
    ) -> bool {
        let Some((question, ancestors)) = path.split_last() else {
            return true;
        };
        if evaluating
            .iter()
            .any(|other| std::ptr::eq(*other, *question))
        {
            return false;
        }
        evaluating.push(question);
        let row = row.filter(|_| repeatable(ancestors).is_some());
        let triggers = list(&question["triggers"]);
        let applies = self.applies(ancestors, row, evaluating)
            && self.has_row(ancestors, row)
            && if triggers.is_empty() {
                ancestors.is_empty() || self.shows_children(ancestors, row)
            } else {
                // Several values for one question are alternatives; the triggers of all questions must be met. assumed
                triggers.iter().all(|trigger| {
                    let source = &trigger["questionId"];
                    let given = self.applicable_answers(source, path, row, evaluating);
                    triggers
                        .iter()
                        .filter(|other| other["questionId"] == *source)
                        .filter_map(|other| other["value"].as_str())
                        // An empty string does not count as an answer.
                        .any(|wanted| !wanted.is_empty() && given.contains(&wanted))
                })
            };
        evaluating.pop();
        applies
    }

    /// Whether the row exists below the last question of a path: a nested REPEATABLE only has rows with an answer.
    fn has_row(&self, path: &[&'a Value], row: Option<i64>) -> bool {
        match path.split_last() {
            Some((inner, ancestors)) if is_repeatable(inner) && repeatable(ancestors).is_some() => {
                self.rows_below(inner).contains(&row)
            }
            _ => true,
        }
    }

    /// Whether children without triggers apply: their parent (the last in its path) has an answer or cannot have one.
    fn shows_children(&self, parent: &[&'a Value], row: Option<i64>) -> bool {
        let values = self.values(parent, row);
        match parent.last().and_then(|parent| parent["type"].as_str()) {
            Some("DISPLAY" | "REPEATABLE") => true,
            // May be answered with an empty string (public).
            Some("MULTIPLE_CHOICE") => !values.is_empty(),
            _ => values.iter().any(|v| !v.is_empty()),
        }
    }

    /// The answers to a question for a trigger at a path: those in its row if there are any, otherwise those outside its rows.
    /// Answers to questions that do not apply are ignored. assumed
    fn applicable_answers(
        &self,
        id: &Value,
        trigger_path: &[&'a Value],
        row: Option<i64>,
        evaluating: &mut Vec<&'a Value>,
    ) -> Vec<&'a str> {
        let here = repeatable(&trigger_path[..trigger_path.len() - 1]);
        let mut in_row = Vec::new();
        let mut elsewhere = Vec::new();
        let paths = id.as_str().and_then(|id| self.paths.get(id));
        for path in paths.into_iter().flatten() {
            let is_here = |group: &Value| here.is_some_and(|here| std::ptr::eq(here, group));
            let (found, rows) = match repeatable(&path[..path.len() - 1]) {
                Some(group) if is_here(group) => (&mut in_row, BTreeSet::from([row])),
                Some(group) => (&mut elsewhere, self.rows_below(group)),
                None => (&mut elsewhere, BTreeSet::from([None])),
            };
            let is_choices = path.last().is_some_and(|q| q["type"] == "MULTIPLE_CHOICE");
            for row in rows {
                if self.applies(path, row, evaluating) {
                    let values = self.values(path, row).into_iter();
                    for value in values {
                        found.push(value);
                        if is_choices && let Some(question) = path.last() {
                            found.extend(chosen(value, question));
                        }
                    }
                }
            }
        }
        if in_row.is_empty() { elsewhere } else { in_row }
    }

    /// The answers to the last question of a path: in a row, or with any index for questions outside rows.
    fn values(&self, path: &[&'a Value], row: Option<i64>) -> Vec<&'a str> {
        let Some((question, ancestors)) = path.split_last() else {
            return Vec::new();
        };
        let any_row = repeatable(ancestors).is_none();
        let answers = question["id"].as_str().and_then(|id| self.answers.get(id));
        let answers = answers.into_iter().flatten();
        let answers = answers.filter(|(answered, _)| any_row || *answered == row);
        answers.map(|(_, value)| *value).collect()
    }
}

/// The outermost REPEATABLE question among these. The questions below belong to its rows.
fn repeatable<'a>(ancestors: &[&'a Value]) -> Option<&'a Value> {
    ancestors.iter().copied().find(|q| is_repeatable(q))
}

/// Splits a comma-separated list into choices: joins as many parts as form an acceptable answer, or takes one. assumed
pub(super) fn chosen<'a>(answer: &'a str, question: &Value) -> Vec<&'a str> {
    let acceptable = list(&question["acceptableAnswers"]).iter();
    let acceptable: Vec<&str> = acceptable.filter_map(|it| it["value"].as_str()).collect();
    let commas = acceptable.iter().map(|value| value.matches(',').count());
    let most = 1 + commas.max().unwrap_or_default();
    let mut chosen = Vec::new();
    let mut rest = Some(answer);
    while let Some(list) = rest {
        let ends = list.match_indices(',').map(|(at, _)| at);
        let ends: Vec<usize> = ends.chain([list.len()]).take(most).collect();
        let part = |end: usize| list.get(..end).unwrap_or(list).trim();
        let fits = |end: &&usize| acceptable.contains(&part(**end));
        let end = ends.iter().rev().find(fits).or(ends.first());
        // OK because a list that does not end at a comma ends at its length.
        let end = end.copied().unwrap_or(list.len());
        chosen.push(part(end));
        rest = list.get(end + 1..);
    }
    chosen
}

/// The problems of all applicable questions, in tree and row order.
pub(super) fn problems(input: &Value, context: &RuleContext<'_>) -> Vec<ErrorItem> {
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

/// Rangeland goats require the answer Yes to question 185 (spec 2.6), whether or not the list has it. assumed: a draft without
/// an answer is saved.
fn question_185(input: &Value) -> Option<ErrorItem> {
    let answers = list(&input["answers"]).iter();
    let given = answers.filter(|answer| answer["questionId"] == "185");
    let values: Vec<&str> = given
        .filter_map(|answer| answer["value"].as_str())
        .filter(|value| !value.is_empty())
        .collect();
    let is_draft = input["status"].is_null() || input["status"] == "DRAFT";
    let why = match values.as_slice() {
        [] if is_draft => return Some(ErrorItem::warning("answers.185", "Required")),
        [] => "Question 185 must be answered Yes.",
        values if values.iter().all(|value| *value == "Yes") => return None,
        _ => {
            "The goats are not eligible to be moved without devices. The accreditation is at risk."
        }
    };
    Some(ErrorItem::bad_request("answers.185", why))
}

fn answer_problems(
    question: &Value,
    row: Option<i64>,
    given: &[&str],
    today: NaiveDate,
) -> Vec<ErrorItem> {
    let kind = question["type"].as_str().unwrap_or_default();
    let id = question["id"].as_str().unwrap_or_default();
    // These types have no answer of their own (spec 2.6, and public). Validators apply to all others, including unknown types.
    if id.is_empty() || matches!(kind, "REPEATABLE" | "DISPLAY") {
        return Vec::new();
    }
    let code = match row {
        Some(row) => format!("answers.{id}.{row}"),
        None => format!("answers.{id}"),
    };
    let validators = list(&question["validators"]);
    // An empty string does not count as an answer.
    let given: Vec<&str> = given.iter().copied().filter(|v| !v.is_empty()).collect();
    let mut problems = Vec::new();
    let required = validators.iter().any(|rule| rule["type"] == "required");
    if given.is_empty() && required && question["readOnly"] != true {
        problems.push(ErrorItem::warning(&code, "Required"));
    }
    for value in given {
        problems.extend(outside_choices(question, &code, value));
        if validators.iter().any(|rule| breaks(rule, value, today)) {
            let message = format!("Question {id}: {value} is not valid");
            problems.push(ErrorItem::warning(&code, message));
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

fn outside_choices(question: &Value, code: &str, value: &str) -> Option<ErrorItem> {
    let choices: Vec<&str> = list(&question["acceptableAnswers"])
        .iter()
        .filter_map(|choice| choice["value"].as_str())
        .collect();
    let kind = question["type"].as_str().unwrap_or_default();
    // In the specification, only choices have acceptable answers (2.4, 2.6), and an unknown type may be a choice.
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
        ErrorItem::field(code, message)
    })
}

/// The first day of a date (optionally with a time), a month or a year; all three have been seen as answers (public).
fn first_day(value: &str) -> Option<NaiveDate> {
    let day = match value.len() {
        4 => format!("{value}-01-01"),
        7 => format!("{value}-01"),
        _ => value.to_owned(),
    };
    instant::parse_day(&day).or_else(|| instant::day_of_date_time(value))
}
