//! A year of a saleyard in simulated time: requests, commits, bytes of disk, memory.
//!
//! `cargo bench -p envd-sync --bench saleyard [-- --days 365 --scale 10]`. 90,000 records changed in the last 30 days. Each day
//! 3,000 arrive and 6,000 change, some while pages are read. The program syncs every five minutes, with a horizon of 30 days and a
//! retention of 60. `--scale` divides both the number of records and the page size: requests and commits stay those of the full
//! yard, bytes do not. `cargo test -p envd-sync --bench saleyard` runs two days of a twentieth of it in seconds. Exits with an
//! error when a goal is missed.

#![allow(clippy::cast_precision_loss)] // Counts are small.

use std::collections::{BTreeSet, HashMap};
use std::path::Path;
use std::process::ExitCode;
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use std::{env, fs, process};

use envd_sdk::auth::StaticToken;
use envd_sdk::model::Timestamp;
use envd_sdk::profile::{ComparedDate, ServiceProfile, Sourced};
use envd_sdk::{Client, Clock};
use envd_sync::replica::{Replica, SyncMode};
use envd_sync::store::{SqliteSync, SyncStore};
use serde_json::{Value, json};

use canned::{Request, Server};
use row::Goal;

#[path = "../../../benches/canned.rs"]
mod canned;
mod cpu {
    /// Not measured here.
    pub(crate) fn of_thread() -> std::time::Duration {
        std::time::Duration::ZERO
    }
}
#[path = "../../../benches/row.rs"]
mod row;

const ACCOUNT: &str = "envd-1";
const DAY: u64 = 86_400_000;
const FIVE_MINUTES: u64 = 300_000;
/// The time the service needs for a page, in milliseconds.
const PAGE_TIME: u64 = 300;
/// 2026-01-01T00:00:00Z.
const START: u64 = 1_767_225_600_000;

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().collect();
    let is_short = !arguments.iter().any(|argument| argument == "--bench");
    let number = |name: &str, unless: u64| -> u64 {
        let at = arguments.iter().position(|argument| argument == name);
        let value = at.and_then(|at| arguments.get(at + 1));
        value.map_or(unless, |value| value.parse().expect("a number"))
    };
    let days = number("--days", if is_short { 2 } else { 365 });
    let scale = number("--scale", if is_short { 20 } else { 10 });
    let page = if is_short { 25 } else { 100 / scale };
    let folder = env::temp_dir().join(format!("envd-sdk-saleyard-{}", process::id()));
    fs::create_dir(&folder).expect("a folder");
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    let met = runtime.block_on(run(&folder, days, scale, page));
    fs::remove_dir_all(&folder).expect("its end");
    ExitCode::from(u8::from(!met))
}

fn service(yard: Arc<Mutex<Yard>>) -> Server {
    Server::start(move |request: &Request<'_>, reply: &mut Vec<u8>| {
        let body = serde_json::from_slice(request.body).unwrap();
        let answer = yard.lock().unwrap().answer(&body);
        serde_json::to_writer(reply, &answer).unwrap();
    })
}

fn client_of(server: &Server) -> Client {
    let mut profile = ServiceProfile::default();
    profile.lists.compared_date = Sourced::seen(Some(ComparedDate::LastChange));
    let client = Client::builder(server.base()).profile(&profile);
    let client = client.token_source(StaticToken::new("a-token").unwrap());
    client.build().unwrap()
}

