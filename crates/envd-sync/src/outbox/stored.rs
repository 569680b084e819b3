//! What the store keeps of the outbox: a document of the account, and one of each entry.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::compare::{Compared, Conflict, ServiceFields, compare, is_unchanged, overlaid};
use super::entry::{Attempt, EntryKind, EntryState, Reason};
use super::input_text::InputText;
use crate::error::Error;
use envd_sdk::model::{
    ConsignmentId, ConsignmentNumber, ConsignmentStatus, ServerError, Timestamp,
};

/// The format of the documents. An earlier one kept the state of an entry in place of its events.
pub(super) const FORMAT: u32 = 3;

/// What concerns all entries. Its version fences every write of the outbox.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Head {
    pub(super) format: u32,
    /// The last number of an entry or of a place in the order.
    pub(super) last: u64,
    /// How often the right to send was taken.
    pub(super) leases: u64,
    pub(super) lease: Option<Lease>,
    /// Entries at their end of which a request may still be carried out.
    pub(super) watches: Vec<Watch>,
    /// The change of the replica after which the outbox still needs all.
    pub(super) pin: Option<u64>,
    /// All entries that ended with a smaller number were removed from the history.
    pub(super) pruned: u64,
    /// What the service was seen to write by itself.
    pub(super) service: ServiceFields,
    /// The service asked to wait until then.
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
    pub(super) since: Timestamp,
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

/// What became of an entry, and when. Its state is read off these, in order.
#[derive(Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Happened {
    pub(super) at: Timestamp,
    pub(super) event: Event,
}

#[derive(Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", rename_all_fields = "camelCase")]
pub(super) enum Event {
    /// The user wrote it anew, or a person wants it sent.
    Queued {
        /// Records that a person said are not it.
        not: Vec<ConsignmentId>,
        /// Although the day of the movement is over.
        is_late: bool,
    },
    /// From here on its request may have arrived.
    Marked {
        /// The last change of the replica before.
        baseline: Option<u64>,
        /// The comments that were there before.
        comments: Vec<String>,
    },
    /// The process that sent it ended, or was taken for ended.
    Abandoned,
    Answered {
        answer: Answer,
        outcome: String,
        http_status: Option<u16>,
        /// The server's errors as received.
        findings: Vec<Value>,
        number: Option<ConsignmentNumber>,
    },
    /// A complete look found nothing of it.
    NotFound {
        next_at: Option<Timestamp>,
        is_sent_again: bool,
    },
    /// The service gave no usable answer about it. It takes the place of the one before.
    Unclear {
        since: Timestamp,
        /// How often in a row.
        tries: u32,
        next_at: Timestamp,
        findings: Vec<Value>,
    },
    /// Only a person can decide.
    Asked {
        reason: Reason,
        candidates: Vec<ConsignmentId>,
        conflict: Option<Box<Conflict>>,
        findings: Vec<Value>,
    },
    /// A person said without reception which record is its own.
    Chosen {
        record: ConsignmentId,
    },
    /// The service has carried it out.
    Confirmed {
        record: Option<ConsignmentId>,
        is_adopted: bool,
        /// The record as it was read then.
        after: Option<Value>,
    },
    /// Its record was read after it was confirmed.
    ReadBack {
        after: Value,
    },
    GivenUp {
        reason: Reason,
    },
    /// Further records that a request of it has made.
    LateDuplicates {
        records: Vec<ConsignmentId>,
    },
}

/// What came back, in a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Answer {
    Applied,
    /// It surely was not carried out, and another request may be.
    NotSent,
    Refused,
    Forbidden,
    /// No clear answer.
    InDoubt,
}

/// Where an entry is, as its events have it.
#[derive(Clone, Copy, Default)]
pub(super) struct Standing<'a> {
    pub(super) state: EntryState,
    pub(super) reason: Option<Reason>,
    pub(super) findings: &'a [Value],
    pub(super) candidates: &'a [ConsignmentId],
    pub(super) conflict: Option<&'a Conflict>,
    /// The record that a person said is its own, without reception.
    pub(super) chosen: Option<&'a ConsignmentId>,
    /// A record that the replica listed later may be what was sent.
    pub(super) baseline: Option<u64>,
    pub(super) attempts: usize,
    /// How many requests had no clear answer.
    pub(super) doubts: usize,
    /// How many complete looks since the last attempt found nothing.
    pub(super) looks: u32,
    pub(super) next_at: Option<&'a Timestamp>,
    /// Since when and how often in a row the service has given no usable answer about it.
    pub(super) unclear_since: Option<&'a Timestamp>,
    pub(super) tries: u32,
    pub(super) record: Option<&'a ConsignmentId>,
    pub(super) number: Option<&'a ConsignmentNumber>,
    pub(super) is_adopted: bool,
    pub(super) is_late_accepted: bool,
    /// The record as it was read after it was confirmed.
    pub(super) after: Option<&'a Value>,
}

