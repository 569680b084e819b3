//! Random schedules of an outbox against a plain model of the service, the network and the user.
//!
//! `ENVD_SDK_TEST_SCHEDULES` names another number of schedules, `ENVD_SDK_EXPLORE` another seed, and
//! `ENVD_SDK_TEST_SCHEDULE` a single one.

mod ending;
mod ledger;
mod network;
#[cfg(feature = "postgres")]
mod on_postgres;
mod process;
mod replies;
mod schedule;
mod service;
mod user;
mod written;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, OnceLock};

use crate::seeded::seed;
use crate::sync::store::{MemorySync, SyncStore};
use schedule::Schedule;

/// The number in a variable.
fn number(variable: &str) -> Option<u64> {
    std::env::var(variable)
        .ok()
        .map(|number| number.parse().unwrap())
}

/// Shows what happens in a schedule that runs alone.
fn note(what: impl FnOnce() -> String) {
    static SHOWS: OnceLock<bool> = OnceLock::new();
    if *SHOWS.get_or_init(|| number("ENVD_SDK_TEST_SCHEDULE").is_some()) {
        println!("{}", what());
    }
}

/// Whether a schedule ends as it must.
fn holds(schedule: u64, store: impl SyncStore) -> bool {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap();
    let seed = seed().wrapping_mul(1_000_003).wrapping_add(schedule);
    let ended = catch_unwind(AssertUnwindSafe(|| {
        runtime.block_on(async {
            let mut schedule = Schedule::new(seed, store);
            schedule.run().await;
            schedule.heal().await;
        });
    }));
    ended.is_ok()
}

/// Runs this number of schedules, each with a store of its own, unless the variables name others.
fn run_all<S: SyncStore>(schedules: u64, store: impl Fn(u64) -> S + Sync) {
    let only = number("ENVD_SDK_TEST_SCHEDULE");
    let next = AtomicU64::new(only.unwrap_or(0));
    let end = only.map_or(schedules, |only| only + 1);
    let failed = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                loop {
                    let schedule = next.fetch_add(1, Ordering::Relaxed);
                    if schedule >= end {
                        return;
                    }
                    if !holds(schedule, store(schedule)) {
                        failed.lock().unwrap().push(schedule);
                    }
                }
            });
        }
    });
    let failed = failed.into_inner().unwrap();
    assert!(
        failed.is_empty(),
        "the schedules {failed:?} with the seed {}: ENVD_SDK_TEST_SCHEDULE runs one of them alone",
        seed()
    );
}

#[test]
fn each_entry_becomes_one_record_or_says_why_not_after_random_schedules() {
    let schedules = number("ENVD_SDK_TEST_SCHEDULES").unwrap_or(1_000);
    run_all(schedules, |_| MemorySync::new());
}
