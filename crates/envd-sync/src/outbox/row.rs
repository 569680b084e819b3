//! One row a declaration: what is wanted of the service, and what is known of it.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::{Duration, SystemTime};
use std::{fmt, slice};

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::compare::{Base, ServiceRecord};

/// In seconds since 1970, on the clock of the process.
pub(crate) type Time = u64;

pub(crate) fn time_of(at: Time) -> SystemTime {
    // The last day that an instant of RFC 3339 can have: what is due later never comes.
    let at = Duration::from_secs(at.min(253_402_300_799));
    let at = SystemTime::UNIX_EPOCH.checked_add(at);
    at.unwrap_or(SystemTime::UNIX_EPOCH)
}

pub(crate) const DAY: Time = 24 * 60 * 60;

/// How many events the history of a row holds.
pub(crate) const HISTORY: usize = 100;

/// The text of a declaration as it was given: JSON without a status.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct Text(pub(crate) Arc<str>);

impl Text {
    pub(crate) fn new(value: &Value) -> Self {
        Self(value.to_string().into())
    }

    pub(crate) fn value(&self) -> Value {
        serde_json::from_str(&self.0).unwrap_or_default()
    }

    /// Whether the user signed it: a signed text is sent as it is, or not at all.
    pub(crate) fn is_signed(&self) -> bool {
        has_signature(&self.value())
    }

    /// Whether a record can be made of it alone.
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

/// What a person wants of the service.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Wish {
    /// This text; a record that is there keeps its status.
    Save(Text),
    /// A submitted declaration with this text.
    Submit(Text),
    /// What was submitted becomes a draft again, with this text.
    Withdraw(Text),
    /// Nothing there.
    #[default]
    Delete,
}

impl Wish {
    pub(crate) fn text(&self) -> Option<&Text> {
        match self {
            Self::Save(text) | Self::Submit(text) | Self::Withdraw(text) => Some(text),
            Self::Delete => None,
        }
    }

    /// Whether the service has what is wanted once it has carried this request out.
    pub(crate) fn is_met_by(&self, request: &ChangeRequest) -> bool {
        match (self, request) {
            (Self::Save(wish), ChangeRequest::Create(text) | ChangeRequest::Update(_, text))
            | (Self::Submit(wish), ChangeRequest::Submit(_, text))
            | (Self::Withdraw(wish), ChangeRequest::Withdraw(_, text)) => wish == text,
            (Self::Delete, ChangeRequest::Delete(_)) => true,
            _ => false,
        }
    }
}

/// A change that is sent.
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

    /// The record that it changes.
    pub(crate) fn record(&self) -> Option<&str> {
        match self {
            Self::Create(_) => None,
            Self::Update(id, _)
            | Self::Submit(id, _)
            | Self::Withdraw(id, _)
            | Self::Delete(id) => Some(id),
        }
    }

    /// The status that is sent. A creation is always a draft.
    pub(crate) fn status(&self) -> Option<&'static str> {
        match self {
            Self::Create(_) | Self::Withdraw(..) => Some("DRAFT"),
            Self::Submit(..) => Some("SUBMITTED"),
            Self::Update(..) | Self::Delete(_) => None,
        }
    }

    /// The text with its status, as it is sent over a record. An unsigned text also removes a signature that stands there: the
    /// service keeps what an update does not mention, and nobody has signed this text.
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

    /// The declaration part that removes the signature of an earlier text from the record; `None`: there is none to remove.
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

/// A moment, and when it was set: if the clock was set back since, it has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Due {
    pub(crate) set_at: Time,
    pub(crate) until: Time,
}

impl Due {
    /// The clocks of two machines may be so far apart.
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

/// An instant after which a request is not sent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Limit {
    pub(crate) at: Time,
    /// As it was given, with parts of a second.
    pub(crate) given: String,
}

/// Which row a record belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Owner {
    /// A row that made it.
    Maker,
    /// A row that began with the record: a creation in doubt may have made it all the same.
    Namer,
}

/// What was listed at some time.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Listing {
    /// The number of the list. One with a greater number was begun later.
    pub(crate) number: u64,
    /// When it was begun.
    pub(crate) begun: Time,
    /// The sequence number of the last record that was listed for the first time.
    pub(crate) last: u64,
    /// The greatest `updatedAt` that the service has shown.
    pub(crate) latest: String,
    /// The version of the copy in which that is.
    pub(crate) copy: u64,
    /// The places of the list without a readable record, by the names that the replica gives them: any of them may hide a record.
    #[serde(default)]
    pub(crate) gaps: BTreeSet<String>,
}

/// What is under way, or may be.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Sent {
    pub(crate) request: ChangeRequest,
    /// The record that was read right before.
    pub(crate) before: Option<ServiceRecord>,
    /// What was listed right before a creation.
    pub(crate) listed: Listing,
}

