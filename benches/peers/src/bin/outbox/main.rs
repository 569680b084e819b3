//! Declarations that wait: the time to write one down, and the cost of sending, loading and holding 1,000.
//!
//! `cargo run --release --manifest-path benches/peers/Cargo.toml --bin outbox [-- accept]`
//!
//! It writes some megabytes into the folder of temporary files, and deletes them. The commit beside which a declaration that is
//! written down is measured runs in turn with it, over the same disk. Exits with an error when a goal is missed.

mod accept;
#[path = "../../measure/mod.rs"]
mod measure;
mod sending;
mod service;

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::{Duration, Instant};

use envd_sdk::auth::StaticToken;
use envd_sdk::model::ConsignmentInput;
use envd_sdk::sync::store::SqliteSync;
use envd_sdk::{Account, Client};
use measure::{Goal, row};
use serde_json::json;

/// The declarations that wait.
const WAITING: usize = 1_000;

struct Folder(PathBuf);

impl Folder {
    fn new() -> Self {
        let name = format!("envd-sdk-bench-{}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        std::fs::create_dir(&folder).unwrap();
        Self(folder)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn main() -> ExitCode {
    let runtime = || {
        tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap()
    };
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let [task, file] = arguments.as_slice() {
        assert_eq!(task, "hold");
        runtime().block_on(hold(Path::new(file)));
        return ExitCode::SUCCESS;
    }
    let folder = Folder::new();
    // Nothing is sent.
    let outbox = |name: &str| {
        let store = SqliteSync::open(folder.0.join(name)).unwrap();
        account("http://127.0.0.1:9").outbox(store)
    };
    let met = runtime().block_on(accept::compare(&outbox("accept.db"), &folder.0));
    if arguments == ["accept"] {
        return ExitCode::from(u8::from(!met));
    }
    runtime().block_on(async {
        let waiting = outbox("waiting.db");
        for number in 0..WAITING {
            waiting.save(declaration(number)).await.unwrap();
        }
    });
    held(&folder.0.join("waiting.db"));
    sending::compare(&folder.0);
    ExitCode::from(u8::from(!met))
}

fn account(url: &str) -> Account {
    let client = Client::builder(url)
        .token_source(StaticToken::new("a-token").unwrap())
        .build()
        .unwrap();
    client.account("envd-100201")
}

/// One of many, each with another destination.
fn declaration(number: usize) -> ConsignmentInput {
    let answers: Vec<_> = (0..40)
        .map(|question| json!({"questionId": question.to_string(), "value": "yes"}))
        .collect();
    let sample = json!({
        "forms": ["LPAC1"],
        "origin": {"name": "Sample Station", "pic": "QAZZ7777"},
        "destination": {"name": "Sample Yards", "pic": format!("QDZZ{number:04}")},
        "movementDate": "2099-01-15",
        "movementTime": "05:15",
        "answers": answers,
    });
    serde_json::from_value(sample).unwrap()
}

fn text_of(input: &ConsignmentInput) -> String {
    serde_json::to_string(input).unwrap()
}

/// In seconds.
fn median(mut times: Vec<Duration>) -> f64 {
    times.sort();
    times[times.len() / 2].as_secs_f64()
}

/// Prints the figures of a child process that loads and holds what waits.
fn held(file: &Path) {
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["hold", file.to_str().unwrap()])
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    print!("{}", String::from_utf8(output.stdout).unwrap());
}

async fn hold(file: &Path) {
    let outbox = account("http://127.0.0.1:9").outbox(SqliteSync::open(file).unwrap());
    // What the store itself needs is not counted.
    outbox.history(None).await.unwrap();
    drop(outbox);
    let outbox = account("http://127.0.0.1:9").outbox(SqliteSync::open(file).unwrap());
    let before = resident();
    let begun = Instant::now();
    let entries = outbox.entries().await.unwrap();
    let first = begun.elapsed();
    assert_eq!(entries.len(), WAITING);
    drop(entries);
    let begun = Instant::now();
    assert_eq!(outbox.entries().await.unwrap().len(), WAITING);
    let again = begun.elapsed();
    let work = "1,000 declarations that wait, with 40 answers";
    row(
        work,
        "read first, wall time",
        first.as_secs_f64() * 1e3,
        "ms",
        Goal::None,
    );
    row(
        work,
        "read again, wall time",
        again.as_secs_f64() * 1e3,
        "ms",
        Goal::None,
    );
    let grown = resident().saturating_sub(before) as f64;
    row(
        work,
        "resident memory after both",
        grown / 1e6,
        "MB",
        Goal::None,
    );
    let texts: usize = (0..WAITING)
        .map(|number| text_of(&declaration(number)).len())
        .sum();
    row(
        work,
        "that memory beside the inputs as JSON",
        grown / texts as f64,
        "times",
        Goal::None,
    );
}

/// The resident set, in bytes.
fn resident() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let value = status.lines().find_map(|text| text.strip_prefix("VmRSS:"));
    let kilobytes = value.unwrap().trim().trim_end_matches(" kB");
    kilobytes.parse::<u64>().unwrap() * 1024
}
