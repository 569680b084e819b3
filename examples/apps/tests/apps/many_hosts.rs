//! Hosts of `many_hosts` fail while they send. The fake counts the requests and carries out each of them, so a second request
//! means a second sender.
//!
//! `ENVD_SDK_TEST_POSTGRES` has the connection string of a test database on this machine, without TLS.
//! `ENVD_SDK_TEST_POSTGRES_RESTART` is a command that restarts its server; without it the test terminates all sessions instead.

use std::collections::BTreeMap;
use std::env;
use std::hash::{BuildHasher, RandomState};
use std::path::PathBuf;
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use envd_postgres::PostgresPool;
use envd_postgres::PostgresSync;
use envd_sdk::fake::{Fake, Fault, Received, UserRecord, World};
use envd_sdk::model::{ConsignmentInput, FormType, PartyInput};
use envd_sdk::profile::{RecordNames, ServiceProfile, Sourced};
use envd_sync::Replica;
use envd_sync::outbox::{DeclarationState, Outbox};
use processes::{Folder, Mode, Process, Program, Proxy, until};
use serde_json::Value;
use tokio::sync::Mutex;
use tokio::time::sleep;
use url::Url;

use super::app;

const SAVE: &str = "CreateOrSaveConsignment";

/// Serializes the tests, because one of them restarts the database.
static SERVER: Mutex<()> = Mutex::const_new(());

/// The environment of a test, except for the hosts.
struct Yard {
    database: String,
    pool: PostgresPool,
    schema: String,
    fake: Fake,
    profile: PathBuf,
    folder: Folder,
    outboxes: Vec<Outbox>,
    written: AtomicUsize,
}

impl Yard {
    async fn start(accounts: usize) -> Self {
        Self::of_a_service(accounts, ServiceProfile::default()).await
    }

    /// Starts with a service that behaves as the profile says. The programs read the same profile.
    async fn of_a_service(accounts: usize, profile: ServiceProfile) -> Self {
        let database = env::var("ENVD_SDK_TEST_POSTGRES").expect("ENVD_SDK_TEST_POSTGRES is set");
        let schema = format!("envd_hosts_{:016x}", RandomState::new().hash_one(0));
        let ids: Vec<String> = (1..=accounts).map(|n| format!("envd-{n:03}")).collect();
        let user = UserRecord::new("kim@example.com").role("Producer");
        let user = ids
            .iter()
            .fold(user, |user, id| user.account(id, "LPA", "QAZZ7777"));
        // Delay replies, so that a host can fail before it gets one.
        let fake = Fake::builder()
            .profile(&profile)
            .world(World::empty().user(user));
        let fake = fake.latency(Duration::from_millis(250)).start();
        let fake = fake.await.unwrap();
        let pool = PostgresPool::from_url(&database, 4).unwrap();
        let copies = PostgresSync::builder(pool.clone()).schema(&*schema);
        let client = fake.client().profile(&profile).build().unwrap();
        let copies = copies.build().unwrap();
        let folder = Folder::new();
        let profile = folder.write("envd.json", profile.to_json());
        let outbox =
            |id: &String| Outbox::new(&Replica::new(&client.account(&**id), copies.clone()));
        let yard = Self {
            outboxes: ids.iter().map(outbox).collect(),
            written: AtomicUsize::new(0),
            database,
            pool,
            schema,
            fake,
            profile,
            folder,
        };
        yard.program().arg("add").args(&ids).run().well();
        yard
    }

    fn program(&self) -> Program {
        let program = app("many_hosts").env("DATABASE_URL", &self.database);
        let program = program.env("ENVD_PROFILE", &self.profile);
        program.args(["--schema", &self.schema]).at(&self.fake)
    }

    fn host(&self, name: &str, interval: &str) -> Host {
        Host::start(name, interval, self.program())
    }

    /// Writes a new, distinct declaration for each account.
    async fn write(&self) {
        for outbox in &self.outboxes {
            let number = self.written.fetch_add(1, Ordering::Relaxed);
            // Retry while the database restarts.
            while outbox.submit(input(number)).await.is_err() {
                sleep(Duration::from_millis(50)).await;
            }
        }
    }

