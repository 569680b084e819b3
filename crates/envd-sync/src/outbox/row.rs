//! The row of a declaration: what the user wants, and the last known state of the service.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::{Duration, SystemTime};
use std::{fmt, slice};

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::compare::{Base, ServiceRecord};

/// Seconds since 1970, on the clock of the process.
pub(crate) type Time = u64;

pub(crate) fn time_of(at: Time) -> SystemTime {
    // RFC 3339 has no year after 9999. A later time is capped there, which in practice is never.
    let at = Duration::from_secs(at.min(253_402_300_799));
    let at = SystemTime::UNIX_EPOCH.checked_add(at);
    at.unwrap_or(SystemTime::UNIX_EPOCH)
}

pub(crate) const DAY: Time = 24 * 60 * 60;

/// The greatest number of events in the history of a row.
pub(crate) const HISTORY: usize = 100;

/// The user's text of a declaration, unchanged: JSON without a status.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct Text(pub(crate) Arc<str>);

impl Text {
    pub(crate) fn new(value: &Value) -> Self {
        Self(value.to_string().into())
    }

    pub(crate) fn value(&self) -> Value {
        serde_json::from_str(&self.0).unwrap_or_default()
    }

    /// Whether the user signed this text; signed text is never rewritten.
    pub(crate) fn is_signed(&self) -> bool {
        has_signature(&self.value())
    }

    /// Whether the text alone is enough to create a record.
    pub(crate) fn is_whole(&self) -> bool {
        let value = self.value();
        let is_there = |name: &str| match &value[name] {
            Value::Array(items) => !items.is_empty(),
            other => !other.is_null(),
        };
        ["forms", "origin", "destination"].into_iter().all(is_there)
    }
}

fn has_signature(record: &Value) -> bool {
    let signature = record["declaration"]["signature"].as_str();
    signature.is_some_and(|text| !text.trim().is_empty())
}

/// The state that the user wants on the service.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Desired {
    /// A record with this text. An existing record keeps its status.
    Save(Text),
    /// A submitted declaration with this text.
    Submit(Text),
    /// A draft with this text, even if the record was submitted.
    Withdraw(Text),
    /// No record.
    #[default]
    Delete,
}

impl Desired {
    pub(crate) fn text(&self) -> Option<&Text> {
        match self {
            Self::Save(text) | Self::Submit(text) | Self::Withdraw(text) => Some(text),
            Self::Delete => None,
        }
    }

    /// Whether this request, once carried out, fulfils the intent.
    pub(crate) fn is_met_by(&self, request: &ChangeRequest) -> bool {
        match (self, request) {
            (Self::Save(desired), ChangeRequest::Create(text) | ChangeRequest::Update(_, text))
            | (Self::Submit(desired), ChangeRequest::Submit(_, text))
            | (Self::Withdraw(desired), ChangeRequest::Withdraw(_, text)) => desired == text,
            (Self::Delete, ChangeRequest::Delete(_)) => true,
            _ => false,
        }
    }
}

/// A request that changes a record of the service.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum ChangeRequest {
    Create(Text),
    /// The record keeps its status.
    Update(String, Text),
    Submit(String, Text),
    /// The record becomes a draft again.
    Withdraw(String, Text),
    Delete(String),
}

impl ChangeRequest {
    pub(crate) fn text(&self) -> Option<&Text> {
        match self {
            Self::Create(text)
            | Self::Update(_, text)
            | Self::Submit(_, text)
            | Self::Withdraw(_, text) => Some(text),
            Self::Delete(_) => None,
        }
    }

    /// The id of the record that the request changes.
    pub(crate) fn record(&self) -> Option<&str> {
        match self {
            Self::Create(_) => None,
            Self::Update(id, _)
            | Self::Submit(id, _)
            | Self::Withdraw(id, _)
            | Self::Delete(id) => Some(id),
        }
    }

