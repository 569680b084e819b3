//! One pass: everything that is due now, by one process at a time.

use std::borrow::Cow;
use std::collections::HashSet;
use std::future::IntoFuture;
use std::time::{Duration, SystemTime};

use serde_json::json;

use super::apply::RowEvent;
use super::compare::ServiceRecord;
use super::decide::{Action, Heard, Read, Seen, answer, decide, late_duplicates};
use super::lease::{Held, PassEnd};
use super::observe::Reader;
use super::outbox::{Memory, Outbox};
use super::reading::record_of;
use super::report::OutboxReport;
use super::row::{ChangeRequest, Due, Owner, Question, Row, RowState, Sent, time_of};
use super::store::{Holder, seconds, whole};
use crate::error::{Error, Result};
use envd_sdk::model::{ConsignmentText, SavedConsignment, Timestamp};
use envd_sdk::{ErrorKind, Outcome, RetryPolicy};

/// How often late duplicates are looked for.
const LOOK_EVERY: Duration = Duration::from_secs(60 * 60);

/// How many steps of one row are made at once: more than any needs that ends.
const STEPS: u32 = 16;

/// The wait after a first failure. It doubles with each further one.
const FIRST_WAIT: Duration = Duration::from_secs(5);

/// The longest wait after failures.
const LONGEST_WAIT: Duration = Duration::from_secs(5 * 60);

/// What one pass of a process knows.
struct Pass<'a> {
    outbox: &'a Outbox,
    reader: Reader<'a>,
    held: Held<'a>,
    report: OutboxReport,
    next: Next,
    /// Whether rows are tried again before their time, and those that failed again.
    retries_now: bool,
    failed: HashSet<u64>,
}

/// When the next pass has something to do.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Next {
    /// Time alone brings it: another look, or the end of another process's lease.
    pub(super) looks_at: Option<SystemTime>,
    /// Another try to reach the service.
    retries_at: Option<SystemTime>,
}

impl Next {
    fn look(&mut self, at: SystemTime) {
        self.looks_at = Some(self.looks_at.map_or(at, |before| before.min(at)));
    }

    fn retry(&mut self, at: SystemTime) {
        self.retries_at = Some(self.retries_at.map_or(at, |before| before.min(at)));
    }

    pub(super) fn at(self) -> Option<SystemTime> {
        self.looks_at.into_iter().chain(self.retries_at).min()
    }
}

