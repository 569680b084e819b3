//! Processes that share one stored session, in random schedules: killed or suspended at any step, with lost replies and
//! failing stores.
//!
//! Each process has a runtime and a manager of its own. The schedule runs one step of one task, or lets time pass. The
//! world (store, provider and clock) knows which process holds which tokens, and judges each request when it arrives:
//!
//! - a refresh token that is used up is sent only when its successor is lost for good;
//! - tokens are stored, or tried to be, before anybody sees them;
//! - tokens that are served and still valid are served whatever fails;
//! - each expiry causes one request, and another one for each that failed or whose process was killed;
//! - a session ends only when a new refresh token was lost, and nothing valid is left after a logout.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use fastrand::Rng;
use futures_util::FutureExt;
use serde_json::json;
use tokio::runtime::Runtime;
use tokio::task::{JoinHandle, yield_now};

use super::bench::{KEY, SECOND, error, reply};
use crate::auth::store::{fault, tokens};
use crate::auth::{
    AccessToken, LogoutReport, Provider, Record, StoreError, StoreFuture, StoreGuard, TokenManager,
    TokenSource, TokenStore, Version, Versioned,
};
use crate::error::{Error, ErrorKind, Result};
use crate::fake::{InProcess, InProcessReply, NoReply, Received};
use crate::transport::{Clock, HttpOptions};
use equipment::schedules::{count, note, run_without_runtime};

/// The life of an access token, and how long before its end it is not served any more.
const LIFE: Duration = Duration::from_secs(600);
const MARGIN: Duration = Duration::from_secs(30);

#[test]
fn no_session_is_lost_on_one_machine() {
    run_without_runtime(count(24), |_, seed| Schedule::new(seed, false).run());
}

/// The lock can end while its holder runs, as behind a network.
#[test]
fn no_session_is_lost_over_a_network() {
    run_without_runtime(count(16), |_, seed| Schedule::new(seed, true).run());
}

/// What the processes share.
struct World {
    random: Rng,
    /// How many of a hundred calls of the store, and requests, fail.
    store_faults: u32,
    request_faults: u32,
    /// Until when the writes of a process fail.
    full_disks: HashMap<u64, Duration>,
    record: Option<Versioned>,
    writes: u64,
    lock: Option<u64>,
    locks: u64,
    /// The generation whose refresh token the provider accepts.
    current: u64,
    session_over: bool,
    revoked: HashSet<String>,
    /// The live process that has the current tokens, or will have them with a reply.
    holder: Option<u64>,
    /// Whether a new refresh token was lost for good.
    is_lost: bool,
    /// When tokens were requested, by generation.
    issued_at: HashMap<u64, SystemTime>,
    /// Generations that a store has, or has refused.
    offered: HashSet<u64>,
    stored: HashSet<u64>,
    requests: HashMap<u64, u64>,
    failed: HashMap<u64, u64>,
    kills: u64,
    /// Requests that arrive after their sender has given up.
    late: Vec<Late>,
    /// What the provider has seen and must not see.
    broken: Option<String>,
    /// When the request that used up a token was sent.
    used_by: HashMap<u64, Duration>,
    is_logging_out: bool,
}

struct Late {
    arrives_at: Duration,
    sent_at: Duration,
    token: u64,
    process: u64,
}

type Shared = Arc<Mutex<World>>;

fn lock(world: &Shared) -> MutexGuard<'_, World> {
    world
        .lock()
        .unwrap_or_else(std::sync::PoisonError::into_inner)
}

impl World {
    fn happens(&mut self, percent: u32) -> bool {
        self.random.u32(0..100) < percent
    }

