//! An entry is sent: marked before its first byte, and what came back is written down.

use std::future::IntoFuture;

use super::compare::{Compared, shape};
use super::decide::too_late;
use super::entry::{EntryKind, EntryState};
use super::observe::{Observation, comment_name};
use super::ordering::is_next;
use super::pass::Pass;
use super::stored::{Answer, Base, Event, Stored, Target, findings};
use crate::error::{Error, Result};
use envd_sdk::Call;
use envd_sdk::Outcome;
use envd_sdk::RetryPolicy;
use envd_sdk::model::{CommentInput, ConsignmentId, ConsignmentStatus, SavedConsignment};

/// The field of an input with the number of the record.
const NUMBER: &str = "number";

/// What the service says of a change; of a comment it names no record.
type Reply = Result<Outcome<SavedConsignment>>;

/// What an error says about the request.
fn answer(error: &Error) -> Answer {
    let error = match error {
        Error::Client(error) => error,
        Error::Reply(_) => return Answer::InDoubt,
        _ => return Answer::NotSent,
    };
    let is_refused = error.is_rejected() || matches!(error.http_status(), Some(400..=499));
    if error.may_have_applied() {
        Answer::InDoubt
    } else if error.is_forbidden() {
        Answer::Forbidden
    } else if is_refused && !error.is_retryable() && !error.is_unauthorized() {
        Answer::Refused
    } else {
        // Otherwise it failed here, for example without a token, or on the way: the service has not refused it.
        Answer::NotSent
    }
}