impl Outbox {
    /// Sends everything that is due, looks for what is unconfirmed until that is settled or would take long, and ends. What waits
    /// for reception, a login or a decision stays.
    ///
    /// The future may be dropped at any time: what was under way is looked for by the next pass.
    ///
    /// # Errors
    ///
    /// [`Error::Store`](crate::Error::Store): nothing was sent that was not marked before. Failures of the service are in the report
    /// and in the declarations.
    pub async fn send(&self) -> Result<OutboxReport> {
        self.forget_waits();
        let mut total = OutboxReport::default();
        let longest = self.reconcile_after.saturating_mul(2).max(self.lease);
        loop {
            let (report, next) = Box::pin(self.pass()).await?;
            total.add(report);
            let is_stopped = total.stopped_by.is_some() || total.login_needed;
            let wait = next.looks_at.map(|at| self.time_until(at));
            let Some(wait) = wait.filter(|wait| !is_stopped && *wait <= longest) else {
                return Ok(total);
            };
            self.clock.sleep(wait).await;
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
    pub(super) async fn pass(&self) -> Result<(OutboxReport, Next)> {
        let _alone = self.shared.passing.lock().await;
        let mut pass = Pass {
            outbox: self,
            reader: Reader::new(self),
            held: Held::new(self),
            report: OutboxReport::default(),
            next: Next::default(),
            retries_now: self.with_memory(|memory| std::mem::take(&mut memory.retries_now)),
            failed: HashSet::new(),
        };
        let result = pass.run().await.and_then(|()| pass.held.failure());
        // Whatever happened, the next pass of any process need not wait for this one.
        let released = pass.held.release().await;
        match result {
            Ok(()) | Err(PassEnd::Reported) => {}
            Err(PassEnd::Overtaken) => {
                let until = pass.held.of_another(&self.store().head());
                pass.next = Next {
                    looks_at: until,
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
    /// Goes over all open rows in their order, until that changes nothing any more.
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
            if let Err(stop) = self.look_for_duplicates().await {
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

    /// Until when nothing is sent, after failures or as the service asked.
    fn paused_until(&self) -> Option<SystemTime> {
        let now = self.outbox.now();
        let own = self.outbox.with_memory(|memory| memory.paused_until);
        // After the clock was set back, a wait is no longer than it was ever set.
        let own = own.filter(|until| {
            let left = until.duration_since(now).unwrap_or_default();
            !left.is_zero() && left <= LONGEST_WAIT
        });
        let asked = self.outbox.store().head().pause;
        let asked = asked.filter(|pause| pause.is_ahead(seconds(now)));
        own.max(asked.map(|pause| time_of(pause.until)))
    }

    /// Makes steps of a row until it waits.
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

    /// One read, or one commit and what follows from it; `false`: nothing more is due of the row now.
    async fn step(&mut self, row: &Row, read: &mut Option<Read>) -> Result<bool, PassEnd> {
        // The user who wrote it may be logged in again.
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
                    Some(at) if row.unclear.is_some() => self.next.retry(at),
                    Some(at) => self.next.look(at),
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
                    RowEvent::Marked(sent) => self.send(row, &sent).await?,
                    event => self.append(row, &event).await?,
                }
            }
        }
        Ok(true)
    }

    /// What was read. The service's own answer that cannot be used is one as well; any other failure ends the pass.
    fn observed(&self, observed: Result<Read>) -> Result<Read> {
        let read = match observed {
            Err(error) if is_usable_answer(&error) => Read::Unclear(error.to_string()),
            observed => observed?,
        };
        self.outbox.with_memory(Memory::forget_failures);
        Ok(read)
    }

    fn decided(&self, row: &Row, read: Option<&Read>) -> Action {
        // Only what the service answered badly is tried before its time, not what it may still carry out.
        let is_tried = self.retries_now && row.unclear.is_some() && !self.failed.contains(&row.id);
        let mut row = Cow::Borrowed(row);
        if is_tried && let RowState::Open { next_at } = &mut row.to_mut().state {
            *next_at = None;
        }
        self.outbox.judged(row.id, |when| decide(&row, read, when))
    }

    /// An event becomes true of a row that is as it was when that was decided.
    async fn append(&mut self, row: &Row, event: &RowEvent) -> Result<(), PassEnd> {
        let written = self.held.change(|draft| {
            let row = draft.transition(row, event);
            row.is_some_and(|row| row.state == RowState::Confirmed)
        });
        self.report.confirmed += u64::from(written.await?);
        if matches!(event, RowEvent::Unclear(_)) {
            self.failed.insert(row.id);
        }
        Ok(())
    }

    /// Sends a request of a row: marked before its first byte, and what came back is written down.
    async fn send(&mut self, row: &Row, sent: &Sent) -> Result<(), PassEnd> {
        let (version, list) = (self.outbox.store().version(), self.outbox.last_list());
        // From here on the request may have arrived.
        let marked = self.held.change(|draft| {
            let is_creation = matches!(sent.request, ChangeRequest::Create(_));
            // Known must be what was there before: the replica has changed since, or is as it was.
            let listed = list.as_ref().map(|list| list.copy);
            let is_known = !is_creation || listed == Some(draft.replica.version);
            let is_same = draft.version() == version && is_known;
            if !is_same || is_creation && self.outbox.is_another_first(row) {
                return None;
            }
            draft.head.list.clone_from(&list);
            draft.expects_replica = is_creation;
            draft
                .transition(row, &RowEvent::Marked(sent.clone()))
                .cloned()
        });
        let Some(marked) = marked.await? else {
            // Another process was faster, or has listed the account: what is known of it is old.
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
        // The mark, the token and the wait for a connection may have taken long.
        let (limit, clock) = (limit_of(marked), self.outbox.clock.clone());
        let is_in_time = move || limit.is_none_or(|limit| clock.now() <= limit);
        // The outbox tries again itself: it looks before.
        let call = call.retry(RetryPolicy::none()).only_if(is_in_time);
        self.held.during(call.into_future()).await
    }

    /// The text with the names of the record and the status.
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
        let names = &self.outbox.account().client().profile().updates.value;
        let before = sent.before.as_ref().filter(|_| names.number.is_some());
        match before.and_then(|before| before.fields.get("number")?.as_str()) {
            Some(number) => text.with("number", number),
            None => text,
        }
    }

    /// Writes down what came back.
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
            // What was refused may be an earlier text than the one that is wanted now.
            let is_of_wish = event != RowEvent::Refused || row.state == RowState::Refused;
            let errors = errors.iter().filter(|_| is_of_wish);
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
            // It became too late meanwhile: a person is asked in the next step.
            (Err(_), RowEvent::NotSent { wait }) if wait > 0 => Ok(()),
            (Err(error), RowEvent::NotSent { .. }) => Err(error.into()),
            // As long as nothing can be read either, nothing counts.
            _ => Ok(()),
        }
    }

    /// What the reply to a change says: the names and the status of its record. What a creation has made is read, since the reply may
    /// name another record.
    async fn reply_of(&mut self, saved: &SavedConsignment, sent: &Sent) -> Result<Heard, PassEnd> {
        let record = sent.request.record();
        let is_delete = matches!(sent.request, ChangeRequest::Delete(_));
        let named = saved.id.as_ref().map(|id| id.as_str().to_owned());
        let named = named.or_else(|| record.filter(|_| is_delete).map(str::to_owned));
        let Some(id) = named else {
            return Ok(Heard::Unclear);
        };
        let fields = match &saved.status {
            Some(status) => json!({"status": status.as_str()}),
            None => json!({}),
        };
        let mut seen = Seen {
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
            // What any row has named is not new, also where that was given up.
            seen.owner = holder.map(|holder| match holder {
                Holder::Row(row) => row.owner(&id, true).unwrap_or(Owner::Namer),
                Holder::Pruned => Owner::Maker,
            });
            seen.sequence = self.reader.first_listed(&id).await?;
            read = self.created(&id).await?;
        }
        Ok(Heard::Record { seen, read })
    }

    /// What a creation has made, read by the id of its reply. A failure to read it is none of the creation.
    async fn created(&mut self, id: &str) -> Result<Option<ServiceRecord>, PassEnd> {
        self.reader.requests += 1;
        let read = self.outbox.account().consignment(id);
        let read = self.held.during(read.into_future()).await?;
        let record = read.ok().and_then(|read| record_of(&read.value));
        Ok(record.filter(|record| record.id == id))
    }

    /// A failure that is no answer about a row stops the pass.
    async fn fail(&mut self, row: Option<&Row>, stop: PassEnd) -> Result<(), PassEnd> {
        let (outbox, now) = (self.outbox, self.outbox.now());
        let PassEnd::Failed(error) = stop else {
            return Err(stop);
        };
        if let Some(row) = row.filter(|_| is_usable_answer(&error)) {
            return self
                .append(row, &RowEvent::Unclear(error.to_string()))
                .await;
        }
        let Error::Client(request) = &error else {
            return Err(error.into());
        };
        // An access token that is refused although it was renewed is of a login that is dead as well.
        let is_login = request.is_reauth_required() || request.kind() == ErrorKind::Unauthorized;
        let asked = request.retry_after().and_then(|wait| now.checked_add(wait));
        // The service says when it can be called again, or it is tried again after longer and longer waits.
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
        // Nothing is due before the pass can go on.
        self.next = Next::default();
        self.next.retry(until);
        if let Some(until) = asked {
            // It holds for all processes of the account.
            let wait = whole(until.duration_since(now).unwrap_or_default());
            let change = outbox.change(|draft| {
                draft.head.pause = Some(Due::after(seconds(now), wait));
                draft.head.list = outbox.last_list();
            });
            change.await?;
        }
        Err(PassEnd::Reported)
    }

    /// Looks for records that arrived after all, once an hour as long as any may.
    async fn look_for_duplicates(&mut self) -> Result<(), PassEnd> {
        let (outbox, now) = (self.outbox, self.outbox.now());
        let mut watched = outbox.store().expecting(0);
        watched.retain(|row| row.watched().is_some());
        let looked = outbox.with_memory(|memory| memory.duplicates_looked_at);
        let age = looked.and_then(|at| now.duration_since(at).ok());
        if watched.is_empty() || age.is_some_and(|age| age < LOOK_EVERY) {
            return Ok(());
        }
        outbox.with_memory(|memory| memory.duplicates_looked_at = Some(now));
        let listing = match self.held.during(self.reader.list()).await? {
            // It changed while it was read. What is to be sent does not wait for the next look.
            Err(error) if is_usable_answer(&error) => return Ok(()),
            listing => listing?,
        };
        for row in watched {
            let Some(lost) = row.watched() else {
                continue;
            };
            let (texts, since) = (&lost.texts, lost.listed.last);
            let seen = self.reader.appeared(row.id, texts, since);
            let seen = match self.held.during(seen).await? {
                // The next look reads it again. Other rows, and the end of the watch, do not wait for it.
                Err(error) if is_usable_answer(&error) => Vec::new(),
                seen => seen?,
            };
            let is_there = match &row.record {
                Some(record) => self.reader.is_listed(record).await?,
                None => false,
            };
            let found = outbox.judged(row.id, |when| late_duplicates(&row, &seen, is_there, when));
            if found.is_none() && !lost.ends_with(&listing, seconds(now)) {
                continue;
            }
            let written = outbox.change(|draft| {
                let event = found.as_ref().unwrap_or(&RowEvent::WatchOver);
                draft.transition(&row, event).map(drop)
            });
            if let (Some(()), Some(RowEvent::Told(records))) = (written.await?, &found) {
                self.report.late_duplicates += records.len() as u64;
            }
        }
        Ok(())
    }

    /// What was done, and what is left.
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
        let next_look = self.outbox.now().checked_add(LOOK_EVERY);
        if let Some(at) = next_look.filter(|_| is_watched) {
            self.next.retry(at);
        }
        OutboxReport {
            requests: self.reader.requests,
            next_at: self.next.at().map(Timestamp::from),
            ..std::mem::take(&mut self.report)
        }
    }
}

/// Whether the service itself has answered, and the answer is about what was requested.
fn is_usable_answer(error: &Error) -> bool {
    error.is_answer() || matches!(error.kind(), ErrorKind::NotFound | ErrorKind::Forbidden)
}

/// The text, which removes the signature of an earlier one from the record.
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

/// After this instant the request of a row is not sent.
fn limit_of(row: &Row) -> Option<SystemTime> {
    let limit = row.not_after.as_ref();
    let limit = limit.filter(|limit| !row.agreed.late.contains(&limit.at.to_string()))?;
    Timestamp::from(limit.given.as_str()).to_time()
}

/// What an error says about a change. `is_late`: the time to send it has passed.
fn answer_of(error: &envd_sdk::Error, is_late: bool) -> Heard {
    let is_refused = !error.server_errors().is_empty()
        || error.kind() == ErrorKind::Forbidden
        || matches!(error.http_status(), Some(400..=499));
    if error.may_have_applied() {
        Heard::Unclear
    } else if is_refused && !error.is_retryable() && error.kind() != ErrorKind::Unauthorized {
        Heard::Refused
    } else {
        // It failed here, for example without a token, or on the way: the service has not refused it.
        Heard::NotSent {
            wait: u64::from(is_late),
        }
    }
}

/// Why no connection could be made, if that is known: an error's words without the operation, which a user does not know.
fn connect_trouble(error: &envd_sdk::Error) -> Option<String> {
    error.connect_cause()?;
    let words = error.to_string();
    let operation = error.operation().map(|name| format!("{name}: "));
    let words = words.strip_prefix(operation.as_deref().unwrap_or_default());
    words.map(str::to_owned)
}

/// The wait after a number of failures in a row before this one.
fn wait_after(failures: u32) -> Duration {
    let wait = FIRST_WAIT.saturating_mul(2_u32.saturating_pow(failures));
    wait.min(LONGEST_WAIT)
}