    /// A refresh token arrives at the provider. Returns the generation that is issued for it.
    fn refresh(&mut self, sent: u64, sent_at: Duration, by: Option<u64>) -> Option<u64> {
        if self.session_over {
            return None;
        }
        if sent != self.current {
            let has_current = self.stored.contains(&self.current) && self.record.is_some();
            // A logout ends the session anyway, and does not wait for a reply.
            if (self.holder.is_some() || has_current) && !self.is_logging_out {
                let (holder, current) = (self.holder, self.current);
                self.broken = Some(format!(
                    "rt-{sent} is sent while process {holder:?} or the store has rt-{current}"
                ));
            }
            self.session_over = true;
            return None;
        }
        self.used_by.insert(sent, sent_at);
        self.current += 1;
        self.holder = by;
        self.is_lost |= by.is_none();
        Some(self.current)
    }

    fn kill(&mut self, process: u64) {
        self.kills += 1;
        if self.holder == Some(process) {
            self.holder = None;
            self.is_lost |= !self.stored.contains(&self.current);
        }
    }
}

/// The store as one process sees it.
struct Access {
    world: Shared,
    clock: Clock,
    process: u64,
    can_lose_lock: bool,
}

impl Access {
    /// A call takes some steps, sometimes some time, and may fail before or after it is carried out.
    async fn call<T>(&self, work: impl FnOnce(&mut World) -> T) -> Result<T, StoreError> {
        let (steps, pause, before, after) = {
            let mut world = lock(&self.world);
            let faults = world.store_faults;
            let pause = world.happens(5).then(|| world.random.u64(1..3_000));
            let after = world.happens(faults / 4);
            (
                world.random.usize(0..3),
                pause,
                world.happens(faults),
                after,
            )
        };
        for _ in 0..steps {
            yield_now().await;
        }
        if let Some(pause) = pause {
            self.clock.sleep(Duration::from_millis(pause)).await;
        }
        let failed = || fault(std::io::ErrorKind::TimedOut);
        if before {
            return Err(failed());
        }
        let done = work(&mut lock(&self.world));
        yield_now().await;
        if after { Err(failed()) } else { Ok(done) }
    }
}

impl TokenStore for Access {
    fn load<'a>(&'a self, _key: &'a str) -> StoreFuture<'a, Option<Versioned>> {
        Box::pin(self.call(|world| world.record.clone()))
    }

    fn swap<'a>(
        &'a self,
        _key: &'a str,
        expected: Option<Version>,
        new: &'a Record,
    ) -> StoreFuture<'a, Option<Version>> {
        Box::pin(async move {
            {
                let mut world = lock(&self.world);
                world.offered.insert(new.tokens().generation());
                let full = world.full_disks.get(&self.process);
                if full.is_some_and(|until| self.clock.monotonic() < *until) {
                    return Err(fault(std::io::ErrorKind::StorageFull));
                }
            }
            self.call(|world| {
                if world.record.as_ref().map(|stored| stored.version) != expected {
                    return None;
                }
                world.writes += 1;
                let version = Version::new(world.writes);
                world.record = Some(Versioned::new(version, new.clone()));
                note(|| {
                    format!(
                        "{version:?}: {:?}, mark {:?}",
                        new.tokens().generation(),
                        new.refresh_mark
                    )
                });
                world.stored.insert(new.tokens().generation());
                Some(version)
            })
            .await
        })
    }

    fn remove<'a>(&'a self, _key: &'a str, expected: Version) -> StoreFuture<'a, bool> {
        Box::pin(self.call(move |world| {
            let found = world.record.as_ref().map(|stored| stored.version) == Some(expected);
            if found {
                world.record = None;
            }
            found
        }))
    }

    fn lock<'a>(&'a self, _key: &'a str, wait: Duration) -> StoreFuture<'a, StoreGuard> {
        Box::pin(async move {
            let until = self.clock.monotonic() + wait;
            loop {
                self.call(|_| ()).await?;
                {
                    let mut world = lock(&self.world);
                    if world.lock.is_none() {
                        world.locks += 1;
                        world.lock = Some(world.locks);
                        let (world, number) = (self.world.clone(), world.locks);
                        return Ok(StoreGuard::new(Held { world, number }));
                    }
                }
                if self.clock.monotonic() >= until {
                    return Err(StoreError::lock_timeout());
                }
                self.clock.sleep(SECOND / 10).await;
            }
        })
    }

    fn lock_survives_faults(&self) -> bool {
        !self.can_lose_lock
    }
}

