//! Measures the hosts of `many_hosts`: accounts per second, statements per account, and the recovery after `kill -9`.
//!
//! `DATABASE_URL=postgres://.. cargo bench -p apps --features postgres --bench many_hosts [ACCOUNTS [MILLISECONDS]]`
//!
//! By default it has 1,000 accounts, and a fake that replies after 100 ms, like a network. No data changes in a round, so a run
//! shows the cost of an idle interval. It counts statements with `pg_stat_statements`, which the server has to load.

use std::env;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use envd_postgres::PostgresPool;
use envd_postgres::PostgresSync;
use envd_sdk::fake::{Fake, Fault, UserRecord, World};
use envd_sdk::model::{ConsignmentInput, FormType, PartyInput};
use envd_sync::Replica;
use envd_sync::outbox::Outbox;
use tokio::time::sleep;

const SCHEMA: &str = "envd_bench_hosts";
const SAVE: &str = "CreateOrSaveConsignment";

struct Bench {
    url: String,
    pool: PostgresPool,
    fake: Fake,
    accounts: Vec<String>,
    outboxes: Vec<Outbox>,
}

/// Killed when it is dropped.
struct Host(Child);

impl Drop for Host {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[tokio::main]
async fn main() {
    let given: Vec<u64> = env::args().filter_map(|text| text.parse().ok()).collect();
    let accounts = given.first().copied().unwrap_or(1_000);
    let latency = Duration::from_millis(given.get(1).copied().unwrap_or(100));
    let bench = Bench::start(accounts, latency).await;
    // In each account a record appears and then changes. This tells a sync which date `fromDate` compares, so that later syncs
    // read only changes.
    let first = bench.host();
    let mut saved = Vec::new();
    for outbox in &bench.outboxes {
        saved.push(outbox.save(input("05:15")).await.unwrap().id);
    }
    bench.round().await;
    for (outbox, id) in bench.outboxes.iter().zip(saved) {
        outbox.submit_saved(id).await.unwrap();
    }
    for _ in 0..3 {
        bench.round().await;
    }
    drop(first);
    println!("{accounts} accounts of one record, replies after {latency:?}");
    for number in [1, 2, 4] {
        let hosts: Vec<Host> = (0..number).map(|_| bench.host()).collect();
        // Warm up: includes the start of the hosts.
        bench.round().await;
        bench.run("SELECT pg_stat_statements_reset()").await;
        let requests = bench.fake.requests().len();
        let begun = Instant::now();
        bench.round().await;
        let took = begun.elapsed().as_secs_f64();
        let statements = bench.statements().await;
        let all = f64::from(u32::try_from(accounts).unwrap());
        println!(
            "{number} hosts of 8 at a time: {:.0} accounts a second, {:.2} statements an account",
            all / took,
            statements / all
        );
        assert!(bench.fake.requests().len() >= requests);
        drop(hosts);
    }
    bench.recovery().await;
    bench.drop_schemas().await;
}

impl Bench {
    async fn start(accounts: u64, latency: Duration) -> Self {
        let url = env::var("DATABASE_URL").expect("DATABASE_URL names a test database");
        let accounts: Vec<String> = (0..accounts).map(|n| format!("envd-{n:06}")).collect();
        let user = UserRecord::new("kim@example.com").role("Producer");
        let user = accounts
            .iter()
            .fold(user, |user, id| user.account(id, "LPA", "QAZZ7777"));
        let fake = Fake::builder().world(World::empty().user(user));
        let pool = PostgresPool::from_url(&url, 4).unwrap();
        let fake = fake.latency(latency);
        let fake = fake.start().await.unwrap();
        let copies = PostgresSync::builder(pool.clone()).schema(SCHEMA);
        let client = fake.client().build().unwrap();
        let copies = copies.build().unwrap();
        let outboxes = accounts.iter();
        let bench = Self {
            outboxes: outboxes
                .map(|id| Outbox::new(&Replica::new(&client.account(&**id), copies.clone())))
                .collect(),
            pool,
            fake,
            accounts,
            url,
        };
        bench.drop_schemas().await;
        bench
            .run("CREATE EXTENSION IF NOT EXISTS pg_stat_statements")
            .await;
        let add = bench.program("add").args(&bench.accounts).status();
        assert!(add.unwrap().success());
        bench
    }

