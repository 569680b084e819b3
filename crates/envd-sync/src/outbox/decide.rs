//! What a pass does about an entry: decided here, of the entry, what was read, and the time.
//!
//! | the entry is | nothing was read | it is not there | it is as before | it is what was sent | it is something else |
//! | --- | --- | --- | --- | --- | --- |
//! | queued: new | list | send | | ask | ask |
//! | queued: save, submit | read | ask | send | send, or confirm if it was sent before | ask |
//! | queued: delete | read | confirm | send | | ask |
//! | queued: comment | read | send | | confirm if it was sent before | |
//! | unconfirmed: new | list | look again, send again | | confirm | ask |
//! | unconfirmed: save, submit | read | ask | look again, send again | confirm | ask |
//! | unconfirmed: delete | read | confirm | look again, send again | | |
//! | unconfirmed: comment | read | look again, send again | | confirm | |

use std::time::{Duration, SystemTime};

use serde_json::{Value, json};

use super::compare::{Compared, Conflict, ServiceFields, compare, is_unchanged, shape};
use super::entry::{EntryKind, EntryState, Reason};
use super::input_text::InputText;
use super::observe::{Found, Observation, TRIES, comment_name};
use super::stored::{Base, Event, Standing, Stored};
use envd_sdk::model::{
    Comment, Consignment, ConsignmentStatus, Day, FormType, Jurisdiction, Timestamp,
};

/// The longest wait before an entry is sent again whose requests never get a clear answer.
pub(super) const LONGEST_RESEND: Duration = Duration::from_secs(60 * 60);

/// How many complete looks, a time apart, find nothing before an entry is sent again.
const LOOKS: u32 = 2;

/// What is done next about an entry.
pub(super) enum Action {
    /// Nothing before something else happens.
    Wait,
    /// The service is asked again then.
    WaitUntil(SystemTime),
    /// It is tried again then, which did not help before.
    RetryAt(SystemTime),
    /// The service is asked.
    Observe,
    /// It is sent.
    Send,
    /// Something is true of it from now on.
    Append(Event),
}

/// What a decision depends on beside the entry and what was read.
pub(super) struct Circumstances {
    /// Whether it need not wait for other entries.
    pub(super) is_next: bool,
    /// Whether it is tried again before its time, after answers that could not be used.
    pub(super) retries_now: bool,
    pub(super) service: ServiceFields,
    pub(super) now: SystemTime,
    /// How long a request without a clear answer may still be carried out.
    pub(super) reconcile_after: Duration,
}

/// What a pass does about an entry. `seen` is what was read since it changed last.
pub(super) fn decide(entry: &Stored, seen: Option<&Observation>, when: &Circumstances) -> Action {
    let standing = entry.standing();
    let may_go_on = match standing.state {
        EntryState::Queued => when.is_next,
        // It sends nothing, so it need not wait.
        EntryState::Unconfirmed => true,
        _ => false,
    };
    if !may_go_on {
        return Action::Wait;
    }
    let is_queued = standing.state == EntryState::Queued;
    let is_unclear = standing.tries > 0;
    // The clock of the process that wrote it may have been ahead.
    let longest = when.reconcile_after.max(LONGEST_RESEND).saturating_mul(2);
    let next_at = standing
        .next_at
        .filter(|_| !is_unclear || !when.retries_now);
    let next_at = next_at.and_then(Timestamp::to_time);
    if let Some(at) = next_at.and_then(|at| remaining(at, when.now, longest)) {
        let is_retry = if is_unclear {
            standing.tries > TRIES
        } else {
            is_queued
        };
        return if is_retry {
            Action::RetryAt(at)
        } else {
            Action::WaitUntil(at)
        };
    }
    if let Some(reason) = too_late(entry, when.now).filter(|_| is_queued) {
        return Action::Append(Event::asked(reason));
    }
    let of_it = match seen {
        None => return Action::Observe,
        Some(Observation::Appeared { found, .. }) => created(&standing, found),
        Some(Observation::Comments(comments)) => commented(entry, comments.as_deref()),
        Some(Observation::Record(record)) if entry.creates() => {
            adopted(&standing, record.is_some())
        }
        Some(Observation::Record(None)) => match entry.kind {
            // Somebody has deleted it before.
            EntryKind::Delete => confirmed(entry, None),
            _ => Action::Append(Event::asked(Reason::Gone)),
        },
        Some(Observation::Record(Some(record))) => match standing.state {
            EntryState::Queued => changed(entry, record, when),
            _ => sent_over(entry, record, when),
        },
    };
    match of_it {
        Action::Send if !is_queued => Action::Append(not_found(&standing, when)),
        action => action,
    }
}

