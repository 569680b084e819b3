//! Many users of one process: what each save costs, and each record of many walks at once.

use std::sync::Arc;
use std::time::Duration;

use envd_sdk::model::ConsignmentInput;
use envd_sdk::{Client, HttpOptions};

use crate::measure::{Goal, Run, Threads, count, row, side_by_side};
use crate::{LANES, list, save};

const SAVES: usize = 10_000;
const ANSWERS: usize = 10;

/// The walks at once, and the records of each.
const WALKS: usize = 64;
const RECORDS: usize = 2_000;
/// The requests at once, when they are limited.
const LIMIT: usize = 8;

pub fn show(rounds: usize) {
    saves(rounds);
    for threads in [Threads::One, Threads::Four] {
        walks(rounds.min(3), threads);
    }
}

fn saves(rounds: usize) {
    const ACCOUNTS: [usize; 3] = [1, 100, 10_000];
    let server = save::server();
    let run = Run::new(&server, Threads::One);
    let mut least = [Duration::MAX; 3];
    for _ in 0..rounds {
        for (least, accounts) in least.iter_mut().zip(ACCOUNTS) {
            let (time, saved) = save_for(&run, accounts, save::lanes(SAVES, ANSWERS));
            assert_eq!(saved, SAVES);
            *least = time.min(*least);
        }
    }
    let each = |time: Duration| time.as_secs_f64() * 1e6 / SAVES as f64;
    let work = "save of users with a token manager each, over one pool";
    row(
        work,
        "CPU time, one account",
        each(least[0]),
        "µs",
        Goal::None,
    );
    for at in [1, 2] {
        let case = format!("{} accounts beside one", count(ACCOUNTS[at]));
        let ratio = each(least[at]) / each(least[0]);
        row(work, &case, ratio, "times", Goal::AtMost(1.05));
    }
}

/// Saves for so many users in turn, whose tokens are loaded before.
fn save_for(
    run: &Run<'_>,
    accounts: usize,
    lanes: Vec<Vec<ConsignmentInput>>,
) -> (Duration, usize) {
    let base = run.base();
    let users = async {
        let names: Vec<String> = (0..accounts).map(|user| format!("user-{user}")).collect();
        let template = save::by_sdk::manager(&base, &names).await;
        let manager = |name: &str| template.clone().account(name).build().unwrap();
        let first = manager(&names[0]);
        let client = Client::builder(format!("{base}/graphql"));
        let client = client.token_source(first).build().unwrap();
        let mut users = Vec::new();
        for name in &names {
            let manager = manager(name);
            manager.access_token().await.unwrap();
            let user = client.with_token_source(manager);
            users.push(user.account(format!("envd-{name}")));
        }
        Arc::new(users)
    };
    let (time, (saved, _users)) = run.timed_after(users, |users| async move {
        let lanes = lanes.into_iter().enumerate().map(|(lane, inputs)| {
            let users = Arc::clone(&users);
            async move {
                let mut saved = 0;
                for (at, input) in inputs.into_iter().enumerate() {
                    let user = &users[(at * LANES + lane) % users.len()];
                    let outcome = user.save_consignment(input).await.unwrap();
                    saved += usize::from(outcome.value.number.is_some());
                }
                saved
            }
        });
        // The accounts are returned as well: their end is not part of a save.
        (side_by_side(lanes).await, users)
    });
    (time, saved)
}

fn walks(rounds: usize, threads: Threads) {
    let server = list::serve();
    let run = Run::new(&server, threads);
    let mut least = [Duration::MAX; 2];
    let mut connections = 0;
    for _ in 0..rounds {
        let one = list::walk(&run, 1, WALKS, RECORDS);
        let before = server.connections();
        let many = list::walk(&run, WALKS, 1, RECORDS);
        connections = server.connections() - before;
        least = [one.min(least[0]), many.min(least[1])];
    }
    let work = format!(
        "record of a walk over {}, {}",
        count(RECORDS),
        threads.name()
    );
    let each = least[0].as_secs_f64() * 1e6 / (WALKS * RECORDS) as f64;
    row(
        &work,
        "one walk after the other, CPU time",
        each,
        "µs",
        Goal::None,
    );
    let ratio = least[1].as_secs_f64() / least[0].as_secs_f64();
    let case = format!("{WALKS} walks at once beside that");
    row(&work, &case, ratio, "times", Goal::AtMost(1.05));
    let case = format!("connections of {WALKS} walks at once");
    row(&work, &case, connections as f64, "in all", Goal::None);
    let options = HttpOptions::default().max_concurrent_requests(LIMIT);
    let before = server.connections();
    list::walk_with(&run, WALKS, 1, RECORDS, options);
    let connections = (server.connections() - before) as f64;
    let case = format!("connections of {WALKS} walks, at most {LIMIT} requests at once");
    row(
        &work,
        &case,
        connections,
        "in all",
        Goal::AtMost(LIMIT as f64),
    );
}