async fn run(folder: &Path, days: u64, scale: u64, page: u64) -> bool {
    let yard = Arc::new(Mutex::new(Yard::new(scale)));
    let clock = yard.lock().unwrap().clock.clone();
    let server = service(Arc::clone(&yard));
    let client = client_of(&server);
    let store = SqliteSync::open(folder.join("yard.db")).unwrap();
    let account = client.account(ACCOUNT);
    let replica = Replica::new(&account, store.clone()).clock(clock.clone());
    let replica = replica.page_size(u32::try_from(page).unwrap());
    let replica = replica.horizon(Duration::from_millis(30 * DAY));
    let replica = replica.retention(Duration::from_millis(60 * DAY));

    let mut requests = 0;
    let mut full = 0;
    let mut most = 0;
    let mut over = 0;
    let mut pruned = 0;
    // After pruning has begun.
    let mut disk_before = 0;
    let mut memory_before = 0;
    for sync in 0..days * DAY / FIVE_MINUTES {
        let next = START + (sync + 1) * FIVE_MINUTES;
        let report = replica.sync().await.unwrap();
        requests += report.requests;
        pruned += report.pruned;
        if report.mode == SyncMode::Full {
            full += 1;
        } else {
            most = most.max(report.requests);
            over += u64::from(report.requests > 5);
        }
        if sync % 12 == 0 {
            read_changes(&replica).await;
        }
        yard.lock().unwrap().wait_until(next);
        if sync == 75 * DAY / FIVE_MINUTES {
            (disk_before, memory_before) = (bytes_in(folder), resident());
        }
    }
    let documents = store.documents(ACCOUNT, "replica").await.unwrap();
    let state = documents.iter().find(|it| it.name == "replica");
    let commits = state.map_or(0, |document| document.version);
    let rows = replica.consignments().count().await.unwrap();
    yard.lock().unwrap().is_calm = true;
    replica.sync_full().await.unwrap();
    let shown = yard.lock().unwrap().of_the_last_days();
    let missed = missed(&replica, shown).await;

    println!("{days} days, a yard of 1/{scale}; {rows} records held, {pruned} pruned");
    let row = |case: &str, figure: u64, unit: &str, goal| {
        row::row("saleyard", case, figure as f64, unit, goal)
    };
    let each_day = |all: u64| all / days;
    let mut met = vec![
        row(
            "full scans",
            full,
            "in all",
            Goal::AtMost((days + 2) as f64),
        ),
        row(
            "requests of the longest other sync",
            most,
            "in all",
            Goal::None,
        ),
        row(
            "other syncs of more than 5 requests",
            over,
            "in all",
            Goal::AtMost(0.0),
        ),
        row("requests a day", each_day(requests), "in all", Goal::None),
        row("commits a day", each_day(commits), "in all", Goal::None),
        row("disk at the end", bytes_in(folder), "bytes", Goal::None),
        row(
            "records that the copy shows otherwise",
            missed,
            "in all",
            Goal::AtMost(0.0),
        ),
    ];
    if disk_before > 0 {
        let disk = bytes_in(folder);
        let memory = resident();
        let most = |before: u64, times: f64| Goal::AtMost(before as f64 * times);
        met.push(row(
            "disk, of that after 75 days",
            disk,
            "bytes",
            most(disk_before, 1.5),
        ));
        met.push(row(
            "resident memory, of that after 75 days",
            memory,
            "bytes",
            most(memory_before, 1.25),
        ));
    }
    met.into_iter().all(|met| met)
}

/// Reads the changes as an accounting program would.
async fn read_changes(replica: &Replica) {
    let mut feed = replica.changes("accounting");
    let mut last = None;
    while let Some(change) = feed.next().await.unwrap() {
        last = Some(change);
    }
    if let Some(last) = last {
        feed.acknowledge(&last).await.unwrap();
    }
}

struct Sold {
    created: u64,
    updated: u64,
    version: u64,
}

/// The service. It lists the latest change first, and its cursors are offsets.
struct Yard {
    clock: Clock,
    records: HashMap<u64, Sold>,
    /// Ordered by the time of the last change.
    order: BTreeSet<(u64, u64)>,
    made: u64,
    events: u64,
    next_event: u64,
    every: u64,
    random: u64,
    is_calm: bool,
}

impl Yard {
    fn new(scale: u64) -> Self {
        let mut yard = Self {
            clock: Clock::manual(time(START)),
            records: HashMap::new(),
            order: BTreeSet::new(),
            made: 0,
            events: 0,
            next_event: START,
            every: DAY / (9_000 / scale),
            random: 1,
            is_calm: false,
        };
        let records = 90_000 / scale;
        for number in 0..records {
            yard.add(START - 30 * DAY + 30 * DAY / records * number);
        }
        yard
    }

    fn add(&mut self, now: u64) {
        self.made += 1;
        let record = Sold {
            created: now,
            updated: now,
            version: 0,
        };
        self.records.insert(self.made, record);
        self.order.insert((now, self.made));
    }

    /// A record that changed in the last 20 days or so.
    fn pick(&mut self, now: u64) -> Option<u64> {
        self.random = self
            .random
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        let at = now - (self.random >> 33) % (20 * DAY);
        self.order.range((at, 0)..).next().map(|(_, id)| *id)
    }

    fn remove(&mut self, id: u64) {
        if let Some(record) = self.records.remove(&id) {
            self.order.remove(&(record.updated, id));
        }
    }

