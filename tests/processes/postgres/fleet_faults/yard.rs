//! Accounts, the fake that all hosts ask, and the program that writes declarations.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use envd_sdk::Account;
use envd_sdk::auth::postgres::deadpool_postgres::Pool;
use envd_sdk::fake::{Fake, Received, UserRecord, World};
use envd_sdk::model::{ConsignmentInput, FormType, PartyInput};
use envd_sdk::sync::fleet::{Fleet, FleetBuilder};
use envd_sdk::sync::outbox::{EntryState, Outbox};
use serde_json::Value;
use tokio::time::{sleep, timeout};

use super::super::database::{self, Database};
use super::host_process::{HostProcess, HostSettings};

/// The header with the name of the host.
pub(super) const HOST: &str = "x-host";

/// Longer than anything here takes; it ends a test that hangs.
const LIMIT: Duration = Duration::from_secs(120);

/// The shortest that a fleet has.
const LEASE: Duration = Duration::from_secs(3);

const ACCOUNTS: usize = 8;

/// The settings of all programs of the fleet.
pub(super) fn fleet(pool: Pool, schema: &str) -> FleetBuilder {
    let store = database::sync_settings(&pool, schema).time_out(Duration::from_secs(2));
    Fleet::builder(pool, store.build().unwrap())
        .schema(schema)
        .time_out(Duration::from_secs(2))
        .lease(LEASE)
        .poll(Duration::from_millis(50))
        .concurrency(2)
        .outbox(|outbox| outbox.lease(LEASE).settle(LEASE))
}

/// Hosts are started by a test; everything else is here.
pub(super) struct Yard {
    pub(super) database: Database,
    pub(super) fake: Fake,
    outboxes: Vec<Outbox>,
    written: AtomicUsize,
}

impl Yard {
    /// `None`: no server is configured.
    pub(super) async fn start() -> Option<Self> {
        Some(Self::on(Database::empty().await).await)
    }

    pub(super) async fn on(database: Database) -> Self {
        let ids: Vec<String> = (1..=ACCOUNTS).map(|n| format!("envd-{n:03}")).collect();
        let user = UserRecord::new("kim@example.com").role("Producer");
        let user = ids
            .iter()
            .fold(user, |user, id| user.account(id, "LPA", "QAZZ7777"));
        // A reply takes a moment, in which a host can fail.
        let fake = Fake::builder().world(World::empty().user(user));
        let fake = fake.latency(Duration::from_millis(250)).start();
        let fake = fake.await.unwrap();
        let pool = database::pool(4);
        let store = database::sync(&pool, &database.schema);
        store.migrate().await.unwrap();
        let fleet = fleet(pool, &database.schema).build().unwrap();
        fleet.migrate().await.unwrap();
        fleet.add(ids.iter().cloned()).await.unwrap();
        let client = fake.client().header(HOST, "web").build().unwrap();
        let account = |id: &String| -> Account { client.account(&**id) };
        let outbox = |id| account(id).outbox(fleet.store());
        Self {
            outboxes: ids.iter().map(outbox).collect(),
            written: AtomicUsize::new(0),
            database,
            fake,
        }
    }

    pub(super) fn settings(&self, name: &str) -> HostSettings {
        HostSettings {
            name: name.to_owned(),
            schema: self.database.schema.clone(),
            service: self.fake.graphql_url().into(),
            token: self.fake.access_token().expose().to_owned(),
            database_port: None,
            ahead: 0,
        }
    }

    pub(super) fn host(&self, name: &str) -> HostProcess {
        HostProcess::start(&self.settings(name))
    }

    /// Writes a declaration for each account, unlike any other.
    pub(super) async fn write(&self) {
        for outbox in &self.outboxes {
            let number = self.written.fetch_add(1, Ordering::Relaxed);
            outbox.save_and_submit(input(number)).await.unwrap();
        }
    }

    /// Writes until a host sends: the service has just received a request of it that creates a record.
    pub(super) async fn write_until_sends(&self, host: &HostProcess) {
        let before = self.creations_of(&host.name);
        let is_sending = || self.creations_of(&host.name) > before;
        while !is_sending() {
            // Perhaps the others are faster.
            self.write().await;
            until("nothing is sent", || async {
                is_sending() || self.is_all_sent().await
            })
            .await;
        }
    }

    pub(super) fn creations_of(&self, host: &str) -> usize {
        let mut received = self.fake.requests();
        received.retain(|request| request.header(HOST) == Some(host));
        let saved = received.iter().filter_map(Saved::read);
        saved.filter(|saved| !saved.is_submit).count()
    }

    fn saved(&self) -> Vec<Saved> {
        let received = self.fake.requests();
        assert!(received.len() < 1_000, "the fake forgets the oldest");
        received.iter().filter_map(Saved::read).collect()
    }

    /// Waits until all that was written is confirmed.
    pub(super) async fn until_sent(&self) {
        until("not everything is sent", || self.is_all_sent()).await;
    }

    async fn is_all_sent(&self) -> bool {
        for outbox in &self.outboxes {
            if !outbox.entries().await.unwrap().is_empty() {
                return false;
            }
        }
        true
    }

    /// Checks that each declaration was sent once and is one record, and that the outboxes say so.
    pub(super) async fn check(&self) {
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
            let entries = outbox.history(None).await.unwrap().entries;
            assert_eq!(entries.len(), written / ACCOUNTS * 2, "{account}");
            for entry in entries {
                assert_eq!(entry.state, EntryState::Confirmed, "{entry:?}");
                assert!(entry.strays.is_empty(), "{entry:?}");
            }
        }
        let mut times: Vec<&str> = records.iter().map(time).collect();
        times.sort_unstable();
        let all: Vec<String> = (0..written).map(time_of).collect();
        assert_eq!(times, all);
        assert!(records.iter().all(|record| record["status"] == "SUBMITTED"));
    }

    /// Runs a query about the accounts of the fleet that returns one number.
    pub(super) async fn count(&self, condition: &str) -> usize {
        let query = format!(
            "SELECT count(*)::text FROM \"{}\".fleet_account WHERE {condition}",
            self.database.schema
        );
        self.database.query_text(&query).await.parse().unwrap()
    }
}

/// A save that the fake has received.
struct Saved {
    host: String,
    time: String,
    is_submit: bool,
}

impl Saved {
    /// `None`: it is another request.
    fn read(request: &Received) -> Option<Self> {
        if request.operation().as_deref() != Some("CreateOrSaveConsignment") {
            return None;
        }
        let variables: Value = request.variables().unwrap();
        let input = &variables["input"];
        Some(Self {
            host: request.header(HOST).unwrap().to_owned(),
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
    let (from, to) = (PartyInput::new("QAZZ7777"), PartyInput::new("QDZZ3333"));
    let input = ConsignmentInput::new([FormType::Lpac1], from, to);
    input.movement("2099-01-15", time_of(number))
}

/// Waits for a condition at the fake or the database.
pub(super) async fn until<F: Future<Output = bool>>(what: &str, is_so: impl Fn() -> F) {
    let polling = async {
        while !is_so().await {
            sleep(Duration::from_millis(10)).await;
        }
    };
    assert!(timeout(LIMIT, polling).await.is_ok(), "{what}");
}
