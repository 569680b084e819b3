//! What it takes to start: a first and a second client of one process, and its first save. Wall times, and the heap that a
//! client keeps; the median of the starts counts. With the feature `tls` for clients with TLS.

use std::time::Instant;

use envd_sdk::Client;
use envd_sdk::auth::StaticToken;
use envd_sdk::model::{ConsignmentInput, FormType, PartyInput};

use crate::compare::Work;
use crate::cpu::Threads;
use crate::process::child;
use crate::row::Goal;
use crate::save;

const STARTS: usize = 21;

pub fn show(_: usize) {
    let server = save::server();
    let start = |_| child(&["start", &server.url()]);
    let starts: Vec<Vec<f64>> = (0..STARTS).map(start).collect();
    let median = |figure: usize| {
        let mut all: Vec<f64> = starts.iter().map(|start| start[figure]).collect();
        all.sort_by(f64::total_cmp);
        all[STARTS / 2]
    };
    let [time, memory] = [1_000.0, 64.0].map(Goal::AtMost);
    // The first client with TLS reads the certificates of the operating system, for all of the process.
    let (work, first, memory) = if cfg!(feature = "tls") {
        (Work("start with TLS"), Goal::None, Goal::None)
    } else {
        let work = Work("start without TLS");
        let case = "first save of a process, with its connection";
        work.show(case, median(4), "µs");
        (work, time, memory)
    };
    work.row("first client of a process", median(0), "µs", first);
    work.row("memory of the first client", median(1), "KB", memory);
    work.row("second client of a process", median(2), "µs", time);
    work.row("memory of the second client", median(3), "KB", memory);
}

/// Prints microseconds and kilobytes of the first and of the second client, and the microseconds of the first save.
pub fn run(url: &str) {
    // A client of an address on loopback has no TLS.
    let tls = cfg!(feature = "tls").then_some("https://envd.example/graphql");
    let (first, first_time, first_memory) = build(tls.unwrap_or(url));
    let (_second, second_time, second_memory) = build(tls.unwrap_or(url));
    let client = if tls.is_some() { build(url).0 } else { first };
    let runtime = Threads::One.runtime();
    let [from, to] = ["QAZZ7777", "QDZZ3333"].map(PartyInput::new);
    let input = ConsignmentInput::new([FormType::Lpac1], from, to);
    let begun = Instant::now();
    let saved = client.account("envd-100201").save_consignment(input);
    let saved = runtime.block_on(saved.into_future());
    let save = microseconds(begun);
    assert!(saved.unwrap().value.number.is_some());
    println!("{first_time} {first_memory} {second_time} {second_memory} {save}");
}

/// A client, the time it took, and the heap it keeps.
fn build(url: &str) -> (Client, f64, f64) {
    let mut built = None;
    let mut time = 0.0;
    let heap = allocation_counter::measure(|| {
        let token = StaticToken::new("eyJhbGciOi.eyJzdWIi.c2ln").unwrap();
        let begun = Instant::now();
        let client = Client::builder(url).token_source(token).build().unwrap();
        time = microseconds(begun);
        built = Some(client);
    });
    (built.unwrap(), time, heap.bytes_current as f64 / 1e3)
}

fn microseconds(begun: Instant) -> f64 {
    begun.elapsed().as_secs_f64() * 1e6
}
