//! One step of a pass: an entry is sent, or looked for.

mod by_id;
mod comment;
mod creation;
mod strays;

use std::time::{Duration, SystemTime};

use serde_json::Value;

use super::decision::confirm;
use super::edits::follow_last_save;
use super::entry::{Attempt, EntryKind, EntryState, Reason};
use super::journal::{Draft, Snapshot};
use super::lane::{Next, next};
use super::pass::Pass;
use super::stored::{Stored, findings};
use crate::error::{Error, Result};
use crate::graphql::Outcome;
use crate::model::{
    ConsignmentId, ConsignmentNumber, ConsignmentStatus, Day, Jurisdiction, SavedConsignment,
    ServerError, Timestamp,
};
use crate::send::Call;
use crate::transport::RetryPolicy;

/// What came back.
pub(super) enum Reply {
    /// The service has carried it out.
    Applied(Applied),
    /// It surely was not carried out, and another request may be.
    NotSent(Error),
    /// The service refused it.
    Refused(Error),
    /// The user may not do it.
    Forbidden(Error),
    /// No clear answer.
    InDoubt(Error),
}

/// What the service says of a change that it has carried out.
pub(super) struct Applied {
    id: Option<ConsignmentId>,
    number: Option<ConsignmentNumber>,
    /// Whether the reply shows the record as submitted.
    is_submitted: bool,
    problems: Vec<ServerError>,
    status: u16,
}

impl From<Outcome<SavedConsignment>> for Applied {
    fn from(outcome: Outcome<SavedConsignment>) -> Self {
        Self {
            status: outcome.http_status(),
            is_submitted: outcome.value.status == Some(ConsignmentStatus::Submitted),
            id: outcome.value.id,
            number: outcome.value.number,
            problems: outcome.problems,
        }
    }
}

impl Reply {
    pub(super) fn new(result: Result<Applied>) -> Self {
        match result {
            Ok(applied) => Self::Applied(applied),
            Err(error) if error.may_have_applied() => Self::InDoubt(error),
            Err(error) if error.is_forbidden() => Self::Forbidden(error),
            Err(error) if error.is_retryable() || error.is_unauthorized() => Self::NotSent(error),
            Err(error) if error.is_rejected() || matches!(error.http_status(), Some(400..=499)) => {
                Self::Refused(error)
            }
            // It failed here, for example without a token, or on the way: the service has not refused it.
            Err(error) => Self::NotSent(error),
        }
    }
}

/// A lane goes on: an entry was sent or settled, unless another process has taken over (`false`).
pub(super) type Step = Result<bool>;

