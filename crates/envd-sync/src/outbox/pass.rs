//! One pass: everything that is due now, by one process at a time.

use std::borrow::Cow;
use std::collections::HashSet;
use std::future::IntoFuture;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use super::apply::Event;
use super::decide::{Action, Circumstances, Read, Reply, Seen, answer, decide, late_duplicates};
use super::lease::Held;
use super::observe::{Reader, first_listed, record_of};
use super::outbox::{Memory, Outbox};
use super::report::OutboxReport;
use super::row::{Due, Request, Row, Sent, State, Text};
use super::store::{Draft, Kept, seconds, whole};
use crate::error::{Error, Result};
use crate::replica::is_answer;
use envd_sdk::model::{
    ConsignmentStatus, ConsignmentText, Day, FormType, Jurisdiction, SavedConsignment, ServerError,
    Timestamp,
};
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

/// What became of a step.
enum Step {
    /// Another one follows.
    GoesOn,
    /// Nothing more is due of the row now.
    Ended,
    /// Nothing more can be done in this pass.
    Stopped,
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
        let longest = self
            .settings
            .reconcile_after
            .saturating_mul(2)
            .max(self.settings.lease);
        loop {
            let (report, next) = Box::pin(self.pass()).await?;
            total.add(report);
            let is_stopped = total.stopped_by.is_some() || total.login_needed;
            let wait = next.looks_at.map(|at| self.time_until(at));
            let Some(wait) = wait.filter(|wait| !is_stopped && *wait <= longest) else {
                return Ok(total);
            };
            self.settings.clock.sleep(wait).await;
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
        let result = pass.run().await;
        // Whatever happened, the next pass of any process need not wait for this one.
        let released = pass.held.release().await;
        result?;
        released?;
        self.store().load().await?;
        Ok((pass.count(), pass.next))
    }
}

