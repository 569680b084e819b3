//! The documentation of types and operations: the description in the schema, and the section in `pages.md`.

use std::collections::BTreeMap;

use envd_codegen::ir::{Operation, Program};

use crate::names;

/// The sections of `pages.md`, by the names of types in Rust.
pub(crate) fn sections() -> BTreeMap<&'static str, &'static str> {
    let sections = include_str!("../pages.md").split("\n## ").skip(1);
    let sections = sections.map(|section| section.split_once("\n\n").unwrap_or((section, "")));
    sections.map(|(name, text)| (name, text.trim())).collect()
}

/// Adds its section to each type and its search words to each field. Returns the types without a section.
pub(crate) fn add(program: &mut Program) -> Vec<String> {
    let sections = sections();
    let mut missing = Vec::new();
    let mut add = |name: &str, docs: &mut Vec<String>| match sections.get(name) {
        Some(section) => extend(docs, section),
        None => missing.push(format!(
            "tests/codegen/pages.md: there is no section {name}"
        )),
    };
    program.operations.iter_mut().for_each(describe);
    let records = program.records.iter_mut();
    for record in records
        .filter(|record| record.generic.is_none())
        .chain(&mut program.inputs)
    {
        if !record.name.starts_with("QuestionDepth") {
            add(&record.name, &mut record.docs);
        }
        for field in &mut record.fields {
            field.attributes = names::search_words(&field.coordinate).to_owned();
        }
    }
    for one in &mut program.enums {
        add(&one.name, &mut one.docs);
    }
    missing
}

/// Writes the documentation of the structs of an operation.
fn describe(operation: &mut Operation) {
    let name = &operation.name;
    let link = format!(
        "Of the operation [`{name}`](super::{name}). See the [module](super) for an example."
    );
    let first = "The variables; those that are `None` are not sent.";
    operation.variables.docs = vec![first.to_owned(), String::new(), link.clone()];
    operation.reply.docs.extend([String::new(), link]);
}

/// A first line `Summary:` of the section replaces the first sentence.
fn extend(docs: &mut Vec<String>, section: &str) {
    let text = match section.strip_prefix("Summary: ") {
        Some(rest) => {
            let (summary, text) = rest.split_once("\n\n").unwrap_or((rest, ""));
            summary.clone_into(&mut docs[0]);
            text
        }
        None => section,
    };
    docs.push(String::new());
    docs.extend(text.lines().map(str::to_owned));
}
