//! Outages while a refresh is under way, twenty times in a row: no refresh token is sent twice, and no session is lost.
//!
//! The fake ends a session when a refresh token comes twice, so each round shows that none did in the rounds before. Times
//! are those of a manual clock that all hosts share: only their proportion to the waits of the managers counts. What is
//! real are the server, its restarts, the connections that end, and the process that is frozen.

use std::env;
use std::process::Command;
use std::time::Duration;

use envd_sdk::auth::{AccessToken, Event, TokenManager, TokenStore};
use envd_sdk::fake::Fake;
use envd_sdk::{Clock, Result};
use tokio::task::JoinHandle;

#[cfg(target_os = "linux")]
use super::child::Child;
use super::database::{self, Database, RESTART, below, chain};
use super::proxy::{Mode, Proxy, network};
use super::sessions::{KEY, LIFETIME, fake, log_in, manager, mark, start};

const ROUNDS: usize = 20;
const SECOND: Duration = Duration::from_secs(1);

/// Hosts that reach the database through a network that can be cut, and of which the first one refreshes through another.
struct Bench {
    database: Database,
    fake: Fake,
    clock: Clock,
    to_provider: Proxy,
    through: String,
    to_database: Proxy,
    refreshing: TokenManager,
    other: TokenManager,
    before: usize,
}

impl Bench {
    async fn new(database: Database) -> Self {
        let (fake, to_database) = (fake().await, database::proxy().await);
        log_in(&fake, database.sealed()).await;
        let (to_provider, through) = network(&fake).await;
        let clock = Clock::manual(start());
        let host = |url: &str| {
            let pool = database::pool_through(&to_database, 3);
            let store = database::sealed(database::store(&pool, &database.schema));
            // A host that finds the mark of another one fails at once, and retries with the next call.
            let builder = manager(url, store, clock.clone()).lock_wait(Duration::ZERO);
            builder.build().unwrap()
        };
        let (refreshing, other) = (host(&through), host(fake.token_url().as_str()));
        refreshing.access_token().await.unwrap();
        other.access_token().await.unwrap();
        Self {
            before: fake.token_requests(),
            database,
            fake,
            clock,
            to_provider,
            through,
            to_database,
            refreshing,
            other,
        }
    }

    /// A host that has just started.
    fn newcomer(&self) -> TokenManager {
        let pool = database::pool_through(&self.to_database, 3);
        let store = database::sealed(database::store(&pool, &self.database.schema));
        let url = self.fake.token_url();
        let builder = manager(url.as_str(), store, self.clock.clone());
        builder.lock_wait(Duration::ZERO).build().unwrap()
    }

    /// The tokens have expired; the provider has used up the refresh token, and its answer is on the way.
    async fn begin(&self) -> JoinHandle<Result<AccessToken>> {
        self.to_provider.set(Mode::HoldReplies);
        self.clock.advance(LIFETIME);
        let host = self.refreshing.clone();
        let mut refreshing = tokio::spawn(async move { host.access_token().await });
        tokio::select! {
            () = self.to_provider.stopped() => refreshing,
            ended = &mut refreshing => panic!("nothing was sent: {ended:?}"),
        }
    }

