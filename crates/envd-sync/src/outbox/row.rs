//! One row a declaration: what is wanted of the service, and what is known of it.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::compare::{Base, Record};

/// In seconds since 1970, on the clock of the process.
pub(crate) type Time = u64;

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
        let signature = &self.value()["declaration"]["signature"];
        signature
            .as_str()
            .is_some_and(|text| !text.trim().is_empty())
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

/// What a person wants of the service.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Wish {
    /// A draft with this text.
    Save(Text),
    /// A submitted declaration with this text.
    Submit(Text),
    /// Nothing there.
    Delete,
}

impl Wish {
    pub(crate) fn text(&self) -> Option<&Text> {
        match self {
            Self::Save(text) | Self::Submit(text) => Some(text),
            Self::Delete => None,
        }
    }
}

/// A change that is sent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Request {
    Create(Text),
    Update(String, Text),
    Submit(String, Text),
    Delete(String),
}

impl Request {
    pub(crate) fn text(&self) -> Option<&Text> {
        match self {
            Self::Create(text) | Self::Update(_, text) | Self::Submit(_, text) => Some(text),
            Self::Delete(_) => None,
        }
    }

    /// The record that it changes.
    pub(crate) fn record(&self) -> Option<&str> {
        match self {
            Self::Create(_) => None,
            Self::Update(id, _) | Self::Submit(id, _) | Self::Delete(id) => Some(id),
        }
    }

    /// The text with its status. A creation is always a draft.
    pub(crate) fn sent(&self) -> Option<Value> {
        let mut sent = self.text()?.value();
        sent["status"] = match self {
            Self::Submit(..) => json!("SUBMITTED"),
            _ => json!("DRAFT"),
        };
        Some(sent)
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
}

/// What is under way, or may be.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Sent {
    pub(crate) request: Request,
    /// The record that was read right before.
    pub(crate) before: Option<Record>,
    /// What was listed right before a creation.
    pub(crate) listed: Listing,
}

/// Requests that nothing explains yet. The counts start with the first of them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Doubt {
    /// The texts of creations.
    pub(crate) texts: Vec<Text>,
    /// What was listed before the first creation.
    pub(crate) listed: Listing,
    pub(crate) resends: u32,
    /// Looks since the last request that found nothing.
    pub(crate) looks: u32,
    /// How long the next look waits.
    pub(crate) wait: Time,
    /// The sum of the waits that ended in a look: time without reception does not count, nor does a clock that is set.
    pub(crate) waited: Time,
}

/// Creations that may still arrive although the row goes on without them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Watch {
    pub(crate) texts: Vec<Text>,
    pub(crate) listed: Listing,
    /// How many records may still arrive.
    pub(crate) left: u32,
    pub(crate) until: Due,
}

/// Answers to reads that could not be used, in a row.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Unclear {
    pub(crate) reason: String,
    pub(crate) wait: Time,
    pub(crate) waited: Time,
}

/// What a person is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) enum Reason {
    /// Somebody changed the record.
    Changed,
    /// The record is submitted or locked.
    NotADraft,
    Gone,
    /// These records may be the declaration.
    Candidates,
    NotAfterPassed,
    MovementPassed,
    MovementUnreadable,
    FormRetired,
    NoUsableAnswer,
    /// The reply to a request shows another record.
    OtherRecord,
    /// The adopted record is gone or belongs to another row.
    NotAdopted,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) enum State {
    Queued {
        next_at: Option<Due>,
    },
    Sending,
    InDoubt {
        next_at: Option<Due>,
    },
    Confirmed,
    Refused {
        findings: Vec<Value>,
    },
    Asked {
        reason: Reason,
        /// The record as it was read.
        read: Option<Record>,
        candidates: Vec<String>,
        /// What is too late.
        late: Option<String>,
    },
    Discarded,
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

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Row {
    pub(crate) id: u64,
    pub(crate) record: Option<String>,
    /// The row began with a record of the service, and made none.
    pub(crate) is_named: bool,
    pub(crate) wish: Wish,
    /// A text that goes before the wish: one of both is signed, so they cannot be merged.
    pub(crate) first: Option<Text>,
    pub(crate) base: Option<Base>,
    /// The `updatedAt` that the copy showed when a delete was wished.
    pub(crate) seen_at: Option<String>,
    /// The request is not sent after this instant.
    pub(crate) not_after: Option<Time>,
    pub(crate) state: State,
    pub(crate) sent: Option<Sent>,
    pub(crate) doubt: Option<Doubt>,
    pub(crate) unclear: Option<Unclear>,
    /// The record that a person says is the declaration.
    pub(crate) adopt: Option<String>,
    /// What was listed when the row was written.
    pub(crate) known: Listing,
    /// Only a list with a greater number shows what the row waits for.
    pub(crate) listed: u64,
    pub(crate) agreed: Agreed,
    pub(crate) watch: Option<Watch>,
    /// Late duplicates that were reported.
    pub(crate) duplicates: Vec<String>,
    pub(crate) history: Vec<Happened>,
}

impl Row {
    /// A new declaration, or one about a record of the service as the person saw it.
    pub(crate) fn new(
        id: u64,
        wish: Wish,
        record: Option<&Record>,
        known: Listing,
        begun: u64,
    ) -> Self {
        Self {
            id,
            record: record.map(|record| record.id.clone()),
            is_named: record.is_some(),
            wish,
            first: None,
            base: record.map(|record| Base::shown(&record.fields)),
            seen_at: None,
            not_after: None,
            state: State::Queued { next_at: None },
            sent: None,
            doubt: None,
            unclear: None,
            adopt: None,
            known,
            listed: begun,
            agreed: Agreed::default(),
            watch: None,
            duplicates: Vec::new(),
            history: Vec::new(),
        }
    }

    /// The one request that brings the service nearer to the wish.
    pub(crate) fn next_request(&self) -> Option<Request> {
        let text = self.first.as_ref().or(self.wish.text());
        match (&self.record, text) {
            (None, text) => text.cloned().map(Request::Create),
            (Some(id), None) => Some(Request::Delete(id.clone())),
            (Some(id), Some(text)) => Some(match (&self.wish, &self.first) {
                (Wish::Submit(_), None) => Request::Submit(id.clone(), text.clone()),
                _ => Request::Update(id.clone(), text.clone()),
            }),
        }
    }

    /// Whether nothing is wanted beyond a request that was applied.
    pub(crate) fn is_met(&self, applied: &Request) -> bool {
        let is_last = self.first.is_none();
        is_last
            && match (&self.wish, applied) {
                (Wish::Save(wish), Request::Create(text) | Request::Update(_, text))
                | (Wish::Submit(wish), Request::Submit(_, text)) => wish == text,
                (Wish::Delete, Request::Delete(_)) => true,
                _ => false,
            }
    }

    /// Whether a record belongs to this row, or will as soon as it is read.
    pub(crate) fn is_about(&self, record: &str) -> bool {
        let names = [&self.record, &self.adopt];
        self.state != State::Discarded && names.into_iter().flatten().any(|name| name == record)
    }

    /// Whether a creation has no explanation, and no record is known.
    pub(crate) fn is_creation_in_doubt(&self) -> bool {
        let has_texts = |doubt: &Doubt| !doubt.texts.is_empty();
        self.record.is_none() && self.doubt.as_ref().is_some_and(has_texts)
    }

    /// The state of a row that goes on.
    pub(crate) fn resumed(&self) -> State {
        if self.sent.is_some() || self.is_creation_in_doubt() {
            State::InDoubt { next_at: None }
        } else {
            State::Queued { next_at: None }
        }
    }
}
