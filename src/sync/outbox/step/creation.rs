//! Creations: after a lost reply nothing but the list of the account shows whether there is a record.

use super::super::compare::shape;
use super::super::entry::{EntryKind, Reason};
use super::super::input_text::InputText;
use super::super::look::Found;
use super::super::pass::Pass;
use super::super::stored::{Base, Stored};
use super::{Applied, Marked, Reply, Step};
use crate::error::{Error, Result};
use crate::model::{ConsignmentId, ConsignmentInput, ConsignmentStatus};
use crate::ops::similarity::{Similarity, similarity};

impl Pass<'_> {
    pub(super) async fn create(&mut self, entry: &Stored) -> Step {
        let may_be_there = entry.baseline.is_some() && entry.is_in_doubt();
        // Known must be what was there before: with every change of the replica meanwhile, it is asked again.
        loop {
            let known = if self.outbox.is_fresh() && !may_be_there {
                self.outbox.synced().await?
            } else {
                self.while_held(self.sync_completely()).await?
            };
            if may_be_there {
                // It may have arrived since the last look, even days ago.
                let found = self.while_held(self.appeared(entry)).await?;
                if !found.is_empty() {
                    return self.take_found(entry, found).await;
                }
            }
            let marked = self.mark(entry, Some(known.version), |entry| {
                entry.baseline.get_or_insert(known.last);
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
        let created = match &reply {
            Reply::Applied(Applied { id: Some(id), .. }) => Some(id.clone()),
            _ => None,
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
        let look = async {
            self.sync_completely().await?;
            self.appeared(entry).await
        };
        let found = self.while_held(look).await?;
        if found.is_empty() {
            return self.not_found(entry).await;
        }
        self.take_found(entry, found).await
    }

    /// One record that surely is what was sent is adopted; otherwise a person decides.
    async fn take_found(&mut self, entry: &Stored, found: Found) -> Step {
        if let Some(id) = found.sole() {
            return self.adopt(entry, Some(id)).await;
        }
        let candidates = found.all();
        self.change_if_same(entry, |entry| {
            entry.candidates.clone_from(&candidates);
            entry.needs_attention(Reason::Candidates);
        })
        .await
    }

    /// Reads a record that was saved: the next edit is compared with it. A failure is none of the entry.
    pub(super) async fn read_back(&mut self, entry: &Stored, id: &ConsignmentId) -> Result<()> {
        if entry.kind != EntryKind::Save {
            return Ok(());
        }
        let Ok(Some(record)) = self.while_held(self.read(id)).await else {
            return Ok(());
        };
        let read = ConsignmentInput::from(&record);
        let after = shape(&record);
        let change = self
            .outbox
            .journal()
            .change_with_past(entry.id, |draft, past| {
                let settled = past.as_ref().unwrap_or(entry);
                let sent = settled.input.as_ref().map(InputText::without_names);
                let differs = sent
                    .is_some_and(|sent| similarity(&sent.input(), &read) == Similarity::Differs);
                if differs || record.status != Some(ConsignmentStatus::Draft) {
                    // Somebody was faster: the next edit is compared with what was sent, and differs.
                    return;
                }
                draft.settle_lane(settled, id, Some(&Base::Record(after.clone())));
                if let Some(past) = past.filter(|past| past.consignment.as_ref() == Some(id)) {
                    let past = Stored {
                        after: Some(after.clone()),
                        number: record.number.clone(),
                        ..past
                    };
                    draft.past.insert(past.id, Some(past));
                }
            });
        change.await
    }
}
