//! Processes that share one stored session, in random schedules. They are killed or suspended at any step, replies are lost,
//! and stores fail.
//!
//! Each process has its own runtime and manager. The schedule runs one step of one task, or lets time pass. The world (store,
//! provider and clock) knows which process holds which tokens, and checks each request on arrival:
//!
//! - a used refresh token is sent only if its successor is lost for good;
//! - tokens are stored, or storing was attempted, before they are served;
//! - valid tokens stay in use whatever fails;
//! - each expiry causes one request, and another one for each that failed or whose process was killed, or whose refusal could
//!   not be written;
//! - a session ends only if a new refresh token was lost, and nothing valid is left after a logout.

mod world;

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex};
use std::time::{Duration, UNIX_EPOCH};

use fastrand::Rng;
use futures_util::FutureExt;
use test_support::schedules::{count, note, run_without_runtime};
use tokio::runtime::Runtime;
use tokio::task::{JoinHandle, yield_now};

use self::world::{Access, Shared, World, answer, lock};
use super::bench::{KEY, SECOND, addressed};
use crate::auth::store::tokens;
use crate::auth::{AccessToken, Provider, Record, TokenManager, TokenSource, Version, Versioned};
use crate::error::{Error, ErrorKind, Result};
use crate::fake::InProcess;
use crate::transport::{Clock, HttpOptions};

/// The lifetime of an access token, and how long before its end it is no longer served.
const LIFE: Duration = Duration::from_secs(600);
const MARGIN: Duration = Duration::from_secs(30);

#[test]
fn no_session_is_lost_on_one_machine() {
    run_without_runtime(count(24), |_, seed| Schedule::new(seed, false).run());
}

/// The lock can be lost while its holder runs, as over a network.
#[test]
fn no_session_is_lost_over_a_network() {
    run_without_runtime(count(16), |_, seed| Schedule::new(seed, true).run());
}

struct Process {
    number: u64,
    runtime: Runtime,
    manager: TokenManager,
    /// Spawned last: once it has run, no task is ready until a call begins or the clock is advanced.
    last_ready: Option<JoinHandle<()>>,
    is_idle: bool,
    call: Option<JoinHandle<Result<AccessToken>>>,
    /// The latest generation that was served.
    served: Option<u64>,
    /// When a token was last served.
    served_at: Option<Duration>,
    /// Whether its last call was refused permanently.
    needs_login: bool,
    suspended_until: Duration,
}

impl Process {
    /// Call this after an external event that may have made a task ready.
    fn disturb(&mut self) {
        (self.last_ready, self.is_idle) = (None, false);
    }

    fn begin_call(&mut self) {
        let manager = self.manager.clone();
        let call = async move { manager.access_token().await };
        self.call = Some(self.runtime.spawn(call));
        self.disturb();
    }

