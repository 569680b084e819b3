//! Peak memory of reading 20,000 and 200,000 records page by page, and the number of connections.
//!
//! `cargo run --release --manifest-path benches/peers/Cargo.toml --bin memory`
//!
//! Each walk runs in a child process of this program; the canned server runs in the parent. Measured are the growth of the
//! resident set up to its peak, and the peak of the heap. Exits with an error when a goal is missed.

mod child;
#[path = "../latency/link.rs"]
mod link;
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

/// The limit of the resident set, in MB.
const GOAL: f64 = 10.0;
/// The growth allowed for ten times the records, in MB: memory that the allocator retains.
const TOLERANCE: f64 = 1.0;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let [walk, url] = arguments.as_slice() {
        child::run(walk, url);
        return ExitCode::SUCCESS;
    }
    let mut missed = false;
    for kind in KINDS {
        let sizes = [20_000, 200_000];
        let page_bytes = Pages::new(1, kind).page_bytes();
        println!("pages of {PAGE_SIZE}, {} KB each", page_bytes / 1000);
        println!(
            "{:34} {:>15} {:>16} {:>15} {:>16} {:>12}",
            "peak MB",
            "20,000 resident",
            "200,000 resident",
            "20,000 on heap",
            "200,000 on heap",
            "connections",
        );
        for walk in child::WALKS {
            let figures = sizes.map(|records| measure(walk, records, kind));
            let [few, many] = &figures;
            print!("{walk:34}");
            print!(" {:15.2} {:16.2}", few.resident, many.resident);
            print!(" {:15.2} {:16.2}", few.heap, many.heap);
            print!(" {:12}", many.connections);
            let met = many.resident <= GOAL && many.resident <= few.resident + TOLERANCE;
            if walk.starts_with("envd-sdk") {
                missed |= !met;
                println!("  {}", if met { "met" } else { "missed" });
            } else {
                println!();
            }
        }
    }
    println!("goal: at most {GOAL} MB resident, and the same at 200,000 records");
    ExitCode::from(u8::from(missed))
}

struct Figures {
    resident: f64,
    heap: f64,
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
    let [seen, resident, heap] = numbers[..] else {
        panic!("{walk}: {text}");
    };
    assert_eq!(usize::try_from(seen).unwrap(), records, "{walk}");
    Figures {
        resident: f64::from(resident) / 1e6,
        heap: f64::from(heap) / 1e6,
        connections: server.connections(),
    }
}
