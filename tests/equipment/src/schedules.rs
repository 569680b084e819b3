//! Runs random schedules, each with a seed of its own.
//!
//! `ENVD_SDK_TEST_SCHEDULES` names another number of schedules, `ENVD_SDK_EXPLORE` another seed, and
//! `ENVD_SDK_TEST_SCHEDULE` a single one. `cargo test` runs few; `.ci/run` runs thousands.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, OnceLock};

use crate::seeded::seed;

const ONE: &str = "ENVD_SDK_TEST_SCHEDULE";

/// The number in a variable.
fn number(variable: &str) -> Option<u64> {
    let number = std::env::var(variable).ok()?;
    Some(number.parse().unwrap())
}

/// Shows what happens in a schedule that runs alone.
pub fn note(what: impl FnOnce() -> String) {
    static SHOWS: OnceLock<bool> = OnceLock::new();
    if *SHOWS.get_or_init(|| number(ONE).is_some()) {
        println!("{}", what());
    }
}

/// So many schedules, unless a variable names another number, or the one that runs alone.
pub fn count(schedules: u64) -> u64 {
    let only = number(ONE).map(|_| 1);
    only.or_else(|| number("ENVD_SDK_TEST_SCHEDULES"))
        .unwrap_or(schedules)
}

/// Runs so many schedules on four threads, given their numbers and seeds, each in a runtime.
pub fn run_schedules<F: Future<Output = ()>>(schedules: u64, run: impl Fn(u64, u64) -> F + Sync) {
    run_without_runtime(schedules, |schedule, seed| {
        let mut runtime = tokio::runtime::Builder::new_current_thread();
        runtime.build().unwrap().block_on(run(schedule, seed));
    });
}

/// As [`run_schedules`], for schedules that have runtimes of their own.
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
