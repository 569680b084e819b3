//! A service for many accounts on several hosts that share one database:
//! `cargo run -p apps --bin many_hosts`.
//!
//! `DATABASE_URL` names a database of Postgres on this machine, such as `postgres://me@127.0.0.1/test`; without it the
//! example says so and ends. Each host is a process that runs a `Fleet`. This process is the web server of the service: it
//! writes declarations, and sends none. One host is killed while it sends.

#[path = "../../../../cli/mod.rs"]
mod cli;
mod counts;
mod host;
mod processes;
mod provider;
mod service;

use std::env;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use envd_sdk::auth::postgres::loopback_pool;
use envd_sdk::fake::{Fake, UserRecord, World};
use envd_sdk::model::{ConsignmentInput, FormType, PartyInput};
use envd_sdk::sync::fleet::Fleet;
use envd_sdk::sync::outbox::Outbox;
use envd_sdk::{Client, auth::TokenManager};
use tokio::time::{sleep, timeout};

use cli::Failure;
use counts::{CREATE, LIST};
use processes::{Addresses, Hosts};
use service::{LEASE, SCHEMA};

const USAGE: &str = "\
usage: many_hosts

Four hosts serve 36 accounts over the Postgres database of DATABASE_URL. Declarations are written by a
web server and sent by the hosts; one of them is killed while it sends, and the others take over.";

const NO_DATABASE: &str =
    "DATABASE_URL is not set. Set it to a Postgres database on this machine, such as
postgres://me@127.0.0.1/test. The example creates the schema envd_many_hosts and drops it again.";

const ACCOUNTS: usize = 36;
const HOSTS: usize = 4;
const KILLED: usize = 2;

/// A step that takes longer has failed.
const LIMIT: Duration = Duration::from_secs(40);

#[tokio::main]
async fn main() -> ExitCode {
    let host = cli::arguments(USAGE, processes::host);
    cli::end(run(host).await)
}

async fn run(host: Option<(usize, Addresses)>) -> Result<(), Failure> {
    let Ok(database) = env::var("DATABASE_URL") else {
        println!("{NO_DATABASE}");
        return Ok(());
    };
    if let Some((number, addresses)) = host {
        return host::run(&database, number, &addresses).await;
    }
    drop_schema(&database).await?;
    let told = tell(&database).await;
    drop_schema(&database).await?;
    told
}

async fn tell(database: &str) -> Result<(), Failure> {
    let fake = fake().await?;
    let web = Web::start(database, &fake).await?;
    println!("{ACCOUNTS} accounts, {HOSTS} hosts, one database.\n");

    println!("1. Each host takes accounts that are due, and copies their consignments.\n");
    let mut hosts = Hosts::start(HOSTS, &Addresses::of(&fake))?;
    until(|| fake.request_count(LIST) >= ACCOUNTS).await?;
    let synced = || async { Ok(web.fleet.status().await?.due == 0) };
    until_async(synced).await?;
    counts::table(&fake, HOSTS);

    println!(
        "\n2. The web server writes a declaration for each account, and a notification wakes the hosts. All\n   \
         access tokens have just expired: one host gets a new one, and the others find it in the database.\n"
    );
    let (requests, begun) = (fake.token_requests(), Instant::now());
    fake.expire_access_tokens();
    web.write().await?;
    web.until_sent().await?;
    let (requests, took) = (fake.token_requests() - requests, begun.elapsed());
    counts::table(&fake, HOSTS);
    println!(
        "\n   All sent in {:.1} s, with {requests} request to the identity provider.",
        took.as_secs_f64()
    );

    println!(
        "\n3. It writes another one for each. Host {KILLED} is killed while the service works on its request.\n"
    );
    let before = counts::of_host(&fake, KILLED, CREATE);
    web.write().await?;
    until(|| counts::of_host(&fake, KILLED, CREATE) > before).await?;
    hosts.kill(KILLED)?;
    let begun = Instant::now();
    web.until_sent().await?;
    counts::table(&fake, HOSTS);
    println!(
        "\n   Its leases ended after {} s. Before others sent again what it had been sending, they looked for it\n   \
         at the service; {:.1} s after it was killed all was sent.\n",
        LEASE.as_secs(),
        begun.elapsed().as_secs_f64()
    );
    hosts.stop()?;
    web.end(requests).await
}

