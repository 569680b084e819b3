//! The declaration of the outbox that a screen shows.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::apply::fitting;
use super::compare::{FieldDifference, differences};
use super::decision::Decision;
use super::row::{Desired, Question, Reason, Row, RowState, Time, time_of};
use crate::error::{Error, Result};
use envd_sdk::model::{ConsignmentId, ConsignmentInput, ConsignmentNumber, ServerError, Timestamp};

/// The number of a declaration, unique in its account and never used again. Its text is the number in decimal digits.
///
/// ```
/// use envd_sync::outbox::DeclarationId;
///
/// let id: DeclarationId = "42".parse()?;
/// assert_eq!(id.to_string(), "42");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct DeclarationId(pub(super) u64);

impl fmt::Display for DeclarationId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl FromStr for DeclarationId {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let number = text.parse();
        number
            .map(Self)
            .map_err(|_| Error::usage(format!("{text:?} is not the number of a declaration")))
    }
}

/// Parses a name, such as `keep mine` or `keep-mine`, or `adopt` and an id.
impl FromStr for Decision {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let decision = Self::named(text);
        decision.ok_or_else(|| Error::usage(format!("{text:?} is not a decision")))
    }
}

/// The state that the user wants on the service.
///
/// See [`Declaration`] for an example.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Wanted {
    /// A draft.
    Save,
    /// A submitted declaration.
    Submit,
    /// A draft again, after a submit.
    Withdraw,
    /// No record on the service.
    Delete,
}

impl fmt::Display for Wanted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.serialize(f)
    }
}

/// The state of a declaration.
///
/// [`guide::outbox`](crate::guide::outbox) describes each state. See [`Declaration`] for an example.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum DeclarationState {
    /// A request is to be sent, and none is under way.
    #[default]
    Queued,
    /// A request is being sent, or was when the program ended.
    Sending,
    /// It was sent, and the service gave no clear answer. The outbox checks whether it arrived before it sends anything again.
    OutcomeUnknown,
    /// The service has what the user wants.
    Confirmed,
    /// The service refused it: see [`Declaration::findings`].
    Refused,
    /// The user has to decide: see [`Declaration::reason`] and [`Outbox::decide`](super::Outbox::decide).
    NeedsAttention,
    /// The user discarded it.
    Discarded,
}

impl DeclarationState {
    /// Whether the declaration is confirmed or discarded. A confirmed declaration can be edited again.
    #[must_use]
    pub fn is_final(self) -> bool {
        matches!(self, Self::Confirmed | Self::Discarded)
    }
}

impl fmt::Display for DeclarationState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.serialize(f)
    }
}

/// A record that changed on the service after it was edited here, in the shape of an input. `Debug` hides its values.
///
/// ```
/// # test_support::example(async {
/// # let fake = envd_sdk::fake::Fake::start().await;
/// # let account = fake.client().build()?.account(fake.account_id());
/// # use envd_sdk::model::ConsignmentInput;
/// # let id = "00000000-0000-4000-8000-000000000101";
/// # let outbox = Outbox::new(&Replica::new(&account, envd_sync::store::MemorySync::new()));
/// # let website = account.clone();
/// use envd_sync::outbox::ChangedBy;
/// # use envd_sync::{Outbox, Replica};
///
/// let base = account.consignment(id).await?.value;
/// let moved = |day| ConsignmentInput::from(&base).movement(day, "05:15").id(id);
/// let (_, problems) = website.save_consignment(moved("2099-01-20")).await?.into_parts();
/// println!("saved with {} problems", problems.len());
/// let mine = outbox.update(&base, moved("2099-01-15")).await?;
/// outbox.send().await?;
///
/// let mine = outbox.declaration(mine.id).await?.ok_or("it is gone")?;
/// let conflict = mine.conflict.ok_or("no conflict")?;
/// let mut fields = conflict.fields.iter();
/// let field = fields.find(|field| field.changed_by == ChangedBy::Both).ok_or("no field")?;
/// assert_eq!(field.path, "movementDate");
/// assert_eq!((&field.mine, &field.theirs), (&"2099-01-15".into(), &"2099-01-20".into()));
/// # Ok(()) });
/// ```
#[derive(Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Conflict {
    /// The user's version; null: the user wants no record.
    pub mine: Value,
    /// The version of the service.
    pub theirs: Value,
    /// The fields that differ, by path.
    pub fields: Vec<FieldDifference>,
}

debug_shows!(Conflict, |it| fields: it.fields);

debug_shows!(FieldDifference, |it| path: it.path, changed_by: it.changed_by);

impl Conflict {
    /// The conflict between a row and the record that was read.
    fn new(row: &Row, theirs: &Value) -> Self {
        let sent = row
            .next_request()
            .and_then(|request| request.sent(Some(theirs)));
        Self {
            fields: differences(row.base.as_ref(), sent.as_ref(), theirs),
            mine: sent.unwrap_or_default(),
            theirs: theirs.clone(),
        }
    }
}

