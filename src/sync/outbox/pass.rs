//! One pass: everything that is due now, by one process at a time.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

use super::account_outbox::Outbox;
use super::due::Due;
use super::entry::{EntryState, Reason};
use super::journal::Snapshot;
use super::lane::{Next, next};
use super::look::Looked;
use super::report::OutboxReport;
use super::step::LONGEST_RESEND;
use super::stored::findings;
use super::waits::{Pause, Requests, Wait, wait_after};
use crate::error::{Error, Result};
use crate::model::Timestamp;

/// How often records that arrive late are looked for.
pub(super) const STRAY_LOOK_EVERY: Duration = Duration::from_secs(60 * 60);

/// A wait that ends later was set before the clock was set back.
const LONGEST_PAUSE: Duration = Duration::from_secs(24 * 60 * 60);

/// How long the service may give no usable answer about an entry before a person is asked.
const UNCLEAR_FOR: Duration = Duration::from_secs(24 * 60 * 60);

/// The right to send, and what was done with it.
pub(super) struct Pass<'a> {
    pub(super) outbox: &'a Outbox,
    pub(super) requests: Requests,
    /// Whether this pass has read the whole list, and whether nothing changed meanwhile.
    pub(super) walked: tokio::sync::OnceCell<bool>,
    pub(super) looked: Mutex<Looked>,
    /// The number of the lease that this pass holds; 0: it has written nothing yet.
    pub(super) lease: AtomicU64,
    /// When the lease was taken or prolonged last, in milliseconds on the monotonic clock.
    pub(super) held_since: AtomicU64,
    pub(super) report: OutboxReport,
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
        self.forget_waits();
        let mut total = OutboxReport::default();
        loop {
            let (report, due) = Box::pin(self.pass()).await?;
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

    /// Sends what is due now, and ends without a wait for what is due later, such as the second look for a lost reply: for a
    /// scheduler, which calls it again at [`next_at`](OutboxReport::next_at), or at once when something is written.
    ///
    /// ```
    /// # equipment::example(async {
    /// # let fake = envd_sdk::fake::Fake::start().await;
    /// # let account = fake.client().build()?.account(fake.account_id());
    /// # use envd_sdk::model::{ConsignmentInput, FormType, PartyInput};
    /// # let input = ConsignmentInput::new([FormType::Lpac1], PartyInput::new("QAZZ7777"), PartyInput::new("QDZZ3333"));
    /// let outbox = account.outbox(envd_sdk::sync::store::MemorySync::new());
    /// outbox.save(input).await?;
    /// # fake.on_operation("CreateOrSaveConsignment").fault(envd_sdk::fake::Fault::dropped_before());
    /// // The request is lost on its way. It is sent again when it cannot arrive any more.
    /// let report = outbox.send_due().await?;
    /// assert_eq!(report.waiting, 1);
    /// assert!(report.next_at.is_some());
    /// # Ok(()) });
    /// ```
    ///
    /// # Errors
    ///
    /// As [`send`](Self::send).
    pub async fn send_due(&self) -> Result<OutboxReport> {
        let (report, _) = Box::pin(self.pass()).await?;
        Ok(report)
    }

    /// One pass, after those of this process that run.
    pub(super) async fn pass(&self) -> Result<(OutboxReport, Due)> {
        let _alone = self.shared.passing.lock().await;
        let mut pass = Pass {
            outbox: self,
            requests: Requests::default(),
            walked: tokio::sync::OnceCell::new(),
            looked: Mutex::default(),
            lease: AtomicU64::new(0),
            held_since: AtomicU64::new(0),
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
}

impl Pass<'_> {
    async fn run(&mut self) -> Result<Due> {
        let mut due = Due::default();
        let now = self.outbox.now();
        if let Some(Pause::Until(wait)) = self.outbox.with_waits(|waits| waits.pause)
            && wait.holds(now)
        {
            self.report.stopped_by = Some(Reason::NoReception.to_string());
            due.retry(wait.until);
            return Ok(due);
        }
        let paused_until = self.outbox.journal().load().await?.head.pause;
        if let Some(until) =
            paused_until.filter(|until| !self.outbox.has_come(until, LONGEST_PAUSE))
        {
            self.report.stopped_by = Some(Reason::NoReception.to_string());
            due.retry(until.to_time().unwrap_or(now));
            return Ok(due);
        }
        let mut last = None;
        loop {
            let snapshot = self.outbox.journal().load().await?;
            let Some(step) = self.choose(&snapshot) else {
                return Ok(due);
            };
            if last.replace((step, snapshot.version)) == Some((step, snapshot.version)) {
                // It has changed nothing, so it would change nothing now.
                self.put_off(step);
                continue;
            }
            if let Some(until) = self.held_by_another(&snapshot.head) {
                due.settle(until);
                return Ok(due);
            }
            let done = match step {
                Step::TakeOver => self
                    .change_held(|_| Ok(()))
                    .await
                    .map(|done| done.is_some()),
                Step::Strays => self.look_for_strays(&snapshot).await,
                Step::Entry(next) => self.send_or_settle(next, &snapshot).await,
            };
            match (done, step) {
                (Ok(_), Step::TakeOver) => {}
                (Ok(_), _) => self.outbox.with_waits(|waits| {
                    (waits.pause, waits.failures) = (None, 0);
                    if let Some(id) = step.entry() {
                        waits.entries.remove(&id);
                    }
                }),
                (Err(error), _) if error.is_store() => return Err(error),
                (Err(error), Step::Entry(Next::Send(id))) if error.is_forbidden() => {
                    self.forbidden(id, &error).await?;
                }
                (Err(error), _) => {
                    if let Some(at) = self.failed(step, &error) {
                        due.retry(at);
                        self.keep_pause(&error).await?;
                        return Ok(due);
                    }
                    if let Some(id) = step.entry() {
                        self.note_unclear(id, &error).await?;
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
            let wait = outbox.with_waits(|waits| waits.entries.get(id).map(|(_, wait)| *wait));
            wait.is_some_and(|wait| wait.holds(now))
        };
        if self.lease.load(Ordering::Relaxed) == 0
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
        // The clock of the process that wrote it may be ahead.
        let longest = outbox.settings.settle.max(LONGEST_RESEND).saturating_mul(2);
        next(&snapshot.live).into_iter().find_map(|step| {
            let (Next::Send(id) | Next::Settle(id)) = step;
            let entry = snapshot.live.get(&id)?;
            let is_due = entry
                .next_at
                .as_ref()
                .is_none_or(|at| outbox.has_come(at, longest));
            (is_due && !is_held(&id)).then_some(Step::Entry(step))
        })
    }

    /// The wait that the service asked for holds for all processes and passes of the account.
    async fn keep_pause(&self, error: &Error) -> Result<()> {
        let now = self.outbox.now();
        let Some(until) = told(error, now) else {
            return Ok(());
        };
        let change = self.outbox.journal().change(|draft| {
            draft.head.pause = Some(until.into());
            Ok(())
        });
        change.await
    }

    /// The service gives no usable answer about an entry: after a day a person is asked.
    async fn note_unclear(&self, id: u64, error: &Error) -> Result<()> {
        let now = self.outbox.now();
        let change = self.outbox.journal().change(|draft| {
            let Some(entry) = draft.entry(id) else {
                return Ok(());
            };
            let since = entry.unclear_since.get_or_insert_with(|| now.into());
            let age = since
                .to_time()
                .and_then(|since| now.duration_since(since).ok());
            if age.is_some_and(|age| age >= UNCLEAR_FOR) {
                entry.findings = findings(error.server_errors());
                entry.needs_attention(Reason::NoUsableAnswer);
            }
            Ok(())
        });
        change.await
    }

    /// Keeps a failure that is no answer; returns when the pass can go on, if it cannot now.
    fn failed(&mut self, step: Step, error: &Error) -> Option<SystemTime> {
        let now = self.outbox.now();
        let told = told(error, now);
        let at = |failures| {
            now.checked_add(wait_after(failures))
                .max(told)
                .unwrap_or(now)
        };
        // An access token that is refused although it was renewed is of a login that is dead as well.
        if error.is_reauth_required() || error.is_unauthorized() {
            self.report.login_needed = true;
            self.report.stopped_by = Some(error.to_string());
            self.outbox.with_waits(|waits| {
                waits.pause = Some(Pause::Login);
                waits.listed_at = None;
            });
            return Some(at(4));
        }
        if is_entry_failure(error) && step.entry().is_some() {
            self.outbox.with_waits(|waits| waits.listed_at = None);
            self.put_off(step);
            return None;
        }
        self.outbox.with_waits(|waits| {
            waits.listed_at = None;
            if let Step::Strays = step {
                waits.strays_looked_at = Some(now);
            }
            let at = at(waits.failures);
            waits.failures += 1;
            waits.pause = Some(Pause::Until(Wait {
                since: now,
                until: at,
            }));
            self.report.stopped_by = Some(error.to_string());
            Some(at)
        })
    }

    /// Tries an entry later, and goes on with others.
    fn put_off(&self, step: Step) {
        let now = self.outbox.now();
        self.outbox.with_waits(|waits| {
            let Some(id) = step.entry() else {
                return;
            };
            let before = waits.entries.get(&id);
            let failures = before.map_or(0, |(failures, _)| failures + 1);
            let until = now.checked_add(wait_after(failures)).unwrap_or(now);
            let wait = Wait { since: now, until };
            waits.entries.insert(id, (failures, wait));
        });
    }

    /// The user may not do what the entry needs, or not any more.
    async fn forbidden(&self, id: u64, error: &Error) -> Result<()> {
        let change = self.change_held(|draft| {
            if let Some(entry) = draft
                .entry(id)
                .filter(|entry| entry.state == EntryState::Queued)
            {
                entry.forbid(error);
            }
            Ok(())
        });
        change.await.map(drop)
    }

    pub(super) fn looked_for_strays(&self) {
        let now = self.outbox.now();
        self.outbox
            .with_waits(|waits| waits.strays_looked_at = Some(now));
    }
}

/// What a pass does at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    /// Another process ended while it was sending.
    TakeOver,
    Strays,
    Entry(Next),
}

impl Step {
    fn entry(self) -> Option<u64> {
        match self {
            Self::Entry(Next::Send(id) | Next::Settle(id)) => Some(id),
            Self::TakeOver | Self::Strays => None,
        }
    }
}

impl OutboxReport {
    fn add(&mut self, later: Self) {
        let before = std::mem::replace(self, later);
        self.confirmed += before.confirmed;
        self.requests += before.requests;
        self.strays += before.strays;
    }
}

/// Until when the service asked to wait.
fn told(error: &Error, now: SystemTime) -> Option<SystemTime> {
    let after = error.retry_after().and_then(|wait| now.checked_add(wait));
    error.retry_at().max(after)
}

/// Whether the service has answered, and what it said is about one record.
pub(super) fn is_entry_failure(error: &Error) -> bool {
    let is_answer =
        error.is_not_found() || error.is_rejected() || error.is_decode() || error.is_protocol();
    is_answer && !error.is_transient()
}
