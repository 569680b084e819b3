//! What it takes to start: a first and a second client of one process, and its first save.
//!
//! `cargo run --release --manifest-path benches/peers/Cargo.toml --bin start`, and with `--features tls` for clients with TLS.
//!
//! Each start is a child process of this program; the canned server runs in the parent. The median of the starts counts.
//! Measured are wall times, and the heap that a client keeps. Exits with an error when a goal is missed.

#[path = "../measure/mod.rs"]
mod measure;

use std::process::{Command, ExitCode};
use std::time::Instant;

use envd_sdk::Client;
use envd_sdk::auth::StaticToken;
use envd_sdk::model::{ConsignmentInput, FormType, PartyInput};
use measure::{Goal, Server, row};

const STARTS: usize = 21;

fn main() -> ExitCode {
    if let Some(url) = std::env::args().nth(1) {
        start(&url);
        return ExitCode::SUCCESS;
    }
    let server = Server::start(|_, reply| {
        reply.extend_from_slice(
            br#"{"data":{"createOrSaveConsignment":{"data":{"id":"1","number":"C-1","status":"DRAFT"}}}}"#,
        );
    });
    let url = format!("{}/graphql", server.base());
    let mut starts: [Vec<f64>; 5] = Default::default();
    for _ in 0..STARTS {
        for (all, figure) in starts.iter_mut().zip(child(&url)) {
            all.push(figure);
        }
    }
    let median = |mut all: Vec<f64>| {
        all.sort_by(f64::total_cmp);
        all[STARTS / 2]
    };
    let [first_time, first_memory, second_time, second_memory, save] = starts.map(median);
    let (first, second) = ([first_time, first_memory], [second_time, second_memory]);
    let [time, memory] = [Goal::AtMost(1_000.0), Goal::AtMost(64.0)];
    // The first client with TLS reads the certificates of the operating system, for all of the process.
    let (work, first_time, memory) = if cfg!(feature = "tls") {
        ("start with TLS", Goal::None, Goal::None)
    } else {
        let work = "start without TLS";
        let case = "first save of a process, with its connection";
        row(work, case, save, "µs", Goal::None);
        (work, time, memory)
    };
    let met = [
        row(
            work,
            "first client of a process",
            first[0],
            "µs",
            first_time,
        ),
        row(work, "memory of the first client", first[1], "KB", memory),
        row(work, "second client of a process", second[0], "µs", time),
        row(work, "memory of the second client", second[1], "KB", memory),
    ];
    let met = met.into_iter().all(|met| met);
    ExitCode::from(u8::from(!met))
}

fn child(url: &str) -> [f64; 5] {
    let program = std::env::current_exe().unwrap();
    let output = Command::new(program).arg(url).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let text = String::from_utf8(output.stdout).unwrap();
    let figures = text.split_whitespace().map(|word| word.parse().unwrap());
    figures.collect::<Vec<f64>>().try_into().unwrap()
}

/// Prints microseconds and kilobytes of the first and of the second client, and the microseconds of the first save.
fn start(url: &str) {
    // A client of an address on loopback has no TLS.
    let tls = cfg!(feature = "tls").then_some("https://envd.example/graphql");
    let (first, first_time, first_memory) = build(tls.unwrap_or(url));
    let (_second, second_time, second_memory) = build(tls.unwrap_or(url));
    let client = if tls.is_some() { build(url).0 } else { first };
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let party = |pic| PartyInput::new(pic);
    let input = ConsignmentInput::new([FormType::Lpac1], party("QAZZ7777"), party("QDZZ3333"));
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
