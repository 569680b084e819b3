//! Updates, submits and deletes: they name their record, so that reading it shows what became of them.

use serde_json::{Value, json};

use super::super::compare::{
    Compared, Conflict, ServiceFields, compare, is_absent, is_unchanged, shape,
};
use super::super::entry::{EntryKind, Reason};
use super::super::input_text::InputText;
use super::super::pass::Pass;
use super::super::stored::{Base, Stored, Target};
use super::{Marked, Reply, Step};
use crate::error::{Error, Result};
use crate::model::{Consignment, ConsignmentId, ConsignmentStatus};

impl Stored {
    /// The record that the entry names.
    pub(super) fn record_id(&self) -> Option<ConsignmentId> {
        match &self.target {
            Target::Record(id) => Some(id.clone()),
            _ => None,
        }
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
            None if entry.kind == EntryKind::Delete => {
                return self.adopt(entry, Some(&id), None).await;
            }
            None => return self.attend(entry, Reason::Gone).await,
        };
        let is_deleted = record.status == Some(ConsignmentStatus::Deleted);
        match entry.kind {
            EntryKind::Delete if is_deleted => return self.adopt(entry, Some(&id), None).await,
            _ if is_deleted => return self.attend(entry, Reason::Gone).await,
            _ => {}
        }
        let read = shape(&record);
        let service = self.outbox.journal().service_fields();
        if let Some(reason) = differs(entry, &record, &read, &service) {
            // A request that was given up may have been carried out since.
            if entry.is_in_doubt() && entry.compare(&read, &service) == Compared::OursApplied {
                return self.adopt(entry, Some(&id), Some(&read)).await;
            }
            return self.conflict(entry, reason, &read).await;
        }
        if is_done(entry, &read, &service) {
            return self.adopt(entry, Some(&id), Some(&read)).await;
        }
        let marked = self.mark(entry, None, |entry| {
            entry.base = Some(Base::Record(read.clone()));
        });
        match marked.await? {
            Some(Marked::Sending) => {}
            Some(Marked::LostLease) => return Ok(false),
            Some(Marked::Changed) | None => return Ok(true),
        }
        let Some(reply) = self.request_by_id(entry, &id).await else {
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
    async fn request_by_id(&self, entry: &Stored, id: &ConsignmentId) -> Option<Reply> {
        let account = self.outbox.account();
        let call = match (entry.kind, entry.text()) {
            (EntryKind::Delete, _) => account.delete_consignment(id.clone()),
            (_, Some(text)) => account.save_consignment_text(&text.as_update_of(id)),
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
                EntryKind::Delete => self.adopt(entry, Some(&id), None).await,
                _ => self.attend(entry, Reason::Gone).await,
            };
        };
        if entry.kind == EntryKind::Delete {
            return self.not_found(entry).await;
        }
        let read = shape(&record);
        let Some(Base::Record(base)) = &entry.base else {
            return self.not_found(entry).await;
        };
        let service = self.outbox.journal().service_fields();
        match entry.compare(&read, &service) {
            Compared::OursApplied => self.adopt(entry, Some(&id), Some(&read)).await,
            Compared::Unchanged => self.not_found(entry).await,
            Compared::Theirs if is_submitted(entry, base, &read) => {
                self.adopt(entry, Some(&id), Some(&read)).await
            }
            Compared::Theirs => self.conflict(entry, conflict_reason(&record), &read).await,
        }
    }

    async fn conflict(&mut self, entry: &Stored, reason: Reason, theirs: &Value) -> Step {
        let base = entry.base.as_ref().and_then(Base::shown);
        // A delete changes no field.
        let mine = entry
            .input
            .as_ref()
            .map_or_else(|| json!({}), InputText::value);
        let conflict = Conflict::new(base.as_ref(), &mine, theirs);
        self.change_if_same(entry, |entry| {
            entry.conflict = Some(conflict.clone());
            entry.needs_attention(reason);
        })
        .await
    }

    /// Reads a record; `None`: it is gone. The answer to a read of what is gone may be null, or have the text of any failure,
    /// so a complete list decides: one of this pass, for all that is gone.
    pub(super) async fn read(&self, id: &ConsignmentId) -> Result<Option<Consignment>> {
        self.requests.add(1);
        let error = match self.outbox.account().consignment(id.clone()).await {
            Ok(record) => return Ok(Some(record.value)),
            Err(error) => error,
        };
        let is_gone =
            is_absent(&error) && self.walk_once().await? && !self.outbox.is_listed(id).await?;
        if is_gone { Ok(None) } else { Err(error) }
    }
}

/// Why the record is not what the user edited, if it is not.
fn differs(
    entry: &Stored,
    record: &Consignment,
    read: &Value,
    service: &ServiceFields,
) -> Option<Reason> {
    let is_draft = matches!(record.status, None | Some(ConsignmentStatus::Draft));
    let is_same = match &entry.base {
        Some(Base::Record(base)) => is_unchanged(base, read),
        Some(Base::Sent { over, text }) => {
            compare(over.as_ref(), &text.value(), read, service) == Compared::OursApplied
        }
        Some(Base::Seen(updated_at)) => is_draft && record.updated_at.as_ref() == Some(updated_at),
        None => is_draft,
    };
    (!is_same).then(|| conflict_reason(record))
}

/// Whether a record that is to be submitted is already, with what is to be sent.
fn is_done(entry: &Stored, read: &Value, service: &ServiceFields) -> bool {
    let is_there = |text: InputText| {
        compare(Some(read), &text.value(), read, service) == Compared::OursApplied
    };
    entry.kind == EntryKind::Submit
        && read["status"] == ConsignmentStatus::Submitted.as_str()
        && entry.text().is_some_and(is_there)
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
