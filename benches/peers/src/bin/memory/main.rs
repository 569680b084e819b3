//! Peak memory of reading 20,000 and 200,000 records page by page, and the number of connections.
//!
//! `cargo run --release --manifest-path benches/peers/Cargo.toml --bin memory`
//!
//! Each walk runs in a child process of this program; the canned server runs in the parent. Measured is the growth of the
//! resident set up to its peak, in which the hashes of the ids by which a pager finds repeated records grow with the list.
//! Exits with an error when a goal is missed.

mod child;
#[path = "../latency/link.rs"]
mod link;
#[path = "../../measure/mod.rs"]
mod measure;
#[path = "../latency/page.rs"]
mod page;
#[path = "../walk/record.rs"]
mod record;
#[path = "../walk/sample.rs"]
mod sample;
#[path = "../latency/sequential.rs"]
mod sequential;
#[path = "../latency/server.rs"]
mod server;

use std::process::{Command, ExitCode};
use std::time::Duration;

use link::Link;
use measure::{Goal, count, row};
use page::{PAGE_SIZE, Pages, Records};
use server::Server;

/// Records of the size that the typed list returns, and records of the size of full ones, with 40 forms each.
const KINDS: [Records; 2] = [
    Records {
        forms: 2,
        serial: 8,
    },
    Records {
        forms: 40,
        serial: 39,
    },
];

/// The records of a walk.
const SIZES: [usize; 2] = [20_000, 200_000];

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let [walk, url] = arguments.as_slice() {
        child::run(walk, url);
        return ExitCode::SUCCESS;
    }
    let mut met = true;
    for kind in KINDS {
        let page_bytes = Pages::new(1, kind).page_bytes();
        let work = format!("walk, {} KB a page of {PAGE_SIZE}", page_bytes / 1000);
        for walk in child::WALKS {
            let is_sdk = walk.starts_with("envd-sdk");
            for records in SIZES {
                let figures = measure(walk, records, kind);
                let case = format!("{walk}, resident memory, {} records", count(records));
                let goal = if is_sdk {
                    Goal::AtMost(10.0)
                } else {
                    Goal::None
                };
                met &= row(&work, &case, figures.resident, "MB", goal);
                if is_sdk && records == SIZES[0] {
                    let connections = figures.connections as f64;
                    let case = format!("{walk}, connections");
                    met &= row(&work, &case, connections, "in all", Goal::AtMost(2.0));
                }
            }
        }
    }
    ExitCode::from(u8::from(!met))
}

struct Figures {
    resident: f64,
    connections: usize,
}

fn measure(walk: &str, records: usize, kind: Records) -> Figures {
    let link = Link {
        round_trip: Duration::ZERO,
        bytes_per_second: None,
    };
    let server = Server::start(Pages::new(records / PAGE_SIZE, kind), link);
    let output = Command::new(std::env::current_exe().unwrap())
        .args([walk, server.url()])
        .output()
        .unwrap();
    assert!(output.status.success(), "{walk}: {output:?}");
    let text = String::from_utf8(output.stdout).unwrap();
    let numbers: Vec<u32> = text
        .split_whitespace()
        .map(|word| word.parse().unwrap())
        .collect();
    let [seen, resident] = numbers[..] else {
        panic!("{walk}: {text}");
    };
    assert_eq!(usize::try_from(seen).unwrap(), records, "{walk}");
    Figures {
        resident: f64::from(resident) / 1e6,
        connections: server.connections(),
    }
}
