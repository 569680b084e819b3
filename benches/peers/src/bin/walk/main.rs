//! Reads 20,000 consignments in pages of 100 from a canned server on this machine, with the SDK and with alternatives, and
//! prints the CPU time of each relative to a client written by hand. Once with the selection of the SDK's typed list, and
//! once with full records, including answers and declaration; on one thread and on four.
//!
//! `cargo run --release --manifest-path benches/peers/Cargo.toml --bin walk [-- ROUNDS]`; with `PEER=envd-sdk` before it
//! only that client runs, for a profiler.
//!
//! The server runs on separate threads, whose CPU time is not counted. Every client reads the same fields, and all but one
//! into owned records. Rounds are interleaved, and the minimum of each client counts. "reqwest by hand" reads replies like
//! "hyper by hand": it is the lower bound for clients based on reqwest.

mod by_cynic;
mod by_cynic_full;
mod by_derive;
mod by_hand;
mod by_sdk;
#[path = "../../measure/mod.rs"]
mod measure;
mod pages;
mod record;
mod sample;

use measure::{Peer, Table};
use pages::{PAGE_SIZE, PAGES};
use record::{Consignment, Record, Summary, read};

fn main() {
    let rounds = std::env::args()
        .nth(1)
        .map_or(7, |text| text.parse().unwrap());
    let summaries = [
        Peer::new("hyper by hand, owned records", |run| {
            by_hand::hyper::<Summary>(run, |text| read::<Summary>(text))
        }),
        Peer::new("hyper by hand, borrowed records", |run| {
            by_hand::hyper::<Summary>(run, |text| read::<Summary<&str>>(text))
        }),
        Peer::new("reqwest by hand", |run| {
            by_hand::reqwest::<Summary>(run, |text| read::<Summary>(text))
        }),
        Peer::new("`graphql_client` and reqwest", by_derive::walk),
        Peer::new("cynic and reqwest", by_cynic::walk),
        Peer::new("envd-sdk", by_sdk::walk).at_most(1.10, None),
    ];
    compare::<Summary>("record of a list", rounds, &summaries);
    let full = [
        Peer::new("hyper by hand, owned records", |run| {
            by_hand::hyper::<Consignment>(run, |text| read::<Consignment>(text))
        }),
        Peer::new("hyper by hand, borrowed records", |run| {
            by_hand::hyper::<Consignment>(run, |text| read::<Consignment<&str>>(text))
        }),
        Peer::new("reqwest by hand", |run| {
            by_hand::reqwest::<Consignment>(run, |text| read::<Consignment>(text))
        }),
        Peer::new("`graphql_client` and reqwest", by_derive::walk_full),
        Peer::new("cynic and reqwest", by_cynic_full::walk),
        Peer::new("envd-sdk", by_sdk::walk_full).at_most(1.10, None),
    ];
    compare::<Consignment>("full record of a list", rounds, &full);
}

fn compare<T: Record>(what: &str, rounds: usize, peers: &[Peer]) {
    let (server, page_bytes) = pages::serve(T::sample);
    let work = format!("{what}, {} KB a page of {PAGE_SIZE}", page_bytes / 1000);
    let items = PAGES * PAGE_SIZE;
    let table = Table {
        work: &work,
        items,
        rounds,
    };
    table.show(&server, peers);
}
