//! Lists what still has to be done before the consignment can be submitted.

use std::fmt;
use std::sync::Arc;

use serde::Serialize;

use super::super::question_tree::ItemKind;
use super::super::report::Blocks;
use super::super::walk::{Instance, Walk};
use super::super::{Finding, QuestionRef};
use super::Form;

/// A reason why the consignment cannot be submitted yet: see [`Form::blockers`]. `Display` explains it in a sentence.
///
/// See [`Form`] for an example.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub enum Blocker {
    /// A finding that blocks submitting: see the [table of rules](crate::validate#what-blocks).
    Finding(Arc<Finding>),
    /// A section with required questions has no row, and was not [skipped](Form::skip).
    NoRow {
        /// The section.
        section: QuestionRef,
        /// The text of the section.
        text: String,
    },
    /// A row was added but is empty, although it has required questions.
    EmptyRow {
        /// The section.
        section: QuestionRef,
        /// The text of the section.
        text: String,
        /// The row.
        row: Option<i64>,
        /// The position among the remaining rows, from 1.
        row_number: usize,
    },
}

impl Blocker {
    /// Whether this also blocks creating the consignment, not just submitting it.
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
                write!(f, "Add a row to {section}, or skip the section.")
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
    /// Everything to do before submitting: first the errors, which also block creating the consignment, then missing and impossible
    /// answers, and empty sections and rows.
    ///
    /// The list repeats the blocking [findings](super::super::Report::findings) of the [report](Self::report) with the same
    /// sentences: show one or the other. Empty rows are not sent, so the report ignores them. There may be a
    /// [`Blocker::NoRow`] or [`Blocker::EmptyRow`] although the report is
    /// [`ready_to_submit`](super::super::Report::ready_to_submit) and the service would accept the consignment. The form assumes
    /// that something was forgotten, until the user removes the row or [skips](Self::skip) the section.
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
        let section = walk.reference(instance);
        let text = at.text.text.clone();
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