    /// Time passes until the new tokens are stored: each step ends a pause between two attempts.
    async fn until_stored(&self, token: &AccessToken) {
        for steps in 0.. {
            assert!(steps < 2_000, "never stored");
            let stored = self.database.sealed().load(KEY).await.unwrap().unwrap();
            if stored.record.tokens().generation() == token.generation() {
                assert!(stored.record.refresh_began_at().is_none());
                break;
            }
            self.clock.advance(SECOND);
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }

    /// All hosts have the same tokens, and each round has cost one request.
    async fn end(&self, round: usize, token: &str) {
        for host in [&self.other, &self.newcomer()] {
            let adopted = host.access_token().await.unwrap();
            assert_eq!(mark(&adopted), token);
        }
        assert_eq!(self.fake.token_requests() - self.before, round);
    }
}

/// The host finds the mark of another one and sends nothing.
async fn waits(host: &TokenManager) {
    // Only against a hang: what else could come is a request, or a wait that nothing ends.
    let asked = tokio::time::timeout(Duration::from_secs(60), host.access_token());
    let error = asked.await.expect("it waits for the clock").unwrap_err();
    let timed_out = below(&error).is_lock_timeout();
    assert!(timed_out && error.is_retryable(), "{}", chain(&error));
}

async fn the_database_is_away_for(length: Duration) {
    let Some(database) = Database::new().await else {
        return;
    };
    let bench = Bench::new(database).await;
    let mut events = bench.refreshing.events();
    for round in 1..=ROUNDS {
        let refreshing = bench.begin().await;
        // All connections end, and with them the lock.
        bench.to_database.set(Mode::Cut);
        bench.to_provider.set(Mode::Pass);
        let token = refreshing.await.unwrap().unwrap();
        loop {
            if let Event::PersistFailed { error } = events.next().await.unwrap() {
                assert!(below(&error).is_unreachable(), "{}", chain(&error));
                break;
            }
        }
        for _ in 0..4 {
            bench.clock.advance(length / 4);
            let error = bench.newcomer().access_token().await.unwrap_err();
            let unreachable = below(&error).is_unreachable();
            assert!(unreachable && error.is_retryable(), "{}", chain(&error));
        }
        bench.to_database.set(Mode::Pass);
        // The new tokens are stored with the next attempt, and if that was just now, they are found.
        match bench.newcomer().access_token().await {
            Ok(found) => assert_eq!(mark(&found), mark(&token)),
            Err(error) => assert!(below(&error).is_lock_timeout(), "{}", chain(&error)),
        }
        bench.until_stored(&token).await;
        bench.end(round, &mark(&token)).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_database_cut_off_for_a_moment_during_the_reply_costs_no_session() {
    the_database_is_away_for(SECOND * 8 / 10).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_failover_of_the_database_during_the_reply_costs_no_session() {
    the_database_is_away_for(SECOND * 12).await;
}

/// All locks are lost with the server, and the host that held one lives.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_restart_of_the_database_during_a_slow_refresh_costs_no_session() {
    let Some(database) = Database::alone().await else {
        return;
    };
    let bench = Bench::new(database).await;
    for round in 1..=ROUNDS {
        let refreshing = bench.begin().await;
        restart(&bench.database).await;
        for _ in 0..3 {
            waits(&bench.newcomer()).await;
            bench.clock.advance(SECOND * 3);
        }
        waits(&bench.other).await;
        bench.to_provider.set(Mode::Pass);
        let token = refreshing.await.unwrap().unwrap();
        bench.until_stored(&token).await;
        bench.end(round, &mark(&token)).await;
    }
}

/// With the command in the environment; without one, by ending all sessions.
async fn restart(database: &Database) {
    if let Some(command) = env::var_os(RESTART) {
        let status = Command::new("sh").arg("-c").arg(command).status();
        assert!(status.unwrap().success());
    } else {
        eprintln!("{RESTART} is not set: the sessions end, and the server runs on");
        let end = "SELECT count(pg_terminate_backend(pid))::text FROM pg_stat_activity
            WHERE pid <> pg_backend_pid() AND backend_type = 'client backend'";
        database.ask(end).await;
    }
}

/// The server ends a transaction that is idle for five minutes. Here the test ends it.
#[cfg(target_os = "linux")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_host_frozen_for_longer_than_its_lock_costs_no_session() {
    let Some(database) = Database::new().await else {
        return;
    };
    let bench = Bench::new(database).await;
    let mut frozen = Child::take_tokens(&bench.through, &bench.database.schema);
    let mut passed = Duration::ZERO;
    for round in 1..=ROUNDS {
        bench.to_provider.set(Mode::HoldReplies);
        // The child has a clock of its own, which moves by a token's life in each round.
        bench.clock.advance(LIFETIME.saturating_sub(passed));
        let began = bench.clock.now();
        frozen.tell("expire");
        bench.to_provider.stopped().await;
        signal("STOP", &frozen);
        while !is_stopped(&frozen) {}
        bench.to_provider.set(Mode::Pass);
        // The lock is held. How long the mark is known by now says nothing about the time after the lock.
        waits(&bench.other).await;
        bench.clock.advance(SECOND * 300);
        let locks =
            "FROM pg_locks WHERE relation = '{table}'::regclass AND pid <> pg_backend_pid()";
        let end = format!("SELECT count(pg_terminate_backend(pid))::text {locks}");
        assert_eq!(bench.database.ask(&end).await, "1");
        while bench
            .database
            .ask(&format!("SELECT count(*)::text {locks}"))
            .await
            != "0"
        {}
        for _ in 0..8 {
            waits(&bench.other).await;
            bench.clock.advance(SECOND * 10);
        }
        waits(&bench.newcomer()).await;
        signal("CONT", &frozen);
        let answer = frozen.answer();
        assert!(answer.starts_with("token "), "{answer}");
        bench.end(round, &answer).await;
        passed = bench.clock.now().duration_since(began).unwrap();
    }
}

#[cfg(target_os = "linux")]
fn signal(name: &str, child: &Child) {
    let command = format!("kill -{name} {}", child.id());
    let status = Command::new("sh").arg("-c").arg(command).status();
    assert!(status.unwrap().success());
}

/// Whether each of its threads is: a signal reaches them one after the other.
#[cfg(target_os = "linux")]
fn is_stopped(child: &Child) -> bool {
    let tasks = std::fs::read_dir(format!("/proc/{}/task", child.id())).unwrap();
    tasks.into_iter().all(|task| {
        let stat = std::fs::read_to_string(task.unwrap().path().join("stat")).unwrap();
        let (_, state) = stat.rsplit_once(") ").unwrap();
        state.starts_with('T')
    })
}
