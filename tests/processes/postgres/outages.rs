//! Outages during a refresh, twenty times in a row: no refresh token is sent twice, and no session is lost.
//!
//! The fake ends a session when a refresh token is used twice, so each round also checks all earlier ones. All hosts share a
//! manual clock, so durations are simulated. The server, its restarts, the closed connections and the suspended process are
//! real.

use std::env;
use std::process::Command;
use std::time::Duration;

use envd_sdk::auth::{AccessToken, Event, StoreErrorKind, TokenManager, TokenStore};
use envd_sdk::fake::Fake;
use envd_sdk::{Clock, Result};
use processes::{Mode, Program, Proxy, until, within};
use tokio::task::JoinHandle;

use super::database::{self, Database, RESTART, below, chain, is_of};
use crate::stores::host::take_tokens;
use crate::stores::sessions::{KEY, LIFETIME, fake, fingerprint, log_in_at, manager, start};

const ROUNDS: usize = 20;
const SECOND: Duration = Duration::from_secs(1);

/// Hosts with a proxy in front of the database; the first host also has one in front of the token endpoint.
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
        let fake = fake().await;
        let to_database = database::proxy().await;
        let to_provider = Proxy::of(&fake).await;
        // All hosts use one address of the token endpoint, because a stored record belongs to one endpoint.
        let through = to_provider.through(fake.token_url());
        log_in_at(&through, &fake, database.sealed()).await;
        let clock = Clock::manual(start());
        let host = || host(&database, &to_database, &through, &clock);
        let refreshing = host();
        let other = host();
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

    /// A host without cached tokens.
    fn new_host(&self) -> TokenManager {
        host(
            &self.database,
            &self.to_database,
            &self.through,
            &self.clock,
        )
    }

    /// Expires the tokens and starts a refresh. The proxy holds the reply back, so the provider has already rotated the refresh token.
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

    /// Advances the clock until the new tokens are stored: each step ends a wait between two attempts.
    async fn until_stored(&self, token: &AccessToken) {
        let is_stored = async || {
            let stored = self.database.sealed().load(KEY).await.unwrap().unwrap();
            let is_new = stored.record.tokens().generation() == token.generation();
            assert!(!is_new || stored.record.refresh_began_at().is_none());
            if !is_new {
                self.clock.advance(SECOND);
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
            is_new
        };
        until("the new tokens in the store", is_stored).await;
    }

    /// Checks that all hosts have the same token, and that each round took one request.
    async fn end(&self, round: usize, token: &str) {
        for host in [&self.other, &self.new_host()] {
            let adopted = host.access_token().await.unwrap();
            assert_eq!(fingerprint(&adopted), token);
        }
        assert_eq!(self.fake.token_requests() - self.before, round);
    }
}

/// A host that fails immediately if it finds the mark of another host; the next call retries.
fn host(database: &Database, proxy: &Proxy, url: &str, clock: &Clock) -> TokenManager {
    let pool = database::pool_through(proxy, 3);
    let store = database::sealed(database::store(&pool, &database.schema));
    let builder = manager(url, store, clock.clone());
    let builder = builder.timing(|it| it.lock_wait = Duration::ZERO);
    builder.build().unwrap()
}

/// Checks that the host finds the mark of another host and sends nothing.
async fn waits(host: &TokenManager) {
    let token = within("a token while another host refreshes", host.access_token());
    let error = token.await.unwrap_err();
    let timed_out = below(&error).kind() == StoreErrorKind::LockTimeout;
    assert!(timed_out && error.is_retryable(), "{}", chain(&error));
}