    /// The status in the request. A creation is always a draft.
    pub(crate) fn status(&self) -> Option<&'static str> {
        match self {
            Self::Create(_) | Self::Withdraw(..) => Some("DRAFT"),
            Self::Submit(..) => Some("SUBMITTED"),
            Self::Update(..) | Self::Delete(_) => None,
        }
    }

    /// The input as sent over a record: the text and its status. An unsigned text also removes the record's old signature, because the
    /// service keeps every field that an update omits, and nobody signed this text.
    pub(crate) fn sent(&self, over: Option<&Value>) -> Option<Value> {
        let text = self.text()?;
        let mut sent = text.value();
        if let Some(status) = self.status() {
            sent["status"] = json!(status);
        }
        if let Some(declaration) = self.unsigned_declaration(over) {
            sent["declaration"] = declaration;
        }
        Some(sent)
    }

    /// The `declaration` field that removes the signature of an earlier text from the record; `None`: the record has no signature to
    /// remove.
    pub(crate) fn unsigned_declaration(&self, over: Option<&Value>) -> Option<Value> {
        let text = self.text().filter(|text| !text.is_signed())?;
        over.filter(|record| has_signature(record))?;
        let mut declaration = text.value()["declaration"].take();
        if let Value::Object(fields) = &mut declaration {
            fields.insert("signature".to_owned(), Value::Null);
        }
        Some(declaration)
    }
}

/// A time until which to wait, and the time when the wait was set. If the clock was set back in between, the wait is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Due {
    pub(crate) set_at: Time,
    pub(crate) until: Time,
}

impl Due {
    /// Tolerance for the clocks of two machines, in seconds.
    const APART: Time = 60;

    pub(crate) fn after(now: Time, wait: Time) -> Self {
        Self {
            set_at: now,
            until: now.saturating_add(wait),
        }
    }

    pub(crate) fn is_ahead(self, now: Time) -> bool {
        self.set_at <= now.saturating_add(Self::APART) && now < self.until
    }
}

/// The time after which a request is not sent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Limit {
    pub(crate) at: Time,
    /// The instant as the application gave it, with fractions of a second.
    pub(crate) given: String,
}

/// How another row came to have a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Owner {
    /// The row created the record.
    Maker,
    /// The row was written to change an existing record. A creation in doubt of another row may still have created that record.
    Namer,
}

/// The state of the replica after a list was read.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Listing {
    /// The number of the list. A list that started later has a greater number.
    pub(crate) number: u64,
    /// When the list started.
    pub(crate) begun: Time,
    /// The number of the replica's last change. Records that appear later have greater numbers.
    pub(crate) last: u64,
    /// The greatest `updatedAt` that the service has shown.
    pub(crate) latest: String,
    /// The version of the replica that has this state.
    pub(crate) copy: u64,
    /// The places in the list without a readable record, as the replica names them. Each may hide a record.
    #[serde(default)]
    pub(crate) gaps: BTreeSet<String>,
}

/// A request that is under way, or may be.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Sent {
    pub(crate) request: ChangeRequest,
    /// The record, read right before the request.
    pub(crate) before: Option<ServiceRecord>,
    /// The list that was read right before a creation.
    pub(crate) listed: Listing,
}

/// Since when the service has given no usable answer, and the number of tries since.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Unanswered {
    pub(crate) since: Time,
    #[serde(rename = "looks")]
    pub(crate) tries: u32,
}

impl Unanswered {
    /// Fewer tries, or tries within less than a day, say little about the service.
    const TRIES: u32 = 3;

    pub(crate) fn from(now: Time) -> Self {
        Self {
            since: now,
            tries: 0,
        }
    }

    /// Counts one more try without an answer.
    pub(crate) fn add_try(&mut self) {
        self.tries = self.tries.saturating_add(1);
    }

    /// Whether a day has passed, with enough tries in it.
    pub(crate) fn is_over(self, now: Time) -> bool {
        self.tries >= Self::TRIES && now.saturating_sub(self.since) >= DAY
    }
}

/// Counts requests with unknown outcomes, and the searches for their effect. All zero: every outcome is known.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Doubt {
    /// Requests without a clear answer.
    pub(crate) sends: u32,
    /// Searches since the last request that found nothing.
    #[serde(rename = "looks")]
    pub(crate) searches: u32,
    /// The wait before the next search, in seconds.
    pub(crate) wait: Time,
    /// Counts from the first of these requests.
    pub(crate) unanswered: Unanswered,
}

impl Doubt {
    /// Restarts the counts of resends and of time without an answer, because the user wants to continue.
    pub(crate) fn count_from(&mut self, now: Time) {
        if self.sends > 0 {
            self.sends = 1;
            self.unanswered = Unanswered::from(now);
        }
    }