impl Pass<'_> {
    /// Goes over all open rows in their order, until that changes nothing any more.
    async fn run(&mut self) -> Result<()> {
        let store = self.outbox.store();
        loop {
            store.load().await?;
            self.next = Next::default();
            if let Some(until) = self.paused_until() {
                self.report.stopped_by =
                    Some("the service asked to wait, or cannot be reached".to_owned());
                self.next.retry(until);
                return Ok(());
            }
            if let Some(until) = self.held.of_another(&store.head()) {
                self.next.look(until);
                return Ok(());
            }
            let mut expecting = store.expecting(0).into_iter();
            let is_sending = expecting.any(|kept| kept.row.state == State::Sending);
            if !self.held.is_taken() && is_sending {
                // Another process ended while it was sending.
                self.held.change(|_| Ok(())).await?;
                continue;
            }
            if let Err(error) = self.look_for_duplicates().await {
                self.fail(None, error).await?;
                return Ok(());
            }
            let version = store.version();
            for id in store.ids() {
                if let Step::Stopped = self.carry_out(id).await? {
                    return Ok(());
                }
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
        own.max(asked.map(time_of))
    }

    /// Makes steps of a row until it waits.
    async fn carry_out(&mut self, id: u64) -> Result<Step> {
        let mut read = None;
        for _ in 0..STEPS {
            let Some(kept) = self.outbox.store().row(id) else {
                return Ok(Step::Ended);
            };
            let step = match self.step(&kept, &mut read).await {
                Ok(step) => step,
                Err(error) => self.fail(Some(&kept), error).await?,
            };
            match step {
                Step::GoesOn => {}
                step => return Ok(step),
            }
        }
        Ok(Step::Ended)
    }

    async fn step(&mut self, kept: &Kept, read: &mut Option<Read>) -> Result<Step> {
        let row = &kept.row;
        if !matches!(row.state, State::Queued { .. } | State::InDoubt { .. }) {
            return Ok(Step::Ended);
        }
        let is_new = row.record.is_none() && row.adopt.is_none() && !row.is_creation_in_doubt();
        if is_new && self.outbox.is_another_first(row) {
            return Ok(Step::Ended);
        }
        match self.decided(row, read.as_ref()) {
            Action::Wait(due) => {
                match due.map(time_of) {
                    Some(at) if row.unclear.is_some() => self.next.retry(at),
                    Some(at) => self.next.look(at),
                    None => {}
                }
                return Ok(Step::Ended);
            }
            Action::Read(id) => match self.held.during(self.reader.record(row, &id)).await {
                Some(observed) => *read = Some(self.observed(observed)?),
                None => return Ok(self.overtaken()),
            },
            Action::List => match self.held.during(self.reader.listed(row)).await {
                Some(observed) => *read = Some(self.observed(observed)?),
                None => return Ok(self.overtaken()),
            },
            Action::Append(Event::Marked(sent)) => {
                *read = None;
                return self.send(kept, sent).await;
            }
            Action::Append(event) => {
                *read = None;
                return self.append_if_same(kept, &event).await;
            }
        }
        Ok(Step::GoesOn)
    }

    /// Another process has the right to send.
    fn overtaken(&mut self) -> Step {
        let until = self.held.of_another(&self.outbox.store().head());
        self.next = Next::default();
        self.next.looks_at = until;
        Step::Stopped
    }

    /// What was read. The service's own answer that cannot be used is one as well; any other failure ends the pass.
    fn observed(&self, observed: Result<Read>) -> Result<Read> {
        let read = match observed {
            Err(error) if is_usable_answer(&error) => Read::Unclear(error.to_string()),
            read => read?,
        };
        self.outbox.with_memory(Memory::forget_failures);
        Ok(read)
    }

    /// Calls a pure function with what it needs to know beside the row.
    fn judged<T>(&self, row: u64, judge: impl FnOnce(&Circumstances<'_>) -> T) -> T {
        let (store, setting) = (self.outbox.store(), self.outbox.setting());
        let others = store.expecting(row);
        let open: Vec<&Row> = others.iter().map(|other| &other.row).collect();
        let service = setting.told.clone().and_learnt(&store.head().service);
        // In the west the day ends last.
        let today = Day::today_in(Jurisdiction::Wa, setting.now).to_string();
        let closed =
            |form: &'static FormType| Some((form.as_str(), form.closed_from()?.to_string()));
        let closed: Vec<_> = FormType::KNOWN.iter().filter_map(closed).collect();
        let retired: Vec<_> = closed
            .iter()
            .map(|(form, day)| (*form, day.as_str()))
            .collect();
        judge(&Circumstances {
            now: setting.time(),
            today: &today,
            retired: &retired,
            service: &service,
            open: &open,
        })
    }

    fn decided(&self, row: &Row, read: Option<&Read>) -> Action {
        // Only what the service answered badly is tried before its time, not what it may still carry out.
        let is_tried = self.retries_now && row.unclear.is_some() && !self.failed.contains(&row.id);
        let mut row = Cow::Borrowed(row);
        if is_tried
            && let State::Queued { next_at } | State::InDoubt { next_at } = &mut row.to_mut().state
        {
            *next_at = None;
        }
        self.judged(row.id, |when| decide(&row, read, when))
    }

    /// An event becomes true of a row that is as it was when that was decided.
    async fn append_if_same(&mut self, kept: &Kept, event: &Event) -> Result<Step> {
        let id = kept.row.id;
        let written = self.held.change(|draft| {
            let record = match event {
                Event::Applied { record, .. } => Some(&record.id),
                _ => None,
            };
            // A record belongs to one row.
            let is_taken = record.is_some_and(|record| draft.is_taken(record, id));
            if is_taken || draft.get(id).as_deref() != Some(kept) {
                return Ok(None);
            }
            let is_appended = draft.append(id, event, None).is_ok();
            Ok(draft.get(id).filter(|_| is_appended))
        });
        let Some(written) = written.await? else {
            return Ok(self.overtaken());
        };
        let is_confirmed = written.is_some_and(|kept| kept.row.state == State::Confirmed);
        self.report.confirmed += u64::from(is_confirmed);
        if matches!(event, Event::Unclear(_)) {
            self.failed.insert(id);
        }
        Ok(Step::GoesOn)
    }

    /// Sends a request of a row: marked before its first byte, and what came back is written down.
    async fn send(&mut self, kept: &Kept, sent: Sent) -> Result<Step> {
        let marked = match self.mark(kept, &sent).await? {
            None => return Ok(self.overtaken()),
            Some(None) => return Ok(Step::GoesOn),
            Some(Some(marked)) => marked,
        };
        match self.request(&marked, &sent).await {
            Some(reply) => self.finish(&marked, &sent, reply).await,
            None => Ok(self.overtaken()),
        }
    }

    /// Marks a row as being sent, durably: from here on its request may have arrived. `None`: another process has the right to send;
    /// the inner one: something was written meanwhile.
    async fn mark(&self, kept: &Kept, sent: &Sent) -> Result<Option<Option<Arc<Kept>>>> {
        let id = kept.row.id;
        let list = self.outbox.last_list();
        let marked = self.held.try_change(|draft| {
            let is_same = draft.get(id).as_deref() == Some(kept);
            let is_creation = matches!(sent.request, Request::Create(_));
            if !is_same || is_creation && self.outbox.is_another_first(&kept.row) {
                return Ok(None);
            }
            draft.head.list.clone_from(&list);
            if is_creation {
                // Known must be what was there before: the replica has changed since, or is as it was.
                let listed = list.as_ref().map(|list| list.replica);
                if listed != Some(draft.setting.replica.version) {
                    return Ok(None);
                }
                draft.expects_replica = true;
            }
            let is_appended = draft.append(id, &Event::Marked(sent.clone()), None).is_ok();
            Ok(draft.get(id).filter(|_| is_appended))
        });
        if let Some(marked) = marked.await? {
            return Ok(marked);
        }
        // Another process was faster, or has listed the account: what is known of it is old.
        self.outbox.store().load().await?;
        self.outbox.read_replica().await?;
        Ok(Some(None))
    }

    /// Sends a request. `None`: another process has taken over.
    async fn request(
        &self,
        marked: &Kept,
        sent: &Sent,
    ) -> Option<Result<Outcome<SavedConsignment>, envd_sdk::Error>> {
        let account = self.outbox.account();
        let call = match (&sent.request, sent.request.text()) {
            (Request::Delete(id), _) => account.delete_consignment(id.clone()),
            (request, text) => {
                // OK because the text was one when it was written down.
                let text = ConsignmentText::parse(text.map_or("{}", |text| &text.0)).ok()?;
                account.save_consignment_text(&self.named(text, request, sent))
            }
        };
        self.reader.count_requests(1);
        // The mark, the token and the wait for a connection may have taken long.
        let (limit, clock) = (limit_of(marked), self.outbox.settings.clock.clone());
        let is_in_time = move || limit.is_none_or(|limit| clock.now() <= limit);
        // The outbox tries again itself: it looks before.
        let call = call.retry(RetryPolicy::none()).only_if(is_in_time);
        self.held.during(call.into_future()).await
    }

    /// The text with the names of the record and the status.
    fn named(&self, text: ConsignmentText, request: &Request, sent: &Sent) -> ConsignmentText {
        let status = match request {
            Request::Submit(..) => ConsignmentStatus::Submitted,
            _ => ConsignmentStatus::Draft,
        };
        let text = text.with("status", status.as_str());
        let Some(id) = request.record() else {
            return text;
        };
        let text = text.with("id", id);
        let names = &self.outbox.account().client().profile().updates.value;
        let before = sent.before.as_ref().filter(|_| names.number.is_some());
        match before.and_then(|before| before.fields["number"].as_str()) {
            Some(number) => text.with("number", number),
            None => text,
        }
    }

    /// Writes down what came back.
    async fn finish(
        &mut self,
        marked: &Kept,
        sent: &Sent,
        reply: Result<Outcome<SavedConsignment>, envd_sdk::Error>,
    ) -> Result<Step> {
        let findings: Vec<_> = match &reply {
            Ok(outcome) => outcome
                .problems
                .iter()
                .map(ServerError::raw)
                .cloned()
                .collect(),
            Err(error) => error
                .server_errors()
                .iter()
                .map(ServerError::raw)
                .cloned()
                .collect(),
        };
        let said = match &reply {
            Ok(outcome) => match self.shown(&outcome.value, sent).await? {
                Some(seen) => Reply::Record(seen),
                None => Reply::Unclear,
            },
            Err(error) => {
                let is_late = limit_of(marked).is_some_and(|limit| self.outbox.now() > limit);
                answer_of(error, findings.clone(), is_late)
            }
        };
        let event = answer(&marked.row, said);
        let why = reply.as_ref().err().map(ToString::to_string);
        let id = marked.row.id;
        let written = self.held.change(|draft| {
            let is_open =
                |kept: &Kept| kept.row.state == State::Sending && kept.row.sent == marked.row.sent;
            if !draft.get(id).is_some_and(|kept| is_open(&kept)) {
                return Ok(None);
            }
            if draft.append(id, &event, why.clone()).is_err() {
                return Ok(None);
            }
            draft.show(id, |shown| {
                shown.findings.clone_from(&findings);
                if let Ok(outcome) = &reply {
                    shown.number = outcome.value.number.clone().or(shown.number.take());
                }
            });
            if let (Event::Applied { record, .. }, Request::Create(text)) = (&event, &sent.request)
            {
                draft.head.service.learn(&text.value(), record);
            }
            Ok(draft.get(id))
        });
        let written = written.await?.flatten();
        let is_confirmed = written.is_some_and(|kept| kept.row.state == State::Confirmed);
        self.report.confirmed += u64::from(is_confirmed);
        self.report.confirmed_with_problems += u64::from(is_confirmed && !findings.is_empty());
        match (reply, event) {
            // It became too late meanwhile: a person is asked in the next step.
            (Err(_), Event::NotSent { wait }) if wait > 0 => Ok(Step::GoesOn),
            (Err(error), Event::NotSent { .. }) => Err(error.into()),
            // As long as nothing can be read either, nothing counts.
            _ => Ok(Step::GoesOn),
        }
    }

    /// The record that the reply to a save shows, with what the service shows of it right after: a reply has its names and its
    /// status only. `None`: it names no record.
    async fn shown(&self, saved: &SavedConsignment, sent: &Sent) -> Result<Option<Seen>> {
        let record = sent.request.record();
        let is_delete = matches!(sent.request, Request::Delete(_));
        let named = saved.id.as_ref().map(|id| id.as_str().to_owned());
        let named = named.or_else(|| record.filter(|_| is_delete).map(str::to_owned));
        let Some(id) = named else {
            return Ok(None);
        };
        let mut seen = Seen {
            record: super::compare::Record {
                id: id.clone(),
                updated_at: String::new(),
                created_by: None,
                fields: serde_json::json!({}),
            },
            sequence: None,
            owner: None,
        };
        if record.is_none() {
            let store = self.outbox.store();
            seen.owner = store.owner(&id, u64::MAX, true).await?;
            seen.sequence = first_listed(store, &id).await?;
        }
        if record.is_none_or(|record| record == id) && !is_delete {
            self.reader.count_requests(1);
            let read = self.outbox.account().consignment(id.as_str());
            // A failure is none of the save.
            if let Some(Ok(read)) = self.held.during(read.into_future()).await
                && let Some(read) = record_of(&read.value).filter(|read| read.id == id)
            {
                seen.record = read;
            }
        }
        if let Some(status) = &saved.status {
            seen.record.fields["status"] = status.as_str().into();
        }
        Ok(Some(seen))
    }

    /// A failure that is no answer about a row stops the pass.
    async fn fail(&mut self, kept: Option<&Kept>, error: Error) -> Result<Step> {
        let (outbox, now) = (self.outbox, self.outbox.now());
        if let Some(kept) = kept.filter(|_| is_usable_answer(&error)) {
            let event = Event::Unclear(error.to_string());
            self.append_if_same(kept, &event).await?;
            return Ok(Step::Ended);
        }
        let Error::Client(request) = &error else {
            return Err(error);
        };
        // An access token that is refused although it was renewed is of a login that is dead as well.
        let is_login = request.is_reauth_required() || request.kind() == ErrorKind::Unauthorized;
        let after = request.retry_after().and_then(|wait| now.checked_add(wait));
        let asked = request.retry_at().max(after);
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
        });
        self.report.login_needed |= is_login;
        self.report.stopped_by = Some(error.to_string());
        // Nothing is due before the pass can go on.
        self.next = Next::default();
        self.next.retry(until);
        if let Some(until) = asked {
            // It holds for all processes of the account.
            let wait = whole(until.duration_since(now).unwrap_or_default());
            let setting = outbox.setting();
            let change = outbox.store().change(&setting, |draft| {
                draft.head.pause = Some(Due::after(seconds(now), wait));
                draft.head.list = outbox.last_list();
                Ok(())
            });
            change.await?;
        }
        Ok(Step::Stopped)
    }

    /// Looks for records that arrived after all, once an hour as long as any may.
    async fn look_for_duplicates(&mut self) -> Result<()> {
        let (outbox, now) = (self.outbox, self.outbox.now());
        let store = outbox.store();
        let mut watched = store.expecting(0);
        watched.retain(|kept| kept.row.watch.is_some());
        let looked = outbox.with_memory(|memory| memory.duplicates_looked_at);
        let age = looked.and_then(|at| now.duration_since(at).ok());
        if watched.is_empty() || age.is_some_and(|age| age < LOOK_EVERY) {
            return Ok(());
        }
        outbox.with_memory(|memory| memory.duplicates_looked_at = Some(now));
        let Some(list) = self.held.during(self.reader.list()).await else {
            return Ok(());
        };
        match list {
            // It changed while it was read. What is to be sent does not wait for the next look.
            Err(error) if is_usable_answer(&error) => return Ok(()),
            list => drop(list?),
        }
        for kept in watched {
            let Some(watch) = &kept.row.watch else {
                continue;
            };
            let texts: Vec<&Text> = watch.texts.iter().collect();
            let seen = self.reader.appeared(kept.row.id, &texts, watch.listed.last);
            let seen = match self.held.during(seen).await {
                Some(Ok(seen)) => seen,
                // The next look reads it again. Other rows, and the end of the watch, do not wait for it.
                Some(Err(error)) if is_usable_answer(&error) => Vec::new(),
                Some(Err(error)) => return Err(error),
                None => return Ok(()),
            };
            let is_there = match &kept.row.record {
                Some(record) => self.reader.is_listed(record).await?,
                None => false,
            };
            self.tell(&kept, &seen, is_there).await?;
        }
        Ok(())
    }

    /// Reports late duplicates of a row, and files it when its watch is over.
    async fn tell(&mut self, kept: &Kept, seen: &[Seen], is_there: bool) -> Result<()> {
        let (event, now) = self.judged(kept.row.id, |when| {
            (late_duplicates(&kept.row, seen, is_there, when), when.now)
        });
        let watch = kept.row.watch.as_ref();
        let is_over = watch.is_none_or(|watch| watch.left == 0 || !watch.until.is_ahead(now));
        if event.is_none() && !is_over {
            return Ok(());
        }
        let (id, setting) = (kept.row.id, self.outbox.setting());
        let told = self
            .outbox
            .store()
            .change(&setting, |draft: &mut Draft<'_>| {
                let same = draft.get(id).filter(|now| **now == *kept);
                Ok(match (same, &event) {
                    (Some(_), Some(event)) => draft.append(id, event, None).is_ok(),
                    (Some(same), None) => {
                        draft.put((*same).clone());
                        false
                    }
                    (None, _) => false,
                })
            });
        if let (true, Some(Event::Told(records))) = (told.await?, &event) {
            self.report.late_duplicates += records.len() as u64;
        }
        Ok(())
    }

    /// What was done, and what is left.
    fn count(&mut self) -> OutboxReport {
        let mut is_watched = false;
        for kept in self.outbox.store().rows() {
            match kept.row.state {
                State::Refused { .. } => self.report.refused += 1,
                State::Asked { .. } => self.report.needs_attention += 1,
                State::Confirmed | State::Discarded => is_watched = true,
                _ => self.report.waiting += 1,
            }
        }
        let next_look = self.outbox.now().checked_add(LOOK_EVERY);
        if let Some(at) = next_look.filter(|_| is_watched) {
            self.next.retry(at);
        }
        OutboxReport {
            requests: self.reader.requests(),
            next_at: self.next.at().map(Timestamp::from),
            ..std::mem::take(&mut self.report)
        }
    }
}

