//! What a host does with one account.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use super::account_fleet::Shared;
use super::claims::{Claim, Done};
use super::fleet_event::FleetEvent;
use super::gate::{AccountGate, HostGate};
use crate::auth::BoxFuture;
use crate::client::Account;
use crate::error::{Error, Result};
use crate::model::AccountId;
use crate::sync::outbox::Outbox;

/// The wait after a first failure. It doubles with each further one.
const FIRST_WAIT: f64 = 5.0;

/// The longest wait after failures, unless the interval is longer.
const LONGEST_WAIT: f64 = 5.0 * 60.0;

/// How long the user's function may take.
const OPENING: Duration = Duration::from_secs(60);

/// An entry that was not announced is looked for with every so many claims of its account.
const LOOK_EVERY: i64 = 4;

/// How many characters of a failure are stored.
const LONGEST_TEXT: usize = 300;

/// The user's function that logs an account in.
pub(super) type Open = Arc<dyn Fn(AccountId) -> BoxFuture<'static, Result<Account>> + Send + Sync>;

/// What all work of a host shares.
#[derive(Clone)]
pub(super) struct Worker {
    pub(super) shared: Arc<Shared>,
    pub(super) gate: Arc<HostGate>,
    pub(super) open: Open,
}

/// The work on an account, which ended.
pub(super) struct Finished {
    /// `None`: it was stopped on the way, so the account stays due.
    pub(super) done: Option<Done>,
    pub(super) events: Vec<FleetEvent>,
}

/// One account that is worked on.
struct Work<'a> {
    worker: &'a Worker,
    gate: Arc<AccountGate>,
    id: AccountId,
    done: Done,
    events: Vec<FleetEvent>,
    /// A pass over the outbox stopped before its end, so that it is tried later.
    has_stopped: bool,
}

impl Worker {
    pub(super) async fn work(self, claim: Claim) -> Finished {
        let mut work = self.begin(claim);
        let result = work.run().await;
        work.end(result.err())
    }

    /// The end of a task that panicked, in the user's function most likely.
    pub(super) fn panicked(&self, claim: Claim) -> Finished {
        let work = self.begin(claim);
        work.end(Some(Error::config("the work on the account panicked")))
    }

    fn begin(&self, claim: Claim) -> Work<'_> {
        let id = AccountId::from(&*claim.account);
        Work {
            worker: self,
            gate: Arc::new(self.gate.account(id.clone())),
            id,
            done: Done::begin(claim),
            events: Vec::new(),
            has_stopped: false,
        }
    }
}

