//! Hosts, the accounts that they serve, and the fake that all of them ask.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use envd_sdk::auth::postgres::deadpool_postgres::Pool;
use envd_sdk::fake::{Fake, UserRecord, WebsiteEdit, World};
use envd_sdk::model::{AccountId, ConsignmentInput, FormType, PartyInput};
use envd_sdk::sync::fleet::{Fleet, FleetBuilder, FleetEvent, FleetLoopHandle};
use envd_sdk::sync::replica::SyncReport;
use envd_sdk::sync::store::{MemorySync, SyncStore};
use envd_sdk::{Account, Client, Clock, RetryPolicy};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio::time::timeout;

use super::super::database::{self, Database};

/// Longer than anything here takes; it ends a test that hangs.
pub(super) const LIMIT: Duration = Duration::from_secs(60);

/// The operation of saves.
pub(super) const SAVE: &str = "CreateOrSaveConsignment";

/// So long that no test waits for it.
pub(super) const HOUR: Duration = Duration::from_secs(3_600);

/// One database, one fake, and the store of all accounts.
pub(super) struct Farm {
    pub(super) database: Database,
    pub(super) fake: Fake,
    pub(super) store: Arc<MemorySync>,
    pub(super) client: Client,
    pub(super) accounts: Vec<AccountId>,
}

/// A host that runs.
pub(super) struct Host {
    pub(super) handle: FleetLoopHandle,
    pub(super) events: mpsc::UnboundedReceiver<FleetEvent>,
    task: JoinHandle<()>,
}

impl Farm {
    /// With so many accounts, which the fleet does not serve yet; `None` if no server is configured.
    pub(super) async fn start(accounts: usize) -> Option<Self> {
        let database = Database::empty().await;
        let accounts: Vec<String> = (0..accounts).map(|n| format!("envd-{n:05}")).collect();
        let mut user = UserRecord::new("kim@example.com").role("Producer");
        for account in &accounts {
            user = user.account(account, "LPA", "QAZZ7777");
        }
        // Replies that are delayed come when a test moves this clock.
        // The fleet goes by the clock of the database, which is that of this machine.
        let clock = Clock::manual(SystemTime::now() - 100 * HOUR);
        let fake = Fake::builder()
            .world(World::empty().user(user))
            .clock(clock);
        let fake = fake.access_token_lifetime(Duration::from_secs(365 * 24 * 3_600));
        let fake = fake.start().await.unwrap();
        let farm = Self {
            client: fake.client().retry(RetryPolicy::none()).build().unwrap(),
            database,
            fake,
            store: Arc::new(MemorySync::new()),
            accounts: accounts.into_iter().map(AccountId::from).collect(),
        };
        farm.fleet(2).build().unwrap().migrate().await.unwrap();
        Some(farm)
    }

    /// The settings of a host with a pool of its own.
    pub(super) fn fleet(&self, connections: usize) -> FleetBuilder {
        self.fleet_of(database::pool(connections))
    }

    pub(super) fn fleet_of(&self, pool: Pool) -> FleetBuilder {
        self.fleet_over(pool, Arc::clone(&self.store))
    }

    pub(super) fn fleet_over(&self, pool: Pool, store: impl SyncStore) -> FleetBuilder {
        Fleet::builder(pool, store)
            .schema(&self.database.schema)
            .poll(Duration::from_millis(50))
            .time_out(Duration::from_secs(10))
    }

    pub(super) async fn add_all(&self) {
        let fleet = self.fleet(2).build().unwrap();
        let added = fleet.add(self.accounts.iter().cloned()).await.unwrap();
        assert_eq!(added, self.accounts.len() as u64);
    }

    pub(super) fn account(&self, id: &AccountId) -> Account {
        self.client.account(id.clone())
    }

    /// How many records the fake has for an account.
    pub(super) fn records(&self, id: &AccountId) -> usize {
        let records = self.fake.consignments::<serde_json::Value>(id.as_str());
        records.len()
    }

    /// How many requests the fake has received.
    pub(super) fn requests(&self) -> usize {
        self.fake.requests().len()
    }

    /// Writes an entry in another process than the hosts.
    pub(super) async fn write(&self, fleet: &Fleet, id: &AccountId) {
        let outbox = self.account(id).outbox(fleet.store());
        outbox.save(input()).await.unwrap();
    }