/// The part of the service that users see. It is not a host.
struct Web<'a> {
    fake: &'a Fake,
    fleet: Fleet,
    manager: TokenManager,
    outboxes: Vec<Outbox>,
}

impl<'a> Web<'a> {
    /// The user logs in, and the hosts are to serve all of the user's accounts.
    async fn start(database: &str, fake: &'a Fake) -> Result<Self, Failure> {
        service::migrate(database).await?;
        let manager = service::manager(database, fake.token_url().as_str())?;
        let login = manager.provider().authorization().start()?;
        let callback = fake.consent(login.url())?;
        manager.complete_login(login, callback.as_str()).await?;

        let fleet = service::fleet(database)?;
        fleet.add(accounts()).await?;
        let client = Client::builder(fake.graphql_url()).token_source(manager.clone());
        let client = client.build()?;
        // What is written over this store wakes the hosts.
        let outbox = |id: String| client.account(id).outbox(fleet.store());
        Ok(Self {
            outboxes: accounts().map(outbox).collect(),
            fake,
            fleet,
            manager,
        })
    }

    async fn write(&self) -> Result<(), Failure> {
        let (from, to) = (PartyInput::new("QAZZ7777"), PartyInput::new("QDZZ3333"));
        let input = ConsignmentInput::new([FormType::Lpac1], from, to);
        let input = input.movement("2099-01-15", "05:15");
        for outbox in &self.outboxes {
            outbox.save(input.clone()).await?;
        }
        Ok(())
    }

    async fn until_sent(&self) -> Result<(), Failure> {
        for outbox in &self.outboxes {
            let is_sent = || async { Ok(outbox.entries().await?.is_empty()) };
            until_async(is_sent).await?;
        }
        Ok(())
    }

    /// What the service has, and what the database says.
    async fn end(&self, token_requests: usize) -> Result<(), Failure> {
        let status = self.fleet.status().await?;
        println!("   The fleet's status: {}", serde_json::to_string(&status)?);
        let (mut written, mut found) = (0, 0);
        for outbox in &self.outboxes {
            let entries = outbox.history(None).await?.entries;
            written += entries.len();
            found += entries.iter().filter(|entry| entry.is_adopted).count();
        }
        drop(self.manager.logout(None).await);
        let records = accounts().map(|id| counts::records(self.fake, &id));
        let records: Vec<usize> = records.collect();
        println!(
            "\n{written} declarations were written, and the service has {}: each is there once. Of these {found} were on\n\
             their way when host {KILLED} was killed; they were found there, and not sent again.",
            records.iter().sum::<usize>()
        );
        if records.iter().any(|records| *records != 2) || token_requests != 1 {
            return Err("expected two records in each account, and one new token".into());
        }
        Ok(())
    }
}

/// A service at which one user has all accounts. Its replies take a moment, so that a host can be killed meanwhile.
async fn fake() -> Result<Fake, Failure> {
    let user = UserRecord::new("kim@example.com").role("Producer");
    let user = accounts().fold(user, |user, id| user.account(id, "LPA", "QAZZ7777"));
    let world = World::empty().user(user);
    let latency = Duration::from_millis(150);
    Ok(Fake::builder()
        .world(world)
        .latency(latency)
        .start()
        .await?)
}

fn accounts() -> impl Iterator<Item = String> {
    (1..=ACCOUNTS).map(|number| format!("envd-{number:03}"))
}

async fn drop_schema(database: &str) -> Result<(), Failure> {
    let dropped = format!("DROP SCHEMA IF EXISTS {SCHEMA} CASCADE");
    let connection = loopback_pool(database, 1)?.get().await?;
    Ok(connection.batch_execute(&dropped).await?)
}

async fn until(is_so: impl Fn() -> bool) -> Result<(), Failure> {
    until_async(|| async { Ok(is_so()) }).await
}

async fn until_async<F>(is_so: impl Fn() -> F) -> Result<(), Failure>
where
    F: Future<Output = Result<bool, Failure>>,
{
    let polling = async {
        while !is_so().await? {
            sleep(Duration::from_millis(20)).await;
        }
        Ok(())
    };
    timeout(LIMIT, polling)
        .await
        .map_err(|_| "the hosts take too long")?
}
