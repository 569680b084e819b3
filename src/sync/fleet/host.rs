//! One host: claims accounts, works on some of them at a time, and gives them back.

use std::collections::{HashMap, VecDeque};
use std::future::pending;
use std::pin::pin;
use std::time::Duration;

use futures_util::future::{Either, select};
use tokio::task::{AbortHandle, Id, JoinError, JoinSet};
use tokio::time::{Instant, sleep_until, timeout_at};

use super::account_fleet::Settings;
use super::claims::{Claim, Done};
use super::fleet_event::FleetEvent;
use super::fleet_loop::OnEvent;
use super::listener::keep_listening;
use super::tables::Tables;
use super::work::{Finished, Worker};
use crate::auth::StoreError;
use crate::model::AccountId;
use crate::sync::loop_control::LoopControl;
use crate::transport::Clock;

/// The shortest time between two claims, however often the host is woken.
const SHORTEST: Duration = Duration::from_millis(20);

/// How long it is waited after the database failed.
const AGAIN: Duration = Duration::from_secs(1);

pub(super) struct Host {
    worker: Worker,
    on_event: OnEvent,
    control: LoopControl,
    /// Unlike that of any other run.
    name: String,
    jobs: JoinSet<Box<Finished>>,
    running: HashMap<Id, (Claim, AbortHandle)>,
    /// Claimed, and not begun.
    queue: VecDeque<Claim>,
    /// Ended, and not given back.
    done: Vec<Done>,
    claim_at: Instant,
    claimed_at: Instant,
    give_back_at: Instant,
    prolong_at: Instant,
    /// Until when all leases are sure to last, on the clock since boot.
    held_until: Duration,
}

/// Why the host goes on.
enum Next {
    Stop,
    Woken,
    Ended(Result<(Id, Box<Finished>), JoinError>),
    Time,
}

impl Host {
    pub(super) fn new(worker: Worker, on_event: OnEvent, control: LoopControl) -> Self {
        let now = Instant::now();
        Self {
            worker,
            on_event,
            control,
            name: format!("{:032x}", fastrand::u128(..)),
            jobs: JoinSet::new(),
            running: HashMap::new(),
            queue: VecDeque::new(),
            done: Vec::new(),
            claim_at: now,
            claimed_at: now,
            give_back_at: now,
            prolong_at: now,
            held_until: Duration::ZERO,
        }
    }

    pub(super) async fn run(mut self) {
        let mut helpers = JoinSet::new();
        if let Some(listen) = &self.worker.shared.listen {
            let payload = self.tables().payload.clone();
            let control = self.control.clone();
            helpers.spawn(keep_listening(listen.clone(), payload, control));
        }
        loop {
            self.look_after_leases().await;
            self.begin_queued();
            match self.next().await {
                Next::Stop => break,
                Next::Ended(ended) => self.ended(ended),
                Next::Woken => {
                    let now = Instant::now();
                    self.claim_at = self.claim_at.min(now.max(self.claimed_at + SHORTEST));
                    self.give_back_at = self.claim_at;
                }
                Next::Time => {}
            }
            while let Some(ended) = self.jobs.try_join_next_with_id() {
                self.ended(ended);
            }
        }
        self.stop().await;
    }

    /// What the database has to be told now.
    async fn look_after_leases(&mut self) {
        let now = Instant::now();
        let is_held = Clock::system().boot() < self.held_until;
        if self.has_leases() && (now >= self.prolong_at || !is_held) {
            self.prolong().await;
        }
        let is_full = self.done.len() >= self.settings().concurrency;
        if !self.done.is_empty() && (is_full || now >= self.give_back_at) {
            self.give_back().await;
        }
        let is_low = self.queue.len() * 2 < self.settings().concurrency;
        if is_low && now >= self.claim_at {
            self.claim().await;
        }
    }

    async fn next(&mut self) -> Next {
        let mut at = self.claim_at;
        if self.queue.len() * 2 >= self.worker.shared.settings.concurrency {
            // The end of some work comes first.
            at += self.worker.shared.settings.lease;
        }
        if !self.done.is_empty() {
            at = at.min(self.give_back_at);
        }
        if self.has_leases() {
            at = at.min(self.prolong_at);
        }
        let jobs = &mut self.jobs;
        let ended = pin!(async {
            match jobs.join_next_with_id().await {
                Some(ended) => ended,
                None => pending().await,
            }
        });
        let (woken, time) = (pin!(self.control.woken()), pin!(sleep_until(at)));
        // First: a busy host always has something else.
        let stopped = pin!(self.control.unless_stopped(pending::<()>()));
        match select(stopped, select(ended, select(woken, time))).await {
            Either::Left(_) => Next::Stop,
            Either::Right((Either::Left((ended, _)), _)) => Next::Ended(ended),
            Either::Right((Either::Right((Either::Left(_), _)), _)) => Next::Woken,
            Either::Right((Either::Right((Either::Right(_), _)), _)) => Next::Time,
        }
    }

    fn begin_queued(&mut self) {
        while self.jobs.len() < self.settings().concurrency
            && let Some(claim) = self.queue.pop_front()
        {
            let work = self.worker.clone().work(claim.clone());
            let task = self.jobs.spawn(async { Box::new(work.await) });
            self.running.insert(task.id(), (claim, task));
        }
    }

    fn ended(&mut self, ended: Result<(Id, Box<Finished>), JoinError>) {
        let id = ended.as_ref().map_or_else(JoinError::id, |(id, _)| *id);
        let claim = self.running.remove(&id);
        let finished = match (ended, claim) {
            (Ok((_, finished)), Some(_)) => *finished,
            (Err(error), Some((claim, _))) if error.is_panic() => self.worker.panicked(claim),
            // It was ended when its lease was lost.
            _ => return,
        };
        for event in &finished.events {
            (self.on_event)(event);
        }
        if self.done.is_empty() {
            self.give_back_at = Instant::now() + self.settings().poll;
        }
        self.done.extend(finished.done);
    }

