//! One pass: everything that is due now, by one process at a time.

use std::collections::HashMap;
use std::future::Future;
use std::pin::pin;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

use futures_util::future::{Either, select};

use super::entry::{EntryState, Reason};
use super::journal::{Draft, Snapshot};
use super::lane::{Next, next};
use super::look::Synced;
use super::outbox::Outbox;
use super::report::OutboxReport;
use super::stored::Lease;
use crate::error::{Error, Result};
use crate::model::Timestamp;

/// The wait after a first failure. It doubles with each further one.
const FIRST_WAIT: Duration = Duration::from_secs(5);

/// The longest wait after failures.
const LONGEST_WAIT: Duration = Duration::from_secs(5 * 60);

/// How old the replica may be when a creation is sent. Whatever appeared since could be taken for it if its reply is lost.
const FRESH: Duration = Duration::from_secs(5 * 60);

/// How often records that arrive late are looked for.
const STRAY_LOOK_EVERY: Duration = Duration::from_secs(60 * 60);

/// What only this process knows: what it waits for. It is not stored, since it is over when the process is.
#[derive(Debug, Default)]
pub(super) struct Waits {
    pub(super) pause: Option<Pause>,
    /// Entries for which the service gave no usable answer, how often in a row, and when they are tried again.
    pub(super) entries: HashMap<u64, (u32, SystemTime)>,
    failures: u32,
    /// The lease that this process took last.
    lease: u64,
    synced: Option<(SystemTime, Synced)>,
    strays_looked_at: Option<SystemTime>,
}

/// Why nothing is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pause {
    Login,
    Until(SystemTime),
}

/// Counts requests.
#[derive(Debug, Default)]
pub(super) struct Requests(AtomicU64);

impl Requests {
    pub(super) fn add(&self, requests: u64) {
        self.0.fetch_add(requests, Ordering::Relaxed);
    }

    fn total(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// The right to send, and what was done with it.
pub(super) struct Pass<'a> {
    pub(super) outbox: &'a Outbox,
    pub(super) requests: Requests,
    lease: u64,
    report: OutboxReport,
}

/// When the next pass has something to do.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Due {
    /// A look, or the end of another process's lease: time alone brings it.
    pub(super) settles_at: Option<SystemTime>,
    /// Another try to reach the service.
    pub(super) retries_at: Option<SystemTime>,
}

impl Due {
    fn settle(&mut self, at: SystemTime) {
        self.settles_at = Some(self.settles_at.map_or(at, |before| before.min(at)));
    }

    fn retry(&mut self, at: SystemTime) {
        self.retries_at = Some(self.retries_at.map_or(at, |before| before.min(at)));
    }

    pub(super) fn at(self) -> Option<SystemTime> {
        self.settles_at.into_iter().chain(self.retries_at).min()
    }
}

impl Outbox {
    /// Sends everything that is due, looks for what is unconfirmed until that is settled, and ends. What waits for reception,
    /// a login or a decision stays.
    ///
    /// The future may be dropped at any time: what was in flight is looked for by the next pass.
    ///
    /// # Errors
    ///
    /// [`is_store`](Error::is_store): nothing was sent that was not marked before. Failures of the service are in the report
    /// and in the entries.
    pub async fn send(&self) -> Result<OutboxReport> {
        let mut total = OutboxReport::default();
        loop {
            let (report, due) = self.pass().await?;
            total.add(report);
            let Some(at) = due
                .settles_at
                .filter(|_| total.stopped_by.is_none() && !total.login_needed)
            else {
                return Ok(total);
            };
            self.settings.clock.sleep(self.time_until(at)).await;
        }
    }

    /// One pass, after those of this process that run.
    pub(super) async fn pass(&self) -> Result<(OutboxReport, Due)> {
        let _alone = self.shared.passing.lock().await;
        let mut pass = Pass {
            outbox: self,
            requests: Requests::default(),
            lease: 0,
            report: OutboxReport::default(),
        };
        let result = pass.run().await;
        // Whatever happened, the next pass of any process need not wait for this one.
        let released = pass.release().await;
        let mut due = result?;
        released?;
        let snapshot = self.journal().load().await?;
        due = pass.count(&snapshot, due);
        Ok((pass.report, due))
    }

    pub(super) fn time_until(&self, at: SystemTime) -> Duration {
        at.duration_since(self.now()).unwrap_or_default()
    }

    /// Whether an instant has come. One that is further away than it was ever set means that the clock was set back.
    pub(super) fn has_come(&self, at: &Timestamp, longest: Duration) -> bool {
        let Some(at) = at.to_time() else {
            return true;
        };
        self.time_until(at).is_zero() || self.time_until(at) > longest
    }

    pub(super) fn with_waits<T>(&self, with: impl FnOnce(&mut Waits) -> T) -> T {
        let mut waits = self
            .shared
            .waits
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        with(&mut waits)
    }

