//! Remarks on the fields of a form: blockers, advice, and findings of the service.

use std::sync::{Arc, LazyLock};

use envd_sdk::model::ConsignmentInput;
use envd_sdk::validate::{Blocker, Finding, Form, Item, Report, Rule, Sentences, compare};
use envd_sync::outbox::{Declaration, DeclarationState};
use serde::Serialize;
use serde_json::{Value, json};

use super::section::{is_signed, name};

/// The sentences of these pages: with the value in quotes, and days as Australians write them.
pub(crate) static SENTENCES: LazyLock<Sentences> = LazyLock::new(|| {
    let texts = include_str!("sentences.txt").lines();
    texts.filter_map(|line| line.split_once(": ")).collect()
});

/// The maximum length of an answer, in characters.
const LONGEST: usize = 1_000;

/// A sentence on a field.
#[derive(Clone, Serialize)]
pub(crate) struct Remark {
    /// The id of the element: the name of the field, or a name that begins with `add.` or `row.`.
    pub(crate) place: String,
    pub(crate) sentence: String,
    /// Whether it prevents the submit. Otherwise it is advice.
    pub(crate) blocks: bool,
}

/// All remarks on a form. `sent` is its declaration in the outbox.
pub(crate) fn remarks(form: &Form, sent: Option<&Declaration>) -> Vec<Remark> {
    let items = form.items();
    let input = form.to_input();
    let mut all = too_long(&items);
    for blocker in form.blockers() {
        let (place, sentence) = match &blocker {
            Blocker::Finding(found) => (place(found), sentence(&items, found)),
            Blocker::NoRow { section, text } => {
                let sentence =
                    format!("{text}: add a row, or choose \u{201c}There is none\u{201d}.");
                (format!("add.{}", name(section)), sentence)
            }
            Blocker::EmptyRow { section, row, .. } => {
                let row = name(&(section.id.clone(), *row).into());
                (format!("row.{row}"), blocker.to_string())
            }
            other => (String::new(), other.to_string()),
        };
        add(&mut all, place, sentence, true);
    }
    for found in form.report().advice() {
        let is_zero = found.rule == Rule::HeadCount
            && found
                .value
                .as_deref()
                .is_some_and(|value| value.bytes().all(|it| it == b'0'));
        let blocks = is_zero || matches!(found.rule, Rule::DeclarationAccepted | Rule::RowsPresent);
        let mut place = place(found);
        if found.rule == Rule::RowsPresent {
            // There is already a remark on the empty row.
            let row = format!("row.{place}");
            if all.iter().any(|remark| remark.place.starts_with(&row)) {
                continue;
            }
            place = format!("add.{place}");
            all.retain(|remark| remark.place != place);
        }
        add(&mut all, place, sentence(&items, found), blocks);
    }
    let declarer = input
        .declaration
        .value()
        .and_then(|it| it.full_name.value());
    if is_signed(&input) && declarer.is_none_or(|name| name.trim().is_empty()) {
        let sentence = "Enter your full name: it signs the declaration.".to_owned();
        add(
            &mut all,
            "f.declaration.fullName".to_owned(),
            sentence,
            true,
        );
    }
    for found in sent
        .map(|sent| refused(form, &input, sent))
        .unwrap_or_default()
    {
        add(&mut all, place(&found), words(&found), false);
    }
    all
}

fn add(all: &mut Vec<Remark>, place: String, sentence: String, blocks: bool) {
    all.push(Remark {
        place,
        sentence,
        blocks,
    });
}

fn too_long(items: &[Item]) -> Vec<Remark> {
    let mut all = Vec::new();
    for item in items.iter().flat_map(Item::descendants) {
        let length = item.value.as_ref().map_or(0, |value| value.chars().count());
        if length > LONGEST {
            let sentence = format!("The text has {length} characters. Use at most {LONGEST}.");
            add(&mut all, name(&item.question), sentence, true);
        }
    }
    all
}

/// A sentence for a finding of the service; where this crate does not know its code, the words of the service.
pub(crate) fn words(found: &Finding) -> String {
    match (found.rule, &found.description) {
        (Rule::Other, Some(description)) => description.clone(),
        (Rule::Other, None) => found.message.clone(),
        _ => SENTENCES.sentence(found),
    }
}

/// The findings that only the service has, if their field is unchanged since the declaration was sent.
fn refused(form: &Form, input: &ConsignmentInput, sent: &Declaration) -> Vec<Arc<Finding>> {
    let (DeclarationState::Refused, Some(before)) = (sent.state, &sent.input) else {
        return Vec::new();
    };
    let service = Report::from_server_errors(&sent.findings);
    let mut found = compare(form.report(), &service).only_server;
    found.retain(|found| value_at(before, found) == value_at(input, found));
    found
}

/// The value of the field of a finding.
fn value_at(input: &ConsignmentInput, finding: &Finding) -> Value {
    let Some(at) = &finding.question else {
        let path = finding.input_path().join("/");
        return json!(input)
            .pointer(&format!("/{path}"))
            .cloned()
            .unwrap_or_default();
    };
    let mut answers = input.answers().iter();
    let found = answers.find(|answer| {
        answer.question_id.value() == Some(&at.id) && answer.index.value().copied() == at.row
    });
    json!(found.and_then(|answer| answer.value.value()))
}

/// A sentence with the instruction for a finding.
fn sentence(items: &[Item], finding: &Finding) -> String {
    if finding.rule != Rule::Required {
        return SENTENCES.sentence(finding);
    }
    let mut questions = items.iter().flat_map(Item::descendants);
    let item = questions.find(|item| finding.question.as_ref() == Some(&item.question));
    let what = match item.map_or(&[][..], |item| &item.choices) {
        [] => "enter an answer".to_owned(),
        [one, other] => format!("choose {} or {}", one.name, other.name),
        _ => "choose one".to_owned(),
    };
    format!("{}: {what}.", SENTENCES.label(finding))
}

/// The name of the field of a finding.
fn place(finding: &Finding) -> String {
    let mut path = finding.input_path();
    // A list is one field.
    path.retain(|name| name.parse::<u64>().is_err());
    let field = format!("f.{}", path.join("."));
    finding.question.as_ref().map_or(field, name)
}