impl Pass<'_> {
    /// Takes the entry from the snapshot in which it was chosen: read again, it could be in another state, and would be sent
    /// all the same.
    pub(super) async fn send_or_settle(&mut self, next: Next, snapshot: &Snapshot) -> Step {
        let (Next::Send(id) | Next::Settle(id)) = next;
        let Some(entry) = snapshot.live.get(&id) else {
            return Ok(true);
        };
        match next {
            Next::Send(_) => self.send_entry(entry).await,
            Next::Settle(_) => self.settle_entry(entry).await,
        }
    }

    async fn send_entry(&mut self, entry: &Stored) -> Step {
        if let Some(reason) = too_late(entry, self.outbox.now()) {
            return self.attend(entry, reason).await;
        }
        match entry.kind {
            EntryKind::Save if entry.creates() => self.create(entry).await,
            EntryKind::Comment => self.comment(entry).await,
            _ => self.send_by_id(entry).await,
        }
    }

    async fn settle_entry(&mut self, entry: &Stored) -> Step {
        match entry.kind {
            EntryKind::Save if entry.creates() => self.settle_creation(entry).await,
            EntryKind::Comment => self.settle_comment(entry).await,
            _ => self.settle_by_id(entry).await,
        }
    }

    /// Leaves the entry to a person.
    async fn attend(&mut self, entry: &Stored, reason: Reason) -> Step {
        self.change_if_same(entry, |entry| entry.needs_attention(reason))
            .await
    }

    /// Changes an entry that is as it was when the step began; otherwise the next step decides anew.
    async fn change_if_same(&self, entry: &Stored, change: impl Fn(&mut Stored)) -> Step {
        let result = self.change_held(|draft| {
            if let Some(found) = draft.entry(entry.id).filter(|found| *found == entry) {
                change(found);
            }
            Ok(())
        });
        Ok(result.await?.is_some())
    }

    /// Marks the entry as being sent, durably: from here on its request may have arrived. `None`: something was written
    /// meanwhile.
    async fn mark(
        &self,
        entry: &Stored,
        replica: Option<u64>,
        fill: impl FnOnce(&mut Stored),
    ) -> Result<Option<Marked>> {
        let now = self.outbox.timestamp();
        let marked = self.try_change_held(|draft| {
            // What was in flight with another process is in the way since this one has taken over.
            if !next(&draft.live).contains(&Next::Send(entry.id)) {
                return Ok(Marked::Changed);
            }
            let Some(found) = draft.entry(entry.id).filter(|found| *found == entry) else {
                return Ok(Marked::Changed);
            };
            // The reads before this may have taken long.
            if too_late(found, self.outbox.now()).is_some() {
                return Ok(Marked::Changed);
            }
            fill(found);
            found.state = EntryState::Sending;
            found.reason = None;
            found.findings.clear();
            found.next_at = None;
            found.unclear_since = None;
            found.looks = 0;
            found.attempts.push(Attempt {
                at: now,
                ended_at: None,
                outcome: None,
                http_status: None,
                in_doubt: true,
            });
            draft.replica = replica;
            Ok(Marked::Sending)
        });
        Ok(marked.await?.map(|held| held.unwrap_or(Marked::LostLease)))
    }

    /// Sends a request that changes something. `None`: another process has taken over.
    async fn send_once<T: Send + 'static>(
        &self,
        entry: &Stored,
        call: Call<T>,
    ) -> Option<Result<T>> {
        self.requests.add(1);
        // The outbox tries again itself: it looks at the time and at the lease before.
        let call = call.retry(RetryPolicy::none());
        // The mark, the token and the wait for a connection may have taken long.
        let (entry, clock) = (entry.clone(), self.outbox.settings.clock.clone());
        let call = call.only_if(move || too_late(&entry, clock.now()).is_none());
        self.while_sending(call.into_future()).await
    }

    /// As [`send_once`](Self::send_once), for a request whose answer is the saved record.
    async fn send_save(
        &self,
        entry: &Stored,
        call: Call<Outcome<SavedConsignment>>,
    ) -> Option<Reply> {
        let result = self.send_once(entry, call).await?;
        if let Ok(saved) = &result {
            // That the list shows it is worth knowing, and no reason to stop if it cannot be written.
            let _ = self.outbox.replica().witness(&saved.value).await;
        }
        Some(Reply::new(result.map(Applied::from)))
    }

    /// Writes down what came back. It counts also when another process has taken over meanwhile: it is true.
    async fn finish(&mut self, entry: &Stored, reply: Reply) -> Step {
        let outbox = self.outbox;
        let attempts = entry.attempts.len() + 1;
        let now = outbox.timestamp();
        let watch_until = outbox.watch_until();
        let is_confirmed = outbox.journal().change(|draft| {
            let Some(found) = draft.entry(entry.id) else {
                return Ok(false);
            };
            // Another process may have looked for it meanwhile, and found nothing yet.
            let is_open = match &reply {
                Reply::Applied(_) => found.state != EntryState::Refused,
                _ => found.is_in_flight(),
            };
            if !is_open || found.attempts.len() != attempts {
                return Ok(false);
            }
            record(found, &reply, &now);
            match &reply {
                Reply::Applied(applied) => apply(draft, entry, applied, &watch_until),
                Reply::NotSent(_) => {
                    follow_last_save(draft, entry.id);
                    Ok(false)
                }
                _ => Ok(false),
            }
        });
        if is_confirmed.await? {
            self.report.confirmed += 1;
        }
        match reply {
            // It is left to a person in the next step.
            Reply::NotSent(_) if too_late(entry, outbox.now()).is_some() => Ok(true),
            Reply::NotSent(error) => Err(error),
            _ => Ok(true),
        }
    }

    /// Confirms an entry whose record was found.
    async fn adopt(
        &mut self,
        entry: &Stored,
        id: Option<&ConsignmentId>,
        read: Option<&Value>,
    ) -> Step {
        let watch_until = self.outbox.watch_until();
        let result = self.change_held(|draft| {
            let Some(found) = draft.entry(entry.id).filter(|found| *found == entry) else {
                return Ok(false);
            };
            found.is_adopted = !found.attempts.is_empty();
            found.after = read.cloned();
            confirm(draft, entry.id, id, &watch_until)?;
            Ok(true)
        });
        let adopted = result.await?;
        self.report.confirmed += u64::from(adopted == Some(true));
        Ok(adopted.is_some())
    }

    /// Nothing was found: after the settle time the entry is sent again, and later each time that this does not help.
    async fn not_found(&mut self, entry: &Stored) -> Step {
        let settle = self.outbox.settings.settle;
        let now = self.outbox.now();
        let after = |wait| Some(now.checked_add(wait).unwrap_or(now).into());
        let change = self.change_held(|draft| {
            let Some(found) = draft.entry(entry.id).filter(|found| *found == entry) else {
                return Ok(());
            };
            found.looks += 1;
            if found.looks < LOOKS {
                found.next_at = after(settle);
                return Ok(());
            }
            found.queue_again();
            if let Some(further) = found.attempts.len().checked_sub(2) {
                found.reason = Some(Reason::NoClearAnswer);
                found.next_at = after(resend_wait(settle, further));
            }
            follow_last_save(draft, entry.id);
            Ok(())
        });
        Ok(change.await?.is_some())
    }
}

