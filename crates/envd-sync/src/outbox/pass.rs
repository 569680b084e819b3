//! One pass: sends everything that is due now. Only one process at a time makes a pass.

use std::borrow::Cow;
use std::collections::HashSet;
use std::future::IntoFuture;
use std::time::{Duration, SystemTime};

use serde_json::json;

use super::apply::RowEvent;
use super::compare::ServiceRecord;
use super::decide::{
    Action, Observation, ObservedRecord, WriteReply, answer, decide, late_duplicates,
};
use super::lease::{LeaseGuard, PassEnd};
use super::observe::Reader;
use super::outbox::{Memory, Outbox};
use super::reading::record_of;
use super::report::OutboxReport;
use super::row::{ChangeRequest, Due, Owner, Question, Row, RowState, Sent, time_of};
use super::store::{Holder, seconds, whole};
use crate::error::{Error, Result};
use envd_sdk::model::{ConsignmentText, SavedConsignment, Timestamp};
use envd_sdk::{ErrorKind, Outcome, RetryPolicy};

/// The time between two searches for late duplicates.
const SEARCH_EVERY: Duration = Duration::from_secs(60 * 60);

/// The greatest number of steps of one row in a turn. No row needs as many, unless it loops.
const STEPS: u32 = 16;

/// The wait after the first failure. It doubles with each further failure in a row.
const FIRST_WAIT: Duration = Duration::from_secs(5);

/// The longest wait after failures.
const LONGEST_WAIT: Duration = Duration::from_secs(5 * 60);

/// The state of one pass.
struct Pass<'a> {
    outbox: &'a Outbox,
    reader: Reader<'a>,
    held: LeaseGuard<'a>,
    report: OutboxReport,
    next: Next,
    /// Whether rows with unusable answers are retried before their time.
    retries_now: bool,
    failed: HashSet<u64>,
}

/// When the next pass is due.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Next {
    /// When the next search after a lost reply is due, or another process's lease ends.
    pub(super) searches_at: Option<SystemTime>,
    /// When the next try to reach the service is due.
    retries_at: Option<SystemTime>,
}

impl Next {
    fn search(&mut self, at: SystemTime) {
        self.searches_at = Some(self.searches_at.map_or(at, |before| before.min(at)));
    }

    fn retry(&mut self, at: SystemTime) {
        self.retries_at = Some(self.retries_at.map_or(at, |before| before.min(at)));
    }

    pub(super) fn at(self) -> Option<SystemTime> {
        self.searches_at.into_iter().chain(self.retries_at).min()
    }
}

impl Outbox {
    /// Sends everything that is due. For requests without a clear answer, waits and searches until their outcome is known, unless the
    /// next wait is too long. Declarations that wait for reception, a login or a decision stay in the store.
    ///
    /// # Cancel safety
    ///
    /// The future may be dropped at any time. A request under way may still be carried out; the next pass searches for its effect
    /// before it sends anything for that declaration. Other processes send nothing until the [lease](Self::lease) of the dropped
    /// pass ends.
    ///
    /// # Errors
    ///
    /// [`Error::Store`](crate::Error::Store) when the store fails; every request that was sent had been stored first. Failures of the
    /// service are in the report and in the declarations.
    pub async fn send(&self) -> Result<OutboxReport> {
        self.forget_waits();
        let mut total = OutboxReport::default();
        let longest = self.reconcile_after.saturating_mul(2).max(self.lease);
        loop {
            let (report, next) = Box::pin(self.pass()).await?;
            total.add(report);
            let is_stopped = total.stopped_by.is_some() || total.login_needed;
            let wait = next.searches_at.map(|at| self.time_until(at));
            let Some(wait) = wait.filter(|wait| !is_stopped && *wait <= longest) else {
                return Ok(total);
            };
            self.clock.sleep(wait).await;
        }
    }

