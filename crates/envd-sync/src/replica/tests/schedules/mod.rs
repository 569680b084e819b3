//! Random schedules of syncs and reads, checked against a simple model.

mod edit;
mod observed_service;
mod program;
mod reader;
mod schedule;

use std::sync::Arc;

use crate::store::{MemorySync, SyncStore};
use schedule::Schedule;
use test_support::schedules::{count, run_schedules};

/// Runs this many schedules. Each reopens its store again and again, as a restarted program does.
fn run_all<S: SyncStore, O: Fn() -> S>(schedules: u64, opener: impl Fn(u64) -> O + Sync) {
    run_schedules(schedules, |number, seed| {
        let open = opener(number);
        async move {
            let open = || Arc::new(open()) as Arc<dyn SyncStore>;
            Box::pin(Schedule::new(seed, &open).run()).await;
        }
    });
}

/// Holds: every state that a list shows is told to every named consumer at least once, in order per record.
/// Holds: after a clean scan the copy equals what was listed.
/// Holds: failure point 23: insert, delete, edit, refused cursor during a scan.
/// Holds: failure point 24: clocks a day apart.
/// Holds: failure point 24: other date compared, listing lag.
#[test]
fn copies_and_feeds_are_right_after_random_schedules() {
    run_all(count(30), |_| {
        let store = MemorySync::new();
        move || store.clone()
    });
}

/// A store in a file, reopened by each program.
///
/// Holds: this holds when the program is killed at any moment.
#[cfg(feature = "sqlite")]
#[test]
fn a_copy_in_a_file_and_its_feeds_are_right_after_schedules() {
    use crate::store::SqliteSync;
    use crate::store::sqlite::tests::folder::Folder;

    let folder = Folder::new();
    run_all(count(50).div_ceil(50), |number| {
        let file = folder.path().join(format!("{number}.db"));
        move || SqliteSync::open(&file).unwrap()
    });
}