/// How long the service has been asked in vain: since when, and how often.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Unanswered {
    pub(crate) since: Time,
    pub(crate) looks: u32,
}

impl Unanswered {
    /// Looks that are closer together than a day, or a day with fewer looks, say little about the service.
    const LOOKS: u32 = 3;

    pub(crate) fn from(now: Time) -> Self {
        Self {
            since: now,
            looks: 0,
        }
    }

    /// One more look without an answer.
    pub(crate) fn look(&mut self) {
        self.looks = self.looks.saturating_add(1);
    }

    /// Whether a day has passed, with enough looks in it.
    pub(crate) fn is_over(self, now: Time) -> bool {
        self.looks >= Self::LOOKS && now.saturating_sub(self.since) >= DAY
    }
}

/// How often requests were sent whose outcome is unknown, and what was looked for; none: the outcome of each is known.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Doubt {
    /// How many requests got no clear answer.
    pub(crate) sends: u32,
    /// Looks since the last request that found nothing.
    pub(crate) looks: u32,
    /// How long the next look waits.
    pub(crate) wait: Time,
    /// Since the first of these requests.
    pub(crate) unanswered: Unanswered,
}

impl Doubt {
    /// A person wants it to go on: the resends and the time without an answer count from now on.
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

/// Creations that nothing explains: each may have made a record, or still make one.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Lost {
    pub(crate) texts: Vec<Text>,
    /// What was listed before the first of them.
    pub(crate) listed: Listing,
    /// How many of them nothing explains.
    pub(crate) left: u32,
    /// The row goes on without them, and looks each hour until then for what arrives; `None`: it looks for them before it goes on.
    pub(crate) watched_until: Option<Time>,
}

impl Lost {
    /// What is watched too long costs a list an hour, what is not watched is never reported: clocks may be a day apart.
    pub(crate) fn is_watched(&self, now: Time) -> bool {
        let is_ahead = |until: Time| (1..=2 * DAY).contains(&until.saturating_sub(now));
        self.watched_until.is_some_and(is_ahead)
    }

    /// Whether a list has gaps that it did not have before the first of these creations: one of them may hide a record.
    pub(crate) fn may_be_hidden_in(&self, listing: &Listing) -> bool {
        !listing.gaps.is_subset(&self.listed.gaps)
    }

    /// Whether the watch ends with a look that found nothing in this list. A list with a new gap is no such look.
    pub(crate) fn ends_with(&self, listing: &Listing, now: Time) -> bool {
        !self.is_watched(now) && !self.may_be_hidden_in(listing)
    }
}

/// Answers to reads that could not be used, in a row.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Unclear {
    pub(crate) reason: String,
    pub(crate) wait: Time,
    pub(crate) unanswered: Unanswered,
}

/// Why a declaration is in its state. [`Declaration::sentence`](super::Declaration::sentence) says it in a farmer's words, and
/// [`Declaration::decisions`](super::Declaration::decisions) what can be done.
///
/// See [`Declaration`](super::Declaration) for an example.
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
    /// The record is no draft any more: it was submitted or locked.
    NotADraft,
    /// The service does not show the record any more.
    Gone,
    /// One record or several may be the declaration: see [`Declaration::candidates`](super::Declaration::candidates).
    Candidates,
    /// The reply to a request shows another record, one of the [candidates](super::Declaration::candidates).
    OtherRecord,
    /// The record that was adopted is gone, or belongs to another declaration.
    NotAdopted,
    /// For a day, or after six more requests, the service has given no usable answer about it.
    NoUsableAnswer,
    /// The last answer of the service cannot be used: see [`Declaration::trouble`](super::Declaration::trouble). The service is asked
    /// again.
    Unclear,
    /// Its [`not_after`](super::Outbox::not_after) has passed.
    NotAfterPassed,
    /// The day of the movement is over everywhere in Australia.
    MovementPassed,
    /// The day of the movement cannot be read.
    MovementUnreadable,
    /// A form of it cannot be created any more: see `FormType::closed_from` of the SDK.
    FormRetired,
    /// A person kept what the service has.
    TookTheirs,
    /// A person gave it up.
    GivenUp,
    /// Another user wrote it than the one who is logged in: see [`Declaration::writers`](super::Declaration::writers).
    AnotherUser,
    /// Nothing is sent before the user has logged in again.
    LoginNeeded,
    /// The service could not be reached, or asked to wait. [`Declaration::trouble`](super::Declaration::trouble) has the cause, such as
    /// a certificate that is refused, if it is known.
    NoReception,
    /// Another new declaration has no clear answer yet.
    WaitsForAnother,
}

/// The name, as in JSON.
impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.serialize(f)
    }
}