    /// Sends what is due now, and does not wait for what is due later, such as the second search after a lost reply. For use with a
    /// scheduler: call it again at [`next_at`](OutboxReport::next_at), and at once when something is written.
    ///
    /// ```
    /// # test_support::example(async {
    /// # let fake = envd_sdk::fake::Fake::start().await;
    /// # let account = fake.client().build()?.account(fake.account_id());
    /// # use envd_sdk::model::{ConsignmentInput, FormType, PartyInput};
    /// use envd_sync::{Outbox, Replica};
    /// # let input = ConsignmentInput::new([FormType::Lpac1], PartyInput::new("QAZZ7777"), PartyInput::new("QDZZ3333"));
    /// let outbox = Outbox::new(&Replica::new(&account, envd_sync::store::MemorySync::new()));
    /// outbox.save(input).await?;
    /// # fake.on_operation("CreateOrSaveConsignment").fault(envd_sdk::fake::Fault::dropped_before());
    /// // The request is lost on its way. It is sent again once it can no longer arrive.
    /// let report = outbox.send_due().await?;
    /// assert_eq!(report.waiting, 1);
    /// assert!(report.next_at.is_some());
    /// # Ok(()) });
    /// ```
    ///
    /// # Cancel safety
    ///
    /// As [`send`](Self::send).
    ///
    /// # Errors
    ///
    /// As [`send`](Self::send).
    pub async fn send_due(&self) -> Result<OutboxReport> {
        let (report, _) = Box::pin(self.pass()).await?;
        Ok(report)
    }

    /// Makes one pass, after any other pass of this process has ended.
    pub(super) async fn pass(&self) -> Result<(OutboxReport, Next)> {
        let _alone = self.shared.passing.lock().await;
        let mut pass = Pass {
            outbox: self,
            reader: Reader::new(self),
            held: LeaseGuard::new(self),
            report: OutboxReport::default(),
            next: Next::default(),
            retries_now: self.with_memory(|memory| std::mem::take(&mut memory.retries_now)),
            failed: HashSet::new(),
        };
        let result = pass.run().await.and_then(|()| pass.held.failure());
        // Release the lease in any case, so that the next pass of any process need not wait.
        let released = pass.held.release().await;
        match result {
            Ok(()) | Err(PassEnd::Reported) => {}
            Err(PassEnd::Overtaken) => {
                let until = pass.held.of_another(&self.store().head());
                pass.next = Next {
                    searches_at: until,
                    ..Next::default()
                };
            }
            Err(PassEnd::Failed(error)) => return Err(error),
        }
        released?;
        self.store().load().await?;
        Ok((pass.count(), pass.next))
    }
}

