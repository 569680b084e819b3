//! Hosts, the accounts that they serve, and the fake that all of them ask.

use std::sync::Arc;
use std::time::Duration;

use envd_sdk::auth::StaticToken;
use envd_sdk::auth::postgres::deadpool_postgres::Pool;
use envd_sdk::fake::{Fake, UserRecord, World};
use envd_sdk::model::{AccountId, ConsignmentInput, FormType, PartyInput};
use envd_sdk::sync::fleet::{Fleet, FleetBuilder, FleetEvent, FleetLoopHandle};
use envd_sdk::sync::outbox::Outbox;
use envd_sdk::sync::store::MemorySync;
use envd_sdk::{Account, Client, RetryPolicy};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio::time::timeout;

use super::super::database::{self, Database};

/// Longer than anything here takes; it ends a test that hangs.
pub(super) const LIMIT: Duration = Duration::from_secs(60);

/// The operation of lists, of which an account without records takes one for each sync.
pub(super) const LIST: &str = "consignments";

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
        let database = Database::empty().await?;
        let accounts: Vec<String> = (0..accounts).map(|n| format!("envd-{n:05}")).collect();
        let mut user = UserRecord::new("kim@example.com").role("Producer");
        for account in &accounts {
            user = user.account(account, "LPA", "QAZZ7777");
        }
        let fake = Fake::builder().world(World::empty().user(user));
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
        Fleet::builder(pool, Arc::clone(&self.store))
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

    /// The outbox of an account in another process than the hosts.
    pub(super) fn outbox(&self, id: &AccountId) -> Outbox {
        self.account(id).outbox(Arc::clone(&self.store))
    }

    /// How many records the fake has for an account.
    pub(super) fn records(&self, id: &AccountId) -> usize {
        let records = self.fake.consignments::<serde_json::Value>(id.as_str());
        records.len()
    }

    /// How often accounts were listed.
    pub(super) fn lists(&self) -> usize {
        self.fake.request_count(LIST)
    }

    /// Runs a host.
    pub(super) fn run(&self, fleet: &Fleet) -> Host {
        let client = self.client.clone();
        self.run_with(fleet, move |id| {
            let token = StaticToken::new("unused").is_ok();
            let account = client.account(id);
            async move {
                assert!(token);
                Ok(account)
            }
        })
    }

    pub(super) fn run_with<F, A>(&self, fleet: &Fleet, open: F) -> Host
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

    /// The accounts that are synced, so many of them.
    pub(super) async fn synced(&mut self, accounts: usize) -> Vec<AccountId> {
        let mut synced = Vec::new();
        while synced.len() < accounts {
            synced.push(self.find(synced_account).await);
        }
        synced
    }

    pub(super) async fn stop(self) {
        self.handle.stop();
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
