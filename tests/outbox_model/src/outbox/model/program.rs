//! A program that sends: a simple loop over the pure functions. Anything else may happen between two of its commits.

use std::collections::BTreeMap;

use test_support::plain_service::{Author, Outcome, START};
use test_support::schedules::note;

use super::invariants::{Commit, Flight, carry_out, same_text};
use super::people::{chance, colleague, records};
use super::service::{self, shown};
use super::world::World;
use crate::outbox::apply::{Moment, RowEvent, Unfit, apply};
use crate::outbox::compare::{ServiceFields, ServiceRecord};
use crate::outbox::decide::{
    Action, Circumstances, Observation, ObservedRecord, WriteReply, answer, decide, late_duplicates,
};
use crate::outbox::planted;
use crate::outbox::row::{ChangeRequest, Due, Listing, Row, RowState};

#[derive(Clone, Debug, Default)]
pub(super) struct Account {
    pub(super) lease: u64,
    pub(super) begun: u64,
    pub(super) listed: Listing,
    pub(super) pause: Option<Due>,
    pub(super) service: ServiceFields,
    /// The sequence number of each record, in the order in which lists first showed them.
    pub(super) replica: BTreeMap<String, u64>,
}

/// The committed state.
#[derive(Clone, Debug)]
pub(super) struct Store {
    pub(super) index: usize,
    pub(super) rows: BTreeMap<u64, Row>,
    pub(super) account: Account,
}

impl Default for Store {
    fn default() -> Self {
        let account = Account {
            service: ServiceFields::named([], same_text),
            ..Account::default()
        };
        Self {
            index: 0,
            rows: BTreeMap::new(),
            account,
        }
    }
}

impl Store {
    /// The store as another process reads it: serialized and parsed.
    pub(super) fn reloaded(&self) -> Self {
        let document = serde_json::to_string(&self.rows).unwrap();
        let rows: BTreeMap<u64, Row> = serde_json::from_str(&document).unwrap();
        assert_eq!(rows, self.rows);
        Self {
            index: self.index,
            rows,
            account: self.account.clone(),
        }
    }

    pub(super) fn seen(&self, record: &ServiceRecord, row: u64, is_list: bool) -> ObservedRecord {
        let mut others = self.rows.values().filter(|other| other.id != row);
        ObservedRecord {
            sequence: self.account.replica.get(&record.id).copied(),
            owner: others.find_map(|other| other.owner(&record.id, is_list)),
            record: record.clone(),
        }
    }
}

#[derive(Debug, Default)]
pub(super) enum Step {
    #[default]
    Idle,
    Pass,
    /// The list was read, but not committed.
    Listing(Listing, Vec<ServiceRecord>),
    /// A read without a decision yet: the row at that time, the result (`None` if the service was unreachable), and the number of
    /// versions of the record.
    Read(Box<Row>, Option<Observation>, usize),
    /// The request was marked, but not sent.
    Depart(Flight),
    /// The reply was received, but not committed. The reply may ask for a pause.
    Replied(Flight, WriteReply, Option<u64>),
}

/// A failed read.
enum Trouble {
    /// No connection, or a page from another server.
    Unreachable,
    Unclear(String),
}

impl Trouble {
    fn read(self) -> Option<Observation> {
        match self {
            Self::Unreachable => None,
            Self::Unclear(reason) => Some(Observation::Failed(reason)),
        }
    }
}

#[derive(Debug, Default)]
pub(super) struct Program {
    pub(super) store: usize,
    pub(super) offset: i64,
    pub(super) step: Step,
    lease: u64,
    queue: Vec<u64>,
    tries: u32,
    list: Option<(Listing, Vec<ServiceRecord>)>,
}

impl Program {
    pub(super) fn new(store: usize, offset: i64) -> Self {
        Self {
            store,
            offset,
            ..Self::default()
        }
    }
}

impl World {
    pub(super) fn moment_now(&self, offset: i64) -> u64 {
        self.service.now.saturating_add_signed(offset)
    }

