//! Wall time per page over a link with 50 ms round trip and 100 Mbit/s, for a consumer that takes 0, 20 or 50 ms per page: a
//! sequential client, and the SDK, which looks ahead.
//!
//! `cargo run --release --manifest-path benches/peers/Cargo.toml --bin latency [-- ROUNDS]`
//!
//! A page has 100 records and 380 KB: 40 forms and 113 strings per record, all of which the clients read. The server runs on
//! separate threads, and its connections share the link. The minimum of the rounds counts: other load only adds time. Exits
//! with an error when a goal is missed.

mod by_sdk;
mod link;
#[path = "../../measure/mod.rs"]
mod measure;
mod page;
#[path = "../walk/record.rs"]
mod record;
#[path = "../walk/sample.rs"]
mod sample;
mod sequential;
mod server;

use std::process::ExitCode;
use std::time::{Duration, Instant};

use link::Link;
use measure::{Goal, row};
use page::{PAGE_SIZE, Pages, Records};
use server::Server;

const PAGES: usize = 40;

/// The time that the consumer takes per page, and the goal for the SDK in milliseconds per page.
const CONSUMERS: [(Duration, f64); 3] = [
    (Duration::ZERO, 53.0),
    (Duration::from_millis(20), 54.0),
    (Duration::from_millis(50), 56.0),
];

#[derive(Clone, Copy)]
enum Walk {
    Sequential,
    Sdk,
}

const WALKS: [(&str, Walk); 2] = [
    ("hyper by hand, one step after the other", Walk::Sequential),
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
    let work = format!(
        "page of {PAGE_SIZE}, {} KB, over 50 ms and 100 Mbit/s, wall time",
        pages.page_bytes() / 1000
    );
    let link = Link {
        round_trip: Duration::from_millis(50),
        bytes_per_second: Some(100_000_000 / 8),
    };
    let server = Server::start(pages, link);

    let mut least = [[f64::MAX; CONSUMERS.len()]; WALKS.len()];
    for _ in 0..rounds {
        for (client, (_, walk)) in WALKS.iter().enumerate() {
            for (consumer, (work, _)) in CONSUMERS.iter().enumerate() {
                let time = milliseconds_per_page(*walk, server.url(), *work);
                least[client][consumer] = least[client][consumer].min(time);
            }
        }
    }

    let mut met = true;
    for ((name, walk), times) in WALKS.iter().zip(least) {
        for ((consumer, goal), time) in CONSUMERS.iter().zip(times) {
            let case = format!("{name}, {} ms of work on each", consumer.as_millis());
            let goal = match walk {
                Walk::Sdk => Goal::AtMost(*goal),
                Walk::Sequential => Goal::None,
            };
            met &= row(&work, &case, time, "ms", goal);
        }
    }
    ExitCode::from(u8::from(!met))
}

fn milliseconds_per_page(walk: Walk, url: &str, work: Duration) -> f64 {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let begun = Instant::now();
    let records = runtime.block_on(async {
        match walk {
            Walk::Sequential => sequential::walk(url, work).await,
            Walk::Sdk => by_sdk::walk(url, work).await,
        }
    });
    let time = begun.elapsed();
    assert_eq!(records, PAGES * PAGE_SIZE);
    time.as_secs_f64() * 1e3 / f64::from(u32::try_from(PAGES).unwrap())
}
