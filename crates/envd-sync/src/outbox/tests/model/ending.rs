//! The checks at the end of a schedule, when everything has worked again for long enough.

use std::collections::{BTreeMap, BTreeSet};

use test_support::plain_service::Author;

use super::ledger::Ledger;
use super::network::World;
use super::process::{ACCOUNT, AtCommit};
use super::schedule::Schedule;
use crate::outbox::{Declaration, DeclarationState};
use crate::store::SyncStore;
use envd_sdk::model::ConsignmentId;

impl Schedule {
    /// Repairs everything, and then only sends.
    pub(super) async fn heal(&mut self) {
        {
            let mut world = self.world();
            (world.trouble, world.is_offline, world.login_is_dead) = (0, false, false);
            world.service.lag = 0;
        }
        self.finish().await;
        for process in &mut self.processes {
            process.store.interrupt(AtCommit::Nothing);
        }
        if self.processes.is_empty() {
            self.start();
        }
        for _ in 0..8 {
            // As at least once a day.
            self.sync_all().await;
            self.send_undisturbed().await;
            self.pass_time(4_000);
        }
        let declarations = self.declarations().await;
        check_states(&self.world().ledger, &declarations);
        // Late duplicates are searched for once an hour. A full scan finds records that were listed late.
        self.pass_time(2 * 3_600);
        self.sync_all().await;
        self.send_undisturbed().await;
        let declarations = self.declarations().await;
        for one in declarations.values() {
            check_duplicates(&self.world(), one, &declarations);
        }
        self.world().check_end();
        self.pass_time(2 * 86_400);
        self.send_undisturbed().await;
        self.check_documents().await;
    }

    async fn sync_all(&mut self) {
        let replica = self.processes[0].outbox.replica().clone();
        let number = self.processes[0].number;
        self.spawn(number, false, async move {
            // A pause that the service asked for may not have ended.
            let _ = replica.sync_full().await;
        });
        self.let_it_end();
        self.finish().await;
    }

    async fn send_undisturbed(&mut self) {
        for at in 0..self.processes.len() {
            let number = self.processes[at].number;
            let outbox = self.processes[at].outbox.clone();
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

    async fn declarations(&self) -> BTreeMap<u64, Declaration> {
        let outbox = &self.processes[0].outbox;
        let mut declarations = outbox.declarations().await.unwrap();
        let mut before = None;
        loop {
            let page = outbox.history(before).await.unwrap();
            declarations.extend(page.declarations);
            before = page.next;
            if before.is_none() {
                break;
            }
        }
        declarations
            .into_iter()
            .map(|one| (one.id.0, one))
            .collect()
    }

    /// Checks that the changes kept for searches are released.
    async fn check_documents(&mut self) {
        let declarations = self.declarations().await;
        let is_open = declarations.values().any(|one| !one.state.is_final());
        let consumers = self.store.documents(ACCOUNT, "consumer/").await.unwrap();
        assert!(is_open || consumers.is_empty(), "{consumers:?}");
    }
}

/// Checks that each declaration has ended or has a state that explains why not, that none is lost, and that each record belongs to
/// one.
fn check_states(ledger: &Ledger, declarations: &BTreeMap<u64, Declaration>) {
    for id in &ledger.acknowledged {
        let is_removed = ledger.invariants.pruned.contains(id);
        let is_there = declarations.contains_key(id) || is_removed;
        assert!(is_there, "declaration {id} is lost");
    }
    let mut records = BTreeSet::new();
    for one in declarations.values() {
        use DeclarationState::{Confirmed, Discarded, NeedsAttention, Refused};
        let is_settled = matches!(one.state, Confirmed | Discarded | Refused | NeedsAttention);
        assert!(is_settled, "{one:?} waits: {:?}", one.history);
        let record = one.consignment.as_ref().filter(|_| one.state != Discarded);
        assert!(
            record.is_none_or(|record| records.insert(record)),
            "{one:?} shares its record"
        );
    }
}

/// Checks that late duplicates are reported.
fn check_duplicates(world: &World, one: &Declaration, declarations: &BTreeMap<u64, Declaration>) {
    let is_confirmed = |one: &Declaration| one.state == DeclarationState::Confirmed;
    let World {
        ledger, service, ..
    } = world;
    if !is_confirmed(one) || ledger.invariants.is_decided(one.id.0) {
        return;
    }
    let author = Author::Row(one.id.0);
    // The user may have adopted it for another declaration.
    let is_of_another = |id: &str| {
        let mut others = declarations.values().filter(|other| is_confirmed(other));
        others.any(|other| other.consignment.as_ref().map(ConsignmentId::as_str) == Some(id))
    };
    // If clocks differ, the watch ends early. If an equal record of another user appears while the creation is in doubt, it explains
    // that creation. If the row's own record is gone, the late record is the only one.
    let is_own = |id: &ConsignmentId| {
        let own = &service.records[id.as_str()];
        own.maker() == author && !own.is_deleted
    };
    let is_watched = ledger.skew < 60_000 && one.consignment.as_ref().is_none_or(is_own);
    let strays = service.records.iter().filter(|(id, record)| {
        record.is_only_of(author)
            && !record.is_deleted
            && !is_of_another(id)
            && !ledger.invariants.is_rivalled(service, one.id.0, record)
    });
    let strays: Vec<&String> = strays.map(|(id, _)| id).collect();
    // An equal record of another user may have been reported instead.
    assert!(
        !is_watched || strays.len() <= one.late_duplicates.len(),
        "{strays:?} of {one:?} are not reported: {:?}",
        one.late_duplicates
    );
}

impl World {
    fn check_end(&self) {
        let ledger = &self.ledger;
        ledger.invariants.check_end(&self.service, ledger.has_lag);
        for (id, record) in &self.service.records {
            // An update of a submitted record, with the user's consent, leaves it submitted. That is not a second submit.
            let mut was_submitted = false;
            let mut submitted = 0;
            for version in &record.versions {
                let is_submitted = version.value["status"] == "SUBMITTED";
                if is_submitted && !was_submitted && version.author != Author::Website {
                    submitted += 1;
                }
                // The user withdrew it, and may submit it again.
                if was_submitted && !is_submitted && version.author != Author::Website {
                    submitted = 0;
                }
                was_submitted = is_submitted;
            }
            assert!(submitted <= 1 || record.is_deleted, "{id}: {record:?}");
        }
    }
}