/// What a person is asked, and about what.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) enum Question {
    /// Somebody changed the record, which was read so.
    Changed(ServiceRecord),
    /// The record, which was read so, is submitted or locked.
    NotADraft(ServiceRecord),
    Gone,
    /// These records may be the declaration.
    Candidates(Vec<String>),
    /// The reply to a request shows this record.
    OtherRecord(String),
    /// This record was adopted, and is gone or belongs to another row.
    NotAdopted(String),
    /// The day, form or instant that is too late, and why.
    Late(Reason, String),
    NoUsableAnswer,
    /// These users wrote it, and another one is logged in.
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
            Self::NoUsableAnswer => Reason::NoUsableAnswer,
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
    /// Something is to be sent, or looked for if it is in doubt; not before then.
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

/// What a person has agreed to.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Agreed {
    /// What may be sent although it is late.
    pub(crate) late: BTreeSet<String>,
    /// This record, as it is here, is changed although it is no draft.
    pub(crate) not_draft: Option<Value>,
    /// Records that are not the declaration.
    pub(crate) not: BTreeSet<String>,
}

/// What happened to a row, for showing.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Happened {
    pub(crate) at: Time,
    pub(crate) event: String,
    pub(crate) why: String,
}

/// What only a screen needs.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct ForScreen {
    pub(crate) created_at: Time,
    /// The number of the record.
    pub(crate) number: Option<String>,
    /// How many requests were sent.
    pub(crate) attempts: u64,
    /// The record was found after its reply was lost.
    pub(crate) is_adopted: bool,
    /// The errors of the service in its last answer.
    pub(crate) findings: Vec<Value>,
}

/// The key that the application gave a declaration.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct CallerKey {
    pub(crate) name: String,
    /// What the last call with this key wrote. The same again is a repeated call, and no edit.
    pub(crate) text: Text,
    pub(crate) is_submitted: bool,
}

impl CallerKey {
    /// Whether a call wants nothing beyond what the call before it with this key wanted.
    pub(crate) fn is_repeated_by(&self, call: &Self) -> bool {
        self.text == call.text && (self.is_submitted || !call.is_submitted)
    }
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Row {
    pub(crate) id: u64,
    #[serde(default)]
    pub(crate) key: Option<CallerKey>,
    /// The users who wrote what is wanted now; none: that is not known, and not checked.
    #[serde(default)]
    pub(crate) writers: BTreeSet<String>,
    pub(crate) record: Option<String>,
    /// The row began with a record of the service, and made none.
    pub(crate) is_named: bool,
    pub(crate) wish: Wish,
    /// An earlier wish that is met before this one: the text of one of both is signed, so they cannot be merged.
    pub(crate) first: Option<Wish>,
    pub(crate) base: Option<Base>,
    /// The `updatedAt` that the copy showed when a delete was wished.
    pub(crate) seen_at: Option<String>,
    /// The request is not sent after this instant.
    pub(crate) not_after: Option<Limit>,
    pub(crate) state: RowState,
    pub(crate) sent: Option<Sent>,
    pub(crate) lost: Option<Lost>,
    pub(crate) doubt: Doubt,
    pub(crate) unclear: Option<Unclear>,
    /// The record that a person says is the declaration.
    pub(crate) adopt: Option<String>,
    /// What was listed when the row was written.
    pub(crate) known: Listing,
    /// Only a list with a greater number shows what the row waits for.
    pub(crate) listed: u64,
    pub(crate) agreed: Agreed,
    /// Late duplicates that were reported.
    pub(crate) duplicates: Vec<String>,
    pub(crate) history: Vec<Happened>,
    pub(crate) shown: ForScreen,
}

impl Row {
    /// A new declaration, or one about a record of the service. What is wanted of it is an event.
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

    /// What is wanted next.
    pub(crate) fn next_wish(&self) -> &Wish {
        self.first.as_ref().unwrap_or(&self.wish)
    }

    /// The one request that brings the service nearer to the wish.
    pub(crate) fn next_request(&self) -> Option<ChangeRequest> {
        let wish = self.next_wish();
        let Some(id) = self.record.clone() else {
            return wish.text().cloned().map(ChangeRequest::Create);
        };
        Some(match wish.clone() {
            Wish::Save(text) => ChangeRequest::Update(id, text),
            Wish::Submit(text) => ChangeRequest::Submit(id, text),
            Wish::Withdraw(text) => ChangeRequest::Withdraw(id, text),
            Wish::Delete => ChangeRequest::Delete(id),
        })
    }

    /// Whether the service may have the declaration as submitted, for all that is known here.
    pub(crate) fn may_be_submitted(&self) -> bool {
        let sent = self.sent.as_ref().map(|sent| &sent.request);
        let is_confirmed = self.base.as_ref().and_then(Base::status) == Some("SUBMITTED");
        is_confirmed || matches!(sent, Some(ChangeRequest::Submit(..)))
    }