    pub(crate) fn resends(&self) -> u32 {
        self.sends.saturating_sub(1)
    }
}

/// Create requests with unknown outcomes. Each may already have, or may yet, create a record.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct UnresolvedCreates {
    pub(crate) texts: Vec<Text>,
    /// The list before the first of them.
    pub(crate) listed: Listing,
    /// The number of them whose record is not found yet.
    pub(crate) left: u32,
    /// Until then, the row continues without them, and searches for late records once an hour; `None`: the row searches for them
    /// before it continues.
    pub(crate) watched_until: Option<Time>,
}

impl UnresolvedCreates {
    /// Whether the watch still runs. Clocks may be a day apart, so up to two days are allowed: a watch that is too long costs one list
    /// an hour, but too short a watch misses duplicates.
    pub(crate) fn is_watched(&self, now: Time) -> bool {
        let is_ahead = |until: Time| (1..=2 * DAY).contains(&until.saturating_sub(now));
        self.watched_until.is_some_and(is_ahead)
    }

    /// Whether a list has gaps that were not there before the first of these creations. Such a gap may hide their record.
    pub(crate) fn may_be_hidden_in(&self, listing: &Listing) -> bool {
        !listing.gaps.is_subset(&self.listed.gaps)
    }

    /// Whether the watch ends with this list, if it shows no late record. A list with a new gap does not end it.
    pub(crate) fn ends_with(&self, listing: &Listing, now: Time) -> bool {
        !self.is_watched(now) && !self.may_be_hidden_in(listing)
    }
}

/// Consecutive reads without a usable answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct ReadFailures {
    pub(crate) reason: String,
    pub(crate) wait: Time,
    pub(crate) unanswered: Unanswered,
}

/// Why a declaration is in its state. [`Declaration::sentence`](super::Declaration::sentence) explains it in a farmer's words, and
/// [`Declaration::decisions`](super::Declaration::decisions) lists what the user can do.
///
/// See [`Declaration`](super::Declaration) for an example.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Reason {
    /// The service refused it.
    Refused,
    /// It was sent, and the service gave no clear answer.
    OutcomeUnknown,
    /// The record changed on the service since it was edited here.
    Conflict,
    /// The record is no longer a draft: it was submitted or locked.
    NotADraft,
    /// The service no longer shows the record.
    Gone,
    /// One or more records may be this declaration: see [`Declaration::candidates`](super::Declaration::candidates).
    Candidates,
    /// The reply to a request shows another record, one of the [candidates](super::Declaration::candidates).
    OtherRecord,
    /// The record that was adopted is gone, or belongs to another declaration.
    NotAdopted,
    /// The service has given no usable answer about it for a day, or after six resends.
    ServiceUnresponsive,
    /// The last answer of the service cannot be used: see [`Declaration::trouble`](super::Declaration::trouble). The outbox asks
    /// again.
    ReadFailed,
    /// Its [`not_after`](super::Outbox::not_after) has passed.
    NotAfterPassed,
    /// The day of the movement is over everywhere in Australia.
    MovementPassed,
    /// The day of the movement is not a valid day.
    MovementUnreadable,
    /// One of its forms is closed for new declarations: see `FormType::closed_from` of the SDK.
    FormRetired,
    /// The user chose to keep what the service has.
    TookTheirs,
    /// The user discarded it.
    GivenUp,
    /// The user who wrote it is not the user who is logged in: see [`Declaration::writers`](super::Declaration::writers).
    AnotherUser,
    /// Nothing is sent before the user has logged in again.
    LoginNeeded,
    /// The service could not be reached, or asked to wait. [`Declaration::trouble`](super::Declaration::trouble) names the cause, such
    /// as a refused certificate, if it is known.
    NoReception,
    /// It waits until another new declaration gets a clear answer.
    WaitsForAnother,
}

/// The name, as in JSON.
impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.serialize(f)
    }
}