struct Held {
    world: Shared,
    number: u64,
}

impl Drop for Held {
    fn drop(&mut self) {
        let mut world = lock(&self.world);
        if world.lock == Some(self.number) {
            world.lock = None;
        }
    }
}

/// What happens to a request.
#[derive(Debug)]
enum Fate {
    Arrives,
    IsNotSent,
    IsRefused(u16),
    /// The provider carries it out, and its reply is lost.
    ReplyIsLost,
    /// The sender gives up, and it may arrive after that.
    TimesOut {
        arrives: bool,
    },
}

/// The provider as a process sees it.
async fn answer(
    world: Shared,
    clock: Clock,
    process: u64,
    request: Received,
) -> std::result::Result<InProcessReply, NoReply> {
    let form: HashMap<String, String> = url::form_urlencoded::parse(request.body())
        .into_owned()
        .collect();
    if request.path() == "/revoke" {
        lock(&world).revoked.insert(form["token"].clone());
        return Ok(reply(200, ""));
    }
    let sent: u64 = form["refresh_token"]
        .trim_start_matches("rt-")
        .parse()
        .unwrap();
    let (asked_at, sent_at) = (clock.now(), clock.monotonic());
    let (fate, back) = {
        let mut world = lock(&world);
        let faults = world.request_faults;
        let fate = match world.happens(faults).then(|| world.random.u32(0..6)) {
            None => Fate::Arrives,
            Some(0) => Fate::IsNotSent,
            Some(1) => Fate::IsRefused(429),
            Some(2) => Fate::IsRefused(503),
            Some(3) => Fate::ReplyIsLost,
            Some(fate) => Fate::TimesOut { arrives: fate == 4 },
        };
        *world.requests.entry(sent).or_default() += 1;
        if !matches!(fate, Fate::Arrives) {
            *world.failed.entry(sent).or_default() += 1;
        }
        if matches!(fate, Fate::TimesOut { arrives: true }) {
            // Within thirty seconds after it was sent, also when its sender is suspended meanwhile.
            let arrives_at = sent_at + Duration::from_secs(world.random.u64(0..30));
            world.late.push(Late {
                arrives_at,
                sent_at,
                token: sent,
                process,
            });
        }
        (fate, Duration::from_millis(world.random.u64(0..8_000)))
    };
    note(|| format!("{sent_at:?}: process {process} sends rt-{sent}, which {fate:?}"));
    match fate {
        Fate::Arrives => {
            let issued = lock(&world).refresh(sent, sent_at, Some(process));
            if let Some(generation) = issued {
                lock(&world).issued_at.insert(generation, asked_at);
            }
            clock.sleep(back).await;
            let Some(n) = issued else {
                return Ok(error(403, "invalid_grant"));
            };
            let tokens = json!({
                "access_token": format!("at-{n}"), "refresh_token": format!("rt-{n}"),
                "expires_in": LIFE.as_secs(), "token_type": "Bearer",
            });
            Ok(reply(200, tokens))
        }
        Fate::IsNotSent => Err(NoReply::Unreachable),
        Fate::IsRefused(status) => Ok(reply(status, "")),
        Fate::ReplyIsLost => {
            lock(&world).refresh(sent, sent_at, None);
            clock.sleep(back).await;
            Ok(reply(502, ""))
        }
        Fate::TimesOut { .. } => {
            clock.sleep(5 * SECOND).await;
            Err(NoReply::TimedOut)
        }
    }
}

struct Process {
    number: u64,
    runtime: Runtime,
    manager: TokenManager,
    /// Spawned last: once it has run, no task is ready until a call begins or the clock is advanced.
    last_ready: Option<JoinHandle<()>>,
    is_idle: bool,
    call: Option<JoinHandle<Result<AccessToken>>>,
    logout: Option<JoinHandle<LogoutReport>>,
    /// The newest generation that was served.
    served: Option<u64>,
    /// When a token was served last.
    served_at: Option<Duration>,
    /// Whether its last call was refused for good.
    needs_login: bool,
    suspended_until: Duration,
}

