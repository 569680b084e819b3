//! Remarks on the fields of a form: what prevents the submit, and advice.

use std::sync::LazyLock;

use envd_sdk::validate::{Blocker, Finding, Form, Item, QuestionRef, Rule, Sentences};
use serde::Serialize;

use super::section::{Section, is_signed, name};

/// The sentences of these pages: with the value in quotes, and days as Australians write them.
pub(crate) static SENTENCES: LazyLock<Sentences> = LazyLock::new(|| {
    let texts = include_str!("sentences.txt").lines();
    texts.filter_map(|line| line.split_once(": ")).collect()
});

/// The section of the animals. A declaration has at least one row of them.
pub(crate) const ANIMALS: &str = "1";

/// The maximum length of an answer, in characters.
const LONGEST: usize = 1_000;

/// A sentence on a field.
#[derive(Serialize)]
pub(crate) struct Remark {
    /// The id of the element: the name of the field, or a name that begins with `add.` or `row.`.
    pub(crate) place: String,
    pub(crate) sentence: String,
    /// Whether it prevents the submit. Otherwise it is advice.
    pub(crate) blocks: bool,
}

impl Remark {
    fn new(blocks: bool, place: String, sentence: String) -> Self {
        Self {
            place,
            sentence,
            blocks,
        }
    }
}

/// All remarks on a form.
pub(crate) fn remarks(form: &Form) -> Vec<Remark> {
    let mut all = Vec::new();
    for item in form.items().iter().flat_map(Item::descendants) {
        let length = item.value.as_deref().unwrap_or_default().chars().count();
        if length > LONGEST {
            let sentence = format!("The text has {length} characters. Use at most {LONGEST}.");
            all.push(Remark::new(true, name(&item.question), sentence));
        }
    }
    for blocker in form.blockers() {
        let (place, sentence) = match &blocker {
            Blocker::Finding(found) => (place(found), SENTENCES.sentence(found)),
            Blocker::NoRow { section, text } if section.id == ANIMALS => (
                format!("add.{}", name(section)),
                format!("{text}: add a row."),
            ),
            Blocker::NoRow { section, text } => {
                let sentence = format!("{text}: add a row, or choose “There is none”.");
                (format!("add.{}", name(section)), sentence)
            }
            Blocker::EmptyRow { section, row, .. } => {
                let row: QuestionRef = (section.id.clone(), *row).into();
                (format!("row.{}", name(&row)), blocker.to_string())
            }
            _ => (String::new(), blocker.to_string()),
        };
        all.push(Remark::new(true, place, sentence));
    }
    for found in form.report().advice() {
        let mut place = place(found);
        let blocks = match found.rule {
            Rule::DeclarationAccepted => true,
            Rule::HeadCount => found.value.as_deref() == Some("0"),
            // A blocker may have said it already.
            Rule::RowsPresent if all.iter().any(|remark| remark.place.contains(&place)) => continue,
            Rule::RowsPresent => {
                place.insert_str(0, "add.");
                true
            }
            _ => false,
        };
        all.push(Remark::new(blocks, place, SENTENCES.sentence(found)));
    }
    let input = form.save().into_input();
    let signer = input
        .declaration
        .value()
        .and_then(|it| it.full_name.value());
    if is_signed(&input) && signer.is_none_or(|name| name.trim().is_empty()) {
        let place = "f.declaration.fullName".to_owned();
        let sentence = "Enter your full name: it signs the declaration.".to_owned();
        all.push(Remark::new(true, place, sentence));
    }
    all
}

/// The remarks on a page, without those on questions that its last answers led to.
pub(crate) fn remarks_on(section: &Section, form: &Form, new: &[impl AsRef<str>]) -> Vec<Remark> {
    let mut found = remarks(form);
    found.retain(|remark| {
        let is_new = new.iter().any(|new| remark.place.ends_with(new.as_ref()));
        section.has(&remark.place) && !is_new
    });
    found
}

/// The words of the service for one of its findings, where this crate does not know the code.
pub(crate) fn words(found: &Finding) -> String {
    match (found.rule, &found.description) {
        (Rule::Other, Some(description)) => description.clone(),
        (Rule::Other, None) => found.message.clone(),
        _ => SENTENCES.sentence(found),
    }
}

/// The name of the field of a finding.
fn place(finding: &Finding) -> String {
    let mut path = finding.input_path();
    // A list is one field.
    path.retain(|name| name.parse::<u64>().is_err());
    let field = format!("f.{}", path.join("."));
    finding.question.as_ref().map_or(field, name)
}