    /// Runs the next ready task.
    fn run_task(&mut self) {
        if self.is_idle {
            return;
        }
        let spawn = || self.runtime.spawn(async {});
        let last_ready = self.last_ready.get_or_insert_with(spawn);
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
            record: Some(Versioned::new(Version::new(1), Record::new(first))),
            writes: 1,
            current: 1,
            issued_at: HashMap::from([(1, clock.now())]),
            offered: HashSet::from([1]),
            stored: HashSet::from([1]),
            ..World::default()
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
        let number = self.started;
        let world = self.world.clone();
        let clock = self.clock.clone();
        let http = HttpOptions::default().in_process(InProcess::new(move |request| {
            answer(world.clone(), clock.clone(), number, request)
        }));
        let provider = addressed(Provider::builder("app"), &self.clock).http(http);
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
        // Each step runs one task. Externally woken tasks run after all others.
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

    /// Whether no process can do anything before the clock is advanced.
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

    /// Kills or suspends a process, or loses a lock.
    fn meddle(&mut self) {
        let at = self.random.usize(0..self.processes.len());
        match self.random.u32(0..300) {
            0 | 1 => {
                self.kill(at);
                self.start();
            }
            2 => {
                // Over a network, a process may sleep only as long as the wait for its mark allows.
                let longest = if self.can_lose_lock { 5 } else { 1_000 };
                let time = Duration::from_secs(self.random.u64(1..=longest));
                let process = &mut self.processes[at];
                process.suspended_until = self.clock.monotonic() + time;
                let number = process.number;
                let until = process.suspended_until;
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
        let due: Vec<_> = world
            .late
            .extract_if(.., |late| late.arrives_at <= now)
            .collect();
        for late in due {
            let used = world.used_by.get(&late.token);
            if used.is_none_or(|used| *used <= late.sent_at) {
                world.refresh(late.token, late.sent_at, None);
                continue;
            }
            // A live process waits for the late request, but the next one after a kill does not.
            let lives = self.processes.iter().any(|it| it.number == late.process);
            assert!(!lives, "rt-{} arrives after its repetition", late.token);
            (world.session_over, world.is_lost) = (true, true);
        }
    }

    /// Runs one step of a process.
    fn step(&mut self, at: usize) {
        let now = self.clock.monotonic();
        let process = &mut self.processes[at];
        if now < process.suspended_until {
            return;
        }
        if process.call.is_none() {
            // A call that starts nothing and does not wait needs no task.
            match process.manager.current() {
                Some(fresh) => self.judge(at, Ok(fresh)),
                None => process.begin_call(),
            }
        }
        let process = &mut self.processes[at];
        process.run_task();
        // A panic in a task ends only that task.
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
                let is_offered = world.offered.contains(&generation);
                assert!(is_offered, "at-{generation} is not stored");
                let process = &mut self.processes[at];
                process.served = process.served.max(Some(generation));
                process.served_at = Some(self.clock.monotonic());
            }
            Err(error) if error.is_reauth_required() => {
                let is_over = world.is_lost || world.is_logging_out;
                assert!(is_over, "the session has not ended: {error:?}");
            }
            // After a full disk, an immediate retry is useless.
            Err(error) => {
                let passes = error.is_retryable() || error.kind() == ErrorKind::Store;
                assert!(passes, "{error:?}");
            }
        }
    }

    /// Valid tokens stay in use until they expire.
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
        let token = token.expect("a caller waits while its token is valid");
        assert!(token.unwrap().generation() >= served);
        let now = process.manager.current();
        assert!(now.is_none_or(|now| now.generation() >= served));
    }

    /// Ends all faults.
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
            assert!(is_lost || self.processes[at].served.is_some(), "no token");
        }
        let world = lock(&self.world);
        for (generation, requests) in &world.requests {
            let count = |of: &HashMap<u64, u64>| of.get(generation).copied().unwrap_or_default();
            let failed = count(&world.failed);
            // After a refusal the store is read, because another process may have renewed the token, and then the end of the
            // session is written. If one of these fails, a later call of any process sends the token again.
            let unwritten = count(&world.refused).min(world.store_failures);
            assert!(
                *requests <= 1 + failed + unwritten + world.kills,
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
            // After the end of a session, nothing is pending.
            let time = if self.is_over() {
                LIFE / 20
            } else {
                2 * SECOND
            };
            self.pass(time);
        }
    }

    /// One process logs out, possibly during the other's refresh.
    fn log_out(&mut self) {
        let later = Duration::from_secs(self.random.u64(1..600));
        self.settle(later);
        lock(&self.world).is_logging_out = true;
        let process = &mut self.processes[0];
        let logout = process.manager.clone();
        process.disturb();
        let logout = process
            .runtime
            .spawn(async move { logout.logout(None).await });
        self.settle(LIFE / 2);
        let report = logout.now_or_never().unwrap().unwrap();
        assert!(report.problems.is_empty(), "{:?}", report.problems);
        let mut processes = self.processes.iter();
        assert!(processes.all(|it| it.manager.current().is_none()));
        let world = lock(&self.world);
        assert!(world.record.is_none());
        let last = format!("rt-{}", world.current);
        assert!(world.session_over || world.is_lost || world.revoked.contains(&last));
    }
}
