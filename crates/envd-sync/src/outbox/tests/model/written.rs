//! What the user wants, and what the programs did about it so far.

use std::collections::BTreeSet;
use std::time::SystemTime;

use serde_json::Value;

use super::ledger::Ledger;
use super::service::Record;

/// A text that the user wrote, by its number: a field of it that no comparison of new records uses.
#[derive(Debug)]
pub(super) struct Text {
    pub(super) declaration: usize,
    pub(super) content: Value,
    /// Written without naming what the record was.
    pub(super) is_blind: bool,
    /// The call that wrote it has returned.
    pub(super) is_acknowledged: bool,
    pub(super) is_given_up: bool,
}

/// What the user wants to become of one record.
#[derive(Debug, Default)]
pub(super) struct Declaration {
    pub(super) record: Option<String>,
    /// The last entry about it whose call has returned.
    pub(super) entry: Option<u64>,
    /// The version of the record that the user has seen or decided about.
    pub(super) seen: usize,
    pub(super) wants_submit: bool,
    pub(super) wants_delete: bool,
    /// The declaration that it turned out to be: the user wrote about the record before it was known who had made it.
    pub(super) united_with: Option<usize>,
}

/// One entry as the ledger knows it.
#[derive(Debug, Default)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "facts that are true independently of each other"
)]
pub(super) struct Noted {
    pub(super) attempts: usize,
    /// When it was written first, in events and on the clock of its process.
    pub(super) written: Option<(u64, SystemTime)>,
    /// The texts that were sent.
    pub(super) sent: BTreeSet<usize>,
    /// When it was sent last, in seconds and events.
    pub(super) departed: (u64, u64),
    /// The last reply said that it was not carried out.
    pub(super) was_turned_down: bool,
    /// A person said that none of the candidates is it.
    pub(super) is_resent: bool,
    /// A person said so at some time, named the record, or gave it up.
    pub(super) is_decided: bool,
    pub(super) is_confirmed: bool,
    pub(super) is_ended: bool,
    /// The target, or for a creation itself.
    pub(super) lane: Value,
    pub(super) order: u64,
}

impl Ledger {
    /// The declaration as it is known now.
    pub(super) fn united(&self, declaration: usize) -> usize {
        match self.declarations[declaration].united_with {
            Some(other) => self.united(other),
            None => declaration,
        }
    }

    /// The declaration that a text is of.
    pub(super) fn declaration_of(&self, text: usize) -> usize {
        self.united(self.texts[text].declaration)
    }

    /// Other declarations about the same record are this one.
    pub(super) fn unite(&mut self, declaration: usize) {
        for at in 0..self.declarations.len() {
            let record = &self.declarations[at].record;
            if at == declaration
                || record.is_none()
                || *record != self.declarations[declaration].record
            {
                continue;
            }
            let other = std::mem::take(&mut self.declarations[at]);
            self.declarations[at].united_with = Some(declaration);
            let one = &mut self.declarations[declaration];
            one.entry = one.entry.max(other.entry);
            one.seen = one.seen.max(other.seen);
            one.wants_submit |= other.wants_submit;
            one.wants_delete |= other.wants_delete;
        }
    }

    /// The last text of a declaration that the user wrote and did not give up.
    pub(super) fn last_written(&self, declaration: usize) -> Option<usize> {
        let is_of = |text: &usize| {
            let one = &self.texts[*text];
            self.declaration_of(*text) == declaration && one.is_acknowledged && !one.is_given_up
        };
        (0..self.texts.len()).rev().find(is_of)
    }
}

/// The text that a record or an input is made of.
pub(super) fn text_of(value: &Value) -> Option<usize> {
    value["declaration"]["certificateNumber"]
        .as_str()?
        .parse()
        .ok()
}

/// Whether a version of a record shows what was written, and nothing that somebody else has filled in.
pub(super) fn has_content(record: &Record, version: usize, content: &Value) -> bool {
    let value = &record.versions[version - 1].value;
    [
        "/movementDate",
        "/movementTime",
        "/answers/0/value",
        "/consignee",
        "/owner",
        "/destination/name",
    ]
    .iter()
    .all(|path| value.pointer(path) == content.pointer(path))
}