impl<'a> Standing<'a> {
    fn of(entry: &'a Stored) -> Self {
        let mut standing = Self {
            baseline: entry.baseline,
            number: entry.number.as_ref(),
            ..Self::default()
        };
        for happened in &entry.events {
            standing.apply(&happened.event);
        }
        standing
    }

    fn apply(&mut self, event: &'a Event) {
        let is_aside = matches!(
            event,
            Event::Unclear { .. } | Event::ReadBack { .. } | Event::LateDuplicates { .. }
        );
        if !is_aside {
            // What the entry waited for is over.
            (self.reason, self.conflict, self.chosen) = (None, None, None);
            (self.next_at, self.unclear_since, self.tries) = (None, None, 0);
            self.candidates = &[];
        }
        match event {
            Event::Queued { is_late, .. } => {
                (self.state, self.looks) = (EntryState::Queued, 0);
                self.is_late_accepted |= is_late;
            }
            Event::Marked { baseline, .. } => {
                (self.state, self.looks, self.findings) = (EntryState::Sending, 0, &[]);
                self.baseline = baseline.filter(|_| self.doubts == 0).or(self.baseline);
                self.attempts += 1;
                self.doubts += 1;
            }
            Event::Abandoned => self.answer(Answer::InDoubt),
            Event::Answered {
                answer,
                findings,
                number,
                ..
            } => {
                self.answer(*answer);
                self.doubts -= usize::from(*answer != Answer::InDoubt);
                self.number = number.as_ref().or(self.number);
                self.findings = findings;
            }
            Event::NotFound {
                next_at,
                is_sent_again,
            } => {
                self.looks = if *is_sent_again { 0 } else { self.looks + 1 };
                self.reason = next_at.as_ref().map(|_| Reason::NoClearAnswer);
                self.next_at = next_at.as_ref();
                if *is_sent_again {
                    self.state = EntryState::Queued;
                }
            }
            Event::Unclear {
                since,
                tries,
                next_at,
                findings,
            } => {
                (self.unclear_since, self.tries) = (Some(since), *tries);
                (self.next_at, self.findings) = (Some(next_at), findings);
            }
            Event::Asked {
                reason,
                candidates,
                conflict,
                findings,
            } => {
                self.set(EntryState::NeedsAttention, *reason);
                (self.candidates, self.conflict) = (candidates, conflict.as_deref());
                if !findings.is_empty() {
                    self.findings = findings;
                }
            }
            Event::Chosen { record } => {
                self.answer(Answer::InDoubt);
                self.chosen = Some(record);
            }
            Event::Confirmed {
                record,
                is_adopted,
                after,
            } => {
                (self.state, self.is_adopted) = (EntryState::Confirmed, *is_adopted);
                (self.record, self.after) = (record.as_ref(), after.as_ref());
            }
            Event::ReadBack { after } => self.after = Some(after),
            Event::GivenUp { reason } => self.set(EntryState::Discarded, *reason),
            Event::LateDuplicates { .. } => {}
        }
    }

    fn answer(&mut self, answer: Answer) {
        match answer {
            Answer::Applied => {}
            Answer::NotSent => self.state = EntryState::Queued,
            Answer::Refused => self.set(EntryState::Refused, Reason::Refused),
            Answer::Forbidden => self.set(EntryState::NeedsAttention, Reason::Forbidden),
            Answer::InDoubt => self.set(EntryState::Unconfirmed, Reason::NoClearAnswer),
        }
    }

    fn set(&mut self, state: EntryState, reason: Reason) {
        (self.state, self.reason) = (state, Some(reason));
    }

    /// Whether a request of it had no clear answer.
    pub(super) fn is_in_doubt(&self) -> bool {
        self.doubts > 0
    }

    /// Whether bytes of it may have left this machine, and it is not known yet what became of them.
    pub(super) fn is_in_flight(&self) -> bool {
        matches!(self.state, EntryState::Sending | EntryState::Unconfirmed)
    }
}