impl Pass<'_> {
    /// Goes over all open rows in order, until a round changes nothing.
    async fn run(&mut self) -> Result<(), PassEnd> {
        let store = self.outbox.store();
        loop {
            store.load().await?;
            self.next = Next::default();
            if let Some(until) = self.paused_until() {
                let trouble = self.outbox.with_memory(|memory| memory.trouble.clone());
                let unknown = || "the service asked to wait, or cannot be reached".to_owned();
                self.report.stopped_by = Some(trouble.unwrap_or_else(unknown));
                self.next.retry(until);
                return Ok(());
            }
            if self.held.of_another(&store.head()).is_some() {
                return Err(PassEnd::Overtaken);
            }
            let mut expecting = store.expecting(0).into_iter();
            let is_sending = expecting.any(|row| row.state == RowState::Sending);
            if !self.held.is_taken() && is_sending {
                // Another process ended while it was sending.
                self.held.change(|_| ()).await?;
                continue;
            }
            if let Err(stop) = self.search_for_duplicates().await {
                self.fail(None, stop).await?;
            }
            let version = store.version();
            for row in store.rows() {
                self.held.failure()?;
                self.carry_out(row.id).await?;
            }
            if store.version() == version {
                return Ok(());
            }
        }
    }

    /// The end of the pause after failures, or of the pause that the service asked for.
    fn paused_until(&self) -> Option<SystemTime> {
        let now = self.outbox.now();
        let own = self.outbox.with_memory(|memory| memory.paused_until);
        // If the clock was set back, the pause may seem longer than any pause can be.
        let own = own.filter(|until| {
            let left = until.duration_since(now).unwrap_or_default();
            !left.is_zero() && left <= LONGEST_WAIT
        });
        let asked = self.outbox.store().head().pause;
        let asked = asked.filter(|pause| pause.is_ahead(seconds(now)));
        own.max(asked.map(|pause| time_of(pause.until)))
    }

    /// Makes steps of a row until it has to wait.
    async fn carry_out(&mut self, id: u64) -> Result<(), PassEnd> {
        let mut read = None;
        for _ in 0..STEPS {
            let Some(row) = self.outbox.store().row(id) else {
                return Ok(());
            };
            match self.step(&row, &mut read).await {
                Ok(true) => self.held.failure()?,
                Ok(false) => return Ok(()),
                Err(stop) => return self.fail(Some(&row), stop).await,
            }
        }
        Ok(())
    }

    /// Makes one read, or one commit and its request; `false`: nothing more is due for the row now.
    async fn step(&mut self, row: &Row, read: &mut Option<Observation>) -> Result<bool, PassEnd> {
        // The user who wrote the intent may have logged in again.
        let is_open = matches!(
            row.state,
            RowState::Open { .. } | RowState::Asked(Question::AnotherUser(_))
        );
        let is_new = row.record.is_none() && row.adopt.is_none() && !row.is_creation_in_doubt();
        if !is_open || is_new && self.outbox.is_another_first(row) {
            return Ok(false);
        }
        match self.decided(row, read.as_ref()) {
            Action::Wait(due) => {
                match due.map(|due| time_of(due.until)) {
                    Some(at) if row.read_failures.is_some() => self.next.retry(at),
                    Some(at) => self.next.search(at),
                    None => {}
                }
                return Ok(false);
            }
            Action::Read(id) => {
                let observed = self.held.during(self.reader.record(row, &id)).await?;
                *read = Some(self.observed(observed)?);
            }
            Action::List => {
                let observed = self.held.during(self.reader.listed(row)).await?;
                *read = Some(self.observed(observed)?);
            }
            Action::Append(event) => {
                *read = None;
                match event {
                    RowEvent::SendStarted(sent) => self.send(row, &sent).await?,
                    event => self.append(row, &event).await?,
                }
            }
        }
        Ok(true)
    }

    /// Converts a read: an unusable answer of the service itself becomes [`Observation::Failed`], and any other failure ends the pass.
    fn observed(&self, observed: Result<Observation>) -> Result<Observation> {
        let read = match observed {
            Err(error) if is_service_answer(&error) => Observation::Failed(error.to_string()),
            observed => observed?,
        };
        self.outbox.with_memory(Memory::forget_failures);
        Ok(read)
    }

    fn decided(&self, row: &Row, read: Option<&Observation>) -> Action {
        // Retry early only after an unusable answer, not after a request that may still be carried out.
        let is_tried =
            self.retries_now && row.read_failures.is_some() && !self.failed.contains(&row.id);
        let mut row = Cow::Borrowed(row);
        if is_tried && let RowState::Open { next_at } = &mut row.to_mut().state {
            *next_at = None;
        }
        self.outbox
            .with_circumstances(row.id, |when| decide(&row, read, when))
    }

    /// Appends an event, if the row has not changed since the decision.
    async fn append(&mut self, row: &Row, event: &RowEvent) -> Result<(), PassEnd> {
        let written = self.held.change(|draft| {
            let row = draft.transition(row, event);
            row.is_some_and(|row| row.state == RowState::Confirmed)
        });
        self.report.confirmed += u64::from(written.await?);
        if matches!(event, RowEvent::ReadFailed(_)) {
            self.failed.insert(row.id);
        }
        Ok(())
    }

    /// Sends a request of a row. Marks it in the store before its first byte, and stores the result.
    async fn send(&mut self, row: &Row, sent: &Sent) -> Result<(), PassEnd> {
        let version = self.outbox.store().version();
        let list = self.outbox.last_list();
        // From now on the request may have arrived.
        let marked = self.held.change(|draft| {
            let is_creation = matches!(sent.request, ChangeRequest::Create(_));
            // A creation relies on the list, so the replica must not have changed since.
            let listed = list.as_ref().map(|list| list.copy);
            let is_known = !is_creation || listed == Some(draft.replica.version);
            let is_same = draft.version() == version && is_known;
            if !is_same || is_creation && self.outbox.is_another_first(row) {
                return None;
            }
            draft.head.list.clone_from(&list);
            draft.expects_replica = is_creation;
            draft
                .transition(row, &RowEvent::SendStarted(sent.clone()))
                .cloned()
        });
        let Some(marked) = marked.await? else {
            // Another process has written or has synced the replica, so the decision is out of date.
            return Ok(self.outbox.store().learn().await?);
        };
        let reply = self.request(&marked, sent).await?;
        self.finish(&marked, sent, reply).await
    }

    /// Sends a request.
    async fn request(
        &mut self,
        marked: &Row,
        sent: &Sent,
    ) -> Result<Result<Outcome<SavedConsignment>, envd_sdk::Error>, PassEnd> {
        let account = self.outbox.account();
        let call = match (&sent.request, sent.request.text()) {
            (ChangeRequest::Delete(id), _) => account.delete_consignment(id.clone()),
            (request, text) => {
                let text = ConsignmentText::parse(text.map_or("{}", |text| &text.0))
                    .map_err(|error| Error::usage(error.to_string()))?;
                let text = without_old_signature(text, sent)?;
                account.save_consignment_text(&self.named(text, request, sent))
            }
        };
        self.reader.requests += 1;
        // Storing the mark, getting a token and connecting may have taken long.
        let limit = limit_of(marked);
        let clock = self.outbox.clock.clone();
        let is_in_time = move || limit.is_none_or(|limit| clock.now() <= limit);
        // Disable the client's retries: the outbox resends only after a search.
        let call = call.retry(RetryPolicy::none()).only_if(is_in_time);
        self.held.during(call.into_future()).await
    }

    /// The text with the record's id and number, and the status.
    fn named(
        &self,
        text: ConsignmentText,
        request: &ChangeRequest,
        sent: &Sent,
    ) -> ConsignmentText {
        let text = match request.status() {
            Some(status) => text.with("status", status),
            None => text,
        };
        let Some(id) = request.record() else {
            return text;
        };
        let text = text.with("id", id);
        // profile: updates
        let names = &self.outbox.account().client().profile().updates.value;
        let before = sent.before.as_ref().filter(|_| names.number.is_some());
        match before.and_then(|before| before.fields.get("number")?.as_str()) {
            Some(number) => text.with("number", number),
            None => text,
        }
    }

    /// Stores the result of a request.
    async fn finish(
        &mut self,
        marked: &Row,
        sent: &Sent,
        reply: Result<Outcome<SavedConsignment>, envd_sdk::Error>,
    ) -> Result<(), PassEnd> {
        let errors = match &reply {
            Ok(outcome) => outcome.problems.as_slice(),
            Err(error) => error.server_errors(),
        };
        let said = match &reply {
            Ok(outcome) => self.reply_of(&outcome.value, sent).await?,
            Err(error) => {
                let is_late = limit_of(marked).is_some_and(|limit| self.outbox.now() > limit);
                answer_of(error, is_late)
            }
        };
        let event = answer(marked, said, &self.outbox.store().service());
        let written = self.held.change(|draft| {
            let Some(row) = draft.transition(marked, &event) else {
                return false;
            };
            // The refusal may be about an earlier text than the current one.
            let is_current = event != RowEvent::Refused || row.state == RowState::Refused;
            let errors = errors.iter().filter(|_| is_current);
            row.shown.findings = errors.map(|error| error.raw().clone()).collect();
            match &reply {
                Ok(outcome) => {
                    let number = outcome.value.number.as_ref();
                    let number = number.map(|number| number.as_str().to_owned());
                    row.shown.number = number.or(row.shown.number.take());
                }
                Err(error) => row.explain(&error.to_string()),
            }
            let is_confirmed = row.state == RowState::Confirmed;
            if let (RowEvent::Applied { record, .. }, ChangeRequest::Create(_)) =
                (&event, &sent.request)
                && row.record.as_ref() == Some(&record.id)
            {
                draft.head.service.learn_author(record);
            }
            is_confirmed
        });
        let is_confirmed = written.await?;
        self.report.confirmed += u64::from(is_confirmed);
        self.report.confirmed_with_problems += u64::from(is_confirmed && !errors.is_empty());
        match (reply, event) {
            // The limit passed meanwhile. The next step asks the user.
            (Err(_), RowEvent::NotSent { wait }) if wait > 0 => Ok(()),
            (Err(error), RowEvent::NotSent { .. }) => Err(error.into()),
            // Any other failure is stored with the row. If the service cannot be reached, the next read stops the pass.
            _ => Ok(()),
        }
    }

    /// Interprets the reply to a change: id and status of the record. Reads the new record after a creation, because the reply may
    /// name another one.
    async fn reply_of(
        &mut self,
        saved: &SavedConsignment,
        sent: &Sent,
    ) -> Result<WriteReply, PassEnd> {
        let record = sent.request.record();
        let is_delete = matches!(sent.request, ChangeRequest::Delete(_));
        let named = saved.id.as_ref().map(|id| id.as_str().to_owned());
        let named = named.or_else(|| record.filter(|_| is_delete).map(str::to_owned));
        let Some(id) = named else {
            return Ok(WriteReply::OutcomeUnknown);
        };
        let fields = match &saved.status {
            Some(status) => json!({"status": status.as_str()}),
            None => json!({}),
        };
        let mut seen = ObservedRecord {
            owner: None,
            sequence: None,
            record: ServiceRecord {
                id: id.clone(),
                updated_at: String::new(),
                created_by: None,
                fields,
            },
        };
        let mut read = None;
        if record.is_none() {
            let holder = self.outbox.store().holder(&id, 0).await?;
            // A record that any row has had is not new, even if that row was discarded.
            seen.owner = holder.map(|holder| match holder {
                Holder::Row(row) => row.owner(&id, true).unwrap_or(Owner::Namer),
                Holder::Pruned => Owner::Maker,
            });
            seen.sequence = self.reader.first_listed(&id).await?;
            read = self.created(&id).await?;
        }
        Ok(WriteReply::Record { seen, read })
    }

    /// Reads the record that the reply to a creation names. `None` if the read fails, which says nothing about the creation.
    async fn created(&mut self, id: &str) -> Result<Option<ServiceRecord>, PassEnd> {
        self.reader.requests += 1;
        let read = self.outbox.account().consignment(id);
        let read = self.held.during(read.into_future()).await?;
        let record = read.ok().and_then(|read| record_of(&read.value));
        Ok(record.filter(|record| record.id == id))
    }

    /// Handles the failure of a step. Unless it is an answer about the row, it stops the pass.
    async fn fail(&mut self, row: Option<&Row>, stop: PassEnd) -> Result<(), PassEnd> {
        let (outbox, now) = (self.outbox, self.outbox.now());
        let PassEnd::Failed(error) = stop else {
            return Err(stop);
        };
        if let Some(row) = row.filter(|_| is_service_answer(&error)) {
            return self
                .append(row, &RowEvent::ReadFailed(error.to_string()))
                .await;
        }
        let Error::Client(request) = &error else {
            return Err(error.into());
        };
        // If a new access token is refused as well, the login is no longer valid.
        let is_login = request.is_reauth_required() || request.kind() == ErrorKind::Unauthorized;
        let asked = request.retry_after().and_then(|wait| now.checked_add(wait));
        // The service says when to call again, or the waits get longer with each failure.
        let until = asked.unwrap_or_else(|| {
            let failures = outbox.with_memory(|memory| {
                memory.list = None;
                memory.failures += u32::from(!is_login);
                memory.failures
            });
            let wait = wait_after(if is_login { 4 } else { failures - 1 });
            now.checked_add(wait).unwrap_or(now)
        });
        outbox.with_memory(|memory| {
            memory.is_login_needed = is_login;
            memory.paused_until = Some(until).filter(|_| !is_login);
            memory.trouble = connect_trouble(request);
        });
        self.report.login_needed |= is_login;
        self.report.stopped_by = Some(error.to_string());
        // Nothing is due before this retry.
        self.next = Next::default();
        self.next.retry(until);
        if let Some(until) = asked {
            // The pause applies to all processes of the account.
            let wait = whole(until.duration_since(now).unwrap_or_default());
            let change = outbox.change(|draft| {
                draft.head.pause = Some(Due::after(seconds(now), wait));
                draft.head.list = outbox.last_list();
            });
            change.await?;
        }
        Err(PassEnd::Reported)
    }

    /// Searches for late duplicates of watched rows, once an hour.
    async fn search_for_duplicates(&mut self) -> Result<(), PassEnd> {
        let (outbox, now) = (self.outbox, self.outbox.now());
        let mut watched = outbox.store().expecting(0);
        watched.retain(|row| row.watched().is_some());
        let looked = outbox.with_memory(|memory| memory.duplicates_searched_at);
        let age = looked.and_then(|at| now.duration_since(at).ok());
        if watched.is_empty() || age.is_some_and(|age| age < SEARCH_EVERY) {
            return Ok(());
        }
        outbox.with_memory(|memory| memory.duplicates_searched_at = Some(now));
        let listing = match self.held.during(self.reader.list()).await? {
            // The list changed while it was read. Sending does not wait for the next search.
            Err(error) if is_service_answer(&error) => return Ok(()),
            listing => listing?,
        };
        for row in watched {
            let Some(lost) = row.watched() else {
                continue;
            };
            let texts = &lost.texts;
            let since = lost.listed.last;
            let seen = self.reader.appeared(row.id, texts, since);
            let seen = match self.held.during(seen).await? {
                // The next search reads it again. Other rows, and the end of the watch, do not wait for it.
                Err(error) if is_service_answer(&error) => Vec::new(),
                seen => seen?,
            };
            let duplicates = |is_there| {
                outbox
                    .with_circumstances(row.id, |when| late_duplicates(&row, &seen, is_there, when))
            };
            let mut found = duplicates(true);
            // A record that the user deletes as surplus must not be the only one.
            if let (Some(_), Some(record)) = (&found, &row.record)
                && !self.is_there(record).await?
            {
                found = duplicates(false);
            }
            if found.is_none() && !lost.ends_with(&listing, seconds(now)) {
                continue;
            }
            let written = outbox.change(|draft| {
                let event = found.as_ref().unwrap_or(&RowEvent::WatchOver);
                draft.transition(&row, event).map(drop)
            });
            if let (Some(()), Some(RowEvent::Reported(records))) = (written.await?, &found) {
                self.report.late_duplicates += records.len() as u64;
            }
        }
        Ok(())
    }

    /// Whether the service still has a record. The list alone may be an incremental one, which does not show deletions.
    async fn is_there(&mut self, record: &str) -> Result<bool, PassEnd> {
        Ok(match self.held.during(self.reader.read(record)).await? {
            Err(error) if is_service_answer(&error) => self.reader.is_listed(record).await?,
            read => read?.is_some(),
        })
    }

    /// Completes the report with the counts of waiting declarations.
    fn count(&mut self) -> OutboxReport {
        let mut is_watched = false;
        for row in self.outbox.store().rows() {
            match row.state {
                RowState::Refused => self.report.refused += 1,
                RowState::Asked(_) => self.report.needs_attention += 1,
                RowState::Confirmed | RowState::Discarded => is_watched = true,
                _ => self.report.waiting += 1,
            }
        }
        let next_search = self.outbox.now().checked_add(SEARCH_EVERY);
        if let Some(at) = next_search.filter(|_| is_watched) {
            self.next.retry(at);
        }
        OutboxReport {
            requests: self.reader.requests,
            next_at: self.next.at().map(Timestamp::from),
            ..std::mem::take(&mut self.report)
        }
    }
}

