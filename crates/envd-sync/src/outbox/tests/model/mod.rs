//! Random schedules of the loop, its store and the SDK against a plain model of the service and the network. The invariants, the user and
//! the website are shared with the schedules of the pure functions in `tests/outbox_model`.

mod ending;
mod invariants;
mod ledger;
mod network;
mod people;
mod process;
mod replies;
mod schedule;
mod service;
mod user;

use crate::store::MemorySync;
use test_support::schedules::{count, note, run_schedules};

use schedule::Schedule;

#[test]
fn each_declaration_becomes_one_record_or_says_why_not_after_random_schedules() {
    run_schedules(count(40), |_, seed| async move {
        let mut schedule = Schedule::new(seed, MemorySync::new());
        schedule.run().await;
        schedule.heal().await;
    });
}
