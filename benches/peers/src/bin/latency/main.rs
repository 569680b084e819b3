//! Wall time a page of a walk over a line with 50 ms round trip and 100 Mbit/s, for a consumer that works 0, 20 or 50 ms on
//! each page: a client that fetches, then works, then fetches, and the SDK, which looks ahead.
//!
//! `cargo run --release --manifest-path benches/peers/Cargo.toml --bin latency [-- ROUNDS]`
//!
//! Pages hold 100 records and 380 KB: 40 forms a record, all of which the clients read, 113 strings. The server runs on threads of its own and all its connections share the line. The
//! least time of the rounds counts: other work on the machine only adds. Ends with an error when a goal is missed.

mod by_sdk;
mod line;
mod page;
#[path = "../walk/record.rs"]
mod record;
#[path = "../walk/sample.rs"]
mod sample;
mod sequential;
mod server;

use std::process::ExitCode;
use std::time::{Duration, Instant};

use line::Line;
use page::{PAGE_SIZE, Pages, Records};
use server::Server;

const PAGES: usize = 40;

/// How long the consumer works on a page, and the goal for the SDK in milliseconds a page.
const CONSUMERS: [(Duration, f64); 3] = [
    (Duration::ZERO, 53.0),
    (Duration::from_millis(20), 54.0),
    (Duration::from_millis(50), 56.0),
];

#[derive(Clone, Copy)]
enum Walk {
    Sequential,
    Sdk,
    LookAhead(usize),
}

const WALKS: [(&str, Walk); 3] = [
    ("sequential, hyper + serde", Walk::Sequential),
    ("envd-sdk, look_ahead(1)", Walk::LookAhead(1)),
    ("envd-sdk", Walk::Sdk),
];

fn main() -> ExitCode {
    let rounds = std::env::args()
        .nth(1)
        .map_or(2, |text| text.parse().unwrap());
    let pages = Pages::new(
        PAGES,
        Records {
            forms: 40,
            serial: 39,
        },
    );
    println!(
        "{PAGES} pages of {PAGE_SIZE}, {} KB each; 50 ms round trip, 100 Mbit/s",
        pages.page_bytes() / 1000
    );
    let line = Line {
        round_trip: Duration::from_millis(50),
        bytes_per_second: Some(100_000_000 / 8),
    };
    let server = Server::start(pages, line);

    let mut least = [[f64::MAX; CONSUMERS.len()]; WALKS.len()];
    let mut connections = [0; WALKS.len()];
    for _ in 0..rounds {
        for (which, (_, walk)) in WALKS.iter().enumerate() {
            for (consumer, (work, _)) in CONSUMERS.iter().enumerate() {
                let before = server.connections();
                let time = milliseconds_a_page(*walk, server.url(), *work);
                least[which][consumer] = least[which][consumer].min(time);
                connections[which] = server.connections() - before;
            }
        }
    }

    println!("{:26} wall ms a page, consumer works", "");
    print!("{:26}", "");
    for (work, _) in CONSUMERS {
        print!(" {:>7}", format!("{} ms", work.as_millis()));
    }
    println!(" {:>12}", "connections");
    for (which, (name, _)) in WALKS.iter().enumerate() {
        print!("{name:26}");
        for time in least[which] {
            print!(" {time:7.1}");
        }
        println!(" {:12}", connections[which]);
    }
    print!("{:26}", "goal for envd-sdk");
    let mut missed = false;
    for (consumer, (_, goal)) in CONSUMERS.iter().enumerate() {
        missed |= least[WALKS.len() - 1][consumer] > *goal;
        print!(" {goal:7.1}");
    }
    println!(" {:>12}", if missed { "missed" } else { "kept" });
    ExitCode::from(u8::from(missed))
}

fn milliseconds_a_page(walk: Walk, url: &str, work: Duration) -> f64 {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let begun = Instant::now();
    let records = runtime.block_on(async {
        match walk {
            Walk::Sequential => sequential::walk(url, work).await,
            Walk::Sdk => by_sdk::walk(url, work, None).await,
            Walk::LookAhead(pages) => by_sdk::walk(url, work, Some(pages)).await,
        }
    });
    let time = begun.elapsed();
    assert_eq!(records, PAGES * PAGE_SIZE);
    time.as_secs_f64() * 1e3 / f64::from(u32::try_from(PAGES).unwrap())
}