/// What happened to a declaration. See [`HistoryEvent`](super::HistoryEvent).
// The aliases are the names in stores of earlier versions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum HistoryEventKind {
    /// The user wrote, edited, submitted, withdrew or deleted it.
    #[serde(alias = "wished")]
    Requested,
    /// A request may be under way from now on.
    #[serde(alias = "marked")]
    SendStarted,
    /// The service carried the request out.
    Applied,
    /// The service refused the request.
    Refused,
    /// The request did not reach the service.
    NotSent,
    /// The request has no clear answer.
    #[serde(alias = "doubt")]
    OutcomeUnknown,
    /// A search did not find the record.
    Absent,
    /// A read had no usable answer.
    #[serde(alias = "unclear")]
    ReadFailed,
    /// The user was asked.
    Asked,
    /// Late duplicates were found and reported.
    #[serde(alias = "told")]
    Reported,
    /// The search for late duplicates ended.
    WatchOver,
    /// The user who wrote it logged in again.
    WriterReturned,
    /// The user answered a question.
    Decided,
}

/// The name, as in JSON.
impl fmt::Display for HistoryEventKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.serialize(f)
    }
}

/// A question to the user, with its evidence.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) enum Question {
    /// Another user changed the record: its state when it was read.
    Changed(ServiceRecord),
    /// The record is submitted or locked: its state when it was read.
    NotADraft(ServiceRecord),
    Gone,
    /// These records may be the declaration.
    Candidates(Vec<String>),
    /// The reply to a request shows this record.
    OtherRecord(String),
    /// The user adopted this record, but it is gone or belongs to another row.
    NotAdopted(String),
    /// The day, form or time that is too late, and the reason.
    Late(Reason, String),
    #[serde(alias = "ServiceUnresponsive")]
    ServiceUnresponsive,
    /// These users wrote it, and another user is logged in.
    AnotherUser(String),
}

impl Question {
    pub(crate) fn reason(&self) -> Reason {
        match self {
            Self::Changed(_) => Reason::Conflict,
            Self::NotADraft(_) => Reason::NotADraft,
            Self::Gone => Reason::Gone,
            Self::Candidates(_) => Reason::Candidates,
            Self::OtherRecord(_) => Reason::OtherRecord,
            Self::NotAdopted(_) => Reason::NotAdopted,
            Self::Late(reason, _) => *reason,
            Self::ServiceUnresponsive => Reason::ServiceUnresponsive,
            Self::AnotherUser(_) => Reason::AnotherUser,
        }
    }

    /// The records that may be the declaration.
    pub(crate) fn candidates(&self) -> &[String] {
        match self {
            Self::Candidates(records) => records,
            Self::OtherRecord(record) | Self::NotAdopted(record) => slice::from_ref(record),
            _ => &[],
        }
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) enum RowState {
    /// The next request is due at this time; while an earlier one is in doubt, the next search for its effect is. `None`: now.
    Open {
        next_at: Option<Due>,
    },
    Sending,
    Confirmed,
    Refused,
    Asked(Question),
    Discarded,
}

impl Default for RowState {
    fn default() -> Self {
        Self::Open { next_at: None }
    }
}

/// Exceptions that the user has agreed to.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Agreed {
    /// Days, forms and limits that have passed, and are sent anyway.
    pub(crate) late: BTreeSet<String>,
    /// This state of the record may be changed although it is not a draft.
    pub(crate) not_draft: Option<Value>,
    /// Records that are not this declaration.
    pub(crate) not: BTreeSet<String>,
    /// The record, which was gone, is created again unless the next read finds it.
    #[serde(default)]
    pub(crate) gone: bool,
    /// Records that the user edited while a creation that may have created them was being sent. If its outcome stays unknown, the user
    /// is asked about them.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub(crate) edited: BTreeSet<String>,
}

/// An event in the history of a row, for display.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Happened {
    pub(crate) at: Time,
    pub(crate) event: HistoryEventKind,
    pub(crate) why: String,
}

/// Data that only screens need.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct ForScreen {
    pub(crate) created_at: Time,
    /// The number of the record.
    pub(crate) number: Option<String>,
    /// The number of requests sent.
    pub(crate) attempts: u64,
    /// The record was found by a search, not named in a reply.
    pub(crate) is_adopted: bool,
    /// The errors in the service's last answer.
    pub(crate) findings: Vec<Value>,
}

/// The application's key of a declaration.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct CallerKey {
    pub(crate) name: String,
    /// The text of the last call with this key. A call with the same text repeats it, and is not an edit.
    pub(crate) text: Text,
    pub(crate) is_submitted: bool,
}