/// Of records that appeared since a creation was written, or sent first: one that surely is what was sent is its own. Otherwise
/// a person decides, unless there are none.
fn created(standing: &Standing<'_>, found: &Found) -> Action {
    if found.is_empty() {
        return Action::Send;
    }
    if let Some((id, record)) = found.sole().filter(|_| standing.is_in_doubt()) {
        return Action::Append(Event::Confirmed {
            record: Some(id.clone()),
            is_adopted: true,
            after: Some(shape(record)),
        });
    }
    Action::Append(Event::Asked {
        reason: Reason::Candidates,
        candidates: found.ids(),
        conflict: None,
        findings: Vec::new(),
    })
}

/// Of the record that a person said is that of a creation.
fn adopted(standing: &Standing<'_>, is_there: bool) -> Action {
    Action::Append(match standing.chosen.filter(|_| is_there) {
        Some(chosen) => Event::Confirmed {
            record: Some(chosen.clone()),
            is_adopted: true,
            after: None,
        },
        None => Event::asked(Reason::Candidates),
    })
}

/// Of the comments of a consignment; `None`: it is gone.
fn commented(entry: &Stored, comments: Option<&[Comment]>) -> Action {
    let Some(comments) = comments else {
        return Action::Append(Event::asked(Reason::Gone));
    };
    let has_arrived = comments.iter().any(|comment| {
        comment.comment_text == entry.comment && !entry.is_known(&comment_name(comment))
    });
    if has_arrived && entry.standing().is_in_doubt() {
        return confirmed(entry, None);
    }
    Action::Send
}

/// Of a record that is to be changed.
fn changed(entry: &Stored, record: &Consignment, when: &Circumstances) -> Action {
    let read = shape(record);
    let is_draft = matches!(record.status, None | Some(ConsignmentStatus::Draft));
    let is_same = match &entry.base {
        Some(Base::Record(base)) => is_unchanged(base, &read),
        Some(Base::Sent { over, text }) => {
            compare(over.as_ref(), &text.value(), &read, &when.service) == Compared::OursApplied
        }
        Some(Base::Seen(updated_at)) => is_draft && record.updated_at.as_ref() == Some(updated_at),
        None => is_draft,
    };
    if is_same {
        // It is submitted already, with what is to be sent.
        let is_there = |text: InputText| {
            compare(Some(&read), &text.value(), &read, &when.service) == Compared::OursApplied
        };
        let is_done = entry.kind == EntryKind::Submit
            && record.status == Some(ConsignmentStatus::Submitted)
            && entry.text().is_some_and(is_there);
        return if is_done {
            confirmed(entry, Some(read))
        } else {
            Action::Send
        };
    }
    // A request that was given up may have been carried out since.
    if entry.standing().is_in_doubt()
        && entry.compare(&read, &when.service) == Compared::OursApplied
    {
        return confirmed(entry, Some(read));
    }
    conflict(entry, record, &read)
}

