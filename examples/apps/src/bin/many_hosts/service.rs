//! What the web server and the hosts of the service have in common: the login and the fleet, both in one database.

use std::time::Duration;

use envd_sdk::Clock;
use envd_sdk::auth::TokenManager;
use envd_sdk::auth::postgres::deadpool_postgres::tokio_postgres::NoTls;
use envd_sdk::auth::postgres::{PostgresStore, loopback_pool};
use envd_sdk::auth::sealed::{SealedStore, SealingKey};
use envd_sdk::sync::fleet::Fleet;
use envd_sdk::sync::store::PostgresSync;

use super::cli::Failure;
use super::provider;

/// Created and dropped by the example.
pub(crate) const SCHEMA: &str = "envd_many_hosts";

/// After what time others take over from a host that was killed. Short, so that the example is.
pub(crate) const LEASE: Duration = Duration::from_secs(3);

/// Makes the tables. A real service does it when it is deployed.
pub(crate) async fn migrate(database: &str) -> Result<(), Failure> {
    let pool = loopback_pool(database, 1)?;
    tokens(database)?.migrate().await?;
    let copies = PostgresSync::builder(pool).schema(SCHEMA).build()?;
    copies.migrate().await?;
    fleet(database)?.migrate().await?;
    Ok(())
}

pub(crate) fn fleet(database: &str) -> Result<Fleet, Failure> {
    let pool = loopback_pool(database, 8)?;
    let copies = PostgresSync::builder(pool.clone()).schema(SCHEMA);
    let fleet = Fleet::builder(pool, copies.build()?)
        .schema(SCHEMA)
        .lease(LEASE)
        // Few, so that each host gets some of the accounts.
        .concurrency(3)
        .requests_per_second(200.0)
        .listen(database.parse()?, NoTls)
        // The fake does what it is asked at once or never, so a lost request need not be awaited for long.
        .outbox(|outbox| outbox.lease(LEASE).settle(LEASE));
    Ok(fleet.build()?)
}

pub(crate) fn manager(database: &str, token_url: &str) -> Result<TokenManager, Failure> {
    // An application reads both keys from its store of secrets. The second one hashes the account names.
    let key = SealingKey::new("demo", &[7; 32]);
    let store = SealedStore::new(tokens(database)?, key).hash_accounts(&[8; 32]);
    let provider = provider::of_the_fake(token_url, Clock::system())?;
    let builder = TokenManager::builder(provider).store(store);
    Ok(builder.account("auth0|kim").background(false).build()?)
}

fn tokens(database: &str) -> Result<PostgresStore, Failure> {
    let pool = loopback_pool(database, 2)?;
    Ok(PostgresStore::builder(pool).schema(SCHEMA).build()?)
}
