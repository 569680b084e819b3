//! One pass: everything that is due now, by one process at a time.

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

use super::account_outbox::{Memory, Outbox};
use super::decide::{Action, Circumstances, decide, remaining};
use super::entry::{EntryState, Reason};
use super::observe::{Observation, Reader};
use super::ordering::is_next;
use super::outbox_store::Snapshot;
use super::report::OutboxReport;
use super::stored::{Event, Stored, findings};
use crate::error::{Error, Result};
use envd_sdk::model::Timestamp;

/// How often late duplicates are looked for.
const LOOK_EVERY: Duration = Duration::from_secs(60 * 60);

/// How many steps of one entry are made at once: more than any needs that ends.
const STEPS: u32 = 16;

/// The wait after a first failure. It doubles with each further one.
const FIRST_WAIT: Duration = Duration::from_secs(5);

/// The longest wait after failures.
const LONGEST_WAIT: Duration = Duration::from_secs(5 * 60);

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// The right to send, and what was done with it.
pub(super) struct Pass<'a> {
    pub(super) outbox: &'a Outbox,
    pub(super) reader: Reader<'a>,
    /// The number of the lease that this pass holds; 0: it has written nothing yet.
    pub(super) lease: AtomicU64,
    /// When the lease was taken or prolonged last, in milliseconds on the monotonic clock.
    pub(super) held_since: AtomicU64,
    pub(super) report: OutboxReport,
    due: Due,
    /// Whether entries are tried again before their time, and those that failed again.
    retries_now: bool,
    failed: HashSet<u64>,
}

/// When the next pass has something to do.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Due {
    /// Time alone brings it: another look, or the end of another process's lease.
    pub(super) reconciles_at: Option<SystemTime>,
    /// Another try to reach the service, or to send.
    pub(super) retries_at: Option<SystemTime>,
}

impl Due {
    fn reconcile(&mut self, at: SystemTime) {
        self.reconciles_at = Some(self.reconciles_at.map_or(at, |before| before.min(at)));
    }

    fn retry(&mut self, at: SystemTime) {
        self.retries_at = Some(self.retries_at.map_or(at, |before| before.min(at)));
    }

    pub(super) fn at(self) -> Option<SystemTime> {
        self.reconciles_at.into_iter().chain(self.retries_at).min()
    }
}

/// What became of a step.
enum Step {
    /// Another one follows.
    GoesOn,
    /// Nothing more is due of the entry now.
    Ended,
    /// Nothing more can be done in this pass.
    Stopped,
}

impl Outbox {
    /// Sends everything that is due, looks for what is unconfirmed until that is settled, and ends. What waits for reception,
    /// a login or a decision stays.
    ///
    /// The future may be dropped at any time: what was in flight is looked for by the next pass.
    ///
    /// # Errors
    ///
    /// [`Error::Store`](crate::Error::Store): nothing was sent that was not marked before. Failures of the service are in the report
    /// and in the entries.
    pub async fn send(&self) -> Result<OutboxReport> {
        self.forget_waits();
        let mut total = OutboxReport::default();
        loop {
            let (report, due) = Box::pin(self.pass()).await?;
            total.add(report);
            let Some(at) = due
                .reconciles_at
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
    /// use envd_sync::{Outbox, Replica};
    /// # let input = ConsignmentInput::new([FormType::Lpac1], PartyInput::new("QAZZ7777"), PartyInput::new("QDZZ3333"));
    /// let outbox = Outbox::new(&Replica::new(&account, envd_sync::store::MemorySync::new()));
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
            reader: Reader::new(self),
            lease: AtomicU64::new(0),
            held_since: AtomicU64::new(0),
            report: OutboxReport::default(),
            due: Due::default(),
            retries_now: self.with_memory(|memory| std::mem::take(&mut memory.retries_now)),
            failed: HashSet::new(),
        };
        let result = pass.run().await;
        // Whatever happened, the next pass of any process need not wait for this one.
        let released = pass.release().await;
        result?;
        released?;
        let snapshot = self.store().load().await?;
        Ok((pass.count(&snapshot), pass.due))
    }

