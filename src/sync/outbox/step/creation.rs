//! Creations: after a lost reply nothing but the list of the account shows whether there is a record.

use super::super::compare::{Compared, shape};
use super::super::entry::{EntryKind, Reason};
use super::super::look::Found;
use super::super::pass::Pass;
use super::super::stored::Stored;
use super::{Applied, Marked, Reply, Step};
use crate::error::{Error, Result};
use crate::model::{Consignment, ConsignmentId, ConsignmentStatus};

impl Pass<'_> {
    pub(super) async fn create(&mut self, entry: &Stored) -> Step {
        let was_sent = entry.is_in_doubt();
        // Known must be what was there before: with every change of the replica meanwhile, it is asked again.
        loop {
            let known = if self.outbox.has_list_for(entry) && !was_sent {
                self.outbox.synced().await?
            } else {
                self.while_held(self.sync_completely()).await?
            };
            // It may have arrived since the last look, even days ago; or the store is a copy of one that has sent it.
            // Of a record that is made anew, what is listed now is known.
            let baseline = entry.baseline.unwrap_or(known.last);
            let found = self
                .while_held(self.appeared(entry, baseline, false))
                .await?;
            if !found.is_empty() {
                return self.take_found(entry, found).await;
            }
            let marked = self.mark(entry, Some(known.version), |entry| {
                if !was_sent {
                    entry.baseline = Some(known.last);
                }
            });
            match marked.await? {
                Some(Marked::Sending) => break,
                Some(Marked::Changed) => return Ok(true),
                Some(Marked::LostLease) => return Ok(false),
                None => {}
            }
        }
        let Some(reply) = self.request_creation(entry).await else {
            return Ok(false);
        };
        let (reply, created) = match reply {
            Reply::Applied(Applied { id: Some(id), .. }) if self.outbox.is_listed(&id).await? => {
                let what = "the reply names a record that was there before";
                (Reply::InDoubt(Error::protocol(what)), None)
            }
            Reply::Applied(Applied {
                id: Some(ref id), ..
            }) => {
                let id = id.clone();
                (reply, Some(id))
            }
            reply => (reply, None),
        };
        let step = self.finish(entry, reply).await?;
        if let Some(id) = created {
            self.read_back(entry, &id).await?;
        }
        Ok(step)
    }

    /// `None`: another process has taken over.
    async fn request_creation(&self, entry: &Stored) -> Option<Reply> {
        let Some(input) = &entry.input else {
            return Some(Reply::Refused(Error::config("the entry has no input")));
        };
        let call = self
            .outbox
            .account()
            .save_consignment_text(&input.as_new_draft());
        self.send_save(entry, call).await
    }

    pub(super) async fn settle_creation(&mut self, entry: &Stored) -> Step {
        if let Some(id) = &entry.chosen {
            let record = self.while_held(self.read(id)).await?;
            let is_there = |record: &Consignment| record.status != Some(ConsignmentStatus::Deleted);
            return match record.filter(is_there) {
                Some(_) => self.adopt(entry, Some(id), None).await,
                None => self.attend(entry, Reason::Candidates).await,
            };
        }
        let look = async {
            self.sync_completely().await?;
            let baseline = entry.baseline.unwrap_or(0);
            self.appeared(entry, baseline, false).await
        };
        let found = self.while_held(look).await?;
        if found.is_empty() {
            return self.not_found(entry).await;
        }
        self.take_found(entry, found).await
    }

    /// One record that surely is what was sent is adopted; otherwise a person decides.
    async fn take_found(&mut self, entry: &Stored, found: Found) -> Step {
        if let Some(id) = found.sole().filter(|_| entry.is_in_doubt()) {
            let read = self.looked().records.get(id).map(shape);
            return self.adopt(entry, Some(id), read.as_ref()).await;
        }
        let candidates = found.all();
        self.change_if_same(entry, |entry| {
            entry.candidates.clone_from(&candidates);
            entry.needs_attention(Reason::Candidates);
        })
        .await
    }

    /// Reads a record after the clear reply to its save. What the service fills in is learnt from it, and the next edit is
    /// compared with it, unless somebody has edited it since. A failure is none of the entry.
    pub(super) async fn read_back(&mut self, entry: &Stored, id: &ConsignmentId) -> Result<()> {
        if entry.kind != EntryKind::Save {
            return Ok(());
        }
        let Ok(Some(record)) = self.while_held(self.read(id)).await else {
            return Ok(());
        };
        let after = shape(&record);
        let change = self
            .outbox
            .journal()
            .change_with_past(entry.id, |draft, past| {
                let settled = past.as_ref().unwrap_or(entry);
                if let Some(text) = settled.text().filter(|_| settled.creates())
                    && record.status == Some(ConsignmentStatus::Draft)
                {
                    draft.head.service.learn(&text.value(), &record, &after);
                }
                // Otherwise the next edit is compared with what was sent, and differs.
                if settled.compare(&after, &draft.head.service) == Compared::OursApplied {
                    draft.read_after(settled, id, &after);
                }
            });
        change.await
    }
}
