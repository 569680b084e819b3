//! Walks 20,000 consignments in pages of 100 from a canned server on this machine, with the SDK and with what a user would
//! pick instead, and prints the CPU time of each relative to a client written by hand.
//!
//! `cargo run --release --manifest-path benches/peers/Cargo.toml --bin walk [-- ROUNDS]`
//!
//! The server runs on threads of its own; what is counted is the CPU time of the one thread on which the clients run.
//! Every client reads the same fields into owned records. The rounds are interleaved and the least time of each counts.

mod by_cynic;
mod by_derive;
mod by_hand;
mod by_json;
mod by_sdk;
mod record;
mod server;

use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

const PAGES: usize = 200;
const PAGE_SIZE: usize = 100;

/// What every client is asked for: the records that it has seen.
type Walk = fn(&tokio::runtime::Runtime, &str) -> usize;

const WALKS: [(&str, Walk); 5] = [
    ("hyper + serde by hand", by_hand::walk),
    ("envd-sdk", by_sdk::walk),
    ("reqwest + serde", by_json::walk),
    ("graphql_client + reqwest", by_derive::walk),
    ("cynic + reqwest", by_cynic::walk),
];

fn main() {
    let rounds = std::env::args()
        .nth(1)
        .map_or(7, |text| text.parse().unwrap());
    let server = server::Server::start(PAGES, PAGE_SIZE);
    println!(
        "{PAGES} pages of {PAGE_SIZE}, {} KB a page",
        server.page_bytes() / 1024
    );

    let mut least = [Duration::MAX; WALKS.len()];
    let mut connections = [0; WALKS.len()];
    for _ in 0..rounds {
        for (which, (name, walk)) in WALKS.iter().enumerate() {
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build()
                .unwrap();
            let before = server.connections();
            let begun = cpu();
            let records = walk(&runtime, server.url());
            least[which] = least[which].min(cpu() - begun);
            connections[which] = server.connections() - before;
            assert_eq!(records, PAGES * PAGE_SIZE, "{name}");
        }
    }

    println!(
        "{:26} {:>8} {:>9} {:>12}",
        "", "CPU ms", "ratio", "connections"
    );
    for (which, (name, _)) in WALKS.iter().enumerate() {
        let ratio = least[which].as_secs_f64() / least[0].as_secs_f64();
        let milliseconds = least[which].as_secs_f64() * 1e3;
        println!(
            "{name:26} {milliseconds:8.1} {ratio:9.2} {:12}",
            connections[which]
        );
    }
}

/// The CPU time of this thread so far.
fn cpu() -> Duration {
    let now = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(
        now.tv_sec.unsigned_abs(),
        u32::try_from(now.tv_nsec).unwrap(),
    )
}