/// Whether the service itself has answered, and the answer is about what was requested.
fn is_usable_answer(error: &Error) -> bool {
    match error {
        Error::Client(error) => {
            is_answer(error)
                || error.kind() == ErrorKind::NotFound
                || error.kind() == ErrorKind::Forbidden
        }
        Error::Reply(_) => true,
        _ => false,
    }
}

/// After this instant the request of a row is not sent.
fn limit_of(kept: &Kept) -> Option<SystemTime> {
    let limit = kept.shown.not_after.as_ref().and_then(Timestamp::to_time);
    limit.filter(|limit| !kept.row.agreed.late.contains(&seconds(*limit).to_string()))
}

/// What an error says about a change. `is_late`: the time to send it has passed.
fn answer_of(error: &envd_sdk::Error, findings: Vec<serde_json::Value>, is_late: bool) -> Reply {
    let is_refused = error.is_rejected()
        || error.kind() == ErrorKind::Forbidden
        || matches!(error.http_status(), Some(400..=499));
    if error.may_have_applied() {
        Reply::Unclear
    } else if is_refused && !error.is_retryable() && error.kind() != ErrorKind::Unauthorized {
        Reply::Refused(findings)
    } else {
        // It failed here, for example without a token, or on the way: the service has not refused it.
        Reply::NotSent {
            wait: u64::from(is_late),
        }
    }
}

/// The wait after a number of failures in a row before this one.
fn wait_after(failures: u32) -> Duration {
    let wait = FIRST_WAIT.saturating_mul(2_u32.saturating_pow(failures));
    wait.min(LONGEST_WAIT)
}

fn time_of(due: Due) -> SystemTime {
    let at = SystemTime::UNIX_EPOCH.checked_add(Duration::from_secs(due.until));
    at.unwrap_or(SystemTime::UNIX_EPOCH)
}
