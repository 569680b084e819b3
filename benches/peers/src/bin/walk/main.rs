//! Reads 20,000 consignments in pages of 100 from a canned server on this machine, with the SDK and with alternatives, and
//! prints the CPU time of each relative to a client written by hand. Once with the selection of the SDK's typed list, and
//! once with full records, including answers and declaration.
//!
//! `cargo run --release --manifest-path benches/peers/Cargo.toml --bin walk [-- ROUNDS]`; with `PEER=envd-sdk` before it
//! only that client runs, for a profiler.
//!
//! The server runs on separate threads; measured is the CPU time of the single thread of a client. Every client reads the
//! same fields into owned records. Rounds are interleaved, and the minimum of each client counts. "reqwest by hand" parses
//! replies like "hyper by hand": it is the lower bound for clients based on reqwest.

mod by_cynic;
mod by_cynic_full;
mod by_derive;
mod by_hand;
mod by_json;
mod by_reqwest;
mod by_sdk;
#[path = "../../measure/mod.rs"]
mod measure;
mod pages;
mod record;
mod sample;

use measure::{Peer, Table, goal, header};
use pages::{PAGE_SIZE, PAGES};
use record::{Consignment, Record, Summary};

const HAND: &str = "hyper + serde by hand";
const SDK: &str = "envd-sdk";
const DERIVE: &str = "graphql_client + reqwest";
const CYNIC: &str = "cynic + reqwest";

fn main() {
    let rounds = std::env::args()
        .nth(1)
        .map_or(7, |text| text.parse().unwrap());
    let summaries = vec![
        Peer::new(HAND, by_hand::walk::<Summary>),
        Peer::new(SDK, |base| by_sdk::walk(base, 1)),
        Peer::new("envd-sdk, no look-ahead", |base| by_sdk::walk(base, 0)),
        Peer::new("reqwest by hand", by_reqwest::walk::<Summary>),
        Peer::new("reqwest + serde", by_json::walk::<Summary>),
        Peer::new(DERIVE, by_derive::walk),
        Peer::new(CYNIC, by_cynic::walk),
    ];
    compare::<Summary>("summaries, as the SDK lists them", rounds, &summaries);
    let full = vec![
        Peer::new(HAND, by_hand::walk::<Consignment>),
        Peer::new(SDK, by_sdk::walk_full),
        Peer::new("reqwest by hand", by_reqwest::walk::<Consignment>),
        Peer::new("reqwest + serde", by_json::walk::<Consignment>),
        Peer::new(DERIVE, by_derive::walk_full),
        Peer::new(CYNIC, by_cynic_full::walk),
    ];
    compare::<Consignment>("full records", rounds, &full);
}

fn compare<T: Record>(title: &str, rounds: usize, peers: &[Peer]) {
    let (server, page_bytes) = pages::serve(T::sample);
    let kilobytes = page_bytes / 1000;
    header(&format!(
        "{title}: {PAGES} pages of {PAGE_SIZE}, {kilobytes} KB a page"
    ));
    let Some(table) = Table::of(&server, rounds, PAGES * PAGE_SIZE, peers) else {
        return;
    };
    let ratio = table.ratio(SDK, HAND);
    goal("the SDK at most 1.10 times by hand", ratio, ratio <= 1.10);
    for peer in [DERIVE, CYNIC] {
        let ratio = table.ratio(peer, SDK);
        let description = format!("{peer} at least 1.4 times the SDK");
        goal(&description, ratio, ratio >= 1.4);
    }
}
