//! Declarations that wait: the time to write one down, beside one commit of SQLite that runs in turn with it, over the same
//! disk, and the cost of loading and holding 5,000.

use std::time::Instant;

use envd_sdk::model::ConsignmentInput;
use envd_sync::Replica;
use envd_sync::outbox::Outbox;
use envd_sync::store::SqliteSync;
use rusqlite::Connection;

use crate::compare::{Work, count};
use crate::cpu::Threads;
use crate::process::{Folder, child, memory};
use crate::records::ACCOUNT;
use crate::{by_sdk, save};

const WAITING: usize = 5_000;
const ANSWERS: usize = 40;

pub fn show(rounds: usize) {
    let folder = Folder::new();
    accept(&folder, rounds);
    hold(&folder);
}

/// An outbox that sends nothing.
fn outbox(file: &str) -> Outbox {
    let account = by_sdk::client("http://127.0.0.1:9").account(ACCOUNT);
    Outbox::new(&Replica::new(&account, SqliteSync::open(file).unwrap()))
}

/// So many, each with another destination.
fn declarations(count: usize) -> Vec<ConsignmentInput> {
    let one = |number| {
        let mut sample = save::sample(ANSWERS);
        sample["destination"]["pic"] = format!("QDZZ{number:04}").into();
        sample["movementDate"] = "2099-01-15".into();
        serde_json::from_value(sample).unwrap()
    };
    (0..count).map(one).collect()
}

fn accept(folder: &Folder, rounds: usize) {
    let connection = plain(&folder.file("plain.db"));
    let insert = "INSERT INTO texts (text) VALUES (?)";
    let mut insert = connection.prepare(insert).unwrap();
    let outbox = outbox(&folder.file("accept.db"));
    let runtime = Threads::One.runtime();
    let mut commits = Vec::new();
    let mut saves = Vec::new();
    for input in declarations(60 * rounds) {
        let text = serde_json::to_string(&input).unwrap();
        let begun = Instant::now();
        insert.execute([text]).unwrap();
        commits.push(begun.elapsed());
        let begun = Instant::now();
        runtime.block_on(outbox.save(input).into_future()).unwrap();
        saves.push(begun.elapsed());
    }
    let [commit, save] = [commits, saves].map(|mut times| {
        times.sort();
        times[times.len() / 2].as_secs_f64()
    });
    let work = Work("declaration written down, with 40 answers");
    let case = "a commit of one row by rusqlite, synced, wall time";
    work.show(case, commit * 1e6, "µs");
    work.at_most(1.5, "beside that commit", save / commit, "times");
}

/// A table of texts, with the settings of the store.
fn plain(file: &str) -> Connection {
    let connection = Connection::open(file).unwrap();
    let settings = "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;
        PRAGMA wal_autocheckpoint = 4000; CREATE TABLE texts (id INTEGER PRIMARY KEY, text TEXT NOT NULL)";
    connection.execute_batch(settings).unwrap();
    connection
}

fn hold(folder: &Folder) {
    let file = folder.file("waiting.db");
    let waiting = outbox(&file);
    let inputs = declarations(WAITING);
    let texts = serde_json::to_string(&inputs).unwrap().len();
    Threads::One.runtime().block_on(async {
        for input in inputs {
            waiting.save(input).await.unwrap();
        }
    });
    let [first, again, grown]: [f64; 3] = child(&["outbox", &file]).try_into().unwrap();
    let what = format!("{} declarations that wait", count(WAITING));
    let work = Work(format!("{what}, with {ANSWERS} answers"));
    work.show("read first, wall time", first, "ms");
    work.show("read again, wall time", again, "ms");
    work.show("resident memory after both", grown, "MB");
    let case = "that memory beside the inputs as JSON";
    work.show(case, grown * 1e6 / texts as f64, "times");
}

/// Loads what waits twice, and prints the milliseconds of each and the megabytes.
pub fn run(file: &str) {
    Threads::One.runtime().block_on(async {
        // What the store itself needs is not counted.
        outbox(file).history(None).await.unwrap();
        let outbox = outbox(file);
        let grown = memory();
        for _ in 0..2 {
            let begun = Instant::now();
            assert_eq!(outbox.declarations().await.unwrap().len(), WAITING);
            println!("{}", begun.elapsed().as_secs_f64() * 1e3);
        }
        println!("{}", grown());
    });
}
