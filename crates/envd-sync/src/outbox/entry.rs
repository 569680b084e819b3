//! An entry as it is shown.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::compare::Conflict;
use super::decision::Decision;
use super::input_text::InputText;
use super::stored::{Stored, Target};
use crate::error::Error;
use envd_sdk::model::{ConsignmentId, ConsignmentInput, ConsignmentNumber, ServerError, Timestamp};

/// The number of an entry, unique in its account and never used again. Its text is the number in decimal digits.
///
/// ```
/// use envd_sync::outbox::EntryId;
///
/// let id: EntryId = "42".parse()?;
/// assert_eq!(id.to_string(), "42");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct EntryId(pub(super) u64);

impl fmt::Display for EntryId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl FromStr for EntryId {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let number = text.parse();
        number
            .map(Self)
            .map_err(|_| Error::usage(format!("{text:?} is not the number of an entry")))
    }
}

/// What an entry does.
///
/// See [`Entry`] for an example.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum EntryKind {
    /// Creates a draft, or saves over a record of the service.
    Save,
    /// Submits a record.
    Submit,
    /// Deletes a record.
    Delete,
    /// Comments on a record.
    Comment,
}

impl fmt::Display for EntryKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Save => "save",
            Self::Submit => "submit",
            Self::Delete => "delete",
            Self::Comment => "comment",
        })
    }
}

/// Where an entry is on its way.
///
/// [`guide::outbox`](crate::guide::outbox) says what each means. See [`Entry`] for an example.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum EntryState {
    /// It waits for its turn, for reception or for a login; nothing of it is with the service, or what was sent surely did not
    /// arrive.
    #[default]
    Queued,
    /// It is being sent, or was when the program ended.
    Sending,
    /// It was sent, and no clear answer came: the service is asked whether it arrived, before anything is sent again.
    Unconfirmed,
    /// The service has carried it out.
    Confirmed,
    /// The service refused it: see [`Entry::findings`].
    Refused,
    /// A person decides: see [`Entry::reason`] and [`Outbox::decide`](super::Outbox::decide).
    NeedsAttention,
    /// A person gave it up.
    Discarded,
}

impl EntryState {
    /// Whether the entry is at its end: confirmed, or discarded.
    #[must_use]
    pub fn is_final(self) -> bool {
        matches!(self, Self::Confirmed | Self::Discarded)
    }
}

impl fmt::Display for EntryState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Queued => "queued",
            Self::Sending => "sending",
            Self::Unconfirmed => "unconfirmed",
            Self::Confirmed => "confirmed",
            Self::Refused => "refused",
            Self::NeedsAttention => "needs_attention",
            Self::Discarded => "discarded",
        })
    }
}

/// Why an entry is in its state. `Display` tells it in words, and what can be done.
///
/// See [`Entry`] for an example.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Reason {
    /// The service refused it.
    Refused,
    /// It was sent, and no clear answer came.
    NoClearAnswer,
    /// The record changed on the service since it was edited here.
    Conflict,
    /// The record is not a draft any more: it was submitted or locked on the service.
    NotADraft,
    /// The service does not show the record any more.
    Gone,
    /// One record may be what was sent, but does not show all of it or cannot be read; or several may be: see
    /// [`Entry::candidates`].
    Candidates,
    /// For a day the service has given no usable answer about it.
    NoUsableAnswer,
    /// Its [`not_after`](super::Outbox::not_after) has passed, or cannot be read.
    NotAfterPassed,
    /// The day of the movement is over everywhere in Australia.
    MovementPassed,
    /// A form of it cannot be created any more: see [`FormType::closed_from`](envd_sdk::model::FormType::closed_from).
    FormRetired,
    /// The user may not do this with this account, or not any more.
    Forbidden,
    /// An earlier entry about the same record was given up.
    EarlierGivenUp,
    /// A person kept what the service has.
    TookTheirs,
    /// A person gave it up.
    GivenUp,
    /// Nothing is sent before the user has logged in again.
    LoginNeeded,
    /// The service could not be reached, or asked to wait.
    NoReception,
    /// It waits for an earlier entry of the same declaration, or for a creation that is not confirmed.
    WaitsForEarlier,
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Refused => "the service refused it: correct and edit it, or discard it",
            Self::NoClearAnswer => "no clear answer came: the service is asked before it is sent again",
            Self::Conflict => "the record was changed on the service: keep mine, take theirs, or edit",
            Self::NotADraft => "the record is no draft any more on the service: take theirs, or keep mine",
            Self::Gone => "the service does not show the record any more: discard it, or send it again as a new one",
            Self::Candidates => "the service may have it already: adopt a record, or send it again",
            Self::NoUsableAnswer => "the service gives no usable answer about it: try again, or discard it",
            Self::NotAfterPassed => "its time has passed: edit it with a later one, or discard it",
            Self::MovementPassed => "the day of the movement is over: edit it, keep mine to send it anyway, or discard it",
            Self::FormRetired => "a form of it cannot be created any more: edit it, or discard it",
            Self::Forbidden => "the user may not do this with this account: resend when that is settled, or discard it",
            Self::EarlierGivenUp => "the entry before it was given up: edit it, or discard it",
            Self::TookTheirs => "what the service has was kept",
            Self::GivenUp => "it was given up",
            Self::LoginNeeded => "waits until the user has logged in again",
            Self::NoReception => "waits for the service to be reached",
            Self::WaitsForEarlier => "waits for an earlier entry",
        })
    }
}