    pub(super) fn time_until(&self, at: SystemTime) -> Duration {
        at.duration_since(self.now()).unwrap_or_default()
    }

    /// Whether an instant has come. One that is further away than it was ever set means that the clock was set back.
    pub(super) fn is_due(&self, at: &Timestamp, longest: Duration) -> bool {
        at.to_time()
            .and_then(|at| remaining(at, self.now(), longest))
            .is_none()
    }
}

impl Pass<'_> {
    /// Goes over all entries in their order, until that changes nothing any more.
    async fn run(&mut self) -> Result<()> {
        if let Some(until) = self.paused_until().await? {
            self.report.stopped_by = Some(Reason::NoReception.to_string());
            self.due.retry(until);
            return Ok(());
        }
        loop {
            let snapshot = self.outbox.store().load().await?;
            self.due = Due::default();
            if let Some(until) = self.held_by_another(&snapshot.head) {
                self.due.reconcile(until);
                return Ok(());
            }
            let has_lease = self.lease.load(Ordering::Relaxed) > 0;
            if !has_lease
                && snapshot
                    .entries()
                    .any(|entry| entry.state() == EntryState::Sending)
            {
                // Another process ended while it was sending.
                self.change_held(|_| Ok(())).await?;
                continue;
            }
            if self.is_time_for_duplicates(&snapshot) {
                let looked = self.look_for_duplicates(&snapshot).await;
                if let Err(error) = looked {
                    self.outbox.with_memory(|memory| {
                        memory.duplicates_looked_at = Some(self.outbox.now());
                    });
                    self.fail(None, error).await?;
                    return Ok(());
                }
                continue;
            }
            let mut queue: Vec<(u64, u64)> = snapshot
                .entries()
                .map(|entry| (entry.order, entry.id))
                .collect();
            queue.sort_unstable();
            let version = snapshot.version;
            drop(snapshot);
            for (_, id) in queue {
                if let Step::Stopped = self.carry_out(id).await? {
                    return Ok(());
                }
            }
            if self.outbox.store().head().await?.0 == version {
                return Ok(());
            }
        }
    }

    /// Until when nothing is sent, after failures or as the service asked.
    async fn paused_until(&self) -> Result<Option<SystemTime>> {
        let now = self.outbox.now();
        let own = self.outbox.with_memory(|memory| memory.paused_until);
        let asked = self.outbox.store().load().await?.head.pause;
        let pauses = own
            .into_iter()
            .chain(asked.and_then(|until| until.to_time()));
        Ok(pauses.filter_map(|until| remaining(until, now, DAY)).max())
    }

    /// Makes steps of an entry until it waits.
    async fn carry_out(&mut self, id: u64) -> Result<Step> {
        let mut seen = None;
        for _ in 0..STEPS {
            let snapshot = self.outbox.store().load().await?;
            if let Some(until) = self.held_by_another(&snapshot.head) {
                self.due = Due::default();
                self.due.reconcile(until);
                return Ok(Step::Stopped);
            }
            let Some(entry) = snapshot.live.get(&id).cloned() else {
                return Ok(Step::Ended);
            };
            let step = match self.step(&entry, snapshot, &mut seen).await {
                Ok(step) => step,
                Err(error) => self.fail(Some(&entry), error).await?,
            };
            match step {
                Step::GoesOn => {}
                step => return Ok(step),
            }
        }
        Ok(Step::Ended)
    }

    async fn step(
        &mut self,
        entry: &Arc<Stored>,
        snapshot: Snapshot,
        seen: &mut Option<Observation>,
    ) -> Result<Step> {
        let when = Circumstances {
            is_next: is_next(snapshot.entries(), entry),
            retries_now: self.retries_now && !self.failed.contains(&entry.id),
            service: self.outbox.service_fields(snapshot.head.service),
            now: self.outbox.now(),
            reconcile_after: self.outbox.settings.reconcile_after,
        };
        // Whoever writes while somebody has a snapshot copies all entries.
        drop(snapshot.live);
        match decide(entry, seen.as_ref(), &when) {
            Action::Wait => return Ok(Step::Ended),
            Action::WaitUntil(at) => {
                self.due.reconcile(at);
                return Ok(Step::Ended);
            }
            Action::RetryAt(at) => {
                self.due.retry(at);
                return Ok(Step::Ended);
            }
            Action::Observe => {
                let observation = self.while_held(self.reader.observe(entry)).await;
                *seen = observation.transpose()?;
            }
            Action::Send => {
                if let Some(seen) = seen.take() {
                    self.send(entry, &seen).await?;
                }
            }
            Action::Append(event) => {
                *seen = None;
                self.append_if_same(entry, event).await?;
            }
        }
        self.outbox.with_memory(Memory::forget_failures);
        Ok(Step::GoesOn)
    }

    /// Something becomes true of an entry that is as it was when that was decided.
    async fn append_if_same(&mut self, entry: &Stored, event: Event) -> Result<()> {
        let is_confirmed = matches!(event, Event::Confirmed { .. });
        let appended = self.change_held(|draft| {
            let is_same = draft.get(entry.id) == Some(entry);
            if is_same {
                draft.append(entry.id, event.clone());
            }
            Ok(is_same)
        });
        let is_appended = appended.await? == Some(true);
        self.report.confirmed += u64::from(is_appended && is_confirmed);
        Ok(())
    }

    /// A failure that is no answer stops the pass. One that is about an entry makes that one wait; after a day of them, or if
    /// the user may not do it, a person is asked.
    async fn fail(&mut self, entry: Option<&Stored>, error: Error) -> Result<Step> {
        let (outbox, now) = (self.outbox, self.outbox.now());
        if !matches!(error, Error::Client(_) | Error::Reply(_)) {
            return Err(error);
        }
        let request = error.client();
        // An access token that is refused although it was renewed is of a login that is dead as well.
        let is_login =
            request.is_some_and(|error| error.is_reauth_required() || error.is_unauthorized());
        if let Some(entry) = entry.filter(|_| !is_login) {
            let is_queued = entry.state() == EntryState::Queued;
            if request.is_some_and(envd_sdk::Error::is_forbidden) && is_queued {
                let event = Event::asked_after(Reason::Forbidden, &error);
                self.append_if_same(entry, event).await?;
                return Ok(Step::GoesOn);
            }
            if is_entry_failure(&error) {
                outbox.with_memory(|memory| memory.listed_at = None);
                self.failed.insert(entry.id);
                self.append_if_same(entry, unclear(entry, &error, now))
                    .await?;
                return Ok(Step::GoesOn);
            }
        }
        let after = request.and_then(envd_sdk::Error::retry_after);
        let after = after.and_then(|wait| now.checked_add(wait));
        let asked = request.and_then(envd_sdk::Error::retry_at).max(after);
        let failures = outbox.with_memory(|memory| {
            memory.listed_at = None;
            if !is_login {
                memory.failures += 1;
            }
            memory.failures
        });
        let wait = wait_after(if is_login { 4 } else { failures - 1 });
        let until = now.checked_add(wait).max(asked).unwrap_or(now);
        outbox.with_memory(|memory| {
            memory.is_login_needed = is_login;
            memory.paused_until = Some(until).filter(|_| !is_login);
        });
        self.report.login_needed |= is_login;
        self.report.stopped_by = Some(error.to_string());
        // Nothing is due before the pass can go on.
        self.due = Due::default();
        self.due.retry(until);
        if let Some(until) = asked {
            // It holds for all processes of the account.
            let change = outbox.change(|draft| {
                draft.head.pause = Some(until.into());
                Ok(())
            });
            change.await?;
        }
        Ok(Step::Stopped)
    }

    fn is_time_for_duplicates(&self, snapshot: &Snapshot) -> bool {
        let looked = self
            .outbox
            .with_memory(|memory| memory.duplicates_looked_at);
        let age = looked.and_then(|at| self.outbox.now().duration_since(at).ok());
        !snapshot.head.watches.is_empty() && age.is_none_or(|age| age >= LOOK_EVERY)
    }

    /// Looks for records that agree with what an entry at its end has sent, appeared since, and belong to no entry.
    async fn look_for_duplicates(&mut self, snapshot: &Snapshot) -> Result<()> {
        let (outbox, now) = (self.outbox, self.outbox.now());
        let listed = self
            .while_held(self.reader.sync_completely())
            .await
            .transpose()?;
        if listed.is_none() {
            return Ok(());
        }
        for watch in &snapshot.head.watches {
            let Some(entry) = outbox.store().past(watch.entry).await? else {
                continue;
            };
            let found = self.reader.appeared(&entry, watch.baseline, true);
            let found = match self.while_held(found).await {
                Some(Ok(found)) => found.ids(),
                // The next look reads it again. Other entries, and the end of the watch, do not wait for it.
                Some(Err(error)) if is_entry_failure(&error) => continue,
                Some(Err(error)) => return Err(error),
                None => return Ok(()),
            };
            let told = outbox.change_with_past(entry.id, |draft, past| {
                // It may have been removed from the history meanwhile.
                past.map_or(0, |past| draft.report_duplicates(past, &found))
            });
            self.report.late_duplicates += told.await?;
        }
        outbox.with_memory(|memory| memory.duplicates_looked_at = Some(now));
        let time = outbox.settings.duplicate_watch;
        let change = outbox.change(|draft| {
            draft.head.watches.retain(|watch| {
                let until = watch
                    .since
                    .to_time()
                    .and_then(|since| since.checked_add(time));
                // The clock of the process that wrote it may be ahead.
                until.is_some_and(|until| !outbox.is_due(&until.into(), time.saturating_mul(2)))
            });
            Ok(())
        });
        change.await
    }

    /// What was done, and what is left.
    fn count(&mut self, snapshot: &Snapshot) -> OutboxReport {
        for entry in snapshot.entries() {
            match entry.state() {
                EntryState::Refused => self.report.refused += 1,
                EntryState::NeedsAttention => self.report.needs_attention += 1,
                _ => self.report.waiting += 1,
            }
        }
        let next_look = self.outbox.now().checked_add(LOOK_EVERY);
        if let Some(at) = next_look.filter(|_| !snapshot.head.watches.is_empty()) {
            self.due.retry(at);
        }
        OutboxReport {
            requests: self.reader.requests(),
            next_at: self.due.at().map(Timestamp::from),
            ..std::mem::take(&mut self.report)
        }
    }
}

