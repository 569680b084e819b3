//! A copy of 200,000 consignments in a file: time, memory and requests of its syncs, and the time to read what changed.
//! Queries of the store are measured by `cargo bench -p envd-sync --bench sync_store`.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant, UNIX_EPOCH};

use envd_sdk::model::Timestamp;
use envd_sync::replica::{Replica, SyncMode};
use envd_sync::store::SqliteSync;
use serde_json::{Value, json};

use crate::by_sdk;
use crate::canned::Server;
use crate::compare::{Work, count};
use crate::cpu::Threads;
use crate::process::{Folder, child, memory};
use crate::records::{ACCOUNT, address};

const RECORDS: usize = 200_000;

pub fn show(_: usize) {
    let (service, server) = Service::start(RECORDS);
    let folder = Folder::new();
    let file = folder.file("copy.db");
    let run = |task| child(&["replica", task, server.base(), &file]);
    let sync = || -> [f64; 4] { run("sync").try_into().unwrap() };
    let drain = || -> [f64; 2] { run("drain").try_into().unwrap() };
    let work = Work(format!("copy of {} records in a file", count(RECORDS)));
    let [seconds, memory, ..] = sync();
    work.show("first sync, wall time", seconds, "s");
    work.at_most(32.0, "first sync, resident memory", memory, "MB");
    // One record changes, which tells the readings of `fromDate` apart.
    service.change(1);
    let [_, memory, ..] = sync();
    let case = "full walk that finds one change, resident memory";
    work.at_most(32.0, case, memory, "MB");
    drain();
    sync();
    let [_, _, requests, is_incremental] = sync();
    assert_eq!(is_incremental, 1.0);
    let case = "requests of a sync with nothing new";
    work.at_most(2.0, case, requests, "in all");
    for changes in [100, 1_000] {
        service.change(changes);
        let [_, _, requests, _] = sync();
        let pages = (changes + IN_OVERLAP).div_ceil(100) + 1;
        let case = format!("requests of a sync with {} changes", count(changes));
        work.at_most(pages as f64, &case, requests, "in all");
        let [milliseconds, read] = drain();
        assert_eq!(read, changes as f64);
        let case = format!("reading {} changes, wall time", count(changes));
        work.at_most(20.0, &case, milliseconds, "ms");
    }
}

/// Runs a task over the copy, and prints its figures.
pub fn run(task: &str, url: &str, file: &str) {
    let runtime = Threads::One.runtime();
    let grown = memory();
    let store = SqliteSync::open(file).unwrap();
    let replica = Replica::new(&by_sdk::client(url).account(ACCOUNT), store);
    let begun = Instant::now();
    if task == "drain" {
        return runtime.block_on(drain(&replica));
    }
    let report = runtime.block_on(replica.sync()).unwrap();
    let seconds = begun.elapsed().as_secs_f64();
    let requests = report.requests;
    let is_incremental = u8::from(report.mode == SyncMode::Incremental);
    println!("{seconds} {} {requests} {is_incremental}", grown());
}

/// Reads all changes, then acknowledges them at once.
async fn drain(replica: &Replica) {
    let mut feed = replica.changes("bench");
    let begun = Instant::now();
    let mut count = 0;
    let mut last = None;
    while let Some(change) = feed.next().await.unwrap() {
        count += 1;
        last = Some(change);
    }
    println!("{} {count}", begun.elapsed().as_secs_f64() * 1e3);
    if let Some(last) = last {
        feed.acknowledge(&last).await.unwrap();
    }
}

/// A service that lists the latest change first; the latest change stands last.
#[derive(Default)]
struct Service(Mutex<Vec<Record>>);

struct Record {
    number: usize,
    /// In seconds since 1970.
    updated: u64,
    json: String,
}

/// How many samples at most changed in the ten minutes before the last change.
const IN_OVERLAP: usize = 12;

/// 2026-11-20T00:00:00Z.
const NEWEST: u64 = 1_795_132_800;

impl Service {
    /// With so many samples, which changed a minute apart.
    fn start(samples: usize) -> (Arc<Self>, Server) {
        let service = Arc::new(Self::default());
        let first = NEWEST - 60 * samples as u64;
        let sample = |number| Record::sample(number, first + 60 * number as u64, 12);
        *service.0.lock().unwrap() = (0..samples).map(sample).collect();
        let answers = Arc::clone(&service);
        let server = Server::start(move |request, reply| {
            let data = answers.answer(&serde_json::from_slice(request.body).unwrap());
            reply.extend_from_slice(format!(r#"{{"data":{data}}}"#).as_bytes());
        });
        (service, server)
    }

    /// Changes so many of the oldest later than all others, a minute apart.
    fn change(&self, count: usize) {
        let mut records = self.0.lock().unwrap();
        let mut updated = records.last().unwrap().updated.max(NEWEST + 86_400);
        records.rotate_left(count);
        for record in records.iter_mut().rev().take(count).rev() {
            updated += 60;
            *record = Record::sample(record.number, updated, 77);
        }
    }

    fn answer(&self, body: &Value) -> String {
        let variables = &body["variables"];
        let records = self.0.lock().unwrap();
        if body["operationName"] == "Consignments" {
            return list(variables, &records);
        }
        let is_it = |record: &&Record| variables["id"] == id(record.number);
        let record = records.iter().find(is_it).unwrap();
        format!(r#"{{"consignment":{}}}"#, record.json)
    }
}

fn list(variables: &Value, records: &[Record]) -> String {
    let listed = match variables["fromDate"].as_str() {
        None => records,
        Some(from) => {
            let from = Timestamp::from(from).to_time().unwrap();
            let from = from.duration_since(UNIX_EPOCH).unwrap().as_secs();
            &records[records.partition_point(|record| record.updated < from)..]
        }
    };
    let after = variables["after"].as_str();
    let start: usize = after.map_or(0, |after| after.parse().unwrap());
    let end = (start + variables["first"].as_u64().unwrap() as usize).min(listed.len());
    let page = listed.iter().rev().take(end).skip(start);
    let edges: Vec<String> = page
        .map(|record| format!(r#"{{"node":{}}}"#, record.json))
        .collect();
    format!(
        r#"{{"consignments":{{"totalCount":{},"pageInfo":{{"hasNextPage":{},"endCursor":"{end}"}},"edges":[{}]}}}}"#,
        listed.len(),
        end < listed.len(),
        edges.join(","),
    )
}

impl Record {
    fn sample(number: usize, updated: u64, heads: usize) -> Self {
        let time = Timestamp::from(UNIX_EPOCH + Duration::from_secs(updated));
        let party =
            |pic: String| json!({"pic": pic, "name": "A sample of a name", "address": address()});
        let record = json!({
            "id": id(number),
            "number": format!("C-{number:09}"),
            "status": "DRAFT",
            "species": "CATTLE",
            "heads": heads,
            "movementDate": format!("{}-{:02}-{:02}", 2024 + number % 2, number / 28 % 12 + 1, number % 28 + 1),
            "origin": party(format!("QAAA{:04}", number % 5_000)),
            "destination": party(format!("QDZZ{:04}", number % 100)),
            "updatedAt": time.as_str(),
        });
        let json = record.to_string();
        Self {
            number,
            updated,
            json,
        }
    }
}

fn id(number: usize) -> String {
    format!("00000000-0000-4000-8000-{number:012}")
}
