//! What stands between a form and its consignment.

use std::fmt;
use std::sync::Arc;

use serde::Serialize;

use super::super::question_tree::ItemKind;
use super::super::report::Blocks;
use super::super::walk::{Instance, Walk};
use super::super::{Finding, QuestionRef};
use super::Form;

/// What stands between a form and its consignment: see [`Form::blockers`]. `Display` says it in words.
///
/// See [`Form`] for an example.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub enum Blocker {
    /// A finding that keeps the consignment from being submitted: see the [table of rules](crate::validate#what-blocks).
    Finding(Arc<Finding>),
    /// A section with questions that must be answered has no row, and was not [skipped](Form::skip).
    NoRow {
        /// The section.
        section: QuestionRef,
        /// Its text.
        text: String,
    },
    /// A row was added, and nothing in it is answered although something must be.
    EmptyRow {
        /// The section.
        section: QuestionRef,
        /// Its text.
        text: String,
        /// The row.
        row: Option<i64>,
        /// Its position among those that are left, from 1, as people count.
        row_number: usize,
    },
}

impl Blocker {
    /// Whether it already keeps the consignment from being created, and not only from being submitted.
    pub fn blocks_creating(&self) -> bool {
        matches!(self, Self::Finding(finding) if finding.blocks() == Blocks::Creating)
    }
}

impl fmt::Display for Blocker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = |section: &QuestionRef, text: &str| match text.trim() {
            "" => format!("Section {}", section.id),
            text => format!("\u{201c}{text}\u{201d}"),
        };
        match self {
            Self::Finding(finding) => f.write_str(&finding.sentence()),
            Self::NoRow { section, text } => {
                let section = name(section, text);
                write!(f, "Add a row to {section}, or say that there is none.")
            }
            Self::EmptyRow {
                section,
                text,
                row_number,
                ..
            } => {
                let section = name(section, text);
                write!(
                    f,
                    "Row {row_number} of {section} is empty. Fill it in or remove it."
                )
            }
        }
    }
}

impl Form {
    /// Everything to do before submitting: first errors, which also prevent creating the consignment, then answers that are missing
    /// or impossible, and empty sections and rows.
    ///
    /// This repeats the [findings](super::super::Report::findings) of the [report](Self::report) that block, with the same
    /// sentences: show either this list or those findings. The report judges what is sent, and an empty row is not sent. So there
    /// can be a [`Blocker::NoRow`] or a [`Blocker::EmptyRow`] although the report is
    /// [`ready_to_submit`](super::super::Report::ready_to_submit) and the service would accept it: the form asks whether something
    /// was forgotten, until the user removes the row or [skips](Self::skip) the section.
    pub fn blockers(&self) -> Vec<Blocker> {
        let mut blockers: Vec<Blocker> = self
            .report()
            .findings()
            .iter()
            .filter(|finding| finding.blocks() != Blocks::Nothing)
            .cloned()
            .map(Blocker::Finding)
            .collect();
        let walk = self.walk();
        for instance in walk.found.instances.iter().copied() {
            if walk.tree[instance.question].kind == ItemKind::Rows {
                self.section(&walk, instance, &mut blockers);
            }
        }
        blockers.sort_by_key(|blocker| !blocker.blocks_creating());
        blockers
    }

    fn section(&self, walk: &Walk<'_>, instance: Instance, blockers: &mut Vec<Blocker>) {
        let tree = walk.tree;
        let at = &tree[instance.question];
        let required = (instance.question + 1..at.end).filter(|below| tree[*below].required);
        let (section, text) = (walk.reference(instance), at.text.text.clone());
        let rows = walk.rows_of(instance);
        if rows.is_empty()
            && required.clone().any(|below| walk.is_on_forms(below))
            && self.is_open(walk, instance)
        {
            blockers.push(Blocker::NoRow { section, text });
            return;
        }
        for row in rows.iter().filter(|row| walk.is_empty_row(**row)) {
            if required
                .clone()
                .any(|question| walk.applies(row.with(question)))
            {
                blockers.push(Blocker::EmptyRow {
                    section: section.clone(),
                    text: text.clone(),
                    row: row.row,
                    row_number: walk.row_number(*row).unwrap_or(1),
                });
            }
        }
    }
}
