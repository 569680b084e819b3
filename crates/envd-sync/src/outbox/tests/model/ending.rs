//! What must hold when everything works again, for long enough.

use std::collections::BTreeMap;

use super::process::ACCOUNT;
use super::schedule::Schedule;
use super::service::Author;
use crate::outbox::{Entry, EntryKind, EntryState, Reason};
use crate::store::SyncStore;
use envd_sdk::model::ConsignmentId;

impl Schedule {
    /// Everything works again, and nobody does anything but send.
    pub(super) async fn heal(&mut self) {
        {
            let mut world = self.world();
            (world.trouble, world.is_offline, world.login_is_dead) = (0, false, false);
            world.service.lag = 0;
        }
        self.finish().await;
        for process in &mut self.processes {
            process.store.interrupt(super::process::AtCommit::Nothing);
        }
        if self.processes.is_empty() {
            self.start();
        }
        for _ in 0..8 {
            // As each day.
            self.sync_all().await;
            self.send_undisturbed().await;
            self.pass_time(4_000);
        }
        self.check_states().await;
        // Strays are looked for each hour. What was listed late is found by a full walk.
        self.pass_time(2 * 3_600);
        self.sync_all().await;
        self.send_undisturbed().await;
        self.check_records().await;
        self.pass_time(2 * 86_400);
        self.send_undisturbed().await;
        self.check_documents().await;
    }

    async fn sync_all(&mut self) {
        let replica = self.processes[0].outbox.replica().clone();
        let number = self.processes[0].number;
        self.spawn(number, false, async move {
            // A pause that the service asked for may not be over.
            let _ = replica.sync_full().await;
        });
        self.let_it_end();
        self.finish().await;
    }

    async fn send_undisturbed(&mut self) {
        for at in 0..self.processes.len() {
            let (number, outbox) = (self.processes[at].number, self.processes[at].outbox.clone());
            let at_once = self.random.bool();
            self.spawn(number, false, async move {
                if at_once {
                    outbox.send().await.map(drop).unwrap();
                } else {
                    outbox.pass().await.map(drop).unwrap();
                }
            });
            self.let_it_end();
            self.finish().await;
        }
    }

    async fn entries(&self) -> BTreeMap<u64, Entry> {
        let outbox = &self.processes[0].outbox;
        let mut entries = outbox.entries().await.unwrap();
        let mut before = None;
        loop {
            let page = outbox.history(before).await.unwrap();
            entries.extend(page.entries);
            before = page.next;
            if before.is_none() {
                break;
            }
        }
        entries
            .into_iter()
            .map(|entry| (entry.id.0, entry))
            .collect()
    }

    /// Each entry is at its end, or in a state that says why not; none is lost.
    async fn check_states(&mut self) {
        let entries = self.entries().await;
        let world = self.world();
        let ledger = &world.ledger;
        for id in &ledger.acknowledged {
            let is_removed = ledger.is_pruned && ledger.is_ended(*id);
            assert!(entries.contains_key(id) || is_removed, "entry {id} is lost");
        }
        for entry in entries.values() {
            match (entry.state, entry.reason) {
                (EntryState::Confirmed | EntryState::Discarded | EntryState::Refused, _)
                | (EntryState::NeedsAttention, Some(_)) => {}
                (EntryState::Queued, Some(Reason::WaitsForEarlier)) => {
                    let noted = &ledger.entries[&entry.id.0];
                    let blocks = |other: &Entry| {
                        let earlier = &ledger.entries[&other.id.0];
                        let has_stopped = matches!(
                            other.state,
                            EntryState::Refused | EntryState::NeedsAttention
                        );
                        has_stopped && earlier.lane == noted.lane && earlier.order < noted.order
                    };
                    assert!(
                        entries.values().any(blocks),
                        "nothing in its lane blocks {entry:?}"
                    );
                }
                other => panic!("{other:?}: {entry:?}"),
            }
        }
    }

