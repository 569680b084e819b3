//! Random schedules of an outbox against a plain model of the service, the network and the user.

mod ending;
mod ledger;
mod network;
mod on_postgres;
mod process;
mod replies;
mod schedule;
mod service;
mod user;
mod written;

use crate::store::{MemorySync, SyncStore};
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
fn each_entry_becomes_one_record_or_says_why_not_after_random_schedules() {
    run_all(count(40), |_| MemorySync::new());
}
