//! Several hosts that share one database: `cargo run --example many_hosts --features postgres`.
//!
//! `DATABASE_URL` names a database of Postgres on this machine, such as `postgres://me@127.0.0.1/test`; without it the
//! example says so and ends. Each host is a process with a token manager of its own. All of them serve one user, whose
//! token expires again and again. Each refresh token of the fake can be used once, and a second use ends the session: so
//! whenever the token expires, one host refreshes it, and the others adopt the stored tokens.

#[path = "../cli/mod.rs"]
mod cli;
mod event;
mod process;
mod provider;

use std::process::ExitCode;
use std::time::Duration;
use std::{env, io};

use envd_sdk::Clock;
use envd_sdk::auth::TokenManager;
use envd_sdk::auth::postgres::{PostgresStore, loopback_pool};
use envd_sdk::auth::sealed::{SealedStore, SealingKey};
use envd_sdk::fake::Fake;

use cli::Failure;
use process::{Host, READY};

const USAGE: &str = "\
usage: many_hosts

Eight processes share one user's tokens in the Postgres database of DATABASE_URL.";

const HOSTS: usize = 8;
const EXPIRIES: usize = 25;
/// Created and dropped by the example.
const SCHEMA: &str = "envd_many_hosts";
const NO_DATABASE: &str =
    "DATABASE_URL is not set. Set it to a Postgres database on this machine, such as
postgres://me@127.0.0.1/test. The example creates the schema envd_many_hosts and drops it again.";
const LIFETIME: Duration = Duration::from_secs(3_600);

#[tokio::main]
async fn main() -> ExitCode {
    let token_url = cli::arguments(USAGE, process::token_url);
    cli::end(run(token_url).await)
}

async fn run(token_url: Option<String>) -> Result<(), Failure> {
    let Ok(database) = env::var("DATABASE_URL") else {
        println!("{NO_DATABASE}");
        return Ok(());
    };
    match token_url {
        Some(token_url) => host(&database, &token_url).await,
        None => lead(&database).await,
    }
}

/// Starts the fake and the hosts, lets tokens expire, and counts the refreshes.
async fn lead(database: &str) -> Result<(), Failure> {
    let pool = loopback_pool(database, 2)?;
    let tokens = PostgresStore::builder(pool.clone()).schema(SCHEMA);
    tokens.build()?.migrate().await?;

    let builder = Fake::builder().clock(provider::clock());
    let fake = builder.access_token_lifetime(LIFETIME).start().await?;
    let manager = manager(database, fake.token_url().as_str(), provider::clock())?;
    let login = manager.provider().authorization().start()?;
    let callback = fake.consent(login.url())?;
    manager.complete_login(login, callback.as_str()).await?;

    let before = fake.token_requests();
    let mut hosts = Vec::new();
    for _ in 0..HOSTS {
        hosts.push(Host::spawn(fake.token_url().as_str())?);
    }
    // The clock of a host that starts after the first expiry would be behind.
    for host in &mut hosts {
        host.wait_until_ready()?;
    }
    for _ in 0..EXPIRIES {
        fake.clock().advance(LIFETIME);
        for host in &mut hosts {
            host.send("expire")?;
        }
        for host in &mut hosts {
            host.count()?;
        }
    }
    let requests = fake.token_requests() - before;
    drop(manager.logout(None).await);
    let dropped = format!("DROP SCHEMA {SCHEMA} CASCADE");
    pool.get().await?.batch_execute(&dropped).await?;

    println!(
        "{HOSTS} hosts, one user, {EXPIRIES} expiries, {requests} requests to the identity provider\n"
    );
    let sums = process::table(&hosts);
    if sums != [EXPIRIES, EXPIRIES * (HOSTS - 1), 0] || requests != EXPIRIES {
        return Err("expected one refresh for each expiry, and no lost session".into());
    }
    Ok(())
}

/// A host: gets a token each time the old one has expired.
async fn host(database: &str, token_url: &str) -> Result<(), Failure> {
    let clock = provider::clock();
    let manager = manager(database, token_url, clock.clone())?;
    manager.access_token().await?;
    println!("{READY}");
    let mut events = manager.events();
    for line in io::stdin().lines() {
        line?;
        clock.advance(LIFETIME);
        match manager.access_token().await {
            Ok(_) => println!("{}", event::how(&mut events).await),
            Err(error) => println!("lost: {}", cli::printable(error)),
        }
    }
    Ok(())
}

/// The token manager, as in each host of an application.
fn manager(database: &str, token_url: &str, clock: Clock) -> Result<TokenManager, Failure> {
    let pool = loopback_pool(database, 4)?;
    let tokens = PostgresStore::builder(pool).schema(SCHEMA).build()?;
    // An application reads both keys from its store of secrets. The second one hashes the account names.
    let store = SealedStore::new(tokens, SealingKey::new("demo", &[7; 32])).hash_accounts(&[8; 32]);
    let provider = provider::of_the_fake(token_url, clock)?;
    let builder = TokenManager::builder(provider).store(store);
    Ok(builder.account("auth0|sam").background(false).build()?)
}