    /// Runs a host.
    pub(super) fn run(&self, fleet: &Fleet) -> Host {
        let client = self.client.clone();
        run_with(fleet, move |id| {
            let account = client.account(id);
            async move { Ok(account) }
        })
    }

    /// Has two records in each account, made a day apart.
    pub(super) fn fill(&self) {
        for _ in 0..2 {
            for id in &self.accounts {
                self.fake.edit(id.as_str(), WebsiteEdit::insert(input()));
            }
            self.fake.clock().advance(24 * HOUR);
        }
    }

    /// Changes the first record of each account. After that it shows which date `fromDate` compares.
    pub(super) fn change(&self) {
        for id in &self.accounts {
            let records = self.fake.consignments::<serde_json::Value>(id.as_str());
            let oldest = records
                .iter()
                .min_by_key(|record| record["updatedAt"].to_string());
            let name = oldest.unwrap()["id"].as_str().unwrap();
            let change = WebsiteEdit::change(name, serde_json::json!({"status": "SUBMITTED"}));
            self.fake.edit(id.as_str(), change);
        }
    }
}

/// Runs a host with a function of the test that opens accounts.
pub(super) fn run_with<F, A>(fleet: &Fleet, open: F) -> Host
where
    F: Fn(AccountId) -> A + Send + Sync + 'static,
    A: Future<Output = envd_sdk::Result<Account>> + Send + 'static,
{
    let (sender, events) = mpsc::unbounded_channel();
    let running = fleet.run(open).on_event(move |event| {
        let _ = sender.send(event.clone());
    });
    let handle = running.handle();
    Host {
        task: tokio::spawn(running.into_future()),
        handle,
        events,
    }
}

impl Host {
    /// The next event.
    pub(super) async fn next(&mut self) -> FleetEvent {
        let event = timeout(LIMIT, self.events.recv()).await;
        event.expect("no event came").expect("the host has ended")
    }

    /// The next event that the function takes.
    pub(super) async fn find<T>(&mut self, take: impl Fn(FleetEvent) -> Option<T>) -> T {
        loop {
            if let Some(found) = take(self.next().await) {
                return found;
            }
        }
    }

    /// What the next sync did.
    pub(super) async fn report(&mut self) -> SyncReport {
        let report = self.find(|event| match event {
            FleetEvent::Synced { report, .. } => Some(report),
            FleetEvent::Failed { account, error, .. } => panic!("{account:?} failed: {error}"),
            _ => None,
        });
        report.await
    }

    /// The accounts that are synced, so many of them.
    pub(super) async fn synced(&mut self, accounts: usize) -> Vec<AccountId> {
        let mut synced = Vec::new();
        while synced.len() < accounts {
            synced.push(self.find(synced_account).await);
        }
        synced
    }

    /// The next account that failed, and for how long it is left alone.
    pub(super) async fn failed(&mut self) -> (AccountId, Duration) {
        let failed = self.find(|event| match event {
            FleetEvent::Failed {
                account, again_in, ..
            } => Some((account, again_in)),
            _ => None,
        });
        failed.await
    }

    /// Waits until an entry is confirmed.
    pub(super) async fn confirmed(&mut self) {
        let confirmed = self.find(|event| match event {
            FleetEvent::Passed { report, .. } => (report.confirmed > 0).then_some(()),
            _ => None,
        });
        confirmed.await;
    }

    pub(super) async fn stop(self) {
        self.handle.stop();
        self.ended().await;
    }

    pub(super) async fn ended(self) {
        timeout(LIMIT, self.task).await.unwrap().unwrap();
    }

    /// Ends it as a process that is killed.
    pub(super) async fn kill(self) {
        self.task.abort();
        assert!(self.task.await.unwrap_err().is_cancelled());
    }
}

pub(super) fn synced_account(event: FleetEvent) -> Option<AccountId> {
    match event {
        FleetEvent::Synced { account, .. } => Some(account),
        FleetEvent::Failed { account, error, .. } => panic!("{account:?} failed: {error}"),
        _ => None,
    }
}

pub(super) fn input() -> ConsignmentInput {
    let parties = (PartyInput::new("QAZZ7777"), PartyInput::new("QDZZ3333"));
    ConsignmentInput::new([FormType::Lpac1], parties.0, parties.1).movement("2099-01-15", "05:15")
}
