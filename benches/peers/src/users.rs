//! Many users of one process: what each save costs, and each record of many walks at once.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use envd_sdk::model::ConsignmentInput;
use envd_sdk::{AccountClient, HttpOptions};
use serde_json::Value;

use crate::compare::{Work, count, least};
use crate::cpu::{Run, Threads, side_by_side};
use crate::records::{PAGE_SIZE, Pages, summary};
use crate::{by_sdk, save};

const SAVES: usize = 10_000;
const ANSWERS: usize = 10;

/// The walks at once, and the records of each.
const WALKS: usize = 64;
const RECORDS: usize = 2_000;
/// The requests at once, when they are limited.
const LIMIT: usize = 8;

pub fn show(rounds: usize) {
    saves(rounds);
    for threads in Threads::ALL {
        walks(rounds.min(3), threads);
    }
}

fn saves(rounds: usize) {
    const ACCOUNTS: [usize; 3] = [1, 100, 10_000];
    let server = save::server();
    let run = Run::new(&server, Threads::One);
    let times = least(rounds, &ACCOUNTS, |accounts| save_for(&run, *accounts));
    let work = Work("save of users with a token manager each, over one pool");
    work.show("CPU time, one account", times[0] * 1e6 / SAVES as f64, "µs");
    for at in [1, 2] {
        let case = format!("{} accounts beside one", count(ACCOUNTS[at]));
        work.at_most(1.05, &case, times[at] / times[0], "times");
    }
}

/// Saves for so many users in turn, whose tokens are loaded before.
fn save_for(run: &Run<'_>, accounts: usize) -> Duration {
    let users = async {
        let names: Vec<String> = (0..accounts).map(|user| format!("user-{user}")).collect();
        let template = by_sdk::manager(&run.base(), &names).await;
        let client = by_sdk::client(&run.url());
        let mut users = Vec::new();
        for name in &names {
            let manager = template.clone().account(name).build().unwrap();
            manager.access_token().await.unwrap();
            let user = client.with_token_source(manager);
            users.push(user.account(format!("envd-{name}")));
        }
        (users, AtomicUsize::new(0))
    };
    type Users = (Vec<AccountClient>, AtomicUsize);
    let one = |users: Arc<Users>, input: ConsignmentInput| async move {
        let (users, next) = &*users;
        let user = &users[next.fetch_add(1, Ordering::Relaxed) % users.len()];
        let outcome = user.save_consignment(input).await.unwrap();
        outcome.value.number.is_some()
    };
    let (time, saved) = save::save(run, (SAVES, ANSWERS), users, one);
    assert_eq!(saved, SAVES);
    time
}

fn walks(rounds: usize, threads: Threads) {
    let server = Pages::new(RECORDS / PAGE_SIZE, small).serve(None);
    let run = Run::new(&server, threads);
    let free = HttpOptions::default;
    let times = least(rounds, &[(1, WALKS), (WALKS, 1)], |(at_once, in_turn)| {
        walk(&run, *at_once, *in_turn, free())
    });
    let what = format!("record of a walk over {}", count(RECORDS));
    let work = Work(format!("{what}, {}", threads.name()));
    let each = times[0] * 1e6 / (WALKS * RECORDS) as f64;
    work.show("one walk after the other, CPU time", each, "µs");
    let case = format!("{WALKS} walks at once beside that");
    work.at_most(1.05, &case, times[1] / times[0], "times");
    let connections = |options| {
        let before = server.connections();
        walk(&run, WALKS, 1, options);
        (server.connections() - before) as f64
    };
    let case = format!("connections of {WALKS} walks at once");
    work.show(&case, connections(free()), "in all");
    let limited = connections(free().max_concurrent_requests(LIMIT));
    let case = format!("connections of {WALKS} walks, at most {LIMIT} requests at once");
    work.at_most(LIMIT as f64, &case, limited, "in all");
}

/// The CPU time of so many walks at once, and as often in turn.
fn walk(run: &Run<'_>, at_once: usize, in_turn: usize, options: HttpOptions) -> Duration {
    let url = run.url();
    let (time, seen) = run.timed(async move {
        let client = by_sdk::client_with(&url, options);
        side_by_side((0..at_once).map(|_| {
            let client = client.clone();
            async move {
                let mut seen = 0;
                for _ in 0..in_turn {
                    seen += by_sdk::walk(client.clone(), Duration::ZERO).await;
                }
                seen
            }
        }))
        .await
    });
    assert_eq!(seen, at_once * in_turn * RECORDS);
    time
}

/// A record with one form and the address of its owner alone.
fn small(row: usize) -> Value {
    let mut record = summary(row, 1);
    record["origin"]["address"] = Value::Null;
    record["destination"]["address"] = Value::Null;
    record["consignee"] = Value::Null;
    record
}
