//! Advice: what the server is not known to report, and what a person would be asked about.
//!
//! None of it is a finding, and none of it keeps a consignment from being created or submitted.

use std::sync::Arc;

use super::answers::{self, Instance};
use super::applicability::Applicability;
use super::format::Format;
use super::question_tree::ItemKind;
use super::{Expected, Finding, QuestionRef, Rule, Severity};
use crate::model::{AnswerInput, ConsignmentInput, Day, Pic, PicAdvice, QuestionId};

/// How far from today a movement may be. assumed
const MOST_DAYS: i64 = 183;

/// Advice about the fields, in the order of the input.
pub(super) fn of_fields(input: &ConsignmentInput, today: Day, advice: &mut Vec<Arc<Finding>>) {
    let mut add = |rule, code, value: &str, message: String| {
        advice.push(Finding::field(rule, code, message).of_value(value).advice());
    };
    let pic = |text: &String| Pic::parse(text).ok().filter(|_| Pic::has_format(text));
    let origin = input.origin.pic.value().and_then(pic);
    for (code, party) in [
        ("origin.pic", Some(&input.origin)),
        ("destination.pic", Some(&input.destination)),
        ("owner.pic", input.owner.value()),
        ("consignee.pic", input.consignee.value()),
    ] {
        let Some(pic) = party.and_then(|party| party.pic.value()).and_then(pic) else {
            continue;
        };
        if let Some(why) = pic.advice() {
            let rule = match why {
                PicAdvice::UnlistedStart => Rule::PicState,
                _ => Rule::PicForm,
            };
            add(rule, code, pic.as_str(), why.to_string());
        }
        if code == "destination.pic" && Some(pic) == origin {
            let message = "The destination is the origin";
            add(Rule::PicsDiffer, code, pic.as_str(), message.to_owned());
        }
    }
    let declaration = input.declaration.value();
    let declared = declaration.and_then(|declaration| declaration.date.value());
    for (code, text) in [
        ("movementDate", input.movement_date.value()),
        ("declaration.date", declared),
    ] {
        let day = text.and_then(|text| Day::parse(text.split('T').next()?).ok());
        let is_near = |day| {
            today.plus_days(-MOST_DAYS) <= Some(day)
                && today.plus_days(MOST_DAYS).is_none_or(|last| day <= last)
        };
        if let Some(day) = day.filter(|day| !is_near(*day)) {
            let message = "The day is more than half a year from today";
            add(Rule::DayNear, code, &day.to_string(), message.to_owned());
        }
    }
    if declaration.and_then(|declaration| declaration.accept.value()) != Some(&true) {
        let (rule, message) = (Rule::DeclarationAccepted, "The declaration is not accepted");
        advice.push(Finding::field(rule, "declaration.accept", message).advice());
    }
}

/// Advice about the answers, in the order of the input, and about animals that are missing.
pub(super) fn of_answers(questions: &Applicability<'_>, advice: &mut Vec<Arc<Finding>>) {
    if questions.is_too_large {
        return;
    }
    let answers = questions.input.iter().enumerate();
    let found = answers.filter_map(|(position, answer)| of_answer(questions, position, answer));
    advice.extend(found.map(Arc::new));
    let mut applied = questions.applied.iter().copied();
    let animals = applied.find(|at| {
        let section = &questions.tree[at.question];
        section.is_outermost_section() && section.triggers.is_empty()
    });
    if let Some(section) = animals.filter(|section| !questions.has_rows(*section)) {
        let message = "No row is answered";
        let finding = about(questions, section, Rule::RowsPresent, message);
        advice.push(finding.advice());
    }
}

fn of_answer(
    questions: &Applicability<'_>,
    position: usize,
    answer: &AnswerInput,
) -> Option<Finding> {
    let tree = questions.tree;
    let id = answer.question_id.value();
    let row = answers::row(answer);
    let mut asked = tree.with(id).iter().map(|&at| Instance::new(at, row));
    let first = asked.clone().next();
    let (rule, message, at) = match (first, asked.find(|at| questions.applies(*at))) {
        (None, _) => {
            let question = QuestionRef::new(id.map_or("", QuestionId::as_str), row);
            let message = "No question has this id".to_owned();
            let rule = Rule::QuestionKnown;
            return Some(Finding::answer(Severity::Advice, rule, question, message));
        }
        (Some(first), None) => (Rule::AnswerApplies, "The question does not apply", first),
        (_, Some(at)) => {
            let (kind, years) = (tree[at.question].kind, tree[at.question].years);
            let before = questions.given(at).iter().map(|given| given.position);
            if before.min() != Some(position) && kind != ItemKind::MultipleChoice {
                (Rule::AnsweredOnce, "The question was answered before", at)
            } else {
                let text = answers::text(answer);
                // The bounds of years judge a year of birth, which is a number and was seen as a date.
                let is_year = kind == ItemKind::Number && !years.is_none();
                let is_judged = text.is_empty() || is_year;
                let expected = expected(kind, text).filter(|_| !is_judged)?;
                let message = "The answer is not written as the type of the question says";
                let finding = about(questions, at, Rule::AnswerForm, message);
                return Some(finding.of_value(text).expecting(expected));
            }
        }
    };
    Some(about(questions, at, rule, message))
}

/// How a text would be written that is no answer of the kind; `None` for one that is.
fn expected(kind: ItemKind, text: &str) -> Option<Expected> {
    let like = |is_right: bool, example: &str| {
        (!is_right).then(|| Expected::Example {
            value: example.to_owned(),
        })
    };
    match kind {
        ItemKind::Number => like(is_number(text), "24"),
        ItemKind::Date if !Format::Date.accepts(text) => Format::Date.expected(text),
        ItemKind::Time if !Format::Time.accepts(text) => Format::Time.expected(text),
        ItemKind::Month => like(Format::Date.accepts(&format!("{text}-01")), "2026-11"),
        _ => None,
    }
}

/// Digits, with a point between them or not: nothing that a declaration counts is below zero.
fn is_number(text: &str) -> bool {
    let (whole, part) = text.split_once('.').unwrap_or((text, "0"));
    let is_digits = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    is_digits(whole) && is_digits(part)
}

/// Advice about a question in its row.
fn about(questions: &Applicability<'_>, at: Instance, rule: Rule, message: &str) -> Finding {
    let text = questions.tree[at.question].for_finding(None);
    Finding {
        row_number: questions.row_number(at),
        question_text: Some(text.into()),
        ..Finding::answer(
            Severity::Advice,
            rule,
            questions.reference(at),
            message.to_owned(),
        )
    }
}