    fn event(&mut self, now: u64) {
        self.events += 1;
        if self.events.is_multiple_of(3) {
            self.add(now);
        } else if let Some(id) = self.pick(now) {
            let Some(record) = self.records.get_mut(&id) else {
                return;
            };
            self.order.remove(&(record.updated, id));
            (record.updated, record.version) = (now, record.version + 1);
            self.order.insert((now, id));
        }
        // Far older than horizon and retention.
        while let Some((_, id)) = self
            .order
            .first()
            .filter(|(at, _)| at + 70 * DAY < now)
            .copied()
        {
            self.remove(id);
        }
    }

    fn now(&self) -> u64 {
        milliseconds(self.clock.now())
    }

    fn wait_until(&mut self, then: u64) {
        while !self.is_calm && self.next_event <= then {
            self.event(self.next_event);
            self.next_event += self.every;
        }
        let wait = then.saturating_sub(self.now());
        self.clock.advance(Duration::from_millis(wait));
    }

    fn answer(&mut self, body: &Value) -> Value {
        let variables = &body["variables"];
        if body["operationName"] == "Consignment" {
            let id = variables["id"].as_str().unwrap().parse().unwrap();
            return json!({"data": {"consignment": self.records.get(&id).map(|record| shown(id, record))}});
        }
        self.wait_until(self.now() + PAGE_TIME);
        let from = variables["fromDate"].as_str();
        let from = from.map_or(0, |from| {
            milliseconds(Timestamp::from(from).to_time().unwrap())
        });
        let listed = || self.order.range((from, 0)..).rev();
        let total = if from == 0 {
            self.order.len()
        } else {
            listed().count()
        };
        let start: usize = variables["after"]
            .as_str()
            .map_or(0, |after| after.parse().unwrap());
        let size = usize::try_from(variables["first"].as_u64().unwrap()).unwrap();
        let page = listed().skip(start).take(size);
        let edges: Vec<Value> = page
            .map(|(_, id)| json!({"node": shown(*id, &self.records[id])}))
            .collect();
        let end = start + edges.len();
        let info = json!({"hasNextPage": end < total, "endCursor": end.to_string()});
        json!({"data": {"consignments": {"totalCount": total, "pageInfo": info, "edges": edges}}})
    }

    /// The records of the last 29 days, with the time of their last change.
    fn of_the_last_days(&self) -> Vec<(u64, u64)> {
        let listed = self.order.range((self.now() - 29 * DAY, 0)..);
        listed.copied().collect()
    }
}

/// Counts the records that the copy lacks or holds in another state.
async fn missed(replica: &Replica, shown: Vec<(u64, u64)>) -> u64 {
    let mut missed = 0;
    for (at, id) in shown {
        let copy = replica.consignment(id.to_string()).await.unwrap();
        let updated = copy
            .and_then(|copy| copy.updated_at())
            .and_then(|at| at.to_time());
        missed += u64::from(updated.map(milliseconds) != Some(at));
    }
    missed
}

fn shown(id: u64, record: &Sold) -> Value {
    let party = |pic: String| json!({"pic": pic, "name": "A sample of a name", "address": {"line1": "101 Example Road", "town": "Sampleton", "state": "QLD", "postcode": "4999"}});
    let status = ["DRAFT", "SUBMITTED", "LOCKED"][usize::try_from(record.version.min(2)).unwrap()];
    let moves = Timestamp::from(time(record.created + DAY));
    json!({
        "id": id.to_string(), "number": format!("C-{id:09}"), "status": status, "species": "CATTLE", "heads": record.version,
        "movementDate": &moves.as_str()[..10], "origin": party(format!("QAAA{:04}", id % 5_000)), "destination": party("QDZZ0001".to_owned()),
        "updatedAt": Timestamp::from(time(record.updated)),
    })
}

fn time(milliseconds: u64) -> SystemTime {
    UNIX_EPOCH + Duration::from_millis(milliseconds)
}

fn milliseconds(time: SystemTime) -> u64 {
    u64::try_from(time.duration_since(UNIX_EPOCH).unwrap().as_millis()).unwrap()
}

fn bytes_in(folder: &Path) -> u64 {
    let files = fs::read_dir(folder).unwrap();
    files
        .map(|file| file.unwrap().metadata().unwrap().len())
        .sum()
}

/// The resident set, including the service; 0 if the system does not report it.
fn resident() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kilobytes = line.and_then(|line| line.trim().trim_end_matches(" kB").parse::<u64>().ok());
    kilobytes.unwrap_or_default() * 1024
}