impl CallerKey {
    /// Whether `call` asks for nothing beyond this earlier call with the same key.
    pub(crate) fn is_repeated_by(&self, call: &Self) -> bool {
        self.text == call.text && (self.is_submitted || !call.is_submitted)
    }
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Row {
    pub(crate) id: u64,
    #[serde(default)]
    pub(crate) key: Option<CallerKey>,
    /// The users who wrote the current intent; empty: unknown, and not checked.
    #[serde(default)]
    pub(crate) writers: BTreeSet<String>,
    pub(crate) record: Option<String>,
    /// The row was written for an existing record, and created none.
    pub(crate) is_named: bool,
    #[serde(rename = "wish")]
    pub(crate) desired: Desired,
    /// An earlier intent that is sent first. One of the two texts is signed, so they cannot be merged.
    pub(crate) first: Option<Desired>,
    pub(crate) base: Option<Base>,
    /// The `updatedAt` that the local copy showed when the user asked for a delete.
    pub(crate) seen_at: Option<String>,
    /// No request is sent after this time.
    pub(crate) not_after: Option<Limit>,
    pub(crate) state: RowState,
    pub(crate) sent: Option<Sent>,
    pub(crate) lost: Option<UnresolvedCreates>,
    pub(crate) doubt: Doubt,
    #[serde(rename = "unclear")]
    pub(crate) read_failures: Option<ReadFailures>,
    /// The record that the user named as this declaration.
    pub(crate) adopt: Option<String>,
    /// The list at the time this row was written.
    pub(crate) known: Listing,
    /// Only a list with a greater number can answer what the row waits for.
    pub(crate) listed: u64,
    pub(crate) agreed: Agreed,
    /// Late duplicates that were reported.
    pub(crate) duplicates: Vec<String>,
    pub(crate) history: Vec<Happened>,
    pub(crate) shown: ForScreen,
}

impl Row {
    /// A row for a new declaration, or for a change of `record`. An event then sets the intent.
    pub(crate) fn new(id: u64, record: Option<String>, known: Listing, begun: u64) -> Self {
        Self {
            id,
            is_named: record.is_some(),
            record,
            known,
            listed: begun,
            ..Self::default()
        }
    }

    /// The intent that is sent next.
    pub(crate) fn next_desired(&self) -> &Desired {
        self.first.as_ref().unwrap_or(&self.desired)
    }

    /// The next request towards the intent.
    pub(crate) fn next_request(&self) -> Option<ChangeRequest> {
        let desired = self.next_desired();
        let Some(id) = self.record.clone() else {
            return desired.text().cloned().map(ChangeRequest::Create);
        };
        Some(match desired.clone() {
            Desired::Save(text) => ChangeRequest::Update(id, text),
            Desired::Submit(text) => ChangeRequest::Submit(id, text),
            Desired::Withdraw(text) => ChangeRequest::Withdraw(id, text),
            Desired::Delete => ChangeRequest::Delete(id),
        })
    }

    /// Whether the record may be submitted, as far as this row knows.
    pub(crate) fn may_be_submitted(&self) -> bool {
        let sent = self.sent.as_ref().map(|sent| &sent.request);
        let is_confirmed = self.base.as_ref().and_then(Base::status) == Some("SUBMITTED");
        is_confirmed || matches!(sent, Some(ChangeRequest::Submit(..)))
    }

    /// Whether the record belongs to this row, or will once it is read and adopted.
    pub(crate) fn is_about(&self, record: &str) -> bool {
        let names = [&self.record, &self.adopt];
        self.state != RowState::Discarded && names.into_iter().flatten().any(|name| name == record)
    }

    /// The records that belong to the row, or may. Reported duplicates are left out: each may have a row of its own by now.
    pub(crate) fn records(&self) -> impl Iterator<Item = &String> {
        self.record.iter().chain(&self.adopt)
    }

    /// How this row came to have the record; `None`: it does not have it. With `is_listed`, a record that a discarded row created
    /// counts too. The user may still adopt it.
    pub(crate) fn owner(&self, record: &str, is_listed: bool) -> Option<Owner> {
        let is_about = self.is_about(record);
        let is_its_own = is_about || is_listed && self.record.as_deref() == Some(record);
        if is_its_own && !self.is_named || self.duplicates.iter().any(|one| one == record) {
            return Some(Owner::Maker);
        }
        is_about.then_some(Owner::Namer)
    }