    /// The replica, if it is complete up to some minutes ago and no request failed since.
    pub(super) fn fresh(&self) -> Option<Synced> {
        let now = self.now();
        self.with_waits(|waits| {
            let (at, synced) = waits.synced?;
            let age = now.duration_since(at).ok()?;
            (age < FRESH).then_some(synced)
        })
    }

    pub(super) fn set_fresh(&self, synced: Synced) {
        let now = self.now();
        self.with_waits(|waits| waits.synced = Some((now, synced)));
    }
}

impl Pass<'_> {
    async fn run(&mut self) -> Result<Due> {
        let mut due = Due::default();
        let now = self.outbox.now();
        let pause = self.outbox.with_waits(|waits| waits.pause);
        if let Some(Pause::Until(until)) =
            pause.filter(|pause| matches!(pause, Pause::Until(until) if now < *until))
        {
            self.report.stopped_by = Some(Reason::NoReception.to_string());
            due.retry(until);
            return Ok(due);
        }
        loop {
            let snapshot = self.outbox.journal().load().await?;
            let Some(step) = self.choose(&snapshot) else {
                return Ok(due);
            };
            if self.lease == 0 {
                if let Some(until) = self.take_lease().await? {
                    due.settle(until);
                    return Ok(due);
                }
                continue;
            }
            let done = match step {
                Step::Strays => self.look_for_strays(&snapshot).await,
                Step::Entry(Next::Send(id)) => self.send_entry(id).await,
                Step::Entry(Next::Settle(id)) => self.settle_entry(id).await,
                Step::TakeOver => Ok(true),
            };
            match done {
                // Another process has taken over.
                Ok(false) => self.lease = 0,
                Ok(true) => self.outbox.with_waits(|waits| {
                    (waits.pause, waits.failures) = (None, 0);
                    if let Step::Entry(Next::Send(id) | Next::Settle(id)) = step {
                        waits.entries.remove(&id);
                    }
                }),
                Err(error) if error.is_store() => return Err(error),
                Err(error) => {
                    if let Some(at) = self.failed(step, &error) {
                        due.retry(at);
                        return Ok(due);
                    }
                }
            }
        }
    }

    /// What is done next; `None`: nothing is due now.
    fn choose(&self, snapshot: &Snapshot) -> Option<Step> {
        let outbox = self.outbox;
        let now = outbox.now();
        let is_held = |id: &u64| {
            outbox.with_waits(|waits| waits.entries.get(id).is_some_and(|(_, at)| now < *at))
        };
        if self.lease == 0
            && snapshot
                .live
                .values()
                .any(|entry| entry.state == EntryState::Sending)
        {
            return Some(Step::TakeOver);
        }
        if !snapshot.head.watches.is_empty() {
            let looked = outbox.with_waits(|waits| waits.strays_looked_at);
            let age = looked.and_then(|at| now.duration_since(at).ok());
            if age.is_none_or(|age| age >= STRAY_LOOK_EVERY) {
                return Some(Step::Strays);
            }
        }
        next(&snapshot.live).into_iter().find_map(|step| {
            let (Next::Send(id) | Next::Settle(id)) = step;
            let entry = snapshot.live.get(&id)?;
            let is_due = entry
                .next_at
                .as_ref()
                .is_none_or(|at| outbox.has_come(at, outbox.settings.settle));
            (is_due && !is_held(&id)).then_some(Step::Entry(step))
        })
    }

    /// Keeps a failure that is no answer; returns when the pass can go on, if it cannot now.
    fn failed(&mut self, step: Step, error: &Error) -> Option<SystemTime> {
        let now = self.outbox.now();
        let told = error
            .retry_at()
            .max(error.retry_after().and_then(|wait| now.checked_add(wait)));
        let at = |failures: u32| {
            let wait = FIRST_WAIT
                .saturating_mul(2_u32.saturating_pow(failures))
                .min(LONGEST_WAIT);
            now.checked_add(wait).max(told).unwrap_or(now)
        };
        if error.is_reauth_required() {
            self.report.login_needed = true;
            self.report.stopped_by = Some(error.to_string());
            self.outbox.with_waits(|waits| {
                waits.pause = Some(Pause::Login);
                waits.synced = None;
            });
            return Some(at(4));
        }
        let concerns_all = error.is_transport()
            || error.is_rate_limited()
            || error.is_unavailable()
            || error.is_unauthorized();
        self.outbox.with_waits(|waits| {
            waits.synced = None;
            if let (false, Step::Entry(Next::Send(id) | Next::Settle(id))) = (concerns_all, step) {
                let failures = waits
                    .entries
                    .get(&id)
                    .map_or(0, |(failures, _)| failures + 1);
                waits.entries.insert(id, (failures, at(failures)));
                return None;
            }
            if let Step::Strays = step {
                waits.strays_looked_at = Some(now);
            }
            let at = at(waits.failures);
            waits.failures += 1;
            waits.pause = Some(Pause::Until(at));
            self.report.stopped_by = Some(error.to_string());
            Some(at)
        })
    }

    /// Takes the right to send; what was in flight with another one is looked for first. Returns until when another process
    /// has it.
    async fn take_lease(&mut self) -> Result<Option<SystemTime>> {
        let outbox = self.outbox;
        let own = outbox.with_waits(|waits| waits.lease);
        let result = outbox.journal().change(|draft| {
            if let Some(lease) = &draft.head.lease {
                let is_over =
                    lease.number == own || outbox.has_come(&lease.until, outbox.settings.lease);
                if let (false, Some(until)) = (is_over, lease.until.to_time()) {
                    return Ok(Err(until));
                }
            }
            draft.head.leases += 1;
            let number = draft.head.leases;
            draft.head.lease = Some(Lease {
                number,
                until: outbox.lease_until(),
            });
            draft.head.watches.retain(|watch| {
                watch
                    .until
                    .to_time()
                    .is_none_or(|until| outbox.now() < until)
            });
            let in_flight: Vec<u64> = (draft.live.values())
                .filter(|entry| entry.state == EntryState::Sending)
                .map(|entry| entry.id)
                .collect();
            for id in in_flight {
                if let Some(entry) = draft.entry(id) {
                    entry.state = EntryState::Unconfirmed;
                    entry.reason = Some(Reason::NoClearAnswer);
                    entry.looks = 0;
                }
            }
            Ok(Ok(number))
        });
        match result.await? {
            Ok(number) => {
                self.lease = number;
                outbox.with_waits(|waits| waits.lease = number);
                Ok(None)
            }
            Err(until) => Ok(Some(until)),
        }
    }

    /// Whether this process may still send, and for longer. Every write before a request goes through it.
    pub(super) fn hold(&self, draft: &mut Draft) -> bool {
        match &mut draft.head.lease {
            Some(lease) if lease.number == self.lease => {
                lease.until = self.outbox.lease_until();
                true
            }
            _ => false,
        }
    }

    /// Waits for a request, and says meanwhile that this process works.
    pub(super) async fn while_held<T>(&self, request: impl Future<Output = T>) -> T {
        let mut request = pin!(request);
        loop {
            let third = self.outbox.settings.lease / 3;
            let slept = pin!(self.outbox.settings.clock.sleep(third));
            match select(request.as_mut(), slept).await {
                Either::Left((result, _)) => return result,
                Either::Right(_) => {
                    // A store that fails now fails again when the result is written.
                    let _ = self
                        .outbox
                        .journal()
                        .change(|draft| Ok(self.hold(draft)))
                        .await;
                }
            }
        }
    }

    async fn release(&mut self) -> Result<()> {
        if self.lease == 0 {
            return Ok(());
        }
        let change = self.outbox.journal().change(|draft| {
            if draft
                .head
                .lease
                .as_ref()
                .is_some_and(|lease| lease.number == self.lease)
            {
                draft.head.lease = None;
            }
            Ok(())
        });
        change.await
    }

    /// What is left, and when.
    fn count(&mut self, snapshot: &Snapshot, mut due: Due) -> Due {
        self.report.requests = self.requests.total();
        let stopped = due.retries_at.is_some();
        for entry in snapshot.live.values() {
            match entry.state {
                EntryState::Refused => self.report.refused += 1,
                EntryState::NeedsAttention => self.report.needs_attention += 1,
                _ => self.report.waiting += 1,
            }
            if let Some(at) = entry
                .next_at
                .as_ref()
                .filter(|_| !stopped)
                .and_then(Timestamp::to_time)
            {
                due.settle(at);
            }
        }
        self.outbox.with_waits(|waits| {
            waits.entries.retain(|id, _| snapshot.live.contains_key(id));
            for (_, at) in waits.entries.values() {
                due.retry(*at);
            }
        });
        if let (false, Some(at)) = (
            snapshot.head.watches.is_empty(),
            self.outbox.now().checked_add(STRAY_LOOK_EVERY),
        ) {
            due.retry(at);
        }
        self.report.next_at = due.at().map(Timestamp::from);
        due
    }

    pub(super) fn confirmed(&mut self) {
        self.report.confirmed += 1;
    }

    pub(super) fn found_strays(&mut self, strays: u64) {
        self.report.strays += strays;
    }

    pub(super) fn looked_for_strays(&self) {
        let now = self.outbox.now();
        self.outbox
            .with_waits(|waits| waits.strays_looked_at = Some(now));
    }
}

impl Outbox {
    fn lease_until(&self) -> Timestamp {
        let now = self.now();
        now.checked_add(self.settings.lease).unwrap_or(now).into()
    }
}

/// What a pass does at a time.
#[derive(Clone, Copy, Debug)]
enum Step {
    /// Another process ended while it was sending.
    TakeOver,
    Strays,
    Entry(Next),
}

impl OutboxReport {
    fn add(&mut self, later: Self) {
        let before = std::mem::replace(self, later);
        self.confirmed += before.confirmed;
        self.requests += before.requests;
        self.strays += before.strays;
    }
}