/// An event in the [history](Declaration::history) of a declaration.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct HistoryEvent {
    /// When it happened, on the clock of the machine that wrote it.
    pub at: Timestamp,
    /// What happened: `wished`, `marked` (the request may be under way from now on), `applied`, `refused`, `not_sent`, `doubt`,
    /// `absent`, `unclear`, `asked`, `told` (late duplicates were reported), `watch_over` (the search for them ended),
    /// `writer_returned` (the user who wrote it logged in again), `decided`.
    pub event: String,
    /// The reason, or an empty text.
    pub why: String,
}

/// A declaration of an [`Outbox`](super::Outbox): what the user wants, and the progress towards it. `Debug` hides the user's text,
/// because it contains personal data.
///
/// ```
/// # test_support::example(async {
/// # let fake = envd_sdk::fake::Fake::start().await;
/// # let account = fake.client().build()?.account(fake.account_id());
/// # use envd_sdk::model::{ConsignmentInput, FormType, PartyInput};
/// # use envd_sync::{Outbox, Replica};
/// # let input = ConsignmentInput::new([FormType::Lpac1], PartyInput::new("QAZZ7777"), PartyInput::new("QDZZ3333"));
/// # let outbox = Outbox::new(&Replica::new(&account, envd_sync::store::MemorySync::new()));
/// outbox.save(input).await?;
/// for declaration in outbox.declarations().await? {
///     println!("{}: {}", declaration.id, declaration.sentence());
///     for finding in &declaration.findings {
///         println!("  {}", envd_sdk::validate::Finding::from_server(finding).sentence());
///     }
/// }
/// # Ok(()) });
/// ```
#[derive(Clone)]
#[non_exhaustive]
pub struct Declaration {
    /// Its number.
    pub id: DeclarationId,
    /// The key that the application gave it: [`NewDeclaration::key`](super::NewDeclaration::key).
    pub key: Option<String>,
    /// The users who wrote the text or the delete that is wanted now, from [`Outbox::user`](super::Outbox::user); empty: unknown.
    pub writers: Vec<String>,
    /// The state that the user wants.
    pub wanted: Wanted,
    /// Its state.
    pub state: DeclarationState,
    /// The reason for the state; `None`: the state explains itself.
    pub reason: Option<Reason>,
    /// The errors in the service's last answer, as received: the reasons of a refusal, or warnings. Empty, because unknown, if
    /// [`is_adopted`](Self::is_adopted): the service sends its warnings only in the reply to a change.
    pub findings: Vec<ServerError>,
    /// With [`Reason::ReadFailed`], why the last answer of the service cannot be used. With [`Reason::NoReception`], why no connection
    /// can be made, if known.
    pub trouble: Option<String>,
    /// The records that may be this declaration, with [`Reason::Candidates`], [`Reason::OtherRecord`] and [`Reason::NotAdopted`].
    pub candidates: Vec<ConsignmentId>,
    /// The id of the record, once it is known.
    pub consignment: Option<ConsignmentId>,
    /// The number of the record, once it is known.
    pub number: Option<ConsignmentNumber>,
    /// True if the record was matched by a search, or already was as wanted, rather than confirmed by a reply.
    pub is_adopted: bool,
    /// Drafts that appeared after a request seemed lost, and that have everything it sent. Each may be the late result of that
    /// request, or an equal record of another user: nothing tells them apart. The user compares them, and deletes the surplus ones.
    pub late_duplicates: Vec<ConsignmentId>,
    /// The number of requests that were sent, or may have been.
    pub attempts: u64,
    /// When it was written, on the clock of the machine that wrote it.
    pub created_at: Timestamp,
    /// No request is sent after this instant: see [`Outbox::not_after`](super::Outbox::not_after).
    pub not_after: Option<Timestamp>,
    /// When the outbox asks the service again; `None`: in the next pass, or not before something changes.
    pub next_at: Option<Timestamp>,
    /// The differences, with [`Reason::Conflict`] and [`Reason::NotADraft`].
    pub conflict: Option<Conflict>,
    /// The user's text; `None`: a delete. Fields that this crate does not know are sent, but not shown here.
    pub input: Option<ConsignmentInput>,
    /// The last hundred events, the oldest first.
    pub history: Vec<HistoryEvent>,
    pub(super) row: Arc<Row>,
}