    /// The candidates of the row's question.
    pub(crate) fn candidates(&self) -> &[String] {
        match &self.state {
            RowState::Asked(question) => question.candidates(),
            _ => &[],
        }
    }

    /// The writers of the current intent other than the user who is logged in.
    pub(crate) fn other_writers(&self, user: Option<&str>) -> Option<String> {
        let others = self
            .writers
            .iter()
            .filter(|one| user.is_some_and(|user| *one != user));
        let others: Vec<&str> = others.map(String::as_str).collect();
        (!others.is_empty()).then(|| others.join(", "))
    }

    /// Whether the row is confirmed or discarded.
    pub(crate) fn is_over(&self) -> bool {
        matches!(self.state, RowState::Confirmed | RowState::Discarded)
    }

    /// Whether the row needs nothing more, unless the user changes something.
    pub(crate) fn is_at_rest(&self) -> bool {
        // A watch ends with its last search, which reports late records, and not at a time.
        self.is_over() && self.watched().is_none()
    }

    /// The creations that the row continues without, and searches for once an hour.
    pub(crate) fn watched(&self) -> Option<&UnresolvedCreates> {
        let lost = self.lost.as_ref();
        lost.filter(|lost| lost.watched_until.is_some())
    }

    /// Whether a creation of the row may still be carried out.
    pub(crate) fn is_expecting(&self) -> bool {
        self.lost.is_some() || self.sent.is_some()
    }

    /// The number of the replica's change after which a record that the row waits for may have appeared.
    pub(crate) fn needs_since(&self) -> Option<u64> {
        let lost = self.lost.iter().map(|lost| &lost.listed);
        let sent = self.sent.iter().filter(|sent| sent.before.is_none());
        let listed = lost.chain(sent.map(|sent| &sent.listed));
        let known = Some(&self.known).filter(|_| self.record.is_none());
        listed.chain(known).map(|listed| listed.last).min()
    }

    /// Whether the row searches for a creation with an unknown outcome before it continues.
    pub(crate) fn is_creation_in_doubt(&self) -> bool {
        let is_searched_for = |lost: &UnresolvedCreates| lost.watched_until.is_none();
        self.lost.as_ref().is_some_and(is_searched_for)
    }

    /// Whether an earlier request may still be carried out, although none is being sent now.
    pub(crate) fn is_in_doubt(&self) -> bool {
        self.sent.is_some() || self.is_creation_in_doubt()
    }

    /// The texts that a new record may have been created from, and the list to compare with: the one before the first of them was
    /// sent, or before the row was written.
    pub(crate) fn searched_for(&self) -> (impl DoubleEndedIterator<Item = &Text>, &Listing) {
        let is_in_doubt = self.is_creation_in_doubt();
        let lost = self.lost.iter();
        let wanted = self.next_desired().text().filter(|_| !is_in_doubt);
        let since = lost.clone().find(|_| is_in_doubt);
        let texts = lost.flat_map(|lost| &lost.texts).chain(wanted);
        (texts, since.map_or(&self.known, |lost| &lost.listed))
    }

    /// The texts to search the replica for before a creation, and the number of the change to start after. After an edit in doubt, an
    /// older record may already have the wanted text, so the search may start before the request in doubt.
    pub(crate) fn searched(&self) -> (impl Iterator<Item = &Text>, u64) {
        let lost = self.lost.iter().flat_map(|lost| &lost.texts);
        let texts = lost.chain(self.next_desired().text());
        (texts, self.searched_for().1.last.min(self.known.last))
    }

    /// The texts of creations that may still be carried out.
    pub(crate) fn on_their_way(&self) -> impl Iterator<Item = &Text> {
        let sent = self.sent.iter().filter_map(|sent| match &sent.request {
            ChangeRequest::Create(text) => Some(text),
            _ => None,
        });
        self.lost.iter().flat_map(|lost| &lost.texts).chain(sent)
    }

    /// Sets the reason of the last event in the history.
    pub(crate) fn explain(&mut self, why: &str) {
        if let Some(last) = self.history.last_mut() {
            why.clone_into(&mut last.why);
        }
    }
}