    /// Writes declarations until the service has just received a creating request of this host.
    async fn write_until_sends(&self, host: &Host) {
        let before = self.creations_of(host.name);
        let is_sending = || self.creations_of(host.name) > before;
        while !is_sending() {
            // The other hosts may have been faster.
            self.write().await;
            let goes_on = async || is_sending() || self.is_all_sent().await;
            until("a host that sends", goes_on).await;
        }
    }

    fn creations_of(&self, host: &str) -> usize {
        let saved = self.saved().into_iter();
        saved
            .filter(|saved| !saved.is_submit && saved.host == host)
            .count()
    }

    fn saved(&self) -> Vec<Saved> {
        let received = self.fake.requests();
        assert!(received.len() < 1_000, "the fake forgets the oldest");
        received.iter().filter_map(Saved::read).collect()
    }

    /// Waits until all written declarations are confirmed.
    async fn until_sent(&self) {
        until("all to be sent", async || self.is_all_sent().await).await;
    }

    async fn is_all_sent(&self) -> bool {
        // Leave the processors to the hosts.
        sleep(Duration::from_millis(10)).await;
        for outbox in &self.outboxes {
            if !matches!(outbox.declarations().await, Ok(waiting) if waiting.is_empty()) {
                return false;
            }
        }
        true
    }

    /// Checks that each declaration was sent once and is one record, and that the outboxes agree.
    async fn check(&self) {
        self.until_sent().await;
        let written = self.written.load(Ordering::Relaxed);
        let mut received: BTreeMap<(bool, String), Vec<String>> = BTreeMap::new();
        for saved in self.saved() {
            let senders = received.entry((saved.is_submit, saved.time)).or_default();
            senders.push(saved.host);
        }
        for ((is_submit, time), senders) in &received {
            let what = format!("{time}, submitted: {is_submit}");
            assert_eq!(senders.len(), 1, "{what}: sent by {senders:?}");
        }
        let mut records = Vec::new();
        for outbox in &self.outboxes {
            let account = outbox.account().id().as_str();
            records.extend(self.fake.consignments::<Value>(account));
            let sent = outbox.history(None).await.unwrap().declarations;
            assert_eq!(sent.len(), written / self.outboxes.len(), "{account}");
            for one in sent {
                assert_eq!(one.state, DeclarationState::Confirmed, "{one:?}");
                assert!(one.late_duplicates.is_empty(), "{one:?}");
            }
        }
        let mut times: Vec<&str> = records.iter().map(time).collect();
        times.sort_unstable();
        let all: Vec<String> = (0..written).map(time_of).collect();
        assert_eq!(times, all);
        assert!(records.iter().all(|record| record["status"] == "SUBMITTED"));
        // Each account has had a successful run since.
        self.until_no_error().await;
        let status = self.status();
        assert_eq!(status["accounts"], self.outboxes.len());
        assert_eq!(
            (&status["waiting"], &status["needsAttention"]),
            (&0.into(), &0.into())
        );
        assert_eq!(status["confirmed"], written);
        assert_eq!(status["lateDuplicates"], 0);
    }

    async fn until_listed(&self, times: usize) {
        let is_listed = async || self.fake.request_count("Consignments") >= times;
        until("lists", is_listed).await;
    }

    async fn until_no_error(&self) {
        let has_none = async || self.status()["retried"] == 0;
        until("the end of all errors", has_none).await;
    }

    fn status(&self) -> Value {
        let shown = self.program().args(["status", "--json"]).run().well();
        shown.lines().remove(0)
    }

    async fn restart_database(&self) {
        if let Some(command) = env::var_os("ENVD_SDK_TEST_POSTGRES_RESTART") {
            let status = Command::new("sh").arg("-c").arg(command).status();
            assert!(status.unwrap().success());
            return;
        }
        eprintln!("the test ends the sessions and does not restart the server");
        let end = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity
            WHERE pid <> pg_backend_pid() AND backend_type = 'client backend'";
        let database = self.pool.pool().get().await.unwrap();
        database.batch_execute(end).await.unwrap();
    }