/// One entry: what was written, and what became of it.
#[derive(Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Stored {
    pub(super) id: u64,
    /// The place in the order of its record.
    pub(super) order: u64,
    pub(super) kind: EntryKind,
    pub(super) target: Target,
    pub(super) input: Option<InputText>,
    pub(super) comment: Option<String>,
    pub(super) base: Option<Base>,
    pub(super) number: Option<ConsignmentNumber>,
    pub(super) not_after: Option<Timestamp>,
    pub(super) created_at: Timestamp,
    /// The last change of the replica when a creation was written.
    pub(super) baseline: Option<u64>,
    /// What was sent before a person replaced the input.
    pub(super) earlier_inputs: Vec<InputText>,
    pub(super) events: Vec<Happened>,
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
            number: None,
            not_after: None,
            created_at: now,
            baseline: None,
            earlier_inputs: Vec::new(),
            events: Vec::new(),
        }
    }

    /// Adds what happened, without what it means for other entries: see `Draft::append`.
    pub(super) fn push(&mut self, at: &Timestamp, event: Event) {
        let at = at.clone();
        self.events.push(Happened { at, event });
    }

    pub(super) fn standing(&self) -> Standing<'_> {
        Standing::of(self)
    }

    pub(super) fn state(&self) -> EntryState {
        self.standing().state
    }

    /// Whether it makes a record, so that a lost reply leaves open whether there is one.
    pub(super) fn creates(&self) -> bool {
        self.kind == EntryKind::Save && self.target == Target::New
    }

    /// The record that it names.
    pub(super) fn record_id(&self) -> Option<&ConsignmentId> {
        match &self.target {
            Target::Record(id) => Some(id),
            _ => None,
        }
    }

    /// The entry whose record it is about, while that is not known.
    pub(super) fn builds_on(&self) -> Option<u64> {
        match self.target {
            Target::Entry(before) => Some(before),
            _ => None,
        }
    }

    /// Whether it makes a record, and nothing but time is missing to know whether it did.
    pub(super) fn is_open_creation(&self) -> bool {
        let standing = self.standing();
        let waits = standing.state == EntryState::Queued && standing.is_in_doubt();
        self.creates() && (standing.is_in_flight() || waits)
    }

    /// Whether a record or a comment was there before it was sent, or was ruled out by a person.
    pub(super) fn is_known(&self, name: &str) -> bool {
        self.events.iter().any(|happened| match &happened.event {
            Event::Queued { not, .. } => not.iter().any(|id| id.as_str() == name),
            Event::Marked { comments, .. } => comments.iter().any(|known| known == name),
            _ => false,
        })
    }

    /// The late duplicates of it that the user was told of.
    pub(super) fn late_duplicates(&self) -> impl Iterator<Item = &ConsignmentId> {
        self.events
            .iter()
            .flat_map(|happened| match &happened.event {
                Event::LateDuplicates { records } => records.as_slice(),
                _ => &[],
            })
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

    /// All that it has sent or sends, the latest first, as new drafts.
    pub(super) fn inputs(&self) -> impl Iterator<Item = InputText> {
        let inputs = self.input.iter().chain(&self.earlier_inputs);
        inputs.map(InputText::as_new_draft)
    }

    /// The record that a change is made of; a creation has none.
    pub(super) fn changed_record(&self) -> Option<&Value> {
        match &self.base {
            Some(Base::Record(base)) if !self.creates() => Some(base),
            _ => None,
        }
    }

    /// What a record says about what was sent, of which there is something.
    pub(super) fn compare(&self, read: &Value, service: &ServiceFields) -> Compared {
        let compare_text =
            |text: InputText| compare(self.changed_record(), &text.value(), read, service);
        self.text().map_or(Compared::Theirs, compare_text)
    }

    /// What the record is once this was carried out: all that was sent, over what was there.
    pub(super) fn state_after(&self) -> Option<Base> {
        let (text, over) = (self.text()?.without_names(), self.changed_record().cloned());
        Some(Base::Sent { over, text })
    }

    /// Whether the user has put a signature to it: then nobody changes it any more.
    pub(super) fn is_signed(&self) -> bool {
        let input = self.input.as_ref().map(InputText::input);
        let Some(declaration) = input.and_then(|input| input.declaration.value().cloned()) else {
            return false;
        };
        let signature = declaration.signature.value();
        declaration.accept.value() == Some(&true)
            || signature.is_some_and(|signature| !signature.is_empty())
    }

    pub(super) fn attempts(&self) -> Vec<Attempt> {
        let mut attempts = Vec::new();
        for Happened { at, event } in &self.events {
            match event {
                Event::Marked { .. } => attempts.push(Attempt {
                    at: at.clone(),
                    ended_at: None,
                    outcome: None,
                    http_status: None,
                    in_doubt: true,
                }),
                Event::Answered {
                    answer,
                    outcome,
                    http_status,
                    ..
                } => {
                    if let Some(attempt) = attempts.last_mut() {
                        attempt.ended_at = Some(at.clone());
                        attempt.outcome = Some(outcome.clone());
                        attempt.http_status = *http_status;
                        attempt.in_doubt = *answer == Answer::InDoubt;
                    }
                }
                _ => {}
            }
        }
        attempts
    }
}

impl Event {
    pub(super) fn asked(reason: Reason) -> Self {
        Self::Asked {
            reason,
            candidates: Vec::new(),
            conflict: None,
            findings: Vec::new(),
        }
    }

    /// The service has said something that only a person can make use of.
    pub(super) fn asked_after(reason: Reason, error: &Error) -> Self {
        Self::Asked {
            reason,
            candidates: Vec::new(),
            conflict: None,
            findings: findings(error.server_errors()),
        }
    }

    /// The entry is sent, or sent again.
    pub(super) fn queued() -> Self {
        Self::Queued {
            not: Vec::new(),
            is_late: false,
        }
    }
}

/// The server's errors as they are stored.
pub(super) fn findings(errors: &[ServerError]) -> Vec<Value> {
    errors.iter().map(|error| error.raw().clone()).collect()
}
