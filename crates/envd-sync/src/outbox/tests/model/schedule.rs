//! One random schedule: the steps of the user, the website, the network, the clocks and the processes.

use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;

use super::network::{Shared, World};
use super::note;
use super::people::habits;
use super::process::{AtCommit, Process, ProcessStore, Settings, replica};
use super::user::act;
use crate::store::SyncStore;
use envd_sdk::ErrorKind;

/// A future of a process. It is polled only after it was woken.
struct Program {
    process: usize,
    future: Pin<Box<dyn Future<Output = ()>>>,
    woken: Arc<Woken>,
    is_of_user: bool,
    /// The number of polls before the future is dropped.
    polls_left: usize,
    /// Whether dropping it ends its process.
    kills: bool,
}

struct Woken(AtomicBool);

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.0.store(true, Ordering::SeqCst);
    }
}

pub(super) struct Schedule {
    pub(super) world: Shared,
    pub(super) store: Arc<dyn SyncStore>,
    pub(super) processes: Vec<Process>,
    programs: Vec<Program>,
    pub(super) random: fastrand::Rng,
    pub(super) settings: Settings,
    started: usize,
}

impl Schedule {
    pub(super) fn new(seed: u64, store: impl SyncStore) -> Self {
        let mut random = fastrand::Rng::with_seed(seed);
        let settings = Settings {
            settle: [20, 60][random.usize(..2)],
            lease: 10,
            page_size: [2, 5, 100][random.usize(..3)],
        };
        let mut world = World::new(random.fork(), settings.settle);
        world.trouble = [0, 10, 30, 60][random.usize(..4)];
        world.service.habits = habits(&mut random);
        if random.u8(..6) == 0 {
            world.service.lag = random.u64(1..5);
            world.ledger.has_lag = true;
        }
        Self {
            world: Arc::new(Mutex::new(world)),
            store: Arc::new(store),
            processes: Vec::new(),
            programs: Vec::new(),
            random,
            settings,
            started: 0,
        }
    }