    /// Not in `drop`, which may run during a panic.
    async fn end(self) {
        let schema = &self.schema;
        let dropped = format!("DROP SCHEMA {schema}, {schema}_jobs CASCADE");
        let database = self.pool.pool().get().await.unwrap();
        database.batch_execute(&dropped).await.unwrap();
    }
}

/// Killed when it is dropped.
struct Host {
    name: &'static str,
    process: Process,
}

impl Host {
    fn start(name: &str, interval: &str, program: Program) -> Self {
        let name: &'static str = name.to_owned().leak();
        let program = program.args(["host", "--name", name, "--jobs", "2"]);
        let program = program.args(["--lease", "3", "--settle", "3", "--interval", interval]);
        Self {
            name,
            process: Process::start(program.0),
        }
    }
}

/// A save request that the fake has received.
struct Saved {
    host: String,
    time: String,
    is_submit: bool,
}

impl Saved {
    /// `None` for other requests.
    fn read(request: &Received) -> Option<Self> {
        if request.operation().as_deref() != Some(SAVE) {
            return None;
        }
        let variables: Value = request.variables().unwrap();
        let input = &variables["input"];
        Some(Self {
            host: request.header("x-host").unwrap().to_owned(),
            time: time(input).to_owned(),
            is_submit: input["status"] == "SUBMITTED",
        })
    }
}

fn time(record: &Value) -> &str {
    record["movementTime"].as_str().unwrap()
}

fn time_of(number: usize) -> String {
    format!("{:02}:{:02}", number / 60, number % 60)
}

fn input(number: usize) -> ConsignmentInput {
    let from = PartyInput::new("QAZZ7777");
    let to = PartyInput::new("QDZZ3333");
    let input = ConsignmentInput::new([FormType::Lpac1], from, to);
    input.movement("2099-01-15", time_of(number))
}

/// Each failure hits a host right after the service has received its request. The other hosts continue when its leases end, and
/// its late statements and requests change nothing.
///
/// `ENVD_SDK_TEST_ROUNDS` repeats it, with eight failures each. `ENVD_SDK_TEST_SKEW` is the path of a libfaketime that sets the
/// clock of one host two days ahead.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_hosts_send_when_they_break_is_sent_once() {
    let _server = SERVER.lock().await;
    let rounds = env::var("ENVD_SDK_TEST_ROUNDS").map_or(1, |rounds| rounds.parse().unwrap());
    for _ in 0..rounds {
        break_hosts().await;
    }
}

async fn break_hosts() {
    let yard = Yard::start(6).await;
    let to_service = Proxy::of(&yard.fake).await;
    let url: Url = yard.database.parse().unwrap();
    let port = url.port().unwrap_or(5432);
    let to_database = Proxy::start(url.host_str().unwrap(), port).await;
    let program = yard
        .program()
        .env("DATABASE_URL", to_database.through(url))
        .env(
            "ENVD_GRAPHQL_URL",
            to_service.through(yard.fake.graphql_url().clone()),
        );
    // Accounts sync more often than the longest wait of an entry.
    let cut_off = Host::start("cut off", "2", program);
    let mut ahead = yard.program();
    if let Some(library) = env::var_os("ENVD_SDK_TEST_SKEW") {
        ahead = ahead.env("LD_PRELOAD", library).env("FAKETIME", "+2d");
        ahead = ahead.env("FAKETIME_DONT_FAKE_MONOTONIC", "1");
    }
    let frozen = Host::start("frozen", "2", ahead);
    let mut killed = yard.host("killed", "2");

    yard.write_until_sends(&killed).await;
    killed.process.kill();
    let other = yard.host("other", "2");
    yard.until_sent().await;

    #[cfg(target_os = "linux")]
    {
        yard.write_until_sends(&frozen).await;
        frozen.process.freeze();
        yard.until_sent().await;
        frozen.process.go_on();
    }
    for mode in [Mode::HoldReplies, Mode::HoldRequests, Mode::Cut] {
        yard.write_until_sends(&cut_off).await;
        to_database.set(mode);
        yard.until_sent().await;
        to_database.set(Mode::Pass);
    }
    yard.write_until_sends(&cut_off).await;
    to_service.set(Mode::Cut);
    yard.until_sent().await;
    to_service.set(Mode::Pass);

    yard.write_until_sends(&frozen).await;
    yard.restart_database().await;
    yard.until_sent().await;

    // For each account the fake creates the record but truncates the reply.
    yard.fake
        .on_operation(SAVE)
        .fault(Fault::truncated(20))
        .times(yard.outboxes.len());
    yard.write().await;
    yard.until_sent().await;

    // All hosts serve again.
    for host in [&cut_off, &frozen] {
        yard.write_until_sends(host).await;
    }
    yard.check().await;
    drop((cut_off, frozen, other));
    yard.end().await;
}