impl Declaration {
    pub(super) fn of(row: &Arc<Row>) -> Self {
        let shown = &row.shown;
        let mut question = None;
        let mut next = None;
        match &row.state {
            RowState::Open { next_at } => next = *next_at,
            RowState::Asked(asked) => question = Some(asked),
            _ => {}
        }
        let conflict = match question {
            Some(Question::Changed(read) | Question::NotADraft(read)) => {
                Some(Conflict::new(row, &read.fields))
            }
            _ => None,
        };
        let candidates = question.map_or(&[][..], Question::candidates);
        let ids = |ids: &[String]| ids.iter().cloned().map(ConsignmentId::from).collect();
        let history = row.history.iter().map(|event| HistoryEvent {
            at: instant(event.at),
            event: event.event.clone(),
            why: event.why.clone(),
        });
        Self {
            id: DeclarationId(row.id),
            key: row.key.as_ref().map(|key| key.name.clone()),
            writers: row.writers.iter().cloned().collect(),
            wanted: match row.desired {
                Desired::Save(_) => Wanted::Save,
                Desired::Submit(_) => Wanted::Submit,
                Desired::Withdraw(_) => Wanted::Withdraw,
                Desired::Delete => Wanted::Delete,
            },
            state: state_of(row),
            reason: reason_of(row),
            findings: (shown.findings.iter().cloned())
                .map(ServerError::from_value)
                .collect(),
            trouble: row
                .read_failures
                .as_ref()
                .map(|unclear| unclear.reason.clone()),
            candidates: ids(candidates),
            consignment: row.record.clone().map(ConsignmentId::from),
            number: shown.number.clone().map(ConsignmentNumber::from),
            is_adopted: shown.is_adopted,
            late_duplicates: ids(&row.duplicates),
            attempts: shown.attempts,
            created_at: instant(shown.created_at),
            not_after: (row.not_after.as_ref()).map(|limit| limit.given.as_str().into()),
            next_at: next.map(|due| instant(due.until)),
            conflict,
            // OK because the text was serialized from an input.
            input: (row.desired.text())
                .map(|text| serde_json::from_str(&text.0).unwrap_or_default()),
            history: history.collect(),
            row: Arc::clone(row),
        }
    }

    /// The decisions that were possible when this declaration was read, in the order of the buttons on a screen, with an
    /// [`Adopt`](Decision::Adopt) for each of the [`candidates`](Self::candidates). Every declaration that is not discarded can be
    /// [edited](super::Outbox::edit) as well.
    ///
    /// ```
    /// # test_support::example(async {
    /// # let fake = envd_sdk::fake::Fake::start().await;
    /// # let account = fake.client().build()?.account(fake.account_id());
    /// # use envd_sdk::model::{ConsignmentInput, FormType, PartyInput};
    /// # use envd_sync::{Outbox, Replica};
    /// # let input = ConsignmentInput::new([FormType::Lpac1], PartyInput::new("QAZZ7777"), PartyInput::new("QDZZ3333"));
    /// # let outbox = Outbox::new(&Replica::new(&account, envd_sync::store::MemorySync::new()));
    /// # fake.on_operation("CreateOrSaveConsignment").refuse("003", "the service is being moved");
    /// let id = outbox.save(input).await?.id;
    /// outbox.send().await?;
    /// let refused = outbox.declaration(id).await?.ok_or("it is gone")?;
    /// let buttons: Vec<String> = refused.decisions().iter().map(ToString::to_string).collect();
    /// assert_eq!(buttons, ["resend", "discard"]);
    /// # Ok(()) });
    /// ```
    pub fn decisions(&self) -> Vec<Decision> {
        fitting(&self.row)
    }
}

debug_shows!(Declaration, |it|
    id: it.id,
    wanted: it.wanted,
    state: it.state,
    reason: it.reason,
    consignment: it.consignment,
    candidates: it.candidates,
    attempts: it.attempts,
);

pub(super) fn state_of(row: &Row) -> DeclarationState {
    match row.state {
        RowState::Open { .. } if row.is_in_doubt() => DeclarationState::OutcomeUnknown,
        RowState::Open { .. } => DeclarationState::Queued,
        RowState::Sending => DeclarationState::Sending,
        RowState::Confirmed => DeclarationState::Confirmed,
        RowState::Refused => DeclarationState::Refused,
        RowState::Asked(_) => DeclarationState::NeedsAttention,
        RowState::Discarded => DeclarationState::Discarded,
    }
}

fn reason_of(row: &Row) -> Option<Reason> {
    Some(match &row.state {
        RowState::Open { .. } if row.read_failures.is_some() => Reason::ReadFailed,
        RowState::Open { .. } if row.is_in_doubt() => Reason::OutcomeUnknown,
        RowState::Refused => Reason::Refused,
        RowState::Asked(question) => question.reason(),
        RowState::Discarded => {
            // Late duplicates may have been reported since the decision.
            let mut events = row.history.iter().rev();
            let last = events.find(|event| event.event == "decided");
            let last = last.map(|event| event.why.as_str());
            if last == Some(Decision::TakeTheirs.name()) {
                Reason::TookTheirs
            } else {
                Reason::GivenUp
            }
        }
        RowState::Open { .. } | RowState::Sending | RowState::Confirmed => return None,
    })
}

fn instant(at: Time) -> Timestamp {
    time_of(at).into()
}
