//! What the store keeps of the outbox.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::compare::{Compared, Conflict, ServiceFields, compare, is_unchanged, overlaid};
use super::entry::{Attempt, Entry, EntryId, EntryKind, EntryState, Reason};
use super::input_text::InputText;
use crate::error::Error;
use crate::model::{ConsignmentId, ConsignmentNumber, ConsignmentStatus, ServerError, Timestamp};

/// The format of the documents. What a lost reply leaves, and what a list shows, was written in another way before.
pub(super) const FORMAT: u32 = 2;

/// What concerns all entries. Its version fences every write of the outbox.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Head {
    pub(super) format: u32,
    /// The next number of an entry or of a place in the order.
    pub(super) next: u64,
    /// How often the right to send was taken.
    pub(super) leases: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) lease: Option<Lease>,
    /// Sent more than once and confirmed: a further record may still appear.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) watches: Vec<Watch>,
    /// The change of the replica after which the outbox still needs all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) pin: Option<u64>,
    /// All entries that ended with a smaller number were removed from the history.
    #[serde(default)]
    pub(super) pruned: u64,
    /// What the service was seen to write by itself.
    #[serde(default)]
    pub(super) service: ServiceFields,
    /// The service asked to wait until then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) pause: Option<Timestamp>,
}

/// The right to send, of one pass of one process.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Lease {
    pub(super) number: u64,
    pub(super) until: Timestamp,
}

/// An entry whose first request may still arrive.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Watch {
    pub(super) entry: u64,
    pub(super) baseline: u64,
    pub(super) until: Timestamp,
}

impl Default for Head {
    fn default() -> Self {
        Self {
            format: FORMAT,
            next: 1,
            leases: 0,
            lease: None,
            watches: Vec::new(),
            pin: None,
            pruned: 0,
            service: ServiceFields::default(),
            pause: None,
        }
    }
}

/// Which record an entry is about.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Target {
    /// None yet.
    New,
    /// One of the service.
    Record(ConsignmentId),
    /// One of the service, by its number: comments name it so.
    Number(ConsignmentNumber),
    /// The one that an earlier entry makes.
    Entry(u64),
}

/// What the record was when the user edited it.
#[derive(Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Base {
    /// The record in the shape of an input, with its status.
    Record(Value),
    /// What was sent before, over what was there, as nothing was read since.
    Sent {
        over: Option<Value>,
        text: InputText,
    },
    /// The instant of the last change that the local copy shows.
    Seen(Timestamp),
}

impl Base {
    /// Whether both are the same state of a record.
    pub(super) fn is_same(&self, other: Option<&Self>) -> bool {
        match (self, other) {
            (Self::Record(one), Some(Self::Record(other))) => is_unchanged(one, other),
            (one, other) => Some(one) == other,
        }
    }

    /// The record as far as it is known.
    pub(super) fn shown(&self) -> Option<Value> {
        match self {
            Self::Record(record) => Some(record.clone()),
            Self::Sent { over, text } => {
                let over = over.as_ref().unwrap_or(&Value::Null);
                Some(overlaid(over, &text.value()))
            }
            Self::Seen(_) => None,
        }
    }
}

/// One entry.
#[derive(Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Stored {
    pub(super) id: u64,
    /// The place in the order of its lane.
    pub(super) order: u64,
    pub(super) kind: EntryKind,
    pub(super) target: Target,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) input: Option<InputText>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) comment: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) base: Option<Base>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) not_after: Option<Timestamp>,
    /// A person wants it sent although the day of the movement is over.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) is_late_accepted: bool,
    pub(super) created_at: Timestamp,
    pub(super) state: EntryState,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) reason: Option<Reason>,
    /// The server's errors as received.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) findings: Vec<Value>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) candidates: Vec<ConsignmentId>,
    /// The record that a person said is that of the entry, without reception.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) chosen: Option<ConsignmentId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) conflict: Option<Conflict>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) attempts: Vec<Attempt>,
    /// What was sent before a person replaced the input.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) earlier_inputs: Vec<InputText>,
    /// The last change of the replica when a creation was written, and from its first attempt on the last one before that: a
    /// record that appeared later may be what was sent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) baseline: Option<u64>,
    /// What was there before it was sent, or was ruled out by a person: records, and comments by their ids.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) known: Vec<String>,
    /// How many complete looks after the last attempt found nothing.
    #[serde(default)]
    pub(super) looks: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) next_at: Option<Timestamp>,
    /// Since when the service has given no usable answer about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) unclear_since: Option<Timestamp>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) consignment: Option<ConsignmentId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) number: Option<ConsignmentNumber>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) is_adopted: bool,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) strays: Vec<ConsignmentId>,
    /// The record as it was read after the change was confirmed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) after: Option<Value>,
}