    /// Each creation that is confirmed is one record; further ones are reported.
    async fn check_records(&mut self) {
        let entries = self.entries().await;
        let world = self.world();
        for (id, entry) in &entries {
            let Some(noted) = world.ledger.entries.get(id) else {
                continue;
            };
            let is_own = |author: Author| matches!(author, Author::Entry(maker, _) if maker == *id);
            if entry.state != EntryState::Confirmed || noted.is_decided {
                continue;
            }
            let record = entry.consignment.as_ref().map(|id| id.as_str().to_owned());
            if entry.kind == EntryKind::Comment {
                let comments = world.service.comments.values().flatten();
                let own = comments.filter(|comment| is_own(comment.author)).count();
                assert!(own > 0 || entry.is_adopted, "{entry:?} is not there");
                continue;
            }
            let record = record.unwrap_or_else(|| panic!("{entry:?} has no record"));
            let known = &world.service.records[&record];
            match entry.kind {
                EntryKind::Save if !entry.is_adopted => {
                    assert!(
                        known.versions.iter().any(|version| is_own(version.author)),
                        "{entry:?}: {known:?}"
                    );
                }
                EntryKind::Submit => {
                    let submitted = known
                        .versions
                        .iter()
                        .find(|version| version.value["status"] == "SUBMITTED");
                    assert!(submitted.is_some(), "{entry:?}: {known:?}");
                }
                EntryKind::Delete => assert!(
                    known.is_deleted || world.ledger.has_lag,
                    "{entry:?}: {known:?}"
                ),
                _ => {}
            }
            for told in &entry.late_duplicates {
                let is_of_an_entry = entries.values().any(|one| {
                    one.state == EntryState::Confirmed
                        && one.consignment.as_ref() == Some(told)
                        && one.kind == EntryKind::Save
                });
                let record = &world.service.records[told.as_str()];
                assert!(
                    is_own(record.maker()) || !is_of_an_entry,
                    "{told} is told as one too many of {entry:?}, and is the record of an entry: {record:?}"
                );
                assert!(
                    record.maker() != Author::Website || world.service.shares_login,
                    "{told} of the website is told as one too many of {entry:?}: {record:?}"
                );
            }
            for (other, record) in &world.service.records {
                let is_stray = is_own(record.maker())
                    && Some(other.as_str())
                        != entry.consignment.as_ref().map(ConsignmentId::as_str);
                // Clocks that are apart end the watch early.
                let is_watched = world.ledger.skew < 60_000;
                // A person may have taken it for that of another entry.
                let is_of_another = entries.values().any(|one| {
                    let consignment = one.consignment.as_ref().map(ConsignmentId::as_str);
                    let is_made = one.kind == EntryKind::Save;
                    is_made && one.state == EntryState::Confirmed && consignment == Some(other)
                });
                if is_watched
                    && is_stray
                    && !is_of_another
                    && !record.is_deleted
                    && record.versions.len() == 1
                {
                    let is_told = entry.late_duplicates.iter().any(|id| id.as_str() == other);
                    assert!(
                        is_told,
                        "{other} of {entry:?} is not reported: {:?}",
                        entry.late_duplicates
                    );
                }
            }
        }
        for (id, record) in &world.service.records {
            let submitted = record
                .versions
                .iter()
                .filter(|version| version.value["status"] == "SUBMITTED");
            let ours =
                submitted.filter(|version| version.author != Author::Website && !record.is_deleted);
            assert!(ours.count() <= 1, "{id}: {record:?}");
        }
    }

    /// Nothing is kept of what is not needed any more.
    async fn check_documents(&mut self) {
        let entries = self.entries().await;
        let is_open = entries.values().any(|entry| !entry.state.is_final());
        let consumers = self
            .store
            .documents(ACCOUNT, "consumer/outbox")
            .await
            .unwrap();
        assert!(is_open || consumers.is_empty(), "{consumers:?}");
    }
}