    /// Applies an event to a row and commits it. `read`: the number of versions of its record that were read. Returns the request
    /// to send if the event marked one.
    pub(super) fn commit(
        &mut self,
        store: usize,
        id: u64,
        event: &RowEvent,
        read: usize,
        now: u64,
    ) -> Result<Option<Flight>, Unfit> {
        let before = self.stores[store].rows[&id].clone();
        let account = &self.stores[store].account;
        let moment = Moment {
            now,
            listed: &account.listed,
            begun: account.begun,
            reconcile_after: self.reconcile_after,
            service: &account.service,
            user: None,
        };
        let mut row = before.clone();
        let mut applied = apply(&mut row, event, &moment);
        planted::after_apply(self.planted, &before, event, &mut row, &mut applied);
        note(|| {
            format!(
                "store {store} row {id}: {event:?} -> {:?} {applied:?}",
                row.state
            )
        });
        if let Err(unfit) = applied {
            assert_eq!(row, before);
            return Err(unfit);
        }
        self.stores[store].rows.insert(id, row.clone());
        match event {
            RowEvent::Asked(_) => self.count("asked"),
            RowEvent::Reported(_) => self.count("told"),
            RowEvent::Applied {
                is_found: true,
                request: ChangeRequest::Create(_),
                ..
            } => self.count("adopted"),
            RowEvent::Applied { is_found: true, .. } => self.count("already there"),
            RowEvent::SendStarted(_) if before.doubt.sends > 0 => self.count("sent again"),
            _ => {}
        }
        if row.doubt.resends() >= 6 {
            self.count("hopeless");
        }
        let is_act = matches!(event, RowEvent::Requested { .. } | RowEvent::Decided(_));
        let commit = Commit {
            store,
            row: &row,
            act: Some(event).filter(|_| is_act),
            copy: self.stores[store].account.replica.keys().cloned().collect(),
            read,
        };
        Ok(self.invariants.committed(&self.service, &commit))
    }

    /// Decides whether a read fails. `reason`: the text of an unusable answer.
    fn trouble_reading(&mut self, reason: &str) -> Option<Trouble> {
        if self.is_offline {
            return Some(Trouble::Unreachable);
        }
        if !chance(&mut self.random, self.trouble) {
            return None;
        }
        match self.random.usize(..3) {
            0 => Some(Trouble::Unreachable),
            1 => Some(Trouble::Unclear(reason.to_owned())),
            _ => None,
        }
    }

    fn decided(&self, store: usize, row: &Row, read: Option<&Observation>, now: u64) -> Action {
        let store = &self.stores[store];
        let mut open = open(store, row.id);
        let mut sabotaged = row.clone();
        let mut read = read.cloned();
        planted::before_decide(self.planted, &mut sabotaged, &mut read, &mut open, now);
        let when = circumstances(now, store, &open);
        let mut action = decide(&sabotaged, read.as_ref(), &when);
        planted::after_decide(self.planted, row, read.as_ref(), &mut action);
        action
    }

    /// Runs the next step of a program: one commit or one request.
    pub(super) fn step(&mut self, at: usize) {
        let now = self.moment_now(self.programs[at].offset);
        let store = self.programs[at].store;
        let step = std::mem::take(&mut self.programs[at].step);
        let is_held = self.programs[at].lease == self.stores[store].account.lease;
        if !matches!(step, Step::Idle | Step::Depart(_)) && !is_held {
            return;
        }
        let next = match step {
            Step::Idle => self.begin(at, now),
            Step::Pass => self.pass(at, now),
            Step::Listing(listing, records) => {
                self.listed(at, listing, records, now);
                Step::Pass
            }
            Step::Read(_, None, _) => self.next_row(at),
            Step::Read(row, read, versions) => {
                match self.decided(store, &row, read.as_ref(), now) {
                    Action::Append(event) => self.append(at, &row, &event, versions, now),
                    _ => self.next_row(at),
                }
            }
            Step::Depart(flight) => {
                // A program that was frozen and has lost its lease may still send.
                if !is_held && self.random.bool() {
                    return;
                }
                self.depart(flight)
            }
            Step::Replied(flight, reply, pause) => {
                self.replied(at, &flight, reply, pause, now);
                Step::Pass
            }
        };
        self.programs[at].step = next;
    }

    fn begin(&mut self, at: usize, now: u64) -> Step {
        let store = self.programs[at].store;
        let Store { account, rows, .. } = &mut self.stores[store];
        if account.pause.is_some_and(|pause| pause.is_ahead(now)) {
            return Step::Idle;
        }
        account.lease += 1;
        self.programs[at] = Program {
            lease: account.lease,
            queue: rows.keys().copied().collect(),
            ..Program::new(store, self.programs[at].offset)
        };
        let is_sending = |row: &&Row| row.state == RowState::Sending;
        let sending: Vec<u64> = rows.values().filter(is_sending).map(|row| row.id).collect();
        for id in sending {
            // The program that was sending it ended, or lost its lease.
            self.commit(store, id, &RowEvent::Doubt, 0, now).unwrap();
        }
        Step::Pass
    }

    fn next_row(&mut self, at: usize) -> Step {
        self.programs[at].queue.pop();
        self.programs[at].tries = 0;
        Step::Pass
    }

