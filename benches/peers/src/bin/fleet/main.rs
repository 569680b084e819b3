//! A fleet of host processes on one database: the time, requests and statements of a round, and memory.
//!
//! `DATABASE_URL=postgres://.. cargo run --release --manifest-path benches/peers/Cargo.toml --bin fleet [ACCOUNTS [MILLISECONDS]]`
//!
//! 10,000 accounts unless given, and a service whose replies take 100 ms, as over a network. Each host runs on one thread of a
//! process of its own; the canned server runs in the parent. Statements are counted with
//! pg_stat_statements if the server has loaded it, else as transactions. The schema `envd_bench_fleet` is created and dropped.
//! Exits with an error when a goal is missed.

mod database;
mod host;
#[path = "../../measure/mod.rs"]
mod measure;
#[allow(dead_code)] // The bench of one copy uses all of it.
#[path = "../replica/service.rs"]
mod service;

use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use database::Database;
use host::Host;
use measure::{Request, Server};
use service::Service;

/// Records of each account.
const RECORDS: usize = 10;

/// The service: one for each account.
struct Services {
    accounts: Vec<Service>,
    requests: AtomicUsize,
    latency: Duration,
}

impl Services {
    fn answer(&self, body: &[u8], reply: &mut Vec<u8>) {
        std::thread::sleep(self.latency);
        self.requests.fetch_add(1, Ordering::Relaxed);
        let text: serde_json::Value = serde_json::from_slice(body).unwrap();
        let account = text["variables"]["envdAccountId"].as_str().unwrap();
        let number: usize = account.rsplit('-').next().unwrap().parse().unwrap();
        self.accounts[number].answer(body, reply);
    }
}

/// What a round cost.
struct Round {
    time: Duration,
    requests: usize,
    statements: i64,
}

struct Bench {
    services: Arc<Services>,
    server: Server,
    database: Database,
}

impl Bench {
    async fn start(accounts: usize, latency: Duration) -> Self {
        let services = Arc::new(Services {
            accounts: (0..accounts).map(|_| Service::new(RECORDS)).collect(),
            requests: AtomicUsize::new(0),
            latency,
        });
        let answers = Arc::clone(&services);
        let server = Server::start(move |request: &Request<'_>, reply: &mut Vec<u8>| {
            answers.answer(request.body, reply);
        });
        let database = Database::start().await;
        Self {
            services,
            server,
            database,
        }
    }

    /// Makes all accounts due, and waits until they are synced.
    async fn round(&self, changed: usize) -> Round {
        for service in &self.services.accounts[..changed] {
            service.changed.fetch_add(1, Ordering::SeqCst);
        }
        let requests = self.services.requests.load(Ordering::Relaxed);
        let statements = self.database.statements().await;
        let begun = Instant::now();
        self.database.make_due().await;
        self.database.until_idle().await;
        let time = begun.elapsed();
        // The counts of the server are late by up to a second.
        tokio::time::sleep(Duration::from_millis(1_500)).await;
        Round {
            time,
            requests: self.services.requests.load(Ordering::Relaxed) - requests,
            statements: self.database.statements().await - statements,
        }
    }

    fn show(&self, what: &str, round: &Round) -> f64 {
        let accounts = self.services.accounts.len() as f64;
        let seconds = round.time.as_secs_f64();
        println!(
            "  {what}: {seconds:.2} s, {:.0} accounts a second, {} requests, {:.2} statements an account",
            accounts / seconds,
            round.requests,
            round.statements as f64 / accounts
        );
        accounts / seconds
    }

    fn hosts(&self, number: usize) -> Vec<Host> {
        let start = |_| Host::start(self.server.base());
        let mut hosts: Vec<Host> = (0..number).map(start).collect();
        for host in &mut hosts {
            host.until_ready();
        }
        hosts
    }
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    if let [task, url] = arguments.as_slice()
        && task == "host"
    {
        runtime.block_on(host::run(url));
        return ExitCode::SUCCESS;
    }
    let number = |at: usize, default: u64| {
        let given = arguments.get(at);
        given.map_or(default, |text| text.parse().unwrap())
    };
    let latency = Duration::from_millis(number(1, 100));
    let accounts = usize::try_from(number(0, 10_000)).unwrap();
    runtime.block_on(measured(accounts, latency))
}

async fn measured(accounts: usize, latency: Duration) -> ExitCode {
    let bench = Bench::start(accounts, latency).await;
    println!("{accounts} accounts of {RECORDS} records, replies after {latency:?}");
    let mut missed = false;
    let mut goal = |what: &str, value: f64, is_met: bool| {
        missed |= !is_met;
        let verdict = if is_met { "met" } else { "MISSED" };
        println!("  goal: {what}: {value:.2}: {verdict}");
    };

    let hosts = bench.hosts(8);
    bench.database.add(accounts).await;
    println!("8 hosts, at first");
    bench.show("first copies", &bench.round(0).await);
    // One change tells the readings of `fromDate` apart.
    bench.show("one change in each account", &bench.round(accounts).await);
    bench.show("full walks", &bench.round(0).await);
    drop(hosts);
    let mut speeds = Vec::new();
    for number in [1, 4, 8] {
        let hosts = bench.hosts(number);
        println!("{number} hosts");
        let started = resident(&hosts);
        let idle = bench.round(0).await;
        speeds.push(bench.show("nothing changed", &idle));
        let statements = idle.statements as f64 / accounts as f64;
        goal(
            "at most 3 statements an account",
            statements,
            statements <= 3.0,
        );
        bench.show("1 % changed", &bench.round(accounts / 100).await);
        let cpu: Duration = hosts.iter().map(Host::cpu).sum();
        println!(
            "  CPU of the hosts: {:.2} ms an account and round",
            cpu.as_secs_f64() * 500.0 / accounts as f64
        );
        let after = resident(&hosts);
        bench.round(0).await;
        let grown = resident(&hosts) - after;
        println!(
            "  memory: {:.1} MB a host at first, {:.1} after two rounds; a third adds {:.0} bytes an account",
            started / number as f64 / 1e6,
            after / number as f64 / 1e6,
            grown / accounts as f64
        );
    }
    let ratio = speeds[1] / speeds[0];
    goal("four hosts at least 3 times one", ratio, ratio >= 3.0);
    println!(
        "  CPU of the canned server: {:.1} s",
        bench.server.cpu().as_secs_f64()
    );
    bench.database.drop_schema().await;
    ExitCode::from(u8::from(missed))
}

/// The bytes of the resident sets of hosts.
fn resident(hosts: &[Host]) -> f64 {
    hosts.iter().map(Host::resident).sum::<usize>() as f64
}