impl Stored {
    pub(super) fn new(id: u64, kind: EntryKind, target: Target, now: Timestamp) -> Self {
        Self {
            id,
            order: id,
            kind,
            target,
            input: None,
            comment: None,
            base: None,
            not_after: None,
            is_late_accepted: false,
            created_at: now,
            state: EntryState::Queued,
            reason: None,
            findings: Vec::new(),
            candidates: Vec::new(),
            chosen: None,
            conflict: None,
            attempts: Vec::new(),
            earlier_inputs: Vec::new(),
            baseline: None,
            known: Vec::new(),
            looks: 0,
            next_at: None,
            unclear_since: None,
            consignment: None,
            number: None,
            is_adopted: false,
            strays: Vec::new(),
            after: None,
        }
    }

    /// Whether it makes a record, so that a lost reply leaves open whether there is one.
    pub(super) fn creates(&self) -> bool {
        self.kind == EntryKind::Save && self.target == Target::New
    }

    /// Whether what it has sent is the state of its record, once it is confirmed.
    pub(super) fn saves(&self) -> bool {
        self.kind == EntryKind::Save
    }

    /// Whether a request of it had no clear answer.
    pub(super) fn is_in_doubt(&self) -> bool {
        self.attempts.iter().any(|attempt| attempt.in_doubt)
    }

    /// What is sent, whichever record it is about.
    pub(super) fn text(&self) -> Option<InputText> {
        let input = self.input.as_ref()?;
        Some(match self.kind {
            _ if self.creates() => input.as_new_draft(),
            EntryKind::Submit => input.with_status(&ConsignmentStatus::Submitted),
            _ => input.clone(),
        })
    }

    /// What a record says about what was sent, of which there is something.
    pub(super) fn compare(&self, read: &Value, service: &ServiceFields) -> Compared {
        let base = match &self.base {
            Some(Base::Record(base)) if !self.creates() => Some(base),
            _ => None,
        };
        self.text().map_or(Compared::Theirs, |text| {
            compare(base, &text.value(), read, service)
        })
    }

    /// What the record is once this was carried out: all that was sent, over what was there.
    pub(super) fn state_after(&self) -> Option<Base> {
        let text = self.text()?.without_names();
        let over = match &self.base {
            Some(Base::Record(base)) if !self.creates() => Some(base.clone()),
            _ => None,
        };
        Some(Base::Sent { over, text })
    }

    /// Whether the user has put a signature to it: then nobody changes it any more.
    pub(super) fn is_signed(&self) -> bool {
        let Some(input) = &self.input else {
            return false;
        };
        let input = input.input();
        let Some(declaration) = input.declaration.value() else {
            return false;
        };
        let signature = declaration.signature.value();
        declaration.accept.value() == Some(&true)
            || signature.is_some_and(|signature| !signature.is_empty())
    }

    /// Whether it makes a record, and nothing but time is missing to know whether it did.
    pub(super) fn is_open_creation(&self) -> bool {
        let waits = self.state == EntryState::Queued && self.is_in_doubt();
        self.creates() && (self.is_in_flight() || waits)
    }

    /// Whether bytes of it may have left this machine.
    pub(super) fn is_in_flight(&self) -> bool {
        matches!(self.state, EntryState::Sending | EntryState::Unconfirmed)
    }

    pub(super) fn needs_attention(&mut self, reason: Reason) {
        self.state = EntryState::NeedsAttention;
        self.reason = Some(reason);
        self.next_at = None;
        self.unclear_since = None;
        self.chosen = None;
    }

    /// The user may not do what it needs, or not any more.
    pub(super) fn forbid(&mut self, error: &Error) {
        self.findings = findings(error.server_errors());
        self.needs_attention(Reason::Forbidden);
    }

    pub(super) fn queue_again(&mut self) {
        self.state = EntryState::Queued;
        self.reason = None;
        self.next_at = None;
        self.unclear_since = None;
        self.looks = 0;
        self.chosen = None;
        self.candidates.clear();
        self.conflict = None;
    }

    pub(super) fn show(&self) -> Entry {
        Entry {
            id: EntryId(self.id),
            kind: self.kind,
            state: self.state,
            reason: self.reason,
            findings: self
                .findings
                .iter()
                .cloned()
                .map(ServerError::from_value)
                .collect(),
            candidates: self.candidates.clone(),
            consignment: self.consignment.clone().or_else(|| match &self.target {
                Target::Record(id) => Some(id.clone()),
                _ => None,
            }),
            number: self.number.clone().or_else(|| match &self.target {
                Target::Number(number) => Some(number.clone()),
                _ => None,
            }),
            is_adopted: self.is_adopted,
            strays: self.strays.clone(),
            attempts: self.attempts.clone(),
            created_at: self.created_at.clone(),
            not_after: self.not_after.clone(),
            next_at: self.next_at.clone(),
            conflict: self.conflict.clone(),
            input: self.input.as_ref().map(InputText::input),
            earlier_inputs: self.earlier_inputs.iter().map(InputText::input).collect(),
            comment: self.comment.clone(),
        }
    }
}

/// The server's errors as they are stored.
pub(super) fn findings(errors: &[ServerError]) -> Vec<Value> {
    errors.iter().map(|error| error.raw().clone()).collect()
}
