//! The handle of a fleet, and its settings.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use deadpool_postgres::Pool;
use deadpool_postgres::tokio_postgres::tls::{MakeTlsConnect, TlsConnect};
use deadpool_postgres::tokio_postgres::types::Type;
use deadpool_postgres::tokio_postgres::{Config, Socket};

use super::listener::{Listen, listener};
use super::tables::{Tables, unreadable};
use crate::auth::postgres::database::DatabaseSettings;
use crate::error::{Error, Result};
use crate::model::AccountId;
use crate::sync::outbox::Outbox;
use crate::sync::replica::Replica;
use crate::sync::store::SyncStore;

/// The longest that times of a fleet can be set to.
const LONGEST: Duration = Duration::from_secs(366 * 24 * 3_600);

const ADD: &str = "WITH added AS (INSERT INTO {account} (account)
    SELECT pg_catalog.unnest($1) ON CONFLICT (account) DO NOTHING RETURNING 1)
SELECT (SELECT pg_catalog.count(*) FROM added), pg_catalog.pg_notify($2, $3)";

const REMOVE: &str = "DELETE FROM {account} WHERE account OPERATOR(pg_catalog.=) $1 RETURNING 1";

/// Changes the settings of each account's replica.
type OnReplica = Arc<dyn Fn(Replica) -> Replica + Send + Sync>;

/// Changes the settings of each account's outbox.
type OnOutbox = Arc<dyn Fn(Outbox) -> Outbox + Send + Sync>;

/// Serves the replicas and outboxes of many accounts over any number of hosts, from [`Fleet::builder`]. Cheap to clone.
///
/// See the [module](super) for how it works and what it needs.
///
/// The [module](super) has an example.
#[doc(alias("worker", "scheduler", "cron"))]
#[derive(Clone)]
pub struct Fleet {
    pub(super) shared: Arc<Shared>,
}

/// What the clones of a fleet share.
pub(super) struct Shared {
    pub(super) tables: Arc<Tables>,
    pub(super) store: Arc<dyn SyncStore>,
    pub(super) settings: Settings,
    pub(super) listen: Option<Listen>,
    pub(super) on_replica: OnReplica,
    pub(super) on_outbox: OnOutbox,
}

#[derive(Clone, Debug)]
pub(super) struct Settings {
    pub(super) interval: Duration,
    pub(super) lease: Duration,
    pub(super) poll: Duration,
    pub(super) shutdown: Duration,
    pub(super) concurrency: usize,
    pub(super) per_second: Option<f64>,
    pub(super) host_per_second: Option<f64>,
}

/// Settings of a [`Fleet`]. All hosts use the same, those of the host itself excepted.
///
/// The [module](super) has an example.
#[must_use]
pub struct FleetBuilder {
    database: DatabaseSettings,
    prefix: String,
    store: Arc<dyn SyncStore>,
    settings: Settings,
    listen: Option<Listen>,
    on_replica: OnReplica,
    on_outbox: OnOutbox,
}

impl Fleet {
    /// Starts the settings of a fleet: a pool of connections to the database whose clock and rows the hosts share, and the
    /// store of the accounts' replicas and outboxes.
    pub fn builder(pool: Pool, store: impl SyncStore) -> FleetBuilder {
        FleetBuilder {
            database: DatabaseSettings::new(pool),
            prefix: "fleet".to_owned(),
            store: Arc::new(store),
            settings: Settings {
                interval: Duration::from_secs(5 * 60),
                lease: Duration::from_secs(30),
                poll: Duration::from_secs(1),
                shutdown: Duration::from_secs(10),
                concurrency: 32,
                per_second: None,
                host_per_second: None,
            },
            listen: None,
            on_replica: Arc::new(|replica| replica),
            on_outbox: Arc::new(|outbox| outbox),
        }
    }

    /// Makes the tables, or brings them up to this version. Hosts may call it at the same time, and again.
    ///
    /// # Errors
    ///
    /// [`is_store`](Error::is_store), with a [`StoreError`](crate::auth::StoreError) as its source, as
    /// [`PostgresStore::migrate`](crate::auth::postgres::PostgresStore::migrate).
    pub async fn migrate(&self) -> Result<()> {
        Ok(self.tables().migrate().await?)
    }

    /// The statements of [`migrate`](Self::migrate) for an empty database, to be run by a role that may create tables.
    #[must_use]
    pub fn migration_sql(&self) -> String {
        self.tables().script()
    }

    /// Has accounts served from now on; returns how many were not served before. They are due at once.
    ///
    /// # Errors
    ///
    /// [`is_store`](Error::is_store) when the database fails.
    pub async fn add<A: Into<AccountId>>(
        &self,
        accounts: impl IntoIterator<Item = A>,
    ) -> Result<u64> {
        let accounts = accounts.into_iter().map(Into::into);
        let accounts: Vec<String> = accounts
            .map(|account: AccountId| account.as_str().to_owned())
            .collect();
        let added = self.tables().query_notifying(ADD, &accounts).await?;
        let added = added.first().map(|row| row.try_get::<_, i64>(0));
        let added = added.transpose().map_err(unreadable)?;
        Ok(added.unwrap_or_default().cast_unsigned())
    }

    /// Ends the service of an account, and returns whether it was served. A host that works on it stops within a third of
    /// the [lease](FleetBuilder::lease). Its replica and its outbox stay in the store.
    ///
    /// # Errors
    ///
    /// [`is_store`](Error::is_store) when the database fails.
    pub async fn remove(&self, account: &AccountId) -> Result<bool> {
        let parameters = [(&account.as_str() as _, Type::TEXT)];
        let removed = self.tables().query(REMOVE, &parameters).await?;
        Ok(!removed.is_empty())
    }