    fn program(&self, command: &str) -> Command {
        let mut program = Command::new(env!("CARGO_BIN_EXE_many_hosts"));
        program
            .args(["--schema", SCHEMA, command])
            .env("DATABASE_URL", &self.url)
            .env("ENVD_GRAPHQL_URL", self.fake.graphql_url().as_str())
            .env("ENVD_ACCESS_TOKEN", self.fake.access_token().expose())
            .stdin(Stdio::null());
        program
    }

    fn host(&self) -> Host {
        let mut host = self.program("host");
        host.args(["--interval", "86400", "--per-second", "10000"]);
        Host(host.spawn().unwrap())
    }

    /// Makes all accounts due, and waits until all have run.
    async fn round(&self) {
        self.run(&format!(
            "SELECT {SCHEMA}_jobs.reschedule_jobs(array_agg(id), run_at => now()) FROM {SCHEMA}_jobs.jobs"
        ))
        .await;
        let busy = format!(
            "SELECT count(*) AS bench FROM {SCHEMA}_jobs.jobs WHERE run_at <= now() OR locked_at IS NOT NULL"
        );
        let database = self.pool.pool().get().await.unwrap();
        while database
            .query_one(&busy, &[])
            .await
            .unwrap()
            .get::<_, i64>(0)
            > 0
        {
            sleep(Duration::from_millis(50)).await;
        }
    }

    /// The number of statements, without the bench's own.
    async fn statements(&self) -> f64 {
        let count = "SELECT sum(calls)::float8 AS bench FROM pg_stat_statements
            WHERE query NOT LIKE '%bench %' AND query NOT LIKE '%pg_stat%' AND toplevel";
        let database = self.pool.pool().get().await.unwrap();
        database.query_one(count, &[]).await.unwrap().get(0)
    }

    /// Kills one of two hosts while the service processes its request.
    async fn recovery(&self) {
        let slow = Fault::latency(Duration::from_secs(1));
        self.fake.on_operation(SAVE).fault(slow).times(1);
        let before = self.fake.request_count(SAVE);
        let outbox = &self.outboxes[0];
        let killed = self.host();
        sleep(Duration::from_secs(3)).await;
        outbox.save(input("05:16")).await.unwrap();
        let wake = self.program("add").arg(&self.accounts[0]).status();
        assert!(wake.unwrap().success());
        while self.fake.request_count(SAVE) == before {
            sleep(Duration::from_millis(10)).await;
        }
        drop(killed);
        let begun = Instant::now();
        let _other = self.host();
        while !outbox.declarations().await.unwrap().is_empty() {
            sleep(Duration::from_millis(10)).await;
        }
        println!(
            "recovery after kill -9, with leases of 10 s: {:.1} s; {} request to save",
            begun.elapsed().as_secs_f64(),
            self.fake.request_count(SAVE) - before
        );
    }

    async fn drop_schemas(&self) {
        self.run(&format!(
            "DROP SCHEMA IF EXISTS {SCHEMA}, {SCHEMA}_jobs CASCADE"
        ))
        .await;
    }

    async fn run(&self, statement: &str) {
        let database = self.pool.pool().get().await.unwrap();
        database.batch_execute(statement).await.unwrap();
    }
}

fn input(time: &str) -> ConsignmentInput {
    let from = PartyInput::new("QAZZ7777");
    let to = PartyInput::new("QDZZ3333");
    ConsignmentInput::new([FormType::Lpac1], from, to).movement("2099-01-15", time)
}