    fn pass(&mut self, at: usize, now: u64) -> Step {
        let store = self.programs[at].store;
        let Some(id) = self.programs[at].queue.last().copied() else {
            return Step::Idle;
        };
        self.programs[at].tries += 1;
        if self.programs[at].tries > 8 {
            return self.next_row(at);
        }
        let row = self.stores[store].rows[&id].clone();
        let held = &self.stores[store];
        let list = self.programs[at]
            .list
            .as_ref()
            .filter(|_| row.record.is_none());
        let read = list.map(|(listing, records)| {
            let replica = &held.account.replica;
            let appeared = records
                .iter()
                .filter(|record| replica[&record.id] > row.known.last);
            let seen = appeared.map(|record| held.seen(record, id, true));
            Observation::Listed(listing.clone(), seen.collect())
        });
        match self.decided(store, &row, read.as_ref(), now) {
            Action::Wait(_) => self.next_row(at),
            Action::Append(event) => self.append(at, &row, &event, 0, now),
            Action::Read(record) => {
                let trouble = if self.never_answers_reads {
                    Some(Trouble::Unclear("server error".to_owned()))
                } else {
                    self.trouble_reading("server error")
                };
                let held = &self.stores[store];
                let read = self.service.read(&record);
                let read = read.map(|_| held.seen(&shown(&self.service, &record), id, false));
                let kept = self.service.records.get(&record);
                let versions = kept.map_or(0, |kept| kept.versions.len());
                Step::Read(
                    Box::new(row),
                    trouble.map_or(Some(Observation::Record(read)), Trouble::read),
                    versions,
                )
            }
            Action::List => {
                if let Some(trouble) = self.trouble_reading("list") {
                    return Step::Read(Box::new(row), trouble.read(), 0);
                }
                let account = &mut self.stores[store].account;
                account.begun += 1;
                let listing = Listing {
                    number: account.begun,
                    begun: now,
                    ..Listing::default()
                };
                let records = service::list(&mut self.service);
                let begun = self.invariants.list_begins();
                self.invariants.listed(store, begun, self.service.events);
                Step::Listing(listing, records)
            }
        }
    }

    fn listed(&mut self, at: usize, mut listing: Listing, records: Vec<ServiceRecord>, now: u64) {
        let store = self.programs[at].store;
        let account = &mut self.stores[store].account;
        for record in &records {
            let next = account.replica.len() as u64 + 1;
            account.replica.entry(record.id.clone()).or_insert(next);
        }
        listing.last = account.replica.len() as u64;
        let dates = records.iter().map(|record| &record.updated_at);
        listing.latest = dates
            .max()
            .max(Some(&account.listed.latest))
            .cloned()
            .unwrap();
        account.listed = listing.clone();
        let rows: Vec<u64> = self.stores[store].rows.keys().copied().collect();
        for id in rows {
            let held = &self.stores[store];
            let row = &held.rows[&id];
            if row.lost.is_none() {
                continue;
            }
            let seen = records.iter().map(|record| held.seen(record, id, true));
            let mut seen: Vec<ObservedRecord> = seen.collect();
            let mut ids = records.iter().map(|record| Some(&record.id));
            let mut is_there = ids.any(|id| id == row.record.as_ref());
            planted::before_report(self.planted, &mut seen, &mut is_there, true);
            let open = open(held, id);
            let when = circumstances(now, held, &open);
            let event = late_duplicates(row, &seen, is_there, &when);
            if let Some(event) = event {
                self.commit(store, id, &event, 0, now).unwrap();
            }
        }
        self.programs[at].list = Some((listing, records));
    }

    /// Commits a decision if the row has not changed since it was read. If the decision marked a request, the next step sends it.
    fn append(
        &mut self,
        at: usize,
        row: &Row,
        event: &RowEvent,
        versions: usize,
        now: u64,
    ) -> Step {
        let store = self.programs[at].store;
        let is_taken = self.is_taken(store, row.id, event) && self.planted != "AdoptsTaken";
        if self.stores[store].rows[&row.id] != *row || is_taken {
            return Step::Pass;
        }
        let flight = self.commit(store, row.id, event, versions, now).unwrap();
        flight.map_or(Step::Pass, Step::Depart)
    }

    /// True if another row has this record already; the store would refuse the event.
    fn is_taken(&self, store: usize, row: u64, event: &RowEvent) -> bool {
        let RowEvent::Applied { record, .. } = event else {
            return false;
        };
        let mut others = self.stores[store]
            .rows
            .values()
            .filter(|other| other.id != row);
        others.any(|other| other.is_about(&record.id))
    }

