//! Updates, submits and deletes: they name their record, so that reading it shows what became of them.

use serde_json::Value;

use super::super::compare::{Conflict, Trace, is_unchanged, shape, trace};
use super::super::entry::{EntryKind, Reason};
use super::super::input_text::InputText;
use super::super::pass::Pass;
use super::super::stored::{Base, Stored, Target};
use super::{Marked, Reply, Step};
use crate::error::{Error, Result};
use crate::model::{Consignment, ConsignmentId, ConsignmentInput, ConsignmentStatus};
use crate::ops::similarity::{Similarity, similarity};

impl Stored {
    /// The record that the entry names.
    pub(super) fn record_id(&self) -> Option<ConsignmentId> {
        match &self.target {
            Target::Record(id) => Some(id.clone()),
            _ => None,
        }
    }

    /// Whether a request that was given up has been carried out since.
    fn has_arrived(&self, sent: Option<&InputText>, read: &Value) -> bool {
        match (&self.base, sent) {
            (Some(Base::Record(base)), Some(sent)) if self.is_in_doubt() => {
                trace(base, &sent.value(), read) == Trace::Applied
            }
            _ => false,
        }
    }

    /// What is sent about a record.
    fn text_for(&self, id: &ConsignmentId) -> Option<InputText> {
        let text = self.input.as_ref()?.as_update_of(id);
        Some(match self.kind {
            EntryKind::Submit => text.with_status(&ConsignmentStatus::Submitted),
            _ => text,
        })
    }
}

impl Pass<'_> {
    pub(super) async fn send_by_id(&mut self, entry: &Stored) -> Step {
        let Some(id) = entry.record_id() else {
            return Ok(true);
        };
        let record = match self.while_held(self.read(&id)).await? {
            Some(record) => record,
            // Somebody has deleted it before.
            None if entry.kind == EntryKind::Delete => return self.adopt(entry, Some(&id)).await,
            None => return self.attend(entry, Reason::Gone).await,
        };
        let is_deleted = record.status == Some(ConsignmentStatus::Deleted);
        match entry.kind {
            EntryKind::Delete if is_deleted => return self.adopt(entry, Some(&id)).await,
            _ if is_deleted => return self.attend(entry, Reason::Gone).await,
            _ => {}
        }
        let read = shape(&record);
        let text = entry.text_for(&id);
        if let Some(reason) = differs(entry, &record, &read) {
            if entry.has_arrived(text.as_ref(), &read) {
                return self.adopt(entry, Some(&id)).await;
            }
            return self.conflict(entry, reason, &read).await;
        }
        if is_done(entry, text.as_ref(), &read) {
            return self.adopt(entry, Some(&id)).await;
        }
        let marked = self.mark(entry, None, |entry| {
            entry.base = Some(Base::Record(read.clone()));
        });
        match marked.await? {
            Some(Marked::Sending) => {}
            Some(Marked::LostLease) => return Ok(false),
            Some(Marked::Changed) | None => return Ok(true),
        }
        let Some(reply) = self.request_by_id(entry, &id, text).await else {
            return Ok(false);
        };
        let is_saved = matches!(reply, Reply::Applied(_));
        let step = self.finish(entry, reply).await?;
        if is_saved {
            self.read_back(entry, &id).await?;
        }
        Ok(step)
    }

    /// `None`: another process has taken over.
    async fn request_by_id(
        &self,
        entry: &Stored,
        id: &ConsignmentId,
        text: Option<InputText>,
    ) -> Option<Reply> {
        let account = self.outbox.account();
        let call = match (entry.kind, &text) {
            (EntryKind::Delete, _) => account.delete_consignment(id.clone()),
            (_, Some(text)) => account.save_consignment_text(text),
            (_, None) => return Some(Reply::Refused(Error::config("the entry has no input"))),
        };
        self.send_save(entry, call).await
    }

    pub(super) async fn settle_by_id(&mut self, entry: &Stored) -> Step {
        let Some(id) = entry.record_id() else {
            return Ok(true);
        };
        let record = self.while_held(self.read(&id)).await?;
        let status = record.as_ref().and_then(|record| record.status.clone());
        let is_deleted = record.is_none() || status == Some(ConsignmentStatus::Deleted);
        let Some(record) = record.filter(|_| !is_deleted) else {
            return match entry.kind {
                EntryKind::Delete => self.adopt(entry, Some(&id)).await,
                _ => self.attend(entry, Reason::Gone).await,
            };
        };
        if entry.kind == EntryKind::Delete {
            return self.not_found(entry).await;
        }
        let read = shape(&record);
        let (Some(Base::Record(base)), Some(text)) = (&entry.base, entry.text_for(&id)) else {
            return self.not_found(entry).await;
        };
        match trace(base, &text.value(), &read) {
            Trace::Applied => self.adopt(entry, Some(&id)).await,
            Trace::None => self.not_found(entry).await,
            Trace::Other if is_submitted(entry, base, &read) => self.adopt(entry, Some(&id)).await,
            Trace::Other => self.conflict(entry, conflict_reason(&record), &read).await,
        }
    }

    async fn conflict(&mut self, entry: &Stored, reason: Reason, theirs: &Value) -> Step {
        let base = match &entry.base {
            Some(Base::Record(base)) => Some(base.clone()),
            Some(Base::Sent(sent)) => Some(sent.value()),
            None => None,
        };
        let mine = entry
            .input
            .as_ref()
            .map(InputText::value)
            .unwrap_or_default();
        let conflict = Conflict::new(base.as_ref(), &mine, theirs);
        self.change_if_same(entry, |entry| {
            entry.conflict = Some(conflict.clone());
            entry.needs_attention(reason);
        })
        .await
    }

    /// Reads a record; `None`: it is gone.
    pub(super) async fn read(&self, id: &ConsignmentId) -> Result<Option<Consignment>> {
        self.requests.add(1);
        match self.outbox.account().consignment(id.clone()).await {
            Ok(record) => Ok(Some(record.value)),
            Err(error) => {
                let is_gone = error.is_not_found()
                    && self.walk().await?
                    && !self.outbox.is_listed(id).await?;
                if is_gone { Ok(None) } else { Err(error) }
            }
        }
    }
}

/// Why the record is not what the user edited, if it is not.
fn differs(entry: &Stored, record: &Consignment, read: &Value) -> Option<Reason> {
    if entry.kind == EntryKind::Delete {
        return None;
    }
    let is_draft = matches!(record.status, None | Some(ConsignmentStatus::Draft));
    let is_same = match &entry.base {
        Some(Base::Record(base)) => is_unchanged(base, read),
        Some(Base::Sent(sent)) => {
            is_draft
                && similarity(&sent.input(), &ConsignmentInput::from(record)) != Similarity::Differs
        }
        None => is_draft,
    };
    (!is_same).then(|| conflict_reason(record))
}

/// Whether a record that is to be submitted is already, with what is to be sent.
fn is_done(entry: &Stored, text: Option<&InputText>, read: &Value) -> bool {
    entry.kind == EntryKind::Submit
        && read["status"] == ConsignmentStatus::Submitted.as_str()
        && text.is_some_and(|text| trace(read, &text.value(), read) == Trace::Applied)
}

fn conflict_reason(record: &Consignment) -> Reason {
    match record.status {
        None | Some(ConsignmentStatus::Draft) => Reason::Conflict,
        _ => Reason::NotADraft,
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
