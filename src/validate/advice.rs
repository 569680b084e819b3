//! Advice: values that the server is not known to report, but that a person would query.
//!
//! Advice never blocks creating or submitting a consignment.

use std::collections::HashSet;
use std::sync::Arc;

use super::format::Format;
use super::question_tree::ItemKind;
use super::walk::{Instance, Walk};
use super::{Expected, Finding, QuestionRef, Rule, Severity, answers};
use crate::model::{AnswerInput, ConsignmentInput, Day, Pic, PicAdvice, QuestionId};

/// The most days between today and a movement or declaration. assumed
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
        let rule = Rule::DeclarationAccepted;
        let message = "The declaration is not accepted";
        advice.push(Finding::field(rule, "declaration.accept", message).advice());
    }
}

/// Advice about the answers that are sent, in input order, and about missing animals.
pub(super) fn of_answers(walk: &Walk<'_>, advice: &mut Vec<Arc<Finding>>) {
    if walk.found.is_too_large {
        return;
    }
    let mut answered = HashSet::new();
    let answers = walk.sent_answers();
    let found = answers.filter_map(|answer| of_answer(walk, answer, &mut answered));
    advice.extend(found.map(Arc::new));
    let mut applied = walk.found.instances.iter().copied();
    let animals = applied.find(|at| {
        let section = &walk.tree[at.question];
        section.is_outermost_section() && section.triggers.is_empty()
    });
    let is_sent = |row: &Instance| !walk.is_empty_row(*row);
    if let Some(section) = animals.filter(|at| !walk.rows(at.question).iter().any(is_sent)) {
        let finding = about(walk, section, Rule::RowsPresent, "No row is answered");
        advice.push(finding.advice());
    }
}

fn of_answer(
    walk: &Walk<'_>,
    answer: &AnswerInput,
    answered: &mut HashSet<Instance>,
) -> Option<Finding> {
    let tree = walk.tree;
    let id = answer.question_id.value();
    let row = answers::row(answer);
    let mut asked = tree.with(id).iter().map(|&at| Instance::new(at, row));
    let Some(first) = asked.clone().next() else {
        let question = QuestionRef::new(id.map_or("", QuestionId::as_str), row);
        let message = "No question has this id".to_owned();
        let rule = Rule::QuestionKnown;
        return Some(Finding::answer(Severity::Advice, rule, question, message));
    };
    let Some(at) = asked.find(|at| walk.applies(*at)) else {
        let message = "The question does not apply";
        return Some(about(walk, first, Rule::AnswerApplies, message));
    };
    let question = &tree[at.question];
    let is_outside = question.rows_of.is_none();
    let instance = Instance::new(at.question, row.filter(|_| !is_outside));
    if !answered.insert(instance) && question.kind != ItemKind::MultipleChoice {
        let message = "The question was answered before";
        return Some(about(walk, at, Rule::AnsweredOnce, message));
    }
    let text = answers::text(answer);
    // A number with year bounds is a year of birth. `Rule::Year` checks it, and full dates have been seen.
    let is_year = question.kind == ItemKind::Number && !question.years.is_none();
    if text.is_empty() || is_year {
        return None;
    }
    if let Some(expected) = expected(question.kind, text) {
        let message = "The answer is not written as the type of the question says";
        let finding = about(walk, at, Rule::AnswerForm, message);
        return Some(finding.of_value(text).expecting(expected));
    }
    let message = odd_count(walk, at, text)?;
    Some(about(walk, at, Rule::HeadCount, &message).of_value(text))
}

/// The questions for the head count of a row, and for the animals in it with NLIS ear tags and with rumen devices. From public
/// lists.
const HEAD: &str = "3";
const HEAD_WITH: [&str; 2] = ["15", "16"];

/// The most animals in a row. assumed
const MOST_HEAD: u64 = 9_999;

/// What looks odd about a number of animals, if anything.
fn odd_count(walk: &Walk<'_>, at: Instance, text: &str) -> Option<String> {
    let question = &walk.tree[at.question];
    let id = question.id.as_str();
    if question.kind != ItemKind::Number || id != HEAD && !HEAD_WITH.contains(&id) {
        return None;
    }
    // A number that does not fit into 64 bits is above the limit as well.
    let count = text.parse().unwrap_or(u64::MAX);
    if text.contains('.') {
        return Some("animals are counted in whole numbers".to_owned());
    }
    if count > MOST_HEAD {
        return Some(format!("more than {MOST_HEAD} head in one row"));
    }
    if id == HEAD {
        return (count == 0).then(|| "the row has no animals".to_owned());
    }
    let head = walk.tree.with(Some(&HEAD.into())).iter();
    let mut head = head.flat_map(|question| walk.texts(at.with(*question)));
    let head: u64 = head.next()?.parse().ok()?;
    (count > head).then(|| format!("more than the {head} head of the row"))
}

/// The correct notation for an answer of this kind; `None` if the text already has it.
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

/// Digits with an optional decimal point; negative numbers make no sense in a declaration.
fn is_number(text: &str) -> bool {
    let (whole, part) = text.split_once('.').unwrap_or((text, "0"));
    let is_digits = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    is_digits(whole) && is_digits(part)
}

fn about(walk: &Walk<'_>, at: Instance, rule: Rule, message: &str) -> Finding {
    walk.finding(at, Severity::Advice, rule, message.to_owned(), None)
}
