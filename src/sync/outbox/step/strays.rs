//! Records that a request made after it was given up.

use super::super::journal::Snapshot;
use super::super::pass::Pass;
use super::super::stored::{Stored, Watch};
use super::Step;
use crate::model::ConsignmentId;

impl Pass<'_> {
    /// Looks for records that agree with what an entry has sent, appeared since, and belong to no entry.
    pub(in crate::sync::outbox) async fn look_for_strays(&mut self, snapshot: &Snapshot) -> Step {
        let outbox = self.outbox;
        let synced = self.while_held(self.sync_completely()).await?;
        outbox.set_fresh(synced);
        for watch in &snapshot.head.watches {
            let Some(mut entry) = outbox.journal().past(watch.entry).await? else {
                continue;
            };
            entry.baseline = Some(watch.baseline);
            let found = self.while_held(self.appeared(&entry)).await?;
            self.tell_strays(&entry, [found.agreeing, found.doubtful].concat())
                .await?;
        }
        self.looked_for_strays();
        // The clock of the process that wrote it may be ahead.
        let longest = outbox.settings.stray_watch.saturating_mul(2);
        let is_over = |watch: &Watch| outbox.has_come(&watch.until, longest);
        if !snapshot.head.watches.iter().any(is_over) {
            return Ok(true);
        }
        let change = self.outbox.journal().change(|draft| {
            draft.head.watches.retain(|watch| !is_over(watch));
            Ok(true)
        });
        change.await
    }

    async fn tell_strays(&mut self, entry: &Stored, found: Vec<ConsignmentId>) -> Step {
        let new = found.into_iter().filter(|id| !entry.strays.contains(id));
        let new: Vec<ConsignmentId> = new.collect();
        if new.is_empty() {
            return Ok(true);
        }
        self.report.strays += new.len() as u64;
        let strays: Vec<ConsignmentId> = entry.strays.iter().cloned().chain(new).collect();
        let change = self.outbox.journal().change(|draft| {
            let strays = strays.clone();
            draft.past.insert(
                entry.id,
                Some(Stored {
                    strays,
                    ..entry.clone()
                }),
            );
            Ok(true)
        });
        change.await
    }
}
