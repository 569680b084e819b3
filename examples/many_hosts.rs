//! Several hosts that share one database: `cargo run --example many_hosts --features postgres`.
//!
//! `DATABASE_URL` names a database of Postgres on this machine, such as `postgres://me@127.0.0.1/test`; without it the
//! example says so and ends. Each host is a process with a token manager of its own. All of them serve one user, whose
//! token expires again and again. Each refresh token of the fake can be used once, and a second use ends the session: so
//! whenever the token expires, one host renews it, and the others take over what it stored.

mod reader;

use std::env;
use std::io::{self, BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, SystemTime};

use envd_sdk::Clock;
use envd_sdk::auth::{Event, Provider, TokenManager};
use envd_sdk::fake::Fake;
use envd_sdk::postgres::{PostgresStore, loopback_pool};
use envd_sdk::sealed::{SealedStore, SealingKey};

type Failure = Box<dyn std::error::Error>;

const HOSTS: usize = 8;
const EXPIRIES: usize = 25;
const SCHEMA: &str = "envd_many_hosts";
const LIFETIME: Duration = Duration::from_secs(3_600);

#[tokio::main]
async fn main() -> Result<(), Failure> {
    reader::may_leave();
    let Ok(database) = env::var("DATABASE_URL") else {
        println!(
            "There is no database: set DATABASE_URL to one of Postgres on this machine, such as"
        );
        println!(
            "postgres://me@127.0.0.1/test. The example makes the schema {SCHEMA}, and drops it again."
        );
        return Ok(());
    };
    match env::args().nth(1) {
        Some(token_url) => host(&database, &token_url).await,
        None => lead(&database).await,
    }
}

/// Starts the fake and the hosts, lets tokens expire, and counts.
async fn lead(database: &str) -> Result<(), Failure> {
    let pool = loopback_pool(database, 2)?;
    let tokens = PostgresStore::builder(pool.clone())
        .schema(SCHEMA)
        .build()?;
    tokens.migrate().await?;

    let builder = Fake::builder().clock(Clock::manual(start()));
    let fake = builder.access_token_lifetime(LIFETIME).start().await?;
    let manager = manager(database, fake.token_url().as_str(), Clock::manual(start()))?;
    let login = manager.provider().authorization().start()?;
    let callback = fake.consent(login.url())?;
    manager.complete_login(login, callback.as_str()).await?;

    let before = fake.token_requests();
    let mut hosts = Vec::new();
    for _ in 0..HOSTS {
        hosts.push(Host::spawn(fake.token_url().as_str())?);
    }
    for _ in 0..EXPIRIES {
        fake.clock().advance(LIFETIME);
        for host in &mut hosts {
            host.tell("expire")?;
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
    println!("host   refreshed   adopted   lost");
    let mut sums = [0; 3];
    for (number, host) in (1..).zip(&hosts) {
        let [refreshed, adopted, lost] = host.counts;
        println!("{number:4} {refreshed:11} {adopted:9} {lost:6}");
        sums = [sums[0] + refreshed, sums[1] + adopted, sums[2] + lost];
    }
    println!(" all {:11} {:9} {:6}", sums[0], sums[1], sums[2]);
    if sums != [EXPIRIES, EXPIRIES * (HOSTS - 1), 0] || requests != EXPIRIES {
        return Err("each expiry should have cost one refresh, and no session".into());
    }
    Ok(())
}

/// A host as the leader sees it: a process that answers each line with a word.
struct Host {
    process: Child,
    words: io::Lines<BufReader<ChildStdout>>,
    lines: ChildStdin,
    counts: [usize; 3],
}

impl Host {
    fn spawn(token_url: &str) -> Result<Self, Failure> {
        let mut process = Command::new(env::current_exe()?)
            .arg(token_url)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let output = process.stdout.take().ok_or("no output")?;
        let lines = process.stdin.take().ok_or("no input")?;
        let words = BufReader::new(output).lines();
        let counts = [0; 3];
        Ok(Self {
            process,
            words,
            lines,
            counts,
        })
    }

    fn tell(&mut self, line: &str) -> io::Result<()> {
        writeln!(self.lines, "{line}")
    }

    fn count(&mut self) -> Result<(), Failure> {
        let word = self.words.next().ok_or("a host has ended")??;
        let column = ["refreshed", "adopted"]
            .iter()
            .position(|known| *known == word);
        self.counts[column.unwrap_or(2)] += 1;
        if column.is_none() {
            eprintln!("{word}");
        }
        Ok(())
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// What a host does: asks for a token each time the old one has expired.
async fn host(database: &str, token_url: &str) -> Result<(), Failure> {
    let clock = Clock::manual(start());
    let manager = manager(database, token_url, clock.clone())?;
    manager.access_token().await?;
    let mut events = manager.events();
    for line in io::stdin().lines() {
        line?;
        clock.advance(LIFETIME);
        match manager.access_token().await {
            Ok(_) => println!("{}", how(&mut events).await),
            Err(error) => println!("lost: {error}"),
        }
    }
    Ok(())
}

async fn how(events: &mut envd_sdk::auth::Events) -> &'static str {
    while let Some(event) = events.next().await {
        match event {
            Event::Refreshed { .. } => return "refreshed",
            Event::Adopted { .. } => return "adopted",
            _ => {}
        }
    }
    "ended"
}

/// As every host of an application makes it.
fn manager(database: &str, token_url: &str, clock: Clock) -> Result<TokenManager, Failure> {
    let pool = loopback_pool(database, 4)?;
    let tokens = PostgresStore::builder(pool).schema(SCHEMA).build()?;
    // An application takes the key from where it keeps its secrets.
    let store = SealedStore::new(tokens, SealingKey::new("demo", &[7; 32]));
    let provider = Provider::builder("fake-client")
        .authorize_url(token_url.replace("/oauth/token", "/authorize"))
        .token_url(token_url)
        .revoke_url(token_url.replace("/oauth/token", "/oauth/revoke"))
        .audience("https://fake.envd.example/")
        .redirect_uri("http://127.0.0.1:8400/callback")
        .scopes(["openid", "offline_access"])
        .clock(clock)
        .build()?;
    let builder = TokenManager::builder(provider).store(store);
    Ok(builder.account("auth0|sam").background(false).build()?)
}

/// All clocks are moved by hand, so that nobody has to wait for an expiry.
fn start() -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_secs(1_795_132_800)
}