/// Short outages, and outages as long as a failover.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_database_outage_during_the_reply_loses_no_session() {
    let database = Database::new().await;
    let bench = Bench::new(database).await;
    let mut events = bench.refreshing.events();
    let lengths = [SECOND * 8 / 10, SECOND * 12].into_iter().cycle();
    for (round, length) in (1..=2 * ROUNDS).zip(lengths) {
        let refreshing = bench.begin().await;
        // All connections end, which releases the lock.
        bench.to_database.set(Mode::Cut);
        bench.to_provider.set(Mode::Pass);
        let token = within("the end of a refresh", refreshing).await;
        let token = token.unwrap().unwrap();
        loop {
            let event = within("an event of a failed write", events.next()).await;
            if let Event::PersistFailed { error } = event.unwrap() {
                is_of(below(&error), StoreErrorKind::Unreachable);
                break;
            }
        }
        for _ in 0..4 {
            bench.clock.advance(length / 4);
            let error = bench.new_host().access_token().await.unwrap_err();
            let unreachable = below(&error).kind() == StoreErrorKind::Unreachable;
            assert!(unreachable && error.is_retryable(), "{}", chain(&error));
        }
        bench.to_database.set(Mode::Pass);
        // The next attempt stores the new tokens; if it already has, the host finds them.
        match bench.new_host().access_token().await {
            Ok(found) => assert_eq!(fingerprint(&found), fingerprint(&token)),
            Err(error) => is_of(below(&error), StoreErrorKind::LockTimeout),
        }
        bench.until_stored(&token).await;
        bench.end(round, &fingerprint(&token)).await;
    }
}

/// A restart releases all locks, while the host that held one is still running.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_database_restart_during_a_slow_refresh_loses_no_session() {
    let database = Database::new_exclusive().await;
    let bench = Bench::new(database).await;
    for round in 1..=ROUNDS {
        let refreshing = bench.begin().await;
        restart(&bench.database).await;
        for _ in 0..3 {
            waits(&bench.new_host()).await;
            bench.clock.advance(SECOND * 3);
        }
        waits(&bench.other).await;
        bench.to_provider.set(Mode::Pass);
        let token = within("the end of a refresh", refreshing).await;
        let token = token.unwrap().unwrap();
        bench.until_stored(&token).await;
        bench.end(round, &fingerprint(&token)).await;
    }
}

/// Runs the command from the environment; without one, ends all sessions.
pub(super) async fn restart(database: &Database) {
    if let Some(command) = env::var_os(RESTART) {
        let mut shell = Command::new("sh");
        shell.arg("-c").arg(command);
        Program(shell).run().with(0);
    } else {
        eprintln!(
            "{RESTART} is not set: the test ends the sessions and does not restart the server"
        );
        let end = "SELECT count(pg_terminate_backend(pid))::text FROM pg_stat_activity
            WHERE pid <> pg_backend_pid() AND backend_type = 'client backend'";
        database.query_text(end).await;
    }
}

/// The server ends a transaction after five idle minutes; the test ends it directly.
#[cfg(target_os = "linux")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_host_suspended_for_longer_than_its_lock_loses_no_session() {
    let database = Database::new().await;
    let bench = Bench::new(database).await;
    let mut frozen = take_tokens(&bench.through, &bench.database.of_host());
    let mut passed = Duration::ZERO;
    for round in 1..=ROUNDS {
        bench.to_provider.set(Mode::HoldReplies);
        // The child has its own clock, which advances by the lifetime of a token in each round.
        bench.clock.advance(LIFETIME.saturating_sub(passed));
        let began = bench.clock.now();
        frozen.send("expire");
        bench.to_provider.stopped().await;
        frozen.freeze();
        bench.to_provider.set(Mode::Pass);
        // While the lock is held, the age of the mark does not count towards `mark_wait`.
        waits(&bench.other).await;
        bench.clock.advance(SECOND * 300);
        let locks =
            "FROM pg_locks WHERE relation = '{table}'::regclass AND pid <> pg_backend_pid()";
        let end = format!("SELECT count(pg_terminate_backend(pid))::text {locks}");
        assert_eq!(bench.database.query_text(&end).await, "1");
        let count = format!("SELECT count(*)::text {locks}");
        let is_free = async || bench.database.query_text(&count).await == "0";
        until("the end of the lock", is_free).await;
        for _ in 0..8 {
            waits(&bench.other).await;
            bench.clock.advance(SECOND * 10);
        }
        waits(&bench.new_host()).await;
        frozen.go_on();
        let answer = frozen.receive();
        assert!(answer.starts_with("token "), "{answer}");
        bench.end(round, &answer).await;
        passed = bench.clock.now().duration_since(began).unwrap();
    }
}
