//! A copy of 200,000 consignments in a file: memory and requests of its syncs, and the time of its reads.
//!
//! `cargo run --release --manifest-path benches/peers/Cargo.toml --bin replica`
//!
//! Each sync runs in a child process of this program, whose resident set is measured; the canned server runs in the parent.
//! Exits with an error when a goal is missed.

mod child;
#[path = "../../measure/mod.rs"]
mod measure;
mod service;

use std::collections::HashMap;
use std::process::{Command, ExitCode};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use measure::{Request, Server};
use service::Service;

/// The figures that a child prints, by name.
type Figures = HashMap<String, f64>;

struct Bench {
    service: Arc<Service>,
    server: Server,
    file: std::path::PathBuf,
}

impl Bench {
    fn start(records: usize) -> Self {
        let service = Arc::new(Service::new(records));
        let answers = Arc::clone(&service);
        let server = Server::start(move |request: &Request<'_>, reply: &mut Vec<u8>| {
            answers.answer(request.body, reply);
        });
        let name = format!("envd-sdk-bench-{}-{records}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        std::fs::create_dir(&folder).unwrap();
        let file = folder.join("copy.db");
        Self {
            service,
            server,
            file,
        }
    }

    /// Runs a task in a child process, and prints and returns its figures.
    fn run(&self, task: &str) -> Figures {
        let output = Command::new(std::env::current_exe().unwrap())
            .args([task, self.server.base(), self.file.to_str().unwrap()])
            .output()
            .unwrap();
        assert!(output.status.success(), "{task}: {output:?}");
        let text = String::from_utf8(output.stdout).unwrap();
        print!("{task}:\n{text}");
        let figure = |line: &str| {
            let (name, value) = line.trim().rsplit_once(": ").unwrap();
            (name.to_owned(), value.parse().unwrap())
        };
        text.lines().map(figure).collect()
    }
}

impl Drop for Bench {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(self.file.parent().unwrap());
    }
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let [task, url, file] = arguments.as_slice() {
        child::run(task, url, file);
        return ExitCode::SUCCESS;
    }
    let mut missed = false;
    let mut goal = |what: &str, value: f64, most: f64| {
        let is_met = value <= most;
        missed |= !is_met;
        let verdict = if is_met { "met" } else { "MISSED" };
        println!("  goal: {what}: {value:.2}, at most {most}: {verdict}");
    };
    for records in [20_000, 200_000] {
        println!("\n{records} records");
        let bench = Bench::start(records);
        let first = bench.run("sync");
        goal(
            "MB of a full sync beside the cache of SQLite",
            first["MB of memory"],
            32.0,
        );
        // One record changes, which tells the readings of `fromDate` apart.
        bench.service.changed.store(1, Ordering::SeqCst);
        let again = bench.run("sync");
        goal(
            "MB of a full walk that finds one change",
            again["MB of memory"],
            32.0,
        );
        bench.run("drain");
        bench.run("sync");
        let idle = bench.run("sync");
        assert_eq!(idle["incremental"], 1.0);
        goal("requests with nothing new", idle["requests"], 2.0);
        for changes in [100, 1_000] {
            bench.service.changed.fetch_add(changes, Ordering::SeqCst);
            let some = bench.run("sync");
            let pages = (changes + service::IN_OVERLAP).div_ceil(100) + 1;
            goal("requests for what changed", some["requests"], pages as f64);
            let read = bench.run("drain");
            if changes == 1_000 {
                assert_eq!(read["changes"], 1_000.0);
                goal("ms to read 1,000 changes", read["ms to read"], 20.0);
            }
        }
        let queries = bench.run("query");
        for (name, milliseconds) in queries
            .into_iter()
            .filter(|(name, _)| name.starts_with("ms "))
        {
            goal(&name, milliseconds, 5.0);
        }
    }
    ExitCode::from(u8::from(missed))
}