    /// Makes an account due at once: for example after its user has logged in again. Nothing happens if the fleet does not
    /// serve it.
    ///
    /// # Errors
    ///
    /// [`is_store`](Error::is_store) when the database fails.
    pub async fn wake(&self, account: &AccountId) -> Result<()> {
        let accounts = [account.as_str().to_owned()];
        Ok(self.tables().announce(&accounts).await?)
    }

    pub(super) fn tables(&self) -> &Tables {
        &self.shared.tables
    }
}

impl FleetBuilder {
    /// The schema of the tables; `envd_sdk` unless set.
    pub fn schema(mut self, name: impl Into<String>) -> Self {
        self.database.schema = name.into();
        self
    }

    /// With what the names of the tables begin; `fleet` unless set.
    pub fn prefix(mut self, name: impl Into<String>) -> Self {
        self.prefix = name.into();
        self
    }

    /// The role that owns schema and tables, as
    /// [`PostgresStoreBuilder::owner`](crate::auth::postgres::PostgresStoreBuilder::owner).
    pub fn owner(mut self, role: impl Into<String>) -> Self {
        self.database.owner = role.into();
        self
    }

    /// How long the database may take for an answer, and the pool for a connection; 5 seconds each unless set.
    pub fn time_out(mut self, limit: Duration) -> Self {
        self.database.time_out = limit;
        self
    }

    /// How often the replica of an account is brought up to date; 5 minutes unless set, at least a second.
    pub fn interval(mut self, time: Duration) -> Self {
        self.settings.interval = time.clamp(Duration::from_secs(1), LONGEST);
        self
    }

    /// After what time other hosts take the accounts of one that ended or hangs; 30 seconds unless set, at least 3 seconds.
    pub fn lease(mut self, time: Duration) -> Self {
        self.settings.lease = time.clamp(Duration::from_secs(3), LONGEST);
        self
    }

    /// How many accounts this host works on at a time; 32 unless set.
    pub fn concurrency(mut self, accounts: usize) -> Self {
        self.settings.concurrency = accounts.max(1);
        self
    }

    /// How many requests all hosts together send in a second; no limit unless set. Every host must set the same.
    ///
    /// Each request to the service counts, also one that is sent again; requests for tokens do not.
    pub fn requests_per_second(mut self, limit: f64) -> Self {
        self.settings.per_second = Some(limit);
        self
    }

    /// How many requests this host sends in a second; no limit unless set. They count as in
    /// [`requests_per_second`](Self::requests_per_second).
    pub fn host_requests_per_second(mut self, limit: f64) -> Self {
        self.settings.host_per_second = Some(limit);
        self
    }

    /// How often a host with nothing to do looks for due accounts; each second unless set.
    pub fn poll(mut self, time: Duration) -> Self {
        self.settings.poll = time.clamp(Duration::from_millis(10), LONGEST);
        self
    }

    /// How long a host that is stopped waits for its requests in flight; 10 seconds unless set, and no longer than two
    /// thirds of the [lease](Self::lease).
    pub fn shutdown_time(mut self, time: Duration) -> Self {
        self.settings.shutdown = time;
        self
    }

    /// Listens on a connection of its own, so that a new entry is sent at once and not at the next
    /// [poll](Self::poll). The connection has to go to the database itself or to a pooler of sessions.
    ///
    /// Behind a pooler of transactions nothing ever arrives on it, without an error: then polling alone finds new entries.
    pub fn listen<T>(mut self, config: Config, tls: T) -> Self
    where
        T: MakeTlsConnect<Socket> + Clone + Send + Sync + 'static,
        T::Stream: Send + 'static,
        T::TlsConnect: Send,
        <T::TlsConnect as TlsConnect<Socket>>::Future: Send,
    {
        self.listen = Some(listener(config, tls));
        self
    }

    /// Changes the settings of each account's replica, such as [`Replica::depth`]. Its clock is that of the database.
    pub fn replica(
        mut self,
        settings: impl Fn(Replica) -> Replica + Send + Sync + 'static,
    ) -> Self {
        self.on_replica = Arc::new(settings);
        self
    }

    /// Changes the settings of each account's outbox, such as [`Outbox::settle`]. Its clock is that of the database.
    pub fn outbox(mut self, settings: impl Fn(Outbox) -> Outbox + Send + Sync + 'static) -> Self {
        self.on_outbox = Arc::new(settings);
        self
    }

    /// Builds the fleet. Nothing is sent yet.
    ///
    /// # Errors
    ///
    /// [`is_config`](Error::is_config) when a limit of requests is not a number above zero. [`is_store`](Error::is_store)
    /// when the name of the schema or the prefix is not made of ASCII letters, digits and underscores.
    pub fn build(self) -> Result<Fleet> {
        for limit in [self.settings.per_second, self.settings.host_per_second] {
            if limit.is_some_and(|limit| !(1e-3..=1e6).contains(&limit)) {
                return Err(Error::config(
                    "a limit of requests per second of the fleet is not between 0.001 and 1,000,000",
                ));
            }
        }
        let tables = Tables::new(self.database, &self.prefix)?;
        Ok(Fleet {
            shared: Arc::new(Shared {
                tables: Arc::new(tables),
                store: self.store,
                settings: self.settings,
                listen: self.listen,
                on_replica: self.on_replica,
                on_outbox: self.on_outbox,
            }),
        })
    }
}

impl fmt::Debug for Fleet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Fleet")
            .field("settings", &self.shared.settings)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for FleetBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FleetBuilder")
            .field("schema", &self.database.schema)
            .field("prefix", &self.prefix)
            .field("settings", &self.settings)
            .finish_non_exhaustive()
    }
}