impl OutboxReport {
    fn add(&mut self, later: Self) {
        let before = std::mem::replace(self, later);
        self.confirmed += before.confirmed;
        self.confirmed_with_problems += before.confirmed_with_problems;
        self.requests += before.requests;
        self.late_duplicates += before.late_duplicates;
    }
}

/// The service gives no usable answer about an entry: it is tried again later, and after a day of this a person is asked.
fn unclear(entry: &Stored, error: &Error, now: SystemTime) -> Event {
    let standing = entry.standing();
    let since = standing.unclear_since.and_then(Timestamp::to_time);
    let since = since.unwrap_or(now);
    if now.duration_since(since).is_ok_and(|age| age >= DAY) {
        return Event::asked_after(Reason::NoUsableAnswer, error);
    }
    let wait = wait_after(standing.tries);
    Event::Unclear {
        since: since.into(),
        tries: standing.tries + 1,
        next_at: now.checked_add(wait).unwrap_or(now).into(),
        findings: findings(error.server_errors()),
    }
}

/// The wait after a number of failures in a row before this one.
fn wait_after(failures: u32) -> Duration {
    let wait = FIRST_WAIT.saturating_mul(2_u32.saturating_pow(failures));
    wait.min(LONGEST_WAIT)
}

/// Whether the service has answered, and what it said is about one record.
pub(super) fn is_entry_failure(error: &Error) -> bool {
    match error {
        Error::Client(error) => {
            let is_answer = error.is_not_found()
                || error.is_rejected()
                || error.is_decode()
                || error.is_protocol();
            is_answer && !error.is_retryable()
        }
        Error::Reply(_) => true,
        _ => false,
    }
}