/// Whether the error is an answer of the service itself to this request.
fn is_service_answer(error: &Error) -> bool {
    error.is_answer() || matches!(error.kind(), ErrorKind::NotFound | ErrorKind::Forbidden)
}

/// The text, with a `declaration` that removes the old signature from the record if necessary.
fn without_old_signature(text: ConsignmentText, sent: &Sent) -> Result<ConsignmentText> {
    let before = sent.before.as_ref().map(|record| &record.fields);
    let Some(declaration) = sent.request.unsigned_declaration(before) else {
        return Ok(text);
    };
    let rest = text.without("declaration");
    let rest = rest.as_str().strip_suffix('}').unwrap_or_default();
    let comma = if rest.ends_with('{') { "" } else { "," };
    let text = format!("{rest}{comma}\"declaration\":{declaration}}}");
    ConsignmentText::parse(&text).map_err(|error| Error::usage(error.to_string()))
}

/// The instant after which the row is not sent.
fn limit_of(row: &Row) -> Option<SystemTime> {
    let limit = row.not_after.as_ref();
    let limit = limit.filter(|limit| !row.agreed.late.contains(&limit.at.to_string()))?;
    Timestamp::from(limit.given.as_str()).to_time()
}

/// Interprets an error as the answer to a change. `is_late`: the time to send it has passed.
fn answer_of(error: &envd_sdk::Error, is_late: bool) -> WriteReply {
    let is_refused = !error.server_errors().is_empty()
        || error.kind() == ErrorKind::Forbidden
        || matches!(error.http_status(), Some(400..=499));
    if error.may_have_applied() {
        WriteReply::OutcomeUnknown
    } else if is_refused && !error.is_retryable() && error.kind() != ErrorKind::Unauthorized {
        WriteReply::Refused
    } else {
        // It failed before it was sent, for example without a token, or on the way. The service has not refused it.
        WriteReply::NotSent {
            wait: u64::from(is_late),
        }
    }
}

/// Why no connection could be made, if known: the text of the error without the operation, whose name users do not know.
fn connect_trouble(error: &envd_sdk::Error) -> Option<String> {
    error.connect_cause()?;
    let words = error.to_string();
    let operation = error.operation().map(|name| format!("{name}: "));
    let words = words.strip_prefix(operation.as_deref().unwrap_or_default());
    words.map(str::to_owned)
}

/// The wait after a failure, given the number of consecutive failures before it.
fn wait_after(failures: u32) -> Duration {
    let wait = FIRST_WAIT.saturating_mul(2_u32.saturating_pow(failures));
    wait.min(LONGEST_WAIT)
}