/// If the command failed, a caller would run it again and write a second declaration.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_written_is_said_whatever_becomes_of_the_wake() {
    let _server = SERVER.lock().await;
    let yard = Yard::start(1).await;
    let jobs = format!("{}_jobs", yard.schema);
    let database = yard.pool.pool().get().await.unwrap();
    let hide = format!("ALTER SCHEMA {jobs} RENAME TO {jobs}_away");
    database.batch_execute(&hide).await.unwrap();
    let file = yard
        .folder
        .write("input.json", serde_json::to_string(&input(0)).unwrap());
    let write = yard.program().args(["write", "envd-001"]).arg(file);
    let ended = write.run().with(0).says("could not be scheduled");
    assert!(ended.lines()[0]["entry"].is_string());
    assert_eq!(yard.outboxes[0].declarations().await.unwrap().len(), 1);
    let show = format!("ALTER SCHEMA {jobs}_away RENAME TO {jobs}");
    database.batch_execute(&show).await.unwrap();
    drop(database);
    yard.end().await;
}

/// With the default assumptions, the draft would stay and a second record would be submitted.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn hosts_send_as_the_profile_says() {
    let _server = SERVER.lock().await;
    let mut profile = ServiceProfile::default();
    let mut names = RecordNames::default();
    (names.id, names.number) = (None, Some("number".to_owned()));
    profile.updates = Sourced::seen(names);
    let yard = Yard::of_a_service(1, profile).await;
    let host = yard.host("host", "2");
    yard.write().await;
    yard.until_sent().await;
    yard.check().await;
    drop(host);
    yard.end().await;
}

/// The interval is longer than the test.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_written_is_sent_at_once() {
    let _server = SERVER.lock().await;
    let yard = Yard::start(1).await;
    let host = yard.host("host", "86400");
    yard.until_listed(1).await;
    let is_idle = async || yard.status()["running"] == 0;
    until("a host without work", is_idle).await;
    let file = yard
        .folder
        .write("input.json", serde_json::to_string(&input(0)).unwrap());
    let write = yard.program().args(["write", "--submit", "envd-001"]);
    assert!(write.arg(file).run().well().lines()[0]["entry"].is_string());
    yard.written.store(1, Ordering::Relaxed);
    let is_written = async || !yard.is_all_sent().await || !yard.saved().is_empty();
    until("what was written", is_written).await;
    yard.check().await;
    drop(host);
    yard.end().await;
}

/// The test never wakes the accounts. Their syncs are more frequent than the waits of a declaration, and must not delay it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_written_to_accounts_that_are_always_busy_is_sent() {
    let _server = SERVER.lock().await;
    let yard = Yard::start(2).await;
    let host = yard.host("host", "0.5");
    yard.until_listed(5).await;
    // The outbox searches for the record immediately and after three seconds, then sends the declaration again.
    yard.fake
        .on_operation(SAVE)
        .fault(Fault::dropped_before())
        .times(2);
    yard.write().await;
    yard.until_sent().await;
    let sent = yard.fake.consignments::<Value>("envd-001");
    assert_eq!((sent.len(), &sent[0]["status"]), (1, &"SUBMITTED".into()));
    yard.until_no_error().await;
    drop(host);
    yard.end().await;
}