impl Process {
    /// Something from outside may have made a task ready.
    fn disturb(&mut self) {
        (self.last_ready, self.is_idle) = (None, false);
    }

    fn begin_call(&mut self) {
        let manager = self.manager.clone();
        let call = async move { manager.access_token().await };
        self.call = Some(self.runtime.spawn(call));
        self.disturb();
    }

    /// Runs the next task that is ready.
    fn run_task(&mut self) {
        if self.is_idle {
            return;
        }
        let last_ready = self
            .last_ready
            .get_or_insert_with(|| self.runtime.spawn(async {}));
        self.runtime.block_on(yield_now());
        if last_ready.is_finished() {
            (self.last_ready, self.is_idle) = (None, true);
        }
    }
}

struct Schedule {
    world: Shared,
    can_lose_lock: bool,
    clock: Clock,
    random: Rng,
    processes: Vec<Process>,
    started: u64,
}

impl Schedule {
    fn new(seed: u64, can_lose_lock: bool) -> Self {
        fastrand::seed(seed);
        let mut random = Rng::with_seed(seed);
        let clock = Clock::manual(UNIX_EPOCH + Duration::from_secs(1_700_000_000));
        let mut first = tokens(1);
        first.lifetime = LIFE;
        first.issued_at = clock.now();
        let world = World {
            random: random.fork(),
            store_faults: [0, 0, 5, 20][random.usize(0..4)],
            request_faults: [0, 0, 10, 40][random.usize(0..4)],
            full_disks: HashMap::new(),
            record: Some(Versioned::new(Version::new(1), Record::new(first))),
            writes: 1,
            lock: None,
            locks: 0,
            current: 1,
            session_over: false,
            revoked: HashSet::new(),
            holder: None,
            is_lost: false,
            issued_at: HashMap::from([(1, clock.now())]),
            offered: HashSet::from([1]),
            stored: HashSet::from([1]),
            requests: HashMap::new(),
            failed: HashMap::new(),
            kills: 0,
            late: Vec::new(),
            broken: None,
            used_by: HashMap::new(),
            is_logging_out: false,
        };
        let mut schedule = Self {
            world: Arc::new(Mutex::new(world)),
            can_lose_lock,
            clock,
            random,
            processes: Vec::new(),
            started: 0,
        };
        for _ in 0..2 {
            schedule.start();
        }
        schedule
    }

    fn start(&mut self) {
        self.started += 1;
        let (number, world, clock) = (self.started, self.world.clone(), self.clock.clone());
        let http = HttpOptions::default().in_process(InProcess::new(move |request| {
            answer(world.clone(), clock.clone(), number, request)
        }));
        let base = "http://127.0.0.1:1";
        let provider = Provider::builder("app")
            .http(http)
            .authorize_url(format!("{base}/authorize"))
            .token_url(format!("{base}/token"))
            .revoke_url(format!("{base}/revoke"))
            .audience("https://api.example")
            .redirect_uri("https://app.example/cb")
            .clock(self.clock.clone());
        let store = Access {
            world: self.world.clone(),
            clock: self.clock.clone(),
            process: number,
            can_lose_lock: self.can_lose_lock,
        };
        let manager = TokenManager::builder(provider.build().unwrap())
            .store(store)
            .account(KEY)
            .background(self.random.bool())
            .build()
            .unwrap();
        // One task runs in each step, and those that come from outside after all others.
        let runtime = tokio::runtime::Builder::new_current_thread()
            .event_interval(1)
            .global_queue_interval(u32::MAX)
            .build()
            .unwrap();
        self.processes.push(Process {
            number,
            runtime,
            manager,
            last_ready: None,
            is_idle: true,
            call: None,
            logout: None,
            served: None,
            served_at: None,
            needs_login: false,
            suspended_until: Duration::ZERO,
        });
    }

    fn kill(&mut self, at: usize) {
        let number = self.processes[at].number;
        note(|| format!("{:?}: process {number} is killed", self.clock.monotonic()));
        lock(&self.world).kill(number);
        drop(self.processes.swap_remove(at));
    }

