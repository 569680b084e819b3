//! Copies of accounts: random schedules against a plain model.

mod banks;
mod edit;
mod guarantees;
mod http;
mod observed_store;
mod outbox_guarantees;
mod process;
mod reader;
mod schedule;
mod service;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use envd_sdk::auth::StaticToken;
use envd_sdk::sync::store::{MemorySync, SqliteSync, SyncStore};
use envd_sdk::{Client, RetryPolicy};

use super::folder::Folder;
use schedule::{Open, Schedule};
use service::{Compared, Modes, Order, Service, Total};

/// A client over the same connections, with another token.
fn with_token(client: &Client, token: &str) -> Client {
    client.with_token_source(StaticToken::new(token).unwrap())
}

/// The number in a variable, or this one.
fn number(variable: &str, default: u64) -> u64 {
    std::env::var(variable).map_or(default, |number| number.parse().unwrap())
}

/// Runs so many schedules on four threads, each with a service and a runtime of its own.
fn run_schedules(count: u64, open: impl Fn(u64) -> Open + Sync) {
    let seed = number("ENVD_SDK_EXPLORE", 4711);
    let only = std::env::var("ENVD_SDK_TEST_SCHEDULE")
        .ok()
        .map(|one| one.parse::<u64>().unwrap());
    let next = AtomicU64::new(only.unwrap_or(0));
    let end = only.map_or(count, |only| only + 1);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                let runtime = tokio::runtime::Builder::new_current_thread()
                    .enable_all()
                    .build()
                    .unwrap();
                let (service, client) = runtime.block_on(service());
                loop {
                    let schedule = next.fetch_add(1, Ordering::Relaxed);
                    if schedule >= end {
                        return;
                    }
                    let (service, client) = (Arc::clone(&service), client.clone());
                    let seed = seed.wrapping_mul(1_000_003).wrapping_add(schedule);
                    let mut running =
                        Schedule::new(seed, Arc::clone(&service), client, open(schedule));
                    let ended = catch_unwind(AssertUnwindSafe(|| runtime.block_on(running.run())));
                    assert!(
                        ended.is_ok(),
                        "the schedule {schedule}; ENVD_SDK_TEST_SCHEDULE={schedule} runs it alone"
                    );
                }
            });
        }
    });
}

async fn service() -> (Arc<Mutex<Service>>, Client) {
    let modes = Modes {
        compared: Compared::Updated,
        order: Order::Id,
        total: Total::Exact,
        by_position: true,
        lag: 0,
    };
    let service = Arc::new(Mutex::new(Service::new(modes)));
    let answers = Arc::clone(&service);
    let address = http::serve(Box::new(move |token, body| {
        answers.lock().unwrap().answer(token, body)
    }))
    .await;
    let client = Client::builder(address)
        .token_source(StaticToken::new("reader").unwrap())
        .retry(RetryPolicy::none())
        .build()
        .unwrap();
    (service, client)
}

/// A store in a file, opened anew by each program.
#[test]
fn a_copy_in_a_file_and_its_feeds_are_right_after_schedules() {
    let folder = Folder::new();
    run_schedules(number("ENVD_SDK_TEST_SCHEDULES", 1_000) / 50, |schedule| {
        let file = folder.path() + &format!("-{schedule}.db");
        Box::new(move || Arc::new(SqliteSync::open(&file).unwrap()) as Arc<dyn SyncStore>)
    });
}

/// `ENVD_SDK_TEST_SCHEDULES` names another number than 1,000.
#[test]
fn copies_and_feeds_are_right_after_random_schedules() {
    run_schedules(number("ENVD_SDK_TEST_SCHEDULES", 1_000), |_| {
        let store = MemorySync::new();
        Box::new(move || Arc::new(store.clone()) as Arc<dyn SyncStore>)
    });
}