    fn depart(&mut self, flight: Flight) -> Step {
        self.count("sent");
        if let Some(text) = flight.request.text() {
            self.texts.push(text.value());
        }
        let fate = if self.is_offline {
            [0, 3][self.random.usize(..2)]
        } else if self.never_answers_changes {
            [3, 5, 7, 7][self.random.usize(..4)]
        } else if chance(&mut self.random, self.trouble) {
            match self.random.usize(..16) {
                13.. => 2,
                fate => fate,
            }
        } else {
            13
        };
        note(|| format!("departs {:?}: fate {fate}", flight.request));
        let mut reply = WriteReply::OutcomeUnknown;
        let mut pause = None;
        match fate {
            0 => reply = WriteReply::NotSent { wait: 60 },
            1 => {
                let wait = [5, 60, 3_000][self.random.usize(..3)];
                (reply, pause) = (WriteReply::NotSent { wait }, Some(wait));
            }
            2 => reply = WriteReply::Refused,
            // The request was lost, or another server answered with a page.
            3 | 4 => {
                colleague(&mut self.random, &mut self.service, &flight.request);
            }
            5 | 6 | 8 => {
                carry_out(&mut self.service, &flight);
                if chance(&mut self.random, 20) {
                    self.website();
                }
            }
            7 | 9 => {
                let at = self.service.now + [1, 30, 100, 600][self.random.usize(..4)];
                self.late.push((at, flight.clone()));
            }
            10 => {
                // The reply shows another record.
                if chance(&mut self.random, 50) {
                    carry_out(&mut self.service, &flight);
                }
                if let Some(id) = self.random.choice(records(&self.service, |_| true)) {
                    let is_own = flight.request.record() == Some(id.as_str())
                        || self.service.records[&id].maker() == Author::Row(flight.row);
                    // If a store has not listed the record yet, the outbox takes it for the new one.
                    let is_known = self
                        .stores
                        .iter()
                        .all(|store| store.account.replica.contains_key(&id));
                    if !is_own && is_known {
                        reply = self.reply_with(&flight, &id);
                    }
                }
            }
            _ => match carry_out(&mut self.service, &flight.clone().saved(fate == 11)) {
                Outcome::Saved(id) => {
                    reply = self.reply_with(&flight, &id);
                    // Another user edits the record before the reply is read.
                    if fate == 12 {
                        self.website();
                    }
                }
                Outcome::Refused => reply = WriteReply::Refused,
                // The service says "Internal server error".
                Outcome::NotFound => {}
            },
        }
        Step::Replied(flight, reply, pause)
    }

    /// A reply that names a record, with its id and status. After a creation the record is also read.
    fn reply_with(&self, flight: &Flight, id: &str) -> WriteReply {
        let shown = shown(&self.service, id);
        let read = (flight.request.record().is_none()).then(|| shown.clone());
        WriteReply::Record {
            seen: ObservedRecord {
                record: service::reply(shown),
                sequence: None,
                owner: None,
            },
            read: read.filter(|_| !self.service.habits.replies_briefly),
        }
    }

    fn replied(
        &mut self,
        at: usize,
        flight: &Flight,
        reply: WriteReply,
        pause: Option<u64>,
        now: u64,
    ) {
        let store = self.programs[at].store;
        if let Some(wait) = pause {
            self.stores[store].account.pause = Some(Due::after(now, wait));
        }
        let row = self.stores[store].rows[&flight.row].clone();
        let sent = row.sent.as_ref().map(|sent| &sent.request);
        assert_eq!(
            sent,
            Some(&flight.request),
            "what is under way was touched: {row:?}"
        );
        let reply = match reply {
            WriteReply::Record { seen, read } => WriteReply::Record {
                seen: self.stores[store].seen(&seen.record, row.id, true),
                read,
            },
            other => other,
        };
        let mut heard = reply.clone();
        planted::before_answer(self.planted, &row, &mut heard);
        let event = answer(&row, heard, &self.stores[store].account.service);
        let is_another = matches!((&reply, flight.request.record()), (WriteReply::Record { seen, .. }, Some(id)) if seen.record.id != id);
        let is_asked = matches!(event, RowEvent::Asked(_));
        assert!(
            !is_another || is_asked,
            "no question follows from {reply:?}: {row:?}"
        );
        if let RowEvent::Applied {
            request: ChangeRequest::Create(_),
            record,
            ..
        } = &event
        {
            self.stores[store].account.service.learn_author(record);
        }
        self.commit(store, row.id, &event, 0, now).unwrap();
    }
}

pub(super) fn circumstances<'a>(
    now: u64,
    store: &'a Store,
    open: &'a [&'a Row],
) -> Circumstances<'a> {
    // The movements of the model are on the first of June.
    let days = now.saturating_sub(START) / 86_400;
    Circumstances {
        now,
        today: if days < 190 {
            "2026-11-20"
        } else {
            "2027-06-02"
        },
        service: &store.account.service,
        open,
        user: None,
    }
}

/// The other rows whose creation may be in flight.
pub(super) fn open(store: &Store, row: u64) -> Vec<&Row> {
    let others = store.rows.values().filter(|other| other.id != row);
    others.filter(|row| row.is_expecting()).collect()
}