/// One time that an entry was sent.
///
/// See [`Outbox::history`](super::Outbox::history) for an example.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Attempt {
    /// When it was marked as being sent, before its first byte, on the clock of the machine that sent it.
    pub at: Timestamp,
    /// When its answer came, or the wait for it ended; `None`: the program ended before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended_at: Option<Timestamp>,
    /// What came back, in words; `None`: the program ended before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outcome: Option<String>,
    /// The HTTP status of the reply; `None`: there was none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub http_status: Option<u16>,
    /// Whether no clear answer came: it may have been carried out.
    pub in_doubt: bool,
}

/// An entry of an [`Outbox`](super::Outbox). `Debug` hides what was written, which holds personal data.
///
/// ```
/// # equipment::example(async {
/// # let fake = envd_sdk::fake::Fake::start().await;
/// # let account = fake.client().build()?.account(fake.account_id());
/// # use envd_sdk::model::{ConsignmentInput, FormType, PartyInput};
/// # use envd_sync::{Outbox, Replica};
/// # let input = ConsignmentInput::new([FormType::Lpac1], PartyInput::new("QAZZ7777"), PartyInput::new("QDZZ3333"));
/// # let outbox = Outbox::new(&Replica::new(&account, envd_sync::store::MemorySync::new()));
/// outbox.save(input).await?;
/// for entry in outbox.entries().await? {
///     println!("{} {}: {}", entry.id, entry.kind, entry.state);
///     if let Some(reason) = entry.reason {
///         println!("  {reason}");
///     }
///     for finding in &entry.findings {
///         println!("  {}", envd_sdk::validate::Finding::from_server(finding).sentence());
///     }
/// }
/// # Ok(()) });
/// ```
#[derive(Clone)]
#[non_exhaustive]
pub struct Entry {
    /// Its number.
    pub id: EntryId,
    /// What it does.
    pub kind: EntryKind,
    /// Where it is.
    pub state: EntryState,
    /// Why it is there; `None` when there is nothing to say.
    pub reason: Option<Reason>,
    /// The service's errors of the last attempt, as received: why it refused the entry, or what it warned of.
    pub findings: Vec<ServerError>,
    /// The records that may be what was sent, with [`Reason::Candidates`].
    pub candidates: Vec<ConsignmentId>,
    /// The id of the record, once it is known.
    pub consignment: Option<ConsignmentId>,
    /// The number of the record, once it is known.
    pub number: Option<ConsignmentNumber>,
    /// Whether the record was found after the reply was lost.
    pub is_adopted: bool,
    /// Further records that agree with what was sent and appeared later: a request that was taken for lost was carried out
    /// nevertheless. They are drafts; a person deletes them.
    pub late_duplicates: Vec<ConsignmentId>,
    /// The times that it was sent, oldest first.
    pub attempts: Vec<Attempt>,
    /// When it was written, on the clock of the machine that wrote it.
    pub created_at: Timestamp,
    /// It is not sent after this instant: [`Outbox::not_after`](super::Outbox::not_after).
    pub not_after: Option<Timestamp>,
    /// When the service is asked again what became of it, while it is [`Unconfirmed`](EntryState::Unconfirmed).
    pub next_at: Option<Timestamp>,
    /// What differs, with [`Reason::Conflict`] and [`Reason::NotADraft`].
    pub conflict: Option<Conflict>,
    /// What is sent: the input of a save or submit. Fields that this crate does not know are sent, and not shown here.
    pub input: Option<ConsignmentInput>,
    /// What was sent before the user edited it, the oldest first.
    pub earlier_inputs: Vec<ConsignmentInput>,
    /// The text of a comment.
    pub comment: Option<String>,
    stored: Arc<Stored>,
    /// Whether the entry that it builds on is not at its end.
    is_base_waiting: bool,
}