    fn run(mut self) {
        let end = self.clock.monotonic() + 5 * LIFE;
        while self.clock.monotonic() < end && !self.is_over() {
            for _ in 0..self.random.usize(1..12) {
                let at = self.random.usize(0..self.processes.len());
                self.step(at);
                if self.is_quiet() {
                    break;
                }
            }
            self.meddle();
            let millis = self.random.u64(0..14);
            self.pass(Duration::from_millis(1 << millis));
        }
        self.heal();
    }

    /// Whether no process does anything before the clock is advanced.
    fn is_quiet(&self) -> bool {
        let now = self.clock.monotonic();
        self.processes.iter().all(|process| {
            now < process.suspended_until || process.is_idle && process.served_at == Some(now)
        })
    }

    /// Whether the session is lost and all processes know it.
    fn is_over(&self) -> bool {
        lock(&self.world).is_lost && self.processes.iter().all(|process| process.needs_login)
    }

    /// A kill, a suspension, or a lock that is lost.
    fn meddle(&mut self) {
        let at = self.random.usize(0..self.processes.len());
        match self.random.u32(0..300) {
            0 | 1 => {
                self.kill(at);
                self.start();
            }
            2 => {
                // Over a network a process may sleep for as long as the wait for its mark allows.
                let longest = if self.can_lose_lock { 5 } else { 1_000 };
                let time = Duration::from_secs(self.random.u64(1..=longest));
                let process = &mut self.processes[at];
                process.suspended_until = self.clock.monotonic() + time;
                let (number, until) = (process.number, process.suspended_until);
                note(|| format!("process {number} is suspended until {until:?}"));
            }
            10..16 => {
                let number = self.processes[at].number;
                let until = self.clock.monotonic() + Duration::from_secs(self.random.u64(1..60));
                note(|| format!("the disk of process {number} is full until {until:?}"));
                lock(&self.world).full_disks.insert(number, until);
            }
            3..10 if self.can_lose_lock => lock(&self.world).lock = None,
            _ => {}
        }
    }

    fn pass(&mut self, time: Duration) {
        self.clock.advance(time);
        for process in &mut self.processes {
            if process.runtime.metrics().num_alive_tasks() > 0 {
                process.disturb();
            }
        }
        let now = self.clock.monotonic();
        let mut world = lock(&self.world);
        let (due, later): (Vec<_>, _) = world
            .late
            .drain(..)
            .partition(|late| late.arrives_at <= now);
        world.late = later;
        for late in due {
            let overtaken = world
                .used_by
                .get(&late.token)
                .is_some_and(|used| *used > late.sent_at);
            if !overtaken {
                world.refresh(late.token, late.sent_at, None);
                continue;
            }
            // A process that lives waits for it, and the next one after a kill does not.
            let lives = self.processes.iter().any(|it| it.number == late.process);
            assert!(!lives, "rt-{} arrives after its repetition", late.token);
            (world.session_over, world.is_lost) = (true, true);
        }
    }

    /// One step of a process.
    fn step(&mut self, at: usize) {
        let now = self.clock.monotonic();
        let process = &mut self.processes[at];
        if now < process.suspended_until {
            return;
        }
        if process.call.is_none() {
            // A call that has nothing to start or to wait for needs no task.
            match process.manager.current() {
                Some(fresh) => self.judge(at, Ok(fresh)),
                None => process.begin_call(),
            }
        }
        let process = &mut self.processes[at];
        process.run_task();
        // A panic in a task ends the task alone.
        assert_eq!(lock(&self.world).broken, None);
        if process.call.as_ref().is_some_and(JoinHandle::is_finished) {
            let called = process.call.take().unwrap().now_or_never();
            self.judge(at, called.unwrap().unwrap());
        }
        if self.random.u32(0..8) == 0 {
            self.check_served(at);
        }
    }