    pub(super) fn world(&self) -> MutexGuard<'_, World> {
        self.world.lock().unwrap()
    }

    pub(super) async fn run(&mut self) {
        for _ in 0..self.random.usize(..4) {
            self.world().website();
        }
        for _ in 0..self.random.usize(8..32) {
            self.step();
            let polls = [0, 3, 6, 12, 40, 400][self.random.usize(..6)];
            self.poll(polls).await;
        }
    }

    fn step(&mut self) {
        match self.random.u8(..40) {
            0..12 => self.user(),
            12..20 => self.send(),
            20..29 => self.world().website(),
            29 => self.sync(),
            30 => self.prune(),
            31 => self.kill(),
            32 => {
                let steps = self.random.usize(1..400);
                self.any_process().frozen = steps;
            }
            33 => self.set_clock(),
            34 | 35 => {
                let seconds = [1, 5, 70, 400, 4_000, 90_000][self.random.usize(..6)];
                self.pass_time(seconds);
            }
            36 => self.world().is_offline ^= true,
            37 => self.world().login_is_dead ^= true,
            _ => {
                let trouble = [0, 10, 30, 60][self.random.usize(..4)];
                self.world().trouble = trouble;
            }
        }
    }

    /// A random process. There are at most two.
    fn any_process(&mut self) -> &mut Process {
        let missing = self.processes.len() < 2 && self.random.u8(..4) == 0;
        if self.processes.is_empty() || missing {
            self.start();
        }
        let at = self.random.usize(..self.processes.len());
        &mut self.processes[at]
    }

    pub(super) fn start(&mut self) {
        self.started += 1;
        let ahead = if self.random.u8(..4) == 0 {
            self.skew()
        } else {
            0
        };
        let process = Process::start(self.started, &self.world, &self.store, self.settings, ahead);
        self.world().ledger.skew += ahead.unsigned_abs();
        self.processes.push(process);
    }

    pub(super) fn spawn(
        &mut self,
        process: usize,
        is_of_user: bool,
        future: impl Future<Output = ()> + 'static,
    ) {
        let (polls_left, kills) = match self.random.u8(..12) {
            0 => (self.random.usize(1..80), false),
            1 => (self.random.usize(1..80), true),
            _ => (usize::MAX, false),
        };
        self.programs.push(Program {
            process,
            future: Box::pin(future),
            woken: Arc::new(Woken(AtomicBool::new(true))),
            is_of_user,
            polls_left,
            kills,
        });
    }

    /// Lets the last program run to its end.
    pub(super) fn let_it_end(&mut self) {
        if let Some(program) = self.programs.last_mut() {
            program.polls_left = usize::MAX;
        }
    }

    fn user(&mut self) {
        // One user makes one call after another.
        if self.programs.iter().any(|program| program.is_of_user) {
            return;
        }
        let world = Arc::clone(&self.world);
        let process = self.any_process();
        let number = process.number;
        let outbox = process.outbox.clone();
        let now = process.clock.now();
        note(|| format!("{number}: the person does something"));
        self.spawn(number, true, act(outbox, world, now));
    }

    fn send(&mut self) {
        let at_commit = match self.random.u8(..12) {
            0 => AtCommit::KilledBefore(self.random.usize(1..12)),
            1 => AtCommit::KilledAfter(self.random.usize(1..12)),
            2 => AtCommit::Refused(self.random.usize(1..12)),
            _ => AtCommit::Nothing,
        };
        let process = self.any_process();
        process.store.interrupt(at_commit);
        note(|| format!("{} sends, {at_commit:?}", process.number));
        let number = process.number;
        let outbox = process.outbox.clone();
        self.spawn(number, false, async move {
            if let Err(error) = outbox.send().await {
                assert!(error.kind() == ErrorKind::Store, "{error:?}");
            }
        });
    }

    /// Syncs another replica on the same store.
    fn sync(&mut self) {
        let world = Arc::clone(&self.world);
        let settings = self.settings;
        let store = Arc::clone(&self.store);
        let process = self.any_process();
        let clock = process.clock.clone();
        let number = process.number;
        let own = ProcessStore::new(1_000 + number, &world, &store);
        let replica = replica(1_000 + number, &world, &clock, &own, settings);
        self.spawn(number, false, async move {
            // Its failures do not affect the outbox.
            let _ = replica.sync().await;
        });
    }

    fn prune(&mut self) {
        let process = self.any_process();
        let number = process.number;
        let outbox = process.outbox.clone();
        let before = process.clock.now();
        self.spawn(number, true, async move {
            let _ = outbox.prune(before).await;
        });
    }

    fn kill(&mut self) {
        if let Some(at) = self
            .random
            .usize(..4)
            .checked_sub(1)
            .filter(|at| *at < self.processes.len())
        {
            let number = self.processes[at].number;
            self.end(number);
        }
    }

    fn end(&mut self, process: usize) {
        note(|| format!("{process} ends"));
        self.processes.retain(|one| one.number != process);
        self.programs.retain(|one| one.process != process);
    }

    /// A random error of a clock, in seconds.
    fn skew(&mut self) -> i64 {
        let most = [20, 20_000][self.random.usize(..2)];
        self.random.i64(-most..most)
    }

    fn set_clock(&mut self) {
        let to = self.skew();
        let process = self.any_process();
        let now = process.clock.now();
        let by = Duration::from_secs(to.unsigned_abs());
        let to = if to > 0 { now + by } else { now - by };
        process.clock.set_wall(to);
        note(|| format!("{} has its clock set by {by:?}", process.number));
        self.world().ledger.skew += by.as_secs();
    }

    pub(super) fn pass_time(&mut self, seconds: u64) {
        note(|| format!("{seconds} s pass"));
        for process in &self.processes {
            process.clock.advance(Duration::from_secs(seconds));
        }
        let mut world = self.world();
        world.service.now += seconds;
        world.arrive_late();
    }

    /// Polls programs in random order. If all of them wait, time passes.
    pub(super) async fn poll(&mut self, polls: usize) {
        let mut quiet = 0;
        let mut step = 1;
        let mut waited = 0;
        let mut events = 0;
        for _ in 0..polls {
            if self.programs.is_empty() {
                return;
            }
            for process in &mut self.processes {
                process.frozen = process.frozen.saturating_sub(1);
            }
            let frozen: Vec<usize> = (self.processes.iter())
                .filter(|process| process.frozen > 0)
                .map(|process| process.number)
                .collect();
            let ready: Vec<usize> = (0..self.programs.len())
                .filter(|at| !frozen.contains(&self.programs[*at].process))
                .filter(|at| self.programs[*at].woken.0.load(Ordering::SeqCst))
                .collect();
            if ready.is_empty() {
                // Let tasks of the runtime continue.
                tokio::task::yield_now().await;
                quiet += 1;
                if quiet > 8 {
                    quiet = 0;
                    self.pass_time(step);
                    waited += step;
                    step = (step * 2).min(64);
                    assert!(
                        waited < 100_000 || !frozen.is_empty(),
                        "a program waits for nothing"
                    );
                }
                continue;
            }
            quiet = 0;
            let happened = self.world().service.events;
            if std::mem::replace(&mut events, happened) != happened {
                (step, waited) = (1, 0);
            }
            let at = ready[self.random.usize(..ready.len())];
            self.poll_program(at);
            if self.random.bool() {
                tokio::task::yield_now().await;
            }
        }
    }

    fn poll_program(&mut self, at: usize) {
        let program = &mut self.programs[at];
        let process = program.process;
        if program.polls_left == 0 {
            let kills = program.kills;
            self.programs.swap_remove(at);
            if kills {
                self.end(process);
            }
            return;
        }
        program.polls_left -= 1;
        program.woken.0.store(false, Ordering::SeqCst);
        let waker = Waker::from(Arc::clone(&program.woken));
        let polled = program
            .future
            .as_mut()
            .poll(&mut Context::from_waker(&waker));
        if let Poll::Ready(()) = polled {
            self.programs.swap_remove(at);
        }
        let is_killed = |one: &Process| one.number == process && one.store.is_killed();
        if self.processes.iter().any(is_killed) {
            self.end(process);
        }
    }

    /// Runs all programs to their ends.
    pub(super) async fn finish(&mut self) {
        for process in &mut self.processes {
            process.frozen = 0;
        }
        while !self.programs.is_empty() {
            self.poll(1_000).await;
        }
    }
}
