//! Records that a request made after it was given up.

use super::super::journal::Snapshot;
use super::super::pass::{Pass, is_entry_failure};
use super::super::stored::{Stored, Watch};
use super::Step;
use crate::model::ConsignmentId;

impl Pass<'_> {
    /// Looks for records that agree with what an entry has sent, appeared since, and belong to no entry.
    pub(in crate::sync::outbox) async fn look_for_strays(&mut self, snapshot: &Snapshot) -> Step {
        let outbox = self.outbox;
        self.while_held(self.sync_completely()).await?;
        for watch in &snapshot.head.watches {
            let Some(entry) = outbox.journal().past(watch.entry).await? else {
                continue;
            };
            let found = match self
                .while_held(self.appeared(&entry, watch.baseline, true))
                .await
            {
                Ok(found) => found,
                // The next look reads it again. Other entries, and the end of the watch, do not wait for it.
                Err(error) if is_entry_failure(&error) => continue,
                Err(error) => return Err(error),
            };
            self.tell_strays(&entry, found.agreeing).await?;
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
        let told = self
            .outbox
            .journal()
            .change_with_past(entry.id, |draft, past| {
                // It was removed from the history meanwhile.
                let Some(mut past) = past else {
                    return 0;
                };
                let new = found.iter().filter(|id| !past.strays.contains(id));
                let new: Vec<ConsignmentId> = new.cloned().collect();
                let told = new.len() as u64;
                past.strays.extend(new);
                draft
                    .past
                    .extend((told > 0).then_some((past.id, Some(past))));
                told
            });
        self.report.strays += told.await?;
        Ok(true)
    }
}
