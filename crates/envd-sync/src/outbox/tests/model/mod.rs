//! Random schedules of an outbox against a plain model of the service, the network and the user.

mod ending;
mod ledger;
mod network;
mod process;
mod replies;
mod schedule;
mod service;
mod user;

use crate::store::{MemorySync, SyncStore};
use crate::tests::postgres::TestSchema;
use equipment::schedules::{count, note, run_schedules};

use schedule::Schedule;

/// Runs this number of schedules, each with a store of its own; each must end as it should.
fn run_all<S: SyncStore>(schedules: u64, store: impl Fn(u64) -> S + Sync) {
    run_schedules(schedules, |schedule, seed| {
        let mut schedule = Schedule::new(seed, store(schedule));
        async move {
            schedule.run().await;
            schedule.heal().await;
        }
    });
}

#[test]
fn each_declaration_becomes_one_record_or_says_why_not_after_random_schedules() {
    run_all(count(40), |_| MemorySync::new());
}

/// The first of them.
#[test]
fn each_declaration_in_postgres_becomes_one_record_or_says_why_not() {
    if let Some(schema) = TestSchema::new() {
        run_all(100, |schedule| schema.store(schedule));
    }
}
