//! The parts that the web server and the hosts share: the login, the copies and the jobs, all in one database.

use envd_postgres::deadpool_postgres::tokio_postgres::Config;
use envd_postgres::deadpool_postgres::tokio_postgres::config::Host;
use envd_postgres::{PostgresPool, PostgresStore, PostgresSync};
use envd_sdk::auth::sealed::{SealedStore, SealingKey};
use envd_sdk::auth::{Provider, StaticToken, TokenManager};
use envd_sdk::profile::ServiceProfile;
use envd_sdk::{Client, ClientBuilder};
use envd_sync::Replica;
use envd_sync::outbox::{Declaration, Outbox};

use super::cli::{self, Failure};
use super::queue::Queue;
use super::settings::{self, Settings};

pub(crate) struct Service {
    pub(crate) pool: PostgresPool,
    /// The name and address of the database, for error messages.
    database: String,
    pub(crate) schema: String,
    /// The profile of the servers, from `ENVD_PROFILE`.
    pub(crate) profile: ServiceProfile,
}

impl Service {
    /// Opens at most this number of connections to the database.
    pub(crate) fn new(database: &str, schema: &str, connections: usize) -> Result<Self, Failure> {
        Ok(Self {
            pool: PostgresPool::from_url(database, connections)?,
            database: described(database),
            schema: schema.to_owned(),
            profile: settings::profile()?,
        })
    }

    /// Adds the database to the failure if it cannot be reached.
    pub(crate) async fn explained(&self, failure: Failure) -> Failure {
        if self.pool.pool().get().await.is_ok() {
            return failure;
        }
        let why = cli::chain(failure.as_ref());
        format!("cannot reach the database {}: {why}", self.database).into()
    }

    /// Creates the tables. A real service does this at deployment.
    pub(crate) async fn migrate(&self) -> Result<(), Failure> {
        self.tokens()?.migrate().await?;
        self.copies()?.migrate().await?;
        self.queue().migrate().await
    }

    pub(crate) async fn drop_tables(&self) -> Result<(), Failure> {
        let schema = &self.schema;
        let jobs = self.queue().schema;
        let dropped = format!("DROP SCHEMA IF EXISTS {schema}, {jobs} CASCADE");
        Ok(self
            .pool
            .pool()
            .get()
            .await?
            .batch_execute(&dropped)
            .await?)
    }

    pub(crate) fn queue(&self) -> Queue {
        Queue::new(self.pool.pool().clone(), &self.schema)
    }

    pub(crate) fn copies(&self) -> Result<PostgresSync, Failure> {
        let copies = PostgresSync::builder(self.pool.clone());
        Ok(copies.schema(&self.schema).build()?)
    }

    /// The client of a host, for all accounts. It uses the access token of the environment, or else the login in the database.
    /// A service with many users gives each account its user's token source.
    pub(crate) async fn client(&self) -> Result<ClientBuilder, Failure> {
        let url = settings::graphql_url(&self.profile);
        let url = url.map_err(|_| "ENVD_GRAPHQL_URL is not set")?;
        let client = Client::builder(url).profile(&self.profile);
        if let Some(token) = Settings::access_token() {
            return Ok(client.token_source(StaticToken::new(&token)?));
        }
        let provider = Settings::read().await?.provider()?;
        Ok(client.token_source(self.manager(provider)?))
    }

    /// The outbox of an account, for a program that writes but does not send.
    pub(crate) fn outbox(&self, account: &str) -> Result<Outbox, Failure> {
        let client = Client::builder("http://127.0.0.1/not-called").profile(&self.profile);
        let client = client.token_source(StaticToken::new("not-used")?);
        Ok(Outbox::new(&Replica::new(
            &client.build()?.account(account),
            self.copies()?,
        )))
    }

    pub(crate) fn manager(&self, provider: Provider) -> Result<TokenManager, Failure> {
        // An application reads both keys from its secret store. The second key hashes the account names.
        let key = SealingKey::new("demo", &[7; 32]);
        let store = SealedStore::new(self.tokens()?, key).hash_accounts(&[8; 32]);
        let builder = TokenManager::builder(provider).store(store);
        Ok(builder.account("auth0|kim").background(false).build()?)
    }

    fn tokens(&self) -> Result<PostgresStore, Failure> {
        let tokens = PostgresStore::builder(self.pool.clone());
        Ok(tokens.schema(&self.schema).build()?)
    }
}

/// A connection string without user and password.
fn described(database: &str) -> String {
    // It parsed successfully before, for the pool.
    let config = database.parse::<Config>().unwrap_or_default();
    let name = config.get_dbname().or(config.get_user());
    let hosts = config.get_hosts().iter().map(|host| match host {
        Host::Tcp(name) => name.clone(),
        #[cfg(unix)]
        Host::Unix(folder) => folder.display().to_string(),
    });
    let hosts: Vec<_> = hosts.collect();
    let ports = config.get_ports().iter().map(u16::to_string);
    let ports: Vec<_> = ports.collect();
    let port = if ports.is_empty() {
        "5432".to_owned()
    } else {
        ports.join(",")
    };
    format!(
        "{} at {} port {port}",
        name.unwrap_or_default(),
        hosts.join(",")
    )
}

/// The finished declarations.
pub(crate) async fn history(outbox: &Outbox) -> Result<Vec<Declaration>, Failure> {
    let mut declarations = Vec::new();
    let mut before = None;
    loop {
        let page = outbox.history(before).await?;
        declarations.extend(page.declarations);
        before = page.next;
        if before.is_none() {
            return Ok(declarations);
        }
    }
}