impl Entry {
    /// The entry as the user sees it. `waits`: whether an entry with a number is not at its end.
    pub(super) fn of(stored: &Arc<Stored>, waits: impl Fn(u64) -> bool) -> Self {
        let standing = stored.standing();
        let numbered = match &stored.target {
            Target::Number(number) => Some(number),
            _ => None,
        };
        Self {
            id: EntryId(stored.id),
            kind: stored.kind,
            state: standing.state,
            reason: standing.reason,
            findings: (standing.findings.iter().cloned())
                .map(ServerError::from_value)
                .collect(),
            candidates: standing.candidates.to_vec(),
            consignment: standing.record.or(stored.record_id()).cloned(),
            number: standing.number.or(numbered).cloned(),
            is_adopted: standing.is_adopted,
            late_duplicates: stored.late_duplicates().cloned().collect(),
            attempts: stored.attempts(),
            created_at: stored.created_at.clone(),
            not_after: stored.not_after.clone(),
            next_at: standing.next_at.cloned(),
            conflict: standing.conflict.cloned(),
            input: stored.input.as_ref().map(InputText::input),
            earlier_inputs: stored.earlier_inputs.iter().map(InputText::input).collect(),
            comment: stored.comment.clone(),
            stored: Arc::clone(stored),
            is_base_waiting: stored.builds_on().is_some_and(waits),
        }
    }

    /// What a person can decide about the entry as it was when it was read, in the order of the buttons of a screen: with
    /// [`Edit`](Decision::Edit) of what was written, and [`Adopt`](Decision::Adopt) of each of the
    /// [`candidates`](Self::candidates). Empty for one that is being sent, or at its end.
    ///
    /// ```
    /// # equipment::example(async {
    /// # let fake = envd_sdk::fake::Fake::start().await;
    /// # let account = fake.client().build()?.account(fake.account_id());
    /// # use envd_sdk::model::{ConsignmentInput, FormType, PartyInput};
    /// # use envd_sync::{Outbox, Replica};
    /// # let input = ConsignmentInput::new([FormType::Lpac1], PartyInput::new("QAZZ7777"), PartyInput::new("QDZZ3333"));
    /// # let outbox = Outbox::new(&Replica::new(&account, envd_sync::store::MemorySync::new()));
    /// # fake.on_operation("CreateOrSaveConsignment").refuse("003", "the service is being moved");
    /// let id = outbox.save(input).await?.id;
    /// outbox.send().await?;
    /// let refused = outbox.entry(id).await?.ok_or("no entry")?;
    /// let buttons: Vec<String> = refused.decisions().iter().map(ToString::to_string).collect();
    /// assert_eq!(buttons, ["edit", "resend", "discard"]);
    /// # Ok(()) });
    /// ```
    pub fn decisions(&self) -> Vec<Decision> {
        self.stored.decisions(self.is_base_waiting)
    }
}

debug_shows!(Entry, |it|
    id: it.id,
    kind: it.kind,
    state: it.state,
    reason: it.reason,
    consignment: it.consignment,
    candidates: it.candidates,
    attempts: it.attempts.len(),
);