    async fn claim(&mut self) {
        let settings = self.settings().clone();
        let now = Instant::now();
        self.claimed_at = now;
        let gate = &self.worker.gate;
        if let Some(pause) = gate.paused_for().max(gate.cut_off_for()) {
            self.claim_at = now + pause.min(settings.poll);
            return;
        }
        let most = settings.concurrency - self.queue.len().min(settings.concurrency);
        let boot = Clock::system().boot();
        let claimed = self.tables().claim(&self.name, settings.lease, most).await;
        let claims = match claimed {
            Ok(claims) => claims,
            Err(error) => {
                self.claim_at = now + AGAIN.max(settings.poll);
                return self.failed("claim", error);
            }
        };
        if !self.has_leases() {
            self.hold(boot, now);
        }
        let is_all = claims.len() < most;
        self.claim_at = if is_all { now + settings.poll } else { now };
        if claims.is_empty() {
            return;
        }
        let late = claims.first().map_or(Duration::ZERO, |claim| claim.late);
        tracing::debug!(accounts = claims.len(), ?late, took = ?now.elapsed(), "accounts claimed");
        for claim in claims {
            // Its lease was over, and this host has it again.
            self.forget(|known| known.account == claim.account);
            self.queue.push_back(claim);
        }
    }

    /// Prolongs all leases, and stops the work on accounts that other hosts have now.
    async fn prolong(&mut self) {
        let (boot, now) = (Clock::system().boot(), Instant::now());
        let settings = self.settings().clone();
        let claims = self.claims().map(|claim| &*claim.account);
        let accounts: Vec<&str> = claims.collect();
        let held = self.tables().prolong(&self.name, settings.lease, &accounts);
        let held: HashMap<String, i64> = match held.await {
            Ok(held) => held.into_iter().collect(),
            Err(error) => {
                self.prolong_at = now + AGAIN;
                // That time decides, and the gate is shut when the leases may be over.
                self.held_until = Duration::MAX;
                return self.failed("prolong", error);
            }
        };
        let lost = self.forget(|claim| held.get(&claim.account) != Some(&claim.number));
        if !lost.is_empty() {
            tracing::warn!(accounts = lost.len(), "leases were lost to other hosts");
        }
        for account in lost {
            let account = AccountId::from(account);
            (self.on_event)(&FleetEvent::LeaseLost { account });
        }
        self.hold(boot, now);
    }

    async fn give_back(&mut self) {
        let now = Instant::now();
        let result = self.tables().give_back(&self.name, &self.done).await;
        match result {
            Ok(given) => {
                let failed = self.done.iter().filter(|done| done.failures > 0).count();
                let accounts = self.done.len();
                let took = now.elapsed();
                tracing::debug!(accounts, given, failed, ?took, "accounts given back");
                self.done.clear();
            }
            Err(error) => {
                self.give_back_at = now + AGAIN;
                self.failed("give back", error);
            }
        }
    }

    async fn stop(mut self) {
        let settings = self.settings().clone();
        self.worker.gate.close();
        let until = Instant::now() + settings.shutdown.min(settings.lease * 2 / 3);
        self.prolong_if_needed().await;
        while let Ok(Some(ended)) = timeout_at(until, self.jobs.join_next_with_id()).await {
            self.ended(ended);
        }
        let cut = self.jobs.len();
        self.jobs.shutdown().await;
        if !self.done.is_empty() {
            self.give_back().await;
        }
        match self.tables().release(&self.name).await {
            Ok(released) => tracing::debug!(released, cut, "the host has stopped"),
            Err(error) => self.failed("release", error),
        }
    }

    async fn prolong_if_needed(&mut self) {
        if self.has_leases() {
            self.prolong().await;
        }
    }

    /// Drops accounts wherever they stand, and returns them.
    fn forget(&mut self, is_lost: impl Fn(&Claim) -> bool) -> Vec<String> {
        let mut lost = Vec::new();
        let mut keep = |claim: &Claim| {
            let keeps = !is_lost(claim);
            if !keeps {
                lost.push(claim.account.clone());
            }
            keeps
        };
        self.queue.retain(&mut keep);
        self.done.retain(|done| keep(&done.claim));
        self.running.retain(|_, (claim, task)| {
            let keeps = keep(claim);
            if !keeps {
                task.abort();
            }
            keeps
        });
        lost
    }

    /// All leases last from then on.
    fn hold(&mut self, boot: Duration, now: Instant) {
        let lease = self.settings().lease;
        self.held_until = boot + lease;
        self.prolong_at = now + lease / 3;
        self.worker.gate.hold_until(self.held_until);
    }

    fn failed(&mut self, what: &str, error: StoreError) {
        tracing::warn!("the fleet's statement to {what} accounts failed: {error}");
        let error = error.into();
        (self.on_event)(&FleetEvent::DatabaseFailed { error });
    }

    fn has_leases(&self) -> bool {
        self.claims().next().is_some()
    }

    fn claims(&self) -> impl Iterator<Item = &Claim> {
        let running = self.running.values().map(|(claim, _)| claim);
        let done = self.done.iter().map(|done| &done.claim);
        running.chain(&self.queue).chain(done)
    }

    fn settings(&self) -> &Settings {
        &self.worker.shared.settings
    }

    fn tables(&self) -> &Tables {
        &self.worker.shared.tables
    }
}