impl Pass<'_> {
    /// Sends an entry of which this was read before.
    pub(super) async fn send(&mut self, entry: &Stored, seen: &Observation) -> Result<()> {
        let Some(marked) = self.mark(entry, seen).await? else {
            return Ok(());
        };
        let Some(mut reply) = self.request(&marked).await else {
            // Another process has taken over.
            return Ok(());
        };
        let saved = reply.as_ref().ok().and_then(|saved| saved.value.id.clone());
        if let Some(id) = saved.as_ref().filter(|_| marked.creates())
            && self.outbox.is_listed(id).await?
        {
            reply = Err(Error::Reply(
                "the reply names a record that was there before",
            ));
        }
        let is_saved = reply.is_ok() && marked.kind == EntryKind::Save;
        let record = marked.record_id().cloned().or(saved);
        self.finish(&marked, reply).await?;
        match record.filter(|_| is_saved) {
            Some(id) => self.read_back(marked.id, &id).await,
            None => Ok(()),
        }
    }

    /// Marks the entry as being sent, durably: from here on its request may have arrived. `None`: something was written meanwhile,
    /// or another process has the right to send.
    async fn mark(&self, entry: &Stored, seen: &Observation) -> Result<Option<Stored>> {
        let marked = self.try_change_held(|draft| {
            // What was in flight with another process is in the way since this one has taken over.
            let is_same = draft.get(entry.id) == Some(entry);
            let is_next = is_next(draft.entries(), entry);
            // The reads before this may have taken long.
            if !is_same || !is_next || too_late(entry, self.outbox.now()).is_some() {
                return Ok(None);
            }
            let (mut baseline, mut comments) = (None, Vec::new());
            match seen {
                Observation::Record(record) => {
                    let read = record.as_deref().map(shape).map(Base::Record);
                    if let Some(entry) = draft.entry(entry.id) {
                        entry.base = read;
                    }
                }
                Observation::Comments(known) => {
                    comments = known.iter().flatten().map(comment_name).collect();
                }
                Observation::Appeared { listed, .. } => {
                    // Known must be what was there before: the replica has changed since, or is as it was.
                    draft.replica = Some(listed.version);
                    baseline = Some(listed.last);
                }
            }
            draft.append(entry.id, Event::Marked { baseline, comments });
            Ok(draft.get(entry.id).cloned())
        });
        Ok(marked.await?.flatten().flatten())
    }

    /// Sends the request of an entry. `None`: another process has taken over.
    async fn request(&self, entry: &Stored) -> Option<Reply> {
        let account = self.outbox.account();
        let call = match (&entry.target, entry.text(), &entry.comment) {
            (Target::Number(number), _, Some(text)) => {
                let comment = CommentInput::new(number.clone(), text.clone());
                let call = account.create_comment(comment);
                let reply = self.send_once(entry, call).await?;
                return Some(reply.map(|reply| reply.map(|_| SavedConsignment::default())));
            }
            (Target::Record(id), _, _) if entry.kind == EntryKind::Delete => {
                account.delete_consignment(id.clone())
            }
            (Target::Record(id), Some(text), _) => {
                let names = account.client().profile().updates.value;
                let record = entry.changed_record().filter(|_| names.number.is_some());
                let number = record.map(|record| &record[NUMBER]);
                account.save_consignment_text(text.as_update_of(id, number).text())
            }
            (Target::New, Some(text), _) => account.save_consignment_text(text.text()),
            _ => {
                return Some(Err(Error::usage("the entry says nothing that can be sent")));
            }
        };
        self.send_once(entry, call).await
    }

    async fn send_once<T: Send + 'static>(
        &self,
        entry: &Stored,
        call: Call<T>,
    ) -> Option<Result<T>> {
        self.reader.count_requests(1);
        // The outbox tries again itself: it looks at the time and at the lease before.
        let call = call.retry(RetryPolicy::none());
        // The mark, the token and the wait for a connection may have taken long.
        let (entry, clock) = (entry.clone(), self.outbox.settings.clock.clone());
        let call = call.only_if(move || too_late(&entry, clock.now()).is_none());
        let reply = self.while_held(call.into_future()).await?;
        Some(reply.map_err(Error::from))
    }

    /// Writes down what came back. It counts also when another process has taken over meanwhile: it is true.
    async fn finish(&mut self, marked: &Stored, reply: Reply) -> Result<()> {
        let (event, confirmed) = what_came_back(marked, &reply);
        let attempts = marked.standing().attempts;
        let is_confirmed = self.outbox.change(|draft| {
            let Some(found) = draft.get(marked.id).map(Stored::standing) else {
                return Ok(false);
            };
            // Another process may have looked for it meanwhile, and found nothing yet.
            let is_open = match reply {
                Ok(_) => found.state != EntryState::Refused,
                Err(_) => found.is_in_flight(),
            };
            if !is_open || found.attempts != attempts {
                return Ok(false);
            }
            draft.append(marked.id, event.clone());
            if let Some(confirmed) = &confirmed {
                draft.append(marked.id, confirmed.clone());
            }
            Ok(confirmed.is_some())
        });
        let is_confirmed = is_confirmed.await?;
        let has_problems = reply.as_ref().is_ok_and(|reply| !reply.problems.is_empty());
        self.report.confirmed += u64::from(is_confirmed);
        self.report.confirmed_with_problems += u64::from(is_confirmed && has_problems);
        match reply {
            Err(error) if answer(&error) == Answer::NotSent => {
                // What has become too late meanwhile is left to a person in the next step.
                let is_late = too_late(marked, self.outbox.now()).is_some();
                if is_late { Ok(()) } else { Err(error) }
            }
            _ => Ok(()),
        }
    }

    /// Reads a record after the clear reply to its save. What the service fills in is learnt from it, and the next edit is
    /// compared with it, unless somebody has edited it since. A failure is none of the entry.
    async fn read_back(&mut self, entry: u64, id: &ConsignmentId) -> Result<()> {
        let Some(Ok(Some(record))) = self.while_held(self.reader.read_record(id)).await else {
            return Ok(());
        };
        let after = shape(&record);
        let outbox = self.outbox;
        let change = self.outbox.change_with_past(entry, |draft, past| {
            let Some(confirmed) = past else {
                return;
            };
            if let Some(text) = confirmed.text().filter(|_| confirmed.creates())
                && record.status == Some(ConsignmentStatus::Draft)
            {
                draft.head.service.learn(&text.value(), &record, &after);
            }
            // Otherwise the next edit is compared with what was sent, and differs.
            let service = outbox.service_fields(draft.head.service.clone());
            if confirmed.compare(&after, &service) == Compared::OursApplied {
                draft.read_back(&confirmed, id, &after);
            }
        });
        change.await
    }
}

/// What is true of an entry after a reply. A clear one confirms the entry if it names the record, and of a submit shows it as
/// submitted; otherwise the record is looked for.
fn what_came_back(entry: &Stored, reply: &Reply) -> (Event, Option<Event>) {
    match reply {
        Ok(applied) => {
            let record = entry.record_id().or(applied.value.id.as_ref()).cloned();
            let is_clear = match entry.kind {
                EntryKind::Comment => true,
                EntryKind::Submit => applied.value.status == Some(ConsignmentStatus::Submitted),
                EntryKind::Save | EntryKind::Delete => record.is_some(),
            };
            let answered = Event::Answered {
                answer: if is_clear {
                    Answer::Applied
                } else {
                    Answer::InDoubt
                },
                outcome: "carried out".to_owned(),
                http_status: Some(applied.http_status()),
                findings: findings(&applied.problems),
                number: applied.value.number.clone(),
            };
            let confirmed = is_clear.then_some(Event::Confirmed {
                record,
                is_adopted: false,
                after: None,
            });
            (answered, confirmed)
        }
        Err(error) => {
            let answered = Event::Answered {
                answer: answer(error),
                outcome: error.to_string(),
                http_status: error.client().and_then(envd_sdk::Error::http_status),
                findings: findings(error.server_errors()),
                number: None,
            };
            (answered, None)
        }
    }
}
