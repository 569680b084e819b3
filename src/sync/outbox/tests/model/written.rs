//! What the user wants, and what the programs did about it so far.

use std::collections::BTreeSet;

use serde_json::Value;

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
    /// The copy that makes it.
    pub(super) copy: Option<u64>,
    /// The last entry about it whose call has returned.
    pub(super) entry: Option<u64>,
    /// The version of the record that the user has seen or decided about.
    pub(super) seen: usize,
    pub(super) wants_submit: bool,
    pub(super) wants_delete: bool,
}

/// One entry as the ledger knows it.
#[derive(Debug, Default)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "facts that are true independently of each other"
)]
pub(super) struct Noted {
    pub(super) attempts: usize,
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
}