/// Of a record over which was sent, without a clear answer.
fn sent_over(entry: &Stored, record: &Consignment, when: &Circumstances) -> Action {
    let read = shape(record);
    let Some(Base::Record(base)) = entry.base.as_ref().filter(|_| entry.input.is_some()) else {
        return Action::Send;
    };
    match entry.compare(&read, &when.service) {
        Compared::Unchanged => Action::Send,
        Compared::OursApplied => confirmed(entry, Some(read)),
        Compared::Theirs if is_submitted(entry, base, &read) => confirmed(entry, Some(read)),
        Compared::Theirs => conflict(entry, record, &read),
    }
}

/// Whether a record that was to be submitted is, and is otherwise as it was: the server may write what was sent in its own
/// way.
fn is_submitted(entry: &Stored, base: &Value, read: &Value) -> bool {
    let mut submitted = base.clone();
    if let Some(submitted) = submitted.as_object_mut() {
        submitted.insert("status".into(), read["status"].clone());
    }
    entry.kind == EntryKind::Submit
        && read["status"] == ConsignmentStatus::Submitted.as_str()
        && is_unchanged(&submitted, read)
}

fn confirmed(entry: &Stored, after: Option<Value>) -> Action {
    Action::Append(Event::Confirmed {
        record: entry.record_id().cloned(),
        is_adopted: entry.standing().attempts > 0,
        after,
    })
}

fn conflict(entry: &Stored, record: &Consignment, theirs: &Value) -> Action {
    let base = entry.base.as_ref().and_then(Base::shown);
    // A delete changes no field.
    let mine = entry
        .input
        .as_ref()
        .map_or_else(|| json!({}), InputText::value);
    Action::Append(Event::Asked {
        reason: match record.status {
            None | Some(ConsignmentStatus::Draft) => Reason::Conflict,
            _ => Reason::NotADraft,
        },
        candidates: Vec::new(),
        conflict: Some(Box::new(Conflict::new(base.as_ref(), &mine, theirs))),
        findings: Vec::new(),
    })
}

/// Nothing of it is there: it is looked for once more, and then sent again, later each time that this does not help.
fn not_found(standing: &Standing<'_>, when: &Circumstances) -> Event {
    let after = |wait| Some(when.now.checked_add(wait).unwrap_or(when.now).into());
    let is_sent_again = standing.looks + 1 >= LOOKS;
    let next_at = if is_sent_again {
        let further = standing.attempts.checked_sub(2);
        further.and_then(|further| after(resend_wait(when.reconcile_after, further)))
    } else {
        after(when.reconcile_after)
    };
    Event::NotFound {
        next_at,
        is_sent_again,
    }
}

/// How long to wait before an entry is sent again that was sent again so many times before.
fn resend_wait(first: Duration, times: usize) -> Duration {
    let doubled = u32::try_from(times)
        .ok()
        .and_then(|times| 2_u32.checked_pow(times));
    first
        .saturating_mul(doubled.unwrap_or(u32::MAX))
        .min(LONGEST_RESEND)
}

/// Why the entry must not be sent any more, or not yet by itself.
pub(super) fn too_late(entry: &Stored, now: SystemTime) -> Option<Reason> {
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
    // An instant of UTC may be of the next day where the animals move; there, no day begins earlier than in the east.
    let instant =
        || Timestamp::from(input.movement_date.value()?.as_str()).day_in(Jurisdiction::Nsw);
    let day = input.movement_day().or_else(instant);
    if day.is_some_and(|day| day < today) && !entry.standing().is_late_accepted {
        return Some(Reason::MovementPassed);
    }
    let is_closed = |form: &FormType| form.closed_from().is_some_and(|day| day <= today);
    (entry.creates() && input.forms.iter().any(is_closed)).then_some(Reason::FormRetired)
}

/// When an instant comes; `None`: it is due. One that is further away than it was ever set means that the clock was set back.
pub(super) fn remaining(at: SystemTime, now: SystemTime, longest: Duration) -> Option<SystemTime> {
    let wait = at.duration_since(now).unwrap_or_default();
    (!wait.is_zero() && wait <= longest).then_some(at)
}