    fn judge(&mut self, at: usize, called: Result<AccessToken>) {
        let world = lock(&self.world);
        let needs_login = called.as_ref().is_err_and(Error::is_reauth_required);
        self.processes[at].needs_login = needs_login;
        match called {
            Ok(token) => {
                let generation = token.generation();
                assert!(
                    world.offered.contains(&generation),
                    "at-{generation} is not stored"
                );
                let process = &mut self.processes[at];
                process.served = process.served.max(Some(generation));
                process.served_at = Some(self.clock.monotonic());
            }
            Err(error) if error.is_reauth_required() => {
                let is_over = world.is_lost || world.is_logging_out;
                assert!(is_over, "the session has not ended: {error:?}");
            }
            // A full disk is not worth another try at once.
            Err(error) => assert!(
                error.is_retryable() || error.kind() == ErrorKind::Store,
                "{error:?}"
            ),
        }
    }

    /// What was served is served until it expires.
    fn check_served(&mut self, at: usize) {
        let process = &mut self.processes[at];
        let world = lock(&self.world);
        let Some(served) = process.served.filter(|_| !world.is_logging_out) else {
            return;
        };
        let age = self.clock.now().duration_since(world.issued_at[&served]);
        if age.unwrap() + MARGIN >= LIFE {
            return;
        }
        drop(world);
        let _runtime = process.runtime.enter();
        if process.manager.current().is_none() {
            process.disturb();
        }
        let token = process.manager.access_token().now_or_never();
        let token = token
            .expect("a caller waits while its token is valid")
            .unwrap();
        assert!(token.generation() >= served);
        let now = process.manager.current();
        assert!(now.is_none_or(|now| now.generation() >= served));
    }

    /// The end of all faults.
    fn heal(&mut self) {
        {
            let mut world = lock(&self.world);
            (world.store_faults, world.request_faults) = (0, 0);
            world.full_disks.clear();
        }
        for process in &mut self.processes {
            process.suspended_until = Duration::ZERO;
        }
        self.settle(2 * LIFE);
        for at in 0..self.processes.len() {
            self.processes[at].served = None;
            self.settle(LIFE / 4);
            let is_lost = lock(&self.world).is_lost;
            assert!(
                is_lost || self.processes[at].served.is_some(),
                "no token at the end"
            );
        }
        let world = lock(&self.world);
        for (generation, requests) in &world.requests {
            let failed = world.failed.get(generation).copied().unwrap_or_default();
            assert!(
                *requests <= 1 + failed + world.kills,
                "{requests} requests with rt-{generation}, of which {failed} failed"
            );
        }
        drop(world);
        if self.random.bool() {
            self.log_out();
        }
    }

    fn settle(&mut self, time: Duration) {
        let until = self.clock.monotonic() + time;
        while self.clock.monotonic() < until {
            for at in [0, 1].repeat(6) {
                self.step(at);
                if self.is_quiet() {
                    break;
                }
            }
            // After the end of a session nothing is to come.
            self.pass(if self.is_over() {
                LIFE / 20
            } else {
                2 * SECOND
            });
        }
    }

    /// One process logs out, while the other may be in the middle of a refresh.
    fn log_out(&mut self) {
        let later = Duration::from_secs(self.random.u64(1..600));
        self.settle(later);
        lock(&self.world).is_logging_out = true;
        let process = &mut self.processes[0];
        let logout = process.manager.clone();
        process.disturb();
        process.logout = Some(
            process
                .runtime
                .spawn(async move { logout.logout(None).await }),
        );
        self.settle(LIFE / 2);
        let process = &mut self.processes[0];
        let report = process
            .logout
            .take()
            .unwrap()
            .now_or_never()
            .unwrap()
            .unwrap();
        assert!(report.problems.is_empty(), "{:?}", report.problems);
        for process in &self.processes {
            assert!(
                process.manager.current().is_none(),
                "a token after the logout"
            );
        }
        let world = lock(&self.world);
        assert!(world.record.is_none());
        let last = format!("rt-{}", world.current);
        assert!(world.session_over || world.is_lost || world.revoked.contains(&last));
    }
}