impl Work<'_> {
    async fn run(&mut self) -> Result<()> {
        let shared = &*self.worker.shared;
        let account = self.open().await?;
        let clock = &self.done.claim.clock;
        let replica = (shared.on_replica)(account.replica(Arc::clone(&shared.store)));
        let replica = replica.clock(clock.clone());
        let outbox = (shared.on_outbox)(replica.outbox()).clock(clock.clone());
        if self.is_pass_due(&outbox).await? {
            self.pass(&outbox).await?;
        }
        if self.done.claim.sync_in() <= 0.0 && !self.done.login_needed {
            let report = replica.sync().await?;
            self.done.synced = true;
            self.tell(|account| FleetEvent::Synced { account, report });
        }
        Ok(())
    }

    async fn open(&self) -> Result<Account> {
        let opening = (self.worker.open)(self.id.clone());
        let Ok(opened) = tokio::time::timeout(OPENING, opening).await else {
            let what = "the function that opens accounts took longer than a minute";
            let late = io::Error::new(io::ErrorKind::TimedOut, what);
            return Err(Error::token_unavailable(late));
        };
        let account = opened?;
        if *account.id() != self.id {
            let what =
                "the function that opens accounts returned another account than it was called for";
            return Err(Error::config(what));
        }
        Ok(account.with_gate(Arc::clone(&self.gate) as _))
    }

    /// Whether the outbox has something to do. What is announced makes it due; the look is for what was not.
    async fn is_pass_due(&self, outbox: &Outbox) -> Result<bool> {
        let claim = &self.done.claim;
        if self.done.outbox_in.is_some_and(|wait| wait <= 0.0) {
            return Ok(true);
        }
        // The first claim of an account, and then not those of all accounts in the same round.
        let turn: i64 = claim.account.bytes().map(i64::from).sum();
        let looks = claim.number == 1 || claim.number.wrapping_add(turn) % LOOK_EVERY == 0;
        Ok(looks && outbox.version().await? != claim.outbox_version)
    }

    async fn pass(&mut self, outbox: &Outbox) -> Result<()> {
        let pass = outbox.pass_once().await?;
        self.done.outbox_version = pass.version;
        self.done.outbox_in = pass.due_in.map(|wait| wait.as_secs_f64());
        self.done.waiting = pass.report.waiting;
        self.done.needs_attention = pass.report.needs_attention + pass.report.refused;
        self.done.login_needed = pass.report.login_needed;
        self.has_stopped = pass.report.stopped_by.is_some();
        self.done.failure.clone_from(&pass.report.stopped_by);
        let is_idle = pass.report.requests > 0 && pass.report.confirmed == 0;
        self.done.idle_passes = if is_idle {
            self.done.claim.idle_passes + 1
        } else {
            0
        };
        self.tell(|account| FleetEvent::Passed {
            account,
            report: pass.report,
        });
        Ok(())
    }

    fn end(mut self, error: Option<Error>) -> Finished {
        let interval = self.worker.shared.settings.interval.as_secs_f64();
        let has_failed = error.is_some() || self.has_stopped;
        if has_failed && self.worker.gate.is_closed() {
            return Finished {
                done: None,
                events: self.events,
            };
        }
        let claim = &self.done.claim;
        // Another host may get replies: the account is due for it.
        let is_cut_off = has_failed && self.worker.gate.cut_off_for().is_some();
        if is_cut_off {
            (self.done.failures, self.done.idle_passes) = (claim.failures, claim.idle_passes);
        }
        self.done.told = self.gate.paused_for().map(|left| left.as_secs_f64());
        self.done.sync_in = claim.sync_in();
        if self.done.synced {
            self.done.sync_in = next_sync(claim.sync_in(), interval);
        }
        let idle_wait = wait_after(self.done.idle_passes.saturating_sub(1), interval);
        self.done.outbox_in = self.done.outbox_in.map(|wait| wait.max(idle_wait));
        self.done.due_in =
            (self.done.outbox_in).map_or(self.done.sync_in, |wait| wait.min(self.done.sync_in));
        if has_failed && !is_cut_off {
            self.done.failures = claim.failures.saturating_add(1);
            self.done.due_in = self
                .done
                .due_in
                .max(wait_after(self.done.failures, interval));
        }
        self.done.due_in = self.done.due_in.max(self.done.told.unwrap_or(0.0)).max(0.0);
        if let Some(error) = error {
            self.done.login_needed = error.is_reauth_required();
            self.done.failure = Some(error.to_string());
            let again_in = Duration::from_secs_f64(self.done.due_in);
            self.tell(|account| FleetEvent::Failed {
                account,
                error,
                again_in,
            });
        }
        let failure = self.done.failure.take();
        self.done.failure = failure.map(|text| text.chars().take(LONGEST_TEXT).collect());
        Finished {
            done: Some(self.done),
            events: self.events,
        }
    }

    fn tell(&mut self, event: impl FnOnce(AccountId) -> FleetEvent) {
        self.events.push(event(self.id.clone()));
    }
}

impl Done {
    pub(super) fn begin(claim: Claim) -> Self {
        Self {
            sync_in: claim.sync_in(),
            outbox_in: claim.outbox_in(),
            due_in: 0.0,
            told: None,
            outbox_version: claim.outbox_version,
            failures: 0,
            failure: None,
            login_needed: false,
            idle_passes: claim.idle_passes,
            waiting: claim.waiting,
            needs_attention: claim.needs_attention,
            synced: false,
            claim,
        }
    }
}

/// In how many seconds the next sync is due, after one that was due in `sync_in`, which is negative when it was late.
///
/// From when it was due, so that a delay does not add up; not so soon that a fleet that was off for long does everything
/// twice.
pub(super) fn next_sync(sync_in: f64, interval: f64) -> f64 {
    (sync_in + jittered(interval)).max(interval / 2.0)
}

/// The wait after so many failures in a row, in seconds.
pub(super) fn wait_after(failures: u32, interval: f64) -> f64 {
    let Some(doublings) = failures.checked_sub(1) else {
        return 0.0;
    };
    let wait = FIRST_WAIT * 2_f64.powi(doublings.min(30).cast_signed());
    jittered(wait.min(LONGEST_WAIT.max(interval)))
}

/// Accounts that were due at the same time must not stay so.
fn jittered(wait: f64) -> f64 {
    wait * (0.9 + 0.2 * fastrand::f64())
}
