//! Runs random schedules, each with its own seed.
//!
//! `ENVD_SDK_TEST_SCHEDULES` sets the number of schedules, `ENVD_SDK_EXPLORE` the seed, and `ENVD_SDK_TEST_SCHEDULE` selects a
//! single schedule. `cargo test` runs a few; `.ci/run` runs thousands.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, OnceLock};

use crate::seeded::seed;

const ONE: &str = "ENVD_SDK_TEST_SCHEDULE";

/// Reads a number from an environment variable.
fn number(variable: &str) -> Option<u64> {
    let number = std::env::var(variable).ok()?;
    Some(number.parse().unwrap())
}

/// Prints an event if a single schedule was selected.
pub fn note(what: impl FnOnce() -> String) {
    static SHOWS: OnceLock<bool> = OnceLock::new();
    if *SHOWS.get_or_init(|| number(ONE).is_some()) {
        println!("{}", what());
    }
}

/// The number of schedules to run: 1 if one was selected, the number in the variable, or this default.
pub fn count(schedules: u64) -> u64 {
    let only = number(ONE).map(|_| 1);
    only.or_else(|| number("ENVD_SDK_TEST_SCHEDULES"))
        .unwrap_or(schedules)
}

/// Runs this number of schedules on four threads, each in a runtime. `run` gets the number of the schedule and its seed.
pub fn run_schedules<F: Future<Output = ()>>(schedules: u64, run: impl Fn(u64, u64) -> F + Sync) {
    run_without_runtime(schedules, |schedule, seed| {
        let mut runtime = tokio::runtime::Builder::new_current_thread();
        runtime.build().unwrap().block_on(run(schedule, seed));
    });
}

/// Like [`run_schedules`], for schedules that create their own runtimes.
pub fn run_without_runtime(schedules: u64, run: impl Fn(u64, u64) + Sync) {
    let only = number(ONE);
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
                    let seed = seed().wrapping_mul(1_000_003).wrapping_add(schedule);
                    let program = AssertUnwindSafe(|| run(schedule, seed));
                    if catch_unwind(program).is_err() {
                        println!("schedule {schedule} failed");
                        failed.lock().unwrap().push(schedule);
                    }
                }
            });
        }
    });
    let failed = failed.into_inner().unwrap();
    assert!(
        failed.is_empty(),
        "the schedules {failed:?} with the seed {}: {ONE} runs one of them alone",
        seed()
    );
}