    /// Whether a record belongs to this row, or will as soon as it is read.
    pub(crate) fn is_about(&self, record: &str) -> bool {
        let names = [&self.record, &self.adopt];
        self.state != RowState::Discarded && names.into_iter().flatten().any(|name| name == record)
    }

    /// The records that are, or may become, those of the row. What it reported may be that of a row of its own by now.
    pub(crate) fn records(&self) -> impl Iterator<Item = &String> {
        self.record.iter().chain(&self.adopt)
    }

    /// Whose a record is, if it is of this row. `is_listed`: what a discarded row made counts as well. A person may adopt it all the
    /// same.
    pub(crate) fn owner(&self, record: &str, is_listed: bool) -> Option<Owner> {
        let is_about = self.is_about(record);
        let is_its_own = is_about || is_listed && self.record.as_deref() == Some(record);
        if is_its_own && !self.is_named || self.duplicates.iter().any(|one| one == record) {
            return Some(Owner::Maker);
        }
        is_about.then_some(Owner::Namer)
    }

    /// The records that may be the declaration, if that is the question.
    pub(crate) fn candidates(&self) -> &[String] {
        match &self.state {
            RowState::Asked(question) => question.candidates(),
            _ => &[],
        }
    }

    /// The other users who wrote what is wanted, if this one is logged in.
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

    /// Whether nothing is done about the row any more, unless a person wants something.
    pub(crate) fn is_at_rest(&self) -> bool {
        // A watch ends with its last look, which tells what has arrived, and not by the clock.
        self.is_over() && self.watched().is_none()
    }

    /// The creations that the row goes on without, and looks for each hour.
    pub(crate) fn watched(&self) -> Option<&Lost> {
        let lost = self.lost.as_ref();
        lost.filter(|lost| lost.watched_until.is_some())
    }

    /// Whether a creation of the row may be on its way.
    pub(crate) fn is_expecting(&self) -> bool {
        self.lost.is_some() || self.sent.is_some()
    }

    /// The last record that was listed before what the row waits for may have appeared.
    pub(crate) fn needs_since(&self) -> Option<u64> {
        let lost = self.lost.iter().map(|lost| &lost.listed);
        let sent = self.sent.iter().filter(|sent| sent.before.is_none());
        let listed = lost.chain(sent.map(|sent| &sent.listed));
        let known = Some(&self.known).filter(|_| self.record.is_none());
        listed.chain(known).map(|listed| listed.last).min()
    }

    /// Whether the row looks for a creation that nothing explains before it goes on.
    pub(crate) fn is_creation_in_doubt(&self) -> bool {
        let is_looked_for = |lost: &Lost| lost.watched_until.is_none();
        self.lost.as_ref().is_some_and(is_looked_for)
    }

    /// Whether something may be under way, while nothing is being sent.
    pub(crate) fn is_in_doubt(&self) -> bool {
        self.sent.is_some() || self.is_creation_in_doubt()
    }

    /// The texts of which a record that appears may be made, and what was listed before the first of them was sent, or before the
    /// row was written.
    pub(crate) fn looked_for(&self) -> (impl DoubleEndedIterator<Item = &Text>, &Listing) {
        let is_in_doubt = self.is_creation_in_doubt();
        let lost = self.lost.iter();
        let wanted = self.next_wish().text().filter(|_| !is_in_doubt);
        let since = lost.clone().find(|_| is_in_doubt);
        let texts = lost.flat_map(|lost| &lost.texts).chain(wanted);
        (texts, since.map_or(&self.known, |lost| &lost.listed))
    }

    /// What the copy is searched for before a creation: records that may be made of one of these texts, and were listed after this
    /// change. An edit in doubt may want the text of a record that was listed before the request that is in doubt.
    pub(crate) fn searched(&self) -> (impl Iterator<Item = &Text>, u64) {
        let lost = self.lost.iter().flat_map(|lost| &lost.texts);
        let texts = lost.chain(self.next_wish().text());
        (texts, self.looked_for().1.last.min(self.known.last))
    }

    /// The texts of creations that may be on their way.
    pub(crate) fn on_their_way(&self) -> impl Iterator<Item = &Text> {
        let sent = self.sent.iter().filter_map(|sent| match &sent.request {
            ChangeRequest::Create(text) => Some(text),
            _ => None,
        });
        self.lost.iter().flat_map(|lost| &lost.texts).chain(sent)
    }

    /// Why the last event happened, for its history.
    pub(crate) fn explain(&mut self, why: &str) {
        if let Some(last) = self.history.last_mut() {
            why.clone_into(&mut last.why);
        }
    }
}