/// Why the entry must not be sent any more, or not yet by itself.
fn too_late(entry: &Stored, now: SystemTime) -> Option<Reason> {
    let not_after = entry.not_after.as_ref();
    // A limit that cannot be read is taken for one that has passed.
    if not_after.is_some_and(|limit| limit.to_time().is_none_or(|limit| now > limit)) {
        return Some(Reason::NotAfterPassed);
    }
    if !matches!(entry.kind, EntryKind::Save | EntryKind::Submit) {
        return None;
    }
    let input = entry.input.as_ref()?.input();
    // In the west the day ends last.
    let today = Day::today_in(Jurisdiction::Wa, now);
    let day = input
        .movement_date
        .value()
        .and_then(|date| Day::parse(date).ok());
    if !entry.is_late_accepted && day.is_some_and(|day| day < today) {
        return Some(Reason::MovementPassed);
    }
    let is_closed =
        |form: &crate::model::FormType| form.closed_from().is_some_and(|day| day <= today);
    (entry.creates() && input.forms.iter().any(is_closed)).then_some(Reason::FormRetired)
}

/// The longest wait before an entry is sent again whose requests never get a clear answer.
pub(super) const LONGEST_RESEND: Duration = Duration::from_secs(60 * 60);

/// How long to wait before an entry is sent again that was sent again so many times before.
fn resend_wait(settle: Duration, times: usize) -> Duration {
    let doubled = u32::try_from(times)
        .ok()
        .and_then(|times| 2_u32.checked_pow(times));
    settle
        .saturating_mul(doubled.unwrap_or(u32::MAX))
        .min(LONGEST_RESEND)
}

/// How many complete looks, the settle time apart, find nothing before an entry is sent again.
const LOOKS: u32 = 2;

/// What became of a mark.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Marked {
    Sending,
    /// The entry is not what it was: the next step decides anew.
    Changed,
    LostLease,
}

/// The reply becomes part of the entry.
fn record(entry: &mut Stored, reply: &Reply, now: &Timestamp) {
    let (outcome, status) = match reply {
        Reply::Applied(applied) => ("carried out".to_owned(), Some(applied.status)),
        Reply::NotSent(error)
        | Reply::Refused(error)
        | Reply::Forbidden(error)
        | Reply::InDoubt(error) => (error.to_string(), error.http_status()),
    };
    if let Some(attempt) = entry.attempts.last_mut() {
        attempt.ended_at = Some(now.clone());
        attempt.outcome = Some(outcome);
        attempt.http_status = status;
        attempt.in_doubt = matches!(reply, Reply::InDoubt(_));
    }
    match reply {
        Reply::Applied(applied) => entry.findings = findings(&applied.problems),
        Reply::NotSent(_) => entry.queue_again(),
        Reply::InDoubt(error) => {
            entry.state = EntryState::Unconfirmed;
            entry.reason = Some(Reason::NoClearAnswer);
            entry.findings = findings(error.server_errors());
        }
        Reply::Refused(error) => {
            entry.state = EntryState::Refused;
            entry.reason = Some(Reason::Refused);
            entry.findings = findings(error.server_errors());
        }
        Reply::Forbidden(error) => entry.forbid(error),
    }
}

/// A clear answer confirms the entry if it names the record, and of a submit shows it as submitted; otherwise the record is
/// looked for.
fn apply(
    draft: &mut Draft,
    entry: &Stored,
    applied: &Applied,
    watch_until: &Timestamp,
) -> Result<bool> {
    let record = entry.record_id().or(applied.id.clone());
    let Some(found) = draft.entry(entry.id) else {
        return Ok(false);
    };
    found.number = applied.number.clone().or(found.number.take());
    let is_clear = match entry.kind {
        EntryKind::Comment => true,
        EntryKind::Submit => applied.is_submitted,
        EntryKind::Save | EntryKind::Delete => record.is_some(),
    };
    if !is_clear {
        if let Some(attempt) = found.attempts.last_mut() {
            attempt.in_doubt = true;
        }
        found.state = EntryState::Unconfirmed;
        found.reason = Some(Reason::NoClearAnswer);
        return Ok(false);
    }
    confirm(draft, entry.id, record.as_ref(), watch_until)?;
    Ok(true)
}
