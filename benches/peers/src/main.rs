//! Measures the SDK, beside other clients where there are any, against canned servers on this machine, and writes the table of
//! `benches/README.md`:
//! ```text
//! cargo run --release --manifest-path benches/peers/Cargo.toml --bin table [-- --quick] [--check] [--date YYYY-MM-DD]
//! cargo run --release --manifest-path benches/peers/Cargo.toml --bin table -- PART [ROUNDS]
//! ```
//! The first runs all parts, each in a process of its own, because the heap that one leaves changes the figures of the next.
//! The second prints the rows of one, and exits with 1 when a goal is missed; with `PEER=envd-sdk` before it only that client
//! runs, for a profiler.
//!
//! The servers run on separate threads, whose CPU time is not counted. Rounds of clients that are compared are interleaved,
//! and the minimum of each counts: other load only adds time. All clients read the same fields into owned records. "reqwest
//! by hand" reads replies as "hyper by hand" does: it is the lower bound of clients that use reqwest.

mod by_cynic;
mod by_derive;
mod by_sdk;
#[path = "../../canned.rs"]
mod canned;
mod compare;
mod cpu;
mod hand;
mod lines;
mod outbox;
mod process;
#[path = "../../questions/mod.rs"]
mod questions;
mod records;
mod register;
mod replica;
#[path = "../../row.rs"]
mod row;
mod save;
mod start;
mod table;
mod users;
mod walk;

use std::process::ExitCode;
use std::sync::atomic::Ordering;

/// The number of concurrent requests.
const LANES: usize = 16;

/// Prints its rows, after so many rounds.
type Part = fn(usize);

const PARTS: [(&str, Part); 8] = [
    ("save", save::show),
    ("register", register::show),
    ("users", users::show),
    ("walk", walk::show),
    ("lines", lines::show),
    ("start", start::show),
    ("outbox", outbox::show),
    ("replica", replica::show),
];

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments[..] {
        ["child", "start", url] => start::run(url),
        ["child", "outbox", file] => outbox::run(file),
        ["child", "replica", task, url, file] => replica::run(task, url, file),
        [part, ref rounds @ ..] if !part.starts_with("--") => {
            let (_, show) = PARTS
                .iter()
                .find(|(name, _)| *name == part)
                .expect("a part");
            show(rounds.first().map_or(7, |rounds| rounds.parse().unwrap()));
        }
        ref options => return table::run(options),
    }
    ExitCode::from(u8::from(compare::MISSED.load(Ordering::Relaxed)))
}
