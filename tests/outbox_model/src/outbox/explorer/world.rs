//! The small world: the rows and the state of their store, the service, requests in flight, a clock, and the memory of the invariants.
//!
//! The code around the pure functions does the same as the outbox loop, in the same order: `pass.rs` (due rows, `finish`, late
//! duplicates), `observe.rs` (lists and the records that appeared), `store.rs` (the owners of records) and `requests.rs` (the row
//! of a record). It copies each decision that the loop makes outside the pure functions.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

use serde_json::json;

use super::invariants::{Asked, Departure, Invariants, Said, Screen};
use super::service::{
    self, Author, Content, Draft, FieldValues, Outcome, PAT, Service, updated_at,
};
use super::steps::{Fate, List, Run};
use crate::outbox::apply::{Intent, Moment, RowEvent, Unfit, apply};
use crate::outbox::compare::{ServiceFields, ServiceRecord, may_be_made_of};
use crate::outbox::decide::{
    Action, Circumstances, Observation, ObservedRecord, WriteReply, answer, claim, decide,
    is_before, is_fresh, late_duplicates,
};
use crate::outbox::decision::Decision;
use crate::outbox::planted;
use crate::outbox::row::{
    ChangeRequest, DAY, Desired, Limit, Listing, Owner, Question, Reason, Row, RowState, Sent,
    Text, Time, Unanswered,
};

/// The time between two runs: a creation may not rely on a list that is this old.
const BETWEEN_RUNS: Time = 61;

const RECONCILE_AFTER: Time = 60;

const HOUR: Time = 60 * 60;

/// The time of the first step. The movements of this world are on 2027-06-01 or the day after.
const START: Time = 1_795_132_800;

/// The maximum number of steps of one row in a round, as in the loop.
const STEPS: u32 = 16;

/// The maximum number of rounds over all rows in a pass. A pass that needs more breaks an invariant.
const ROUNDS: u32 = 8;

/// A record in the local copy.
#[derive(Clone, Debug)]
struct Copied {
    /// Its position in the order of first listing.
    sequence: u64,
    updated_at: String,
    content: Content,
}

/// A request that was sent.
#[derive(Clone, Debug)]
pub(super) struct Flight {
    pub(super) declaration: u64,
    pub(super) request: ChangeRequest,
    /// Its fields; `None` for a delete.
    given: Option<FieldValues>,
    user: &'static str,
    left_at: Time,
}

/// A request in flight, and the data that the pass needs when the reply arrives.
#[derive(Clone, Debug)]
pub(super) struct Held {
    pub(super) flight: Flight,
    sent: Sent,
    creation_before: Option<u8>,
    /// Set once the request has arrived: the saved record, or `Some(None)` if the record did not exist.
    outcome: Option<Option<usize>>,
}

#[derive(Clone, Debug)]
pub(super) struct World {
    pub(super) rows: BTreeMap<u64, Arc<Row>>,
    pub(super) service: Service,
    pub(super) late: Vec<Flight>,
    pub(super) held: Option<Held>,
    pub(super) invariants: Invariants,
    pub(super) user: &'static str,
    pub(super) is_day_past: bool,
    pub(super) now: Time,
    /// The number of the next commit.
    version: u64,
    list: Option<Listing>,
    copy: BTreeMap<usize, Copied>,
    latest: String,
    /// The elements of the last list that could not be read.
    gaps: BTreeSet<String>,
    learnt: Arc<ServiceFields>,
    duplicates_searched_at: Option<Time>,
    /// The record that reads and lists do not show in this run, although it is there.
    hidden: Option<usize>,
    /// A record was hidden in an earlier run.
    pub(super) was_gone: bool,
    /// The planted mistake, or an empty name.
    pub(super) planted: &'static str,
}

/// The state of one run of the loop.
struct Pass {
    run: Run,
    sent: u8,
    searches_at: Option<Time>,
    retries_now: bool,
    failed: Vec<u64>,
    /// The complete list was read.
    is_full: bool,
}

/// Ends the pass early: the service is unreachable, a request is in flight, or its reply is lost.
struct Stop;

impl World {
    pub(super) fn new(planted: &'static str) -> Self {
        Self {
            rows: BTreeMap::new(),
            service: Service::default(),
            late: Vec::new(),
            held: None,
            invariants: Invariants::default(),
            user: "sam",
            is_day_past: false,
            now: START,
            version: 1,
            list: None,
            copy: BTreeMap::new(),
            latest: String::new(),
            gaps: BTreeSet::new(),
            learnt: Arc::default(),
            duplicates_searched_at: None,
            hidden: None,
            was_gone: false,
            planted,
        }
    }

    fn listing(&self) -> Listing {
        Listing {
            number: self.version,
            begun: self.now,
            last: self.copy.len() as u64,
            latest: self.latest.clone(),
            copy: 0,
            gaps: self.gaps.clone(),
        }
    }

    /// Applies an event to a row.
    fn append(&mut self, row: &Row, event: &RowEvent) -> Result<(), Unfit> {
        let mut next = row.clone();
        let moment = Moment {
            now: self.now,
            listed: &self.listing(),
            begun: self.version,
            reconcile_after: RECONCILE_AFTER,
            service: &self.learnt,
            user: Some(self.user),
        };
        let mut applied = apply(&mut next, event, &moment);
        planted::after_apply(self.planted, row, event, &mut next, &mut applied);
        applied?;
        self.put(next);
        Ok(())
    }

    fn put(&mut self, mut row: Row) {
        let is_read = self.planted == "KeepMineAgreesToAll";
        row.history
            .retain(|event| is_read && event.why == "keep mine");
        row.history.truncate(1);
        self.version += 1;
        self.rows.insert(row.id, Arc::new(row));
    }

    /// The other row that owns a record, as in `store.rs`.
    fn holder(&self, record: &str, except: u64) -> Option<&Row> {
        let rows = self.rows.values().filter(|row| row.id != except);
        let mut reporting = rows.clone();
        let mut past = rows.clone().filter(|row| row.is_at_rest());
        let has = |row: &&Arc<Row>| row.records().any(|known| known == record);
        let open = rows.filter(|row| !row.is_at_rest() && has(row));
        let open = open.max_by_key(|row| row.is_about(record));
        let has_reported = |row: &&Arc<Row>| row.duplicates.iter().any(|known| known == record);
        let known = open.or_else(|| past.rfind(has));
        known
            .or_else(|| reporting.find(has_reported))
            .map(Arc::as_ref)
    }

    fn owner(&self, record: &str, except: u64, is_listed: bool) -> Option<Owner> {
        self.holder(record, except)?.owner(record, is_listed)
    }

    /// Whether an event would give a row the record of another open row, as in `store.rs`.
    fn is_taken(&self, event: &RowEvent, row: u64) -> bool {
        let RowEvent::Applied { record, .. } = event else {
            return false;
        };
        let mut others = self.rows.values().filter(|other| other.id != row);
        others.any(|other| !other.is_at_rest() && other.is_about(&record.id))
    }

    /// The other rows whose creation may be in flight, as in `store.rs`.
    fn expecting(&self, except: u64) -> Vec<&Row> {
        let rows = self.rows.values().filter(|row| row.id != except);
        let expecting = rows.filter(|row| !row.is_at_rest() && row.is_expecting());
        expecting.map(Arc::as_ref).collect()
    }

    fn is_another_first(&self, row: &Row) -> bool {
        let mut others = self.expecting(row.id).into_iter();
        others.any(|other| is_before(other, row))
    }

    fn with_circumstances<T>(&self, row: u64, judge: impl FnOnce(&Circumstances<'_>) -> T) -> T {
        let others = self.expecting(row);
        judge(&Circumstances {
            now: self.now,
            today: if self.is_day_past {
                "2027-06-03"
            } else {
                "2026-11-20"
            },
            service: &self.learnt,
            open: &others,
            user: Some(self.user),
        })
    }

    fn is_listed(&self, record: &str) -> bool {
        let at = service::at(record);
        self.copy.contains_key(&at) && self.is_shown(at)
    }

    /// The position of a record in the order of first listing, as in `observe.rs`; 0 if it was listed before everything that the
    /// open rows wait for.
    fn first_listed(&self, record: &str) -> Option<u64> {
        if !self.is_listed(record) {
            return None;
        }
        let sequence = self.copy[&service::at(record)].sequence;
        let open = self.rows.values().filter(|row| !row.is_at_rest());
        let needed = open.filter_map(|row| row.needs_since()).min();
        Some(
            needed
                .filter(|since| sequence > *since)
                .map_or(0, |_| sequence),
        )
    }

    /// Whether reads and lists show a record.
    fn is_shown(&self, at: usize) -> bool {
        self.hidden != Some(at) && self.service.is_there(at)
    }

    /// The record that a list omits.
    fn left_out(&self, list: List) -> Option<usize> {
        let is_ours = |at: &usize| matches!(self.service.records[*at].maker, Author::Us(_));
        let mut there = (0..self.service.records.len()).filter(|at| self.service.is_there(*at));
        let newest = there.rfind(is_ours)?;
        let is_left_out = match list {
            List::Complete => false,
            List::Null | List::Gone => true,
            List::Behind => self.now - self.service.records[newest].made_at < DAY,
        };
        is_left_out.then_some(newest)
    }

    /// Reads the complete list, as in `observe.rs`.
    pub(super) fn read_list(&mut self, list: List) -> Listing {
        let number = self.version;
        let begun = self.now;
        let left_out = self.left_out(list);
        let there = (0..self.service.records.len()).filter(|at| self.service.is_there(*at));
        for at in there.filter(|at| Some(*at) != left_out).collect::<Vec<_>>() {
            let record = &self.service.records[at];
            let sequence = self.copy.len() as u64 + 1;
            let known = self.copy.get(&at).map_or(sequence, |known| known.sequence);
            let updated_at = updated_at(record.updated);
            if updated_at > self.latest {
                self.latest.clone_from(&updated_at);
            }
            self.copy.insert(
                at,
                Copied {
                    sequence: known,
                    updated_at,
                    content: record.content,
                },
            );
        }
        let gap = left_out.filter(|_| list == List::Null);
        self.gaps = gap.map(service::id).into_iter().collect();
        self.invariants.listed(gap.is_some());
        let listing = Listing {
            number,
            begun,
            ..self.listing()
        };
        self.list = Some(listing.clone());
        listing
    }

    /// The records that were first listed after position `since` and may have been created from one of these texts, as in
    /// `observe.rs`.
    fn appeared<'a>(
        &self,
        row: u64,
        texts: impl Iterator<Item = &'a Text>,
        since: u64,
    ) -> Vec<ObservedRecord> {
        let texts: Vec<_> = texts.map(Text::value).collect();
        let mut appeared: Vec<_> = self.copy.iter().collect();
        appeared.sort_by_key(|(_, known)| known.sequence);
        let appeared = appeared.into_iter();
        let appeared = appeared.filter(|(at, known)| known.sequence > since && self.is_shown(**at));
        let seen = appeared.filter_map(|(at, known)| {
            let record = self.service.shown(*at);
            let mut texts = texts.iter();
            let may_be = texts.any(|text| may_be_made_of(text, &record.fields, &self.learnt));
            may_be.then(|| ObservedRecord {
                sequence: Some(known.sequence),
                owner: self.owner(&record.id, row, true),
                record,
            })
        });
        seen.collect()
    }

    /// Runs until nothing is due, like `Outbox::send`, or like `send_due` if the run does not wait. Returns false if the run was
    /// the same as a plain run.
    pub(super) fn run(&mut self, run: Run) -> bool {
        self.now += BETWEEN_RUNS;
        self.hidden = self.left_out(run.list).filter(|_| run.list == List::Gone);
        self.was_gone |= self.hidden.is_some();
        let due = |row: &Arc<Row>| match &row.state {
            RowState::Open { next_at } => next_at.filter(|due| due.is_ahead(self.now)),
            _ => None,
        };
        // If nothing is due yet, the caller waits until the next row is due.
        let is_ahead =
            |row: &Arc<Row>| !matches!(row.state, RowState::Open { .. }) || due(row).is_some();
        if !run.is_timed
            && self.rows.values().all(is_ahead)
            && let Some(next) = self
                .rows
                .values()
                .filter_map(due)
                .map(|due| due.until)
                .min()
        {
            self.now = next;
        }
        let mut pass = Pass {
            run,
            sent: 0,
            searches_at: None,
            retries_now: run.waits,
            failed: Vec::new(),
            is_full: false,
        };
        let before: BTreeMap<u64, Screen> =
            self.rows.keys().map(|id| (*id, self.screen(*id))).collect();
        let mut rounds = 0;
        loop {
            rounds += 1;
            pass.is_full = false;
            if self.pass(&mut pass).is_err() {
                break;
            }
            let next = pass
                .searches_at
                .take()
                .filter(|at| *at <= self.now + 2 * RECONCILE_AFTER);
            let Some(next) = next.filter(|_| run.waits && rounds < 40) else {
                break;
            };
            self.now = next;
            pass.retries_now = false;
        }
        // While a record seems to be deleted, a screen can only show what the service says.
        if run.fate != Fate::QuickColleague && self.hidden.is_none() {
            self.check_screens(&before);
        }
        self.hidden = None;
        let is_faulty = run.fate != Fate::Answered;
        !is_faulty || pass.sent > run.at
    }

    /// Compares each screen that changed with the service. Valid only if no other user acted during the run.
    fn check_screens(&mut self, before: &BTreeMap<u64, Screen>) {
        for id in self.rows.keys().copied().collect::<Vec<_>>() {
            let screen = self.screen(id);
            if before.get(&id) != Some(&screen) {
                let record = self.rows[&id].record.as_ref();
                let record = record.map(|record| service::at(record));
                self.invariants.shows(id, &screen, record, &self.service);
            }
        }
    }

    /// One pass, as in `pass.rs`.
    fn pass(&mut self, pass: &mut Pass) -> Result<(), Stop> {
        for _ in 0..ROUNDS {
            pass.searches_at = None;
            self.doubt_what_was_sent();
            self.search_for_duplicates(pass);
            let version = self.version;
            for id in self.rows.keys().copied().collect::<Vec<_>>() {
                let mut read = None;
                for _ in 0..STEPS {
                    if !self.step(id, &mut read, pass)? {
                        break;
                    }
                }
            }
            if self.version == version {
                return Ok(());
            }
        }
        self.invariants.never_ends();
        Err(Stop)
    }

    /// A pass takes the lease, which puts the requests in flight of an earlier pass in doubt, as in `lease.rs`.
    fn doubt_what_was_sent(&mut self) {
        for id in self.rows.keys().copied().collect::<Vec<_>>() {
            let row = Arc::clone(&self.rows[&id]);
            if row.state == RowState::Sending {
                self.append(&row, &RowEvent::Doubt).unwrap();
                self.invariants.hears_nothing(id, self.now);
            }
        }
    }

    /// Does the same as `search_for_duplicates` in `pass.rs`.
    fn search_for_duplicates(&mut self, pass: &Pass) {
        let rows = self.rows.values().filter(|row| !row.is_at_rest());
        let watched: Vec<_> = rows
            .filter(|row| row.watched().is_some())
            .cloned()
            .collect();
        let is_early = |at: Time| self.now - at < HOUR;
        if watched.is_empty() || self.duplicates_searched_at.is_some_and(is_early) {
            return;
        }
        self.duplicates_searched_at = Some(self.now);
        let page = self.read_list(pass.run.list);
        for row in watched {
            let Some(lost) = row.watched() else {
                continue;
            };
            let mut seen = self.appeared(row.id, lost.texts.iter(), lost.listed.last);
            let mut is_there = row.record.as_ref().is_some_and(|id| self.is_listed(id));
            let is_alone = !self.rows.values().any(|other| {
                other.id != row.id
                    && other
                        .lost
                        .as_ref()
                        .is_some_and(|other| other.texts == lost.texts)
            });
            planted::before_report(self.planted, &mut seen, &mut is_there, is_alone);
            let found = self
                .with_circumstances(row.id, |when| late_duplicates(&row, &seen, is_there, when));
            if let Some(event) = found {
                self.tells(&row, &event);
                self.append(&row, &event).unwrap();
            } else if lost.ends_with(&page, self.now)
                || self.planted == "GapEndsWatch" && !lost.is_watched(self.now)
            {
                self.append(&row, &RowEvent::WatchOver).unwrap();
            }
        }
    }

    fn tells(&mut self, row: &Row, event: &RowEvent) {
        let RowEvent::Reported(reported) = event else {
            return;
        };
        let own = row.record.as_ref().map(|own| service::at(own));
        let is_own_there = own.is_some_and(|own| self.service.is_there(own));
        // A discarded row that was started for a record does not own it any more.
        let is_given_up = |other: &Row| other.is_named && other.state == RowState::Discarded;
        let mut others = self.rows.values().filter(|other| other.id != row.id);
        let is_of_another = others.any(|other| {
            let mut records = other.record.iter();
            !is_given_up(other) && records.any(|record| reported.contains(record))
        });
        let screen = self.screen(row.id);
        let reported = reported.iter().map(|record| service::at(record));
        self.invariants
            .tells(row.id, reported, &screen, is_own_there, is_of_another);
    }

    /// One read, or one commit and its request, as in `pass.rs`. Returns false if the row has nothing to do.
    fn step(
        &mut self,
        id: u64,
        read: &mut Option<Observation>,
        pass: &mut Pass,
    ) -> Result<bool, Stop> {
        let row = Arc::clone(&self.rows[&id]);
        let is_open = matches!(
            row.state,
            RowState::Open { .. } | RowState::Asked(Question::AnotherUser(_))
        );
        let is_new = row.record.is_none() && row.adopt.is_none() && !row.is_creation_in_doubt();
        if row.is_at_rest() || !is_open || is_new && self.is_another_first(&row) {
            return Ok(false);
        }
        match self.decided(&row, read.as_ref(), pass) {
            Action::Wait(due) => {
                if let (Some(due), false) = (due, row.read_failures.is_some()) {
                    let at = pass.searches_at.map_or(due.until, |at| at.min(due.until));
                    pass.searches_at = Some(at);
                }
                return Ok(false);
            }
            Action::Read(record) => {
                self.invariants.reads(id, !pass.run.is_unreadable, self.now);
                *read = Some(if pass.run.is_unreadable {
                    Observation::Failed("internal server error".to_owned())
                } else {
                    self.read_record(&row, &record)
                });
            }
            Action::List => {
                let known = self.list.clone();
                let is_old = self.planted == "SearchesOldList";
                let known = known.filter(|list| is_old || is_fresh(&row, list, self.now));
                let mut list = known.unwrap_or_else(|| self.read_list(pass.run.list));
                let gaps_before = &row.searched_for().1.gaps;
                if row.is_in_doubt() && !list.gaps.is_subset(gaps_before) && !pass.is_full {
                    // A complete list may show the missing record.
                    pass.is_full = true;
                    list = self.read_list(pass.run.list);
                }
                let (texts, since) = row.searched();
                *read = Some(Observation::Listed(list, self.appeared(id, texts, since)));
            }
            Action::Append(event) => {
                *read = None;
                match event {
                    RowEvent::SendStarted(sent) => self.send(&row, &sent, pass)?,
                    event => {
                        if matches!(event, RowEvent::ReadFailed(_)) {
                            pass.failed.push(id);
                        }
                        self.judge(&row, &event);
                    }
                }
            }
        }
        Ok(true)
    }

    fn decided(&self, row: &Row, read: Option<&Observation>, pass: &Pass) -> Action {
        let is_tried =
            pass.retries_now && row.read_failures.is_some() && !pass.failed.contains(&row.id);
        let mut tried = Cow::Borrowed(row);
        if is_tried && let RowState::Open { next_at } = &mut tried.to_mut().state {
            *next_at = None;
        }
        if self.planted.is_empty() {
            return self.with_circumstances(row.id, |when| decide(&tried, read, when));
        }
        let mut sabotaged = tried.into_owned();
        let mut read = read.cloned();
        let mut open = self.expecting(row.id);
        planted::before_decide(self.planted, &mut sabotaged, &mut read, &mut open, self.now);
        let mut action = self.with_circumstances(row.id, |when| {
            let when = Circumstances {
                open: &open,
                ..*when
            };
            decide(&sabotaged, read.as_ref(), &when)
        });
        planted::after_decide(self.planted, row, read.as_ref(), &mut action);
        action
    }

    /// Does the same as `record` in `observe.rs`.
    fn read_record(&self, row: &Row, record: &str) -> Observation {
        let at = service::at(record);
        if !self.is_shown(at) {
            return Observation::Record(None);
        }
        Observation::Record(Some(ObservedRecord {
            owner: row
                .adopt
                .as_ref()
                .and_then(|_| self.owner(record, row.id, false)),
            sequence: None,
            record: self.service.shown(at),
        }))
    }

    /// Applies a decision to a row, unless it takes the record of another row, as in `pass.rs`.
    fn judge(&mut self, row: &Row, event: &RowEvent) {
        let is_taken = self.is_taken(event, row.id) && self.planted != "AdoptsTaken";
        if is_taken || self.append(row, event).is_err() {
            return;
        }
        match event {
            RowEvent::Applied {
                request, record, ..
            } => {
                if request.record().is_none() {
                    self.invariants
                        .takes(row.id, service::at(&record.id), &self.service);
                }
                let is_submit = matches!(request, ChangeRequest::Submit(..));
                let text = request.text().map(FieldValues::of_text);
                let found = text.map(|text| (text, is_submit));
                self.invariants.settles(row.id, found);
            }
            RowEvent::Absent { is_over: true } => self.invariants.settles(row.id, None),
            RowEvent::Asked(_) => self.asks(row.id),
            _ => {}
        }
    }

    fn asks(&mut self, id: u64) {
        let screen = self.screen(id);
        let others = self.rows.values().filter(|other| other.id != id);
        let others = others.filter_map(|other| other.record.as_deref().map(service::at));
        let is_made_by_another = |at: &usize| self.service.records[*at].maker != Author::Us(id);
        let others: Vec<usize> = others.filter(is_made_by_another).collect();
        self.invariants.asks(
            id,
            &screen,
            &self.service,
            self.now,
            self.is_day_past,
            &others,
        );
    }

    /// Sends a request, as in `pass.rs`.
    fn send(&mut self, row: &Row, sent: &Sent, pass: &mut Pass) -> Result<(), Stop> {
        self.append(row, &RowEvent::SendStarted(sent.clone()))
            .unwrap();
        let id = row.id;
        let request = &sent.request;
        if matches!(request, ChangeRequest::Create(_)) {
            self.doubles(id);
        }
        let creation_before = self.invariants.creation(id);
        let before = sent.before.as_ref().map(|record| &record.fields);
        let mut body = request.sent(before);
        planted::before_send(self.planted, request, &mut body);
        let given = body.as_ref().map(FieldValues::of);
        self.invariants.departs(
            id,
            &Departure {
                record: request.record().map(service::at),
                text: request.text().map(FieldValues::of_text),
                given,
                listed: self.listed(),
                user: self.user,
                is_day_past: self.is_day_past,
            },
            &self.service,
        );
        let flight = Flight {
            declaration: id,
            request: request.clone(),
            given,
            user: self.user,
            left_at: self.now,
        };
        let fate = if pass.sent == pass.run.at {
            pass.run.fate
        } else {
            Fate::Answered
        };
        pass.sent += 1;
        let held = Held {
            flight,
            sent: sent.clone(),
            creation_before,
            outcome: None,
        };
        if matches!(fate, Fate::Held | Fate::HeldAfter) {
            self.held = Some(held);
            if fate == Fate::HeldAfter {
                self.held_arrives();
            }
            return Err(Stop);
        }
        self.replies(held, fate);
        if matches!(fate, Fate::Answered | Fate::QuickColleague | Fate::Refused) {
            return Ok(());
        }
        Err(Stop)
    }

    /// A declaration is sent as a new record. Each record that it has made, and that a person has started another declaration for, is
    /// doubled.
    fn doubles(&mut self, declaration: u64) {
        let rows = &self.rows;
        let is_named = |at: usize| {
            let id = service::id(at);
            let mut rows = rows.values();
            rows.any(|row| row.is_named && row.record.as_ref() == Some(&id))
        };
        for (at, record) in self.service.records.iter_mut().enumerate() {
            record.is_doubled |= record.maker == Author::Us(declaration) && is_named(at);
        }
    }

    fn carry_out(&mut self, flight: &Flight) -> Option<usize> {
        let id = flight.declaration;
        let record = flight.request.record().map(service::at);
        let given = flight.given;
        let outcome = self
            .service
            .carry_out(id, flight.user, record, given.as_ref(), self.now);
        let Outcome::Saved(record) = outcome else {
            return None;
        };
        let text = flight.request.text().map(FieldValues::of_text);
        self.invariants.carried_out(id, text, given);
        Some(record)
    }

    /// The service carries out the held request; its reply is still in flight.
    pub(super) fn held_arrives(&mut self) {
        let Some(mut held) = self.held.take() else {
            return;
        };
        held.outcome = Some(self.carry_out(&held.flight));
        self.held = Some(held);
    }

    /// The held request ends with this fate.
    pub(super) fn held_ends(&mut self, fate: Fate) {
        if let Some(held) = self.held.take() {
            self.replies(held, fate);
        }
    }

    /// The program is killed while a request is in flight.
    pub(super) fn kill(&mut self, fate: Fate) {
        let Some(held) = self.held.take() else {
            return;
        };
        match fate {
            Fate::ArrivesLate => self.late.push(held.flight),
            Fate::ReplyLost if held.outcome.is_none() => drop(self.carry_out(&held.flight)),
            _ => {}
        }
        self.duplicates_searched_at = None;
    }

    /// Handles a request according to its fate, and passes the reply to the outbox.
    fn replies(&mut self, held: Held, fate: Fate) {
        let id = held.flight.declaration;
        let outcome = match (held.outcome, fate) {
            (Some(outcome), _) => outcome,
            (
                None,
                Fate::Answered | Fate::QuickColleague | Fate::ReplyLost | Fate::NamesAnother,
            ) => self.carry_out(&held.flight),
            _ => None,
        };
        let mut seen = outcome;
        match fate {
            Fate::QuickColleague => {
                if let Some(record) = outcome.filter(|record| self.service.is_there(*record)) {
                    let mut given = FieldValues::of(&json!({}));
                    given.fields[service::CONSIGNEE] = Some(PAT);
                    self.service.save(record, Author::Other, &given);
                }
            }
            Fate::NamesAnother => {
                let mut given = FieldValues::of_text(&Draft::A.text());
                given.fields[service::CONSIGNEE] = Some(PAT);
                seen = Some(self.service.insert(Author::Other, "pat", &given, self.now));
            }
            Fate::ArrivesLate => self.late.push(held.flight.clone()),
            _ => {}
        }
        let heard = match fate {
            Fate::Answered | Fate::QuickColleague | Fate::NamesAnother => match seen {
                Some(record) => self.reply_of(record, &held.sent),
                None => WriteReply::OutcomeUnknown,
            },
            Fate::Refused => WriteReply::Refused,
            Fate::NotSent => WriteReply::NotSent { wait: 0 },
            _ => WriteReply::OutcomeUnknown,
        };
        self.finish(&held, heard);
        debug_assert!(id > 0);
    }

    /// The reply about a record, and a new record as read right after it. Does the same as `reply_of` in `pass.rs`.
    fn reply_of(&self, record: usize, sent: &Sent) -> WriteReply {
        let id = service::id(record);
        let is_new = sent.request.record().is_none();
        let holder = self.holder(&id, 0).filter(|_| is_new);
        let shown = self.service.shown(record);
        let status = if self.service.is_there(record) {
            shown.fields["status"].clone()
        } else {
            json!("DELETED")
        };
        let seen = ObservedRecord {
            owner: holder.map(|row| row.owner(&id, true).unwrap_or(Owner::Namer)),
            sequence: self.first_listed(&id).filter(|_| is_new),
            record: ServiceRecord {
                id,
                updated_at: String::new(),
                created_by: None,
                fields: json!({"status": status}),
            },
        };
        let read = Some(shown).filter(|_| is_new && self.service.is_there(record));
        WriteReply::Record { seen, read }
    }

    /// Does the same as `finish` in `pass.rs`.
    fn finish(&mut self, held: &Held, heard: WriteReply) {
        let id = held.flight.declaration;
        let row = Arc::clone(&self.rows[&id]);
        match &heard {
            WriteReply::NotSent { .. } => self.invariants.never_left(id, held.creation_before),
            WriteReply::OutcomeUnknown => self.invariants.hears_nothing(id, self.now),
            WriteReply::Record { .. } => self.invariants.answers(id, false),
            WriteReply::Refused => self.invariants.answers(id, true),
        }
        if row.state != RowState::Sending || row.sent.as_ref() != Some(&held.sent) {
            return;
        }
        let mut heard = heard;
        planted::before_answer(self.planted, &row, &mut heard);
        let mut event = answer(&row, heard, &self.learnt);
        if let RowEvent::Applied { record, .. } = &event
            && self.is_taken(&event, id)
        {
            event = RowEvent::Asked(Question::OtherRecord(record.id.clone()));
        }
        if self.append(&row, &event).is_err() {
            return;
        }
        if let (RowEvent::Applied { record, .. }, ChangeRequest::Create(text)) =
            (&event, &held.sent.request)
        {
            self.invariants
                .takes(id, service::at(&record.id), &self.service);
            let service = Arc::make_mut(&mut self.learnt);
            service.learn_author(record);
            let made = &self.service.records[service::at(&record.id)];
            self.invariants.learns(made.created_by);
            let shown = self.service.shown(service::at(&record.id));
            planted::after_learning(self.planted, service, &text.value(), &shown);
        }
        if matches!(event, RowEvent::Asked(_)) {
            self.asks(id);
        }
    }

    /// The user says something about a declaration or a record, or writes a new declaration, as in `requests.rs`. Returns false on
    /// an error.
    pub(super) fn says(
        &mut self,
        about: About,
        event: &RowEvent,
        given: Option<Draft>,
        not_after: Option<Time>,
    ) -> bool {
        let mut base = None;
        let known = match about {
            About::New => None,
            About::Row(id) => Some(id),
            About::Record(record) => {
                base = Some(record);
                match self.row_of(&base_of(event)) {
                    Ok(known) => known,
                    Err(_) => return false,
                }
            }
        };
        let id = known.unwrap_or_else(|| self.add(base.map(service::id)));
        let screen = known.map_or(Screen::New, |id| self.screen(id));
        let row = Arc::clone(&self.rows[&id]);
        if self.append(&row, event).is_err() {
            return false;
        }
        let given = given.map(|draft| FieldValues::of_text(&draft.text()));
        let said = match event {
            RowEvent::Requested { intent, .. } => match intent {
                Intent::Save(_) => Said::Save(given.unwrap()),
                Intent::Submit(_) => Said::Submit(given),
                Intent::Withdraw => Said::Withdraw,
                Intent::Delete => Said::Delete,
            },
            RowEvent::Decided(decision) => match decision {
                Decision::KeepMine => Said::KeepMine,
                Decision::TakeTheirs => Said::TakeTheirs,
                Decision::Resend => Said::Resend,
                Decision::Adopt(record) => Said::Adopt(record.as_str()),
                Decision::SendAsMe => Said::SendAsMe,
                Decision::Discard => Said::Discard,
            },
            _ => return false,
        };
        // Before a delete, the user sees the record in the local copy. If the copy does not have it, the user deletes by id only.
        let seen = base.map(|record| {
            let copied = self.copy.get(&record).map(|copied| copied.content);
            let copied = copied.filter(|_| matches!(said, Said::Delete));
            (
                record,
                copied.unwrap_or(self.service.records[record].content),
            )
        });
        self.invariants.happened();
        if let (Said::Delete, Some((record, content))) = (said, seen)
            && !self.copy.contains_key(&record)
        {
            self.invariants.saw_all(record, content);
        }
        self.invariants
            .says(id, said, &screen, seen, not_after, self.user, self.now);
        let is_anew = row.state == RowState::Confirmed && row.record.is_none();
        if known.is_none() || is_anew || matches!(said, Said::Resend | Said::KeepMine) {
            self.invariants.knows(id, self.listed());
        }
        let after = self.screen(id);
        self.invariants.is_shown_after(id, said, &screen, &after);
        true
    }

    fn add(&mut self, record: Option<String>) -> u64 {
        let id = self.rows.keys().next_back().map_or(1, |last| last + 1);
        let row = Row::new(id, record, self.listing(), self.version);
        self.rows.insert(id, Arc::new(row));
        id
    }

    /// Does the same as `row_of` in `requests.rs`.
    fn row_of(&mut self, record: &ServiceRecord) -> Result<Option<u64>, Unfit> {
        if let Some(row) = self.holder(&record.id, 0)
            && row.is_about(&record.id)
        {
            return Ok(Some(row.id));
        }
        let seen = ObservedRecord {
            record: record.clone(),
            sequence: self.first_listed(&record.id),
            owner: self.owner(&record.id, 0, true),
        };
        let open = self.expecting(0).into_iter();
        let mut claimed = open.filter_map(|row| {
            let is_claimed = match self.planted {
                "NamedRecordIsAnothers" => false,
                "EditsUnderWay" => row.state != RowState::Sending,
                _ => true,
            };
            let event = self.with_circumstances(row.id, |when| {
                claim(row, &seen, when).filter(|_| is_claimed)
            })?;
            Some((Arc::clone(&self.rows[&row.id]), event))
        });
        let Some((row, event)) = claimed.next() else {
            return Ok(None);
        };
        drop(claimed);
        self.append(&row, &event)?;
        if matches!(event, RowEvent::Asked(_)) {
            self.asks(row.id);
            return Ok(None);
        }
        self.invariants.settles(row.id, None);
        Ok(Some(row.id))
    }

    /// The records in the local copy, as a bit set.
    fn listed(&self) -> u32 {
        self.copy.keys().fold(0, |listed, at| listed | 1 << at)
    }

    /// A record as the local copy shows it to a user who deletes it.
    pub(super) fn copied(&self, record: usize) -> ServiceRecord {
        let known = self.copy.get(&record);
        ServiceRecord {
            id: service::id(record),
            updated_at: known
                .map(|known| known.updated_at.clone())
                .unwrap_or_default(),
            created_by: None,
            fields: serde_json::Value::Null,
        }
    }

    /// The state of a declaration on the screen, as in `declaration.rs`.
    pub(super) fn screen(&self, id: u64) -> Screen {
        let row = &self.rows[&id];
        match &row.state {
            RowState::Open { .. } if row.is_in_doubt() => Screen::Sent,
            RowState::Open { .. } if matches!(row.desired, Desired::Withdraw(_)) => {
                Screen::WaitingToWithdraw
            }
            RowState::Open { .. } => Screen::Waiting,
            RowState::Sending => Screen::Sent,
            RowState::Confirmed => match row.desired {
                Desired::Save(_) => Screen::Saved,
                Desired::Submit(_) => Screen::Submitted,
                Desired::Withdraw(_) => Screen::DraftAgain,
                Desired::Delete => Screen::Deleted,
            },
            RowState::Refused => Screen::Refused,
            RowState::Discarded => Screen::GivenUp,
            RowState::Asked(question) => Screen::Asked(asked(question)),
        }
    }

    pub(super) fn is_settled(&self) -> bool {
        let is_settled =
            |row: &Arc<Row>| !matches!(row.state, RowState::Open { .. } | RowState::Sending);
        self.held.is_none() && self.rows.values().all(is_settled)
    }

    pub(super) fn is_watching(&self) -> bool {
        self.rows.values().any(|row| row.watched().is_some())
    }

    /// Our records that no declaration shows as its own, reports or asks about.
    pub(super) fn unreported(&self) -> Vec<usize> {
        let is_pending = |id: &u64| matches!(self.screen(*id), Screen::Refused | Screen::Asked(_));
        if self.rows.keys().any(is_pending) {
            // A declaration with a question or a refusal is searched for only after the user has answered.
            return Vec::new();
        }
        let records = self.service.records.iter().enumerate();
        let is_unreported = |(at, record): &(usize, &service::Record)| {
            let id = service::id(*at);
            let Author::Us(maker) = record.maker else {
                return false;
            };
            let is_reported =
                |row: &Arc<Row>| row.duplicates.contains(&id) || row.agreed.not.contains(&id);
            // The row that a person started for the record accounts for it, unless its own declaration was sent as a new record again
            // after that.
            let is_over = matches!(self.screen(maker), Screen::GivenUp | Screen::Deleted);
            let is_own = |row: &Arc<Row>| {
                row.record.as_ref() == Some(&id) && (is_over || !row.is_named || !record.is_doubled)
            };
            let own = self.rows[&maker].record.as_ref();
            let own = own.map(|own| service::at(own));
            // A colleague's record with exactly a lost text cannot be distinguished from ours. The declaration may take it as its
            // own, and then none accounts for ours.
            let is_theirs = |at: usize| self.service.records[at].maker == Author::Other;
            let has_own = own.is_some_and(|own| self.service.is_there(own));
            // If the maker's own record is gone, this record is not a duplicate but the only one, unless no record is wanted.
            let is_further = !own.is_some_and(is_theirs) && (is_over || has_own || own.is_none());
            let is_by_us = |author: &Author| matches!(author, Author::Us(_));
            is_further
                && record.authors.iter().all(is_by_us)
                && !record.is_deleted
                && !record.content.is_submitted
                && !self
                    .rows
                    .values()
                    .any(|row| is_reported(row) || is_own(row))
        };
        records.filter(is_unreported).map(|(at, _)| at).collect()
    }

    pub(super) fn can_arrive(&self, at: usize) -> bool {
        self.now - self.late[at].left_at < DAY
    }

    /// A late request arrives.
    pub(super) fn arrive(&mut self, at: usize) {
        let flight = self.late.remove(at);
        self.carry_out(&flight);
    }

    /// A hash of everything that distinguishes two states. It omits history and reasons, reduces times to whether they have
    /// passed, and replaces dates and numbers by their order.
    pub(super) fn key(&self) -> u64 {
        let mut key = DefaultHasher::new();
        let mut rows: Vec<Row> = self.rows.values().map(|row| Row::clone(row)).collect();
        let mut dates: Vec<String> = Vec::new();
        for record in &self.service.records {
            dates.push(updated_at(record.updated));
        }
        dates.push(self.latest.clone());
        dates.extend(self.copy.values().map(|copied| copied.updated_at.clone()));
        for row in &mut rows {
            each_date(row, |date| dates.push(date.clone()));
        }
        dates.sort();
        dates.dedup();
        let rank = |date: &String| dates.binary_search(date).unwrap_or(0);
        let mut written = Vec::with_capacity(4096);
        for row in &mut rows {
            let is_listed = self
                .list
                .as_ref()
                .is_some_and(|list| list.number > row.listed);
            each_date(row, |date| *date = rank(date).to_string());
            normalise(row, self.now);
            is_listed.hash(&mut key);
            // OK because a row can always be serialized.
            serde_json::to_writer(&mut written, &row).unwrap();
        }
        for record in &self.service.records {
            (record.content, record.authors, record.maker).hash(&mut key);
            (record.is_deleted, record.is_doubled, record.created_by).hash(&mut key);
            (self.now - record.made_at < DAY).hash(&mut key);
            rank(&updated_at(record.updated)).hash(&mut key);
        }
        for (at, copied) in &self.copy {
            (
                at,
                copied.sequence,
                copied.content,
                rank(&copied.updated_at),
            )
                .hash(&mut key);
        }
        rank(&self.latest).hash(&mut key);
        self.was_gone.hash(&mut key);
        for flight in self
            .late
            .iter()
            .chain(self.held.iter().map(|held| &held.flight))
        {
            format!("{:?}{}", flight.request, flight.user).hash(&mut key);
            (flight.declaration, self.now - flight.left_at < DAY).hash(&mut key);
        }
        if let Some(held) = &self.held {
            (held.outcome, held.creation_before).hash(&mut key);
        }
        let is_looked_at = self.duplicates_searched_at.map(|at| self.now - at < HOUR);
        (is_looked_at, self.user, self.is_day_past).hash(&mut key);
        serde_json::to_writer(&mut written, &*self.learnt).unwrap();
        key.write(&written);
        self.invariants.hash(&mut key, self.now);
        key.finish()
    }
}

fn base_of(event: &RowEvent) -> ServiceRecord {
    match event {
        RowEvent::Requested {
            base: Some(base), ..
        } => base.clone(),
        _ => unreachable!("a record is edited with a base"),
    }
}

/// The subject of an instruction.
#[derive(Clone, Copy, Debug)]
pub(super) enum About {
    New,
    Row(u64),
    Record(usize),
}

fn asked(question: &Question) -> Asked {
    let record = |read: &ServiceRecord| {
        let given = FieldValues::of(&read.fields);
        let fields = given.fields.map(|value| value.unwrap_or(0));
        let is_submitted = given.is_submitted == Some(true);
        (
            service::at(&read.id),
            Content {
                fields,
                is_submitted,
            },
        )
    };
    match question {
        Question::Changed(read) => {
            let (at, content) = record(read);
            Asked::Changed(at, content)
        }
        Question::NotADraft(read) => {
            let (at, content) = record(read);
            Asked::NotADraft(at, content)
        }
        Question::Gone => Asked::Gone,
        Question::AnotherUser(_) => Asked::AnotherUser,
        Question::OtherRecord(id) => Asked::OtherRecord(service::at(id)),
        Question::NotAdopted(id) => Asked::NotAdopted(service::at(id)),
        Question::Candidates(_) => {
            let candidates = question.candidates().iter();
            Asked::Candidates(candidates.map(|id| service::at(id)).collect())
        }
        Question::Late(Reason::NotAfterPassed, _) => Asked::NotAfterPassed,
        Question::Late(..) => Asked::MovementPassed,
        Question::ServiceUnresponsive => Asked::ServiceUnresponsive,
    }
}

fn each_date(row: &mut Row, mut with: impl FnMut(&mut String)) {
    with(&mut row.known.latest);
    if let Some(seen_at) = &mut row.seen_at {
        with(seen_at);
    }
    if let Some(lost) = &mut row.lost {
        with(&mut lost.listed.latest);
    }
    if let Some(sent) = &mut row.sent {
        with(&mut sent.listed.latest);
        if let Some(before) = &mut sent.before {
            with(&mut before.updated_at);
        }
    }
    if let RowState::Asked(Question::Changed(read) | Question::NotADraft(read)) = &mut row.state {
        with(&mut read.updated_at);
    }
}

fn normalise(row: &mut Row, now: Time) {
    row.history.iter_mut().for_each(|event| event.at = 0);
    row.listed = 0;
    let plain = |listing: &mut Listing| {
        (listing.number, listing.begun) = (0, 0);
    };
    plain(&mut row.known);
    if let Some(lost) = &mut row.lost {
        plain(&mut lost.listed);
        let is_watched = lost.is_watched(now);
        lost.watched_until = lost.watched_until.map(|_| Time::from(is_watched));
    }
    if let Some(sent) = &mut row.sent {
        plain(&mut sent.listed);
    }
    row.doubt.wait = Time::from(row.doubt.wait > 0);
    let plain = |unanswered: &mut Unanswered| {
        unanswered.tries = unanswered.tries.min(3);
        unanswered.since = Time::from(now.saturating_sub(unanswered.since) >= DAY);
    };
    plain(&mut row.doubt.unanswered);
    if let Some(unclear) = &mut row.read_failures {
        unclear.wait = 0;
        plain(&mut unclear.unanswered);
        unclear.reason.clear();
    }
    if let RowState::Open { next_at: Some(due) } = &mut row.state {
        let is_ahead = due.is_ahead(now);
        (due.set_at, due.until) = (0, Time::from(is_ahead));
    }
    if let Some(limit) = &mut row.not_after {
        limit.at = Time::from(limit.at < now);
        limit.given.clear();
    }
    if row.agreed.late.iter().any(|late| late.starts_with("17")) {
        row.agreed.late = std::iter::once("limit".to_owned()).collect();
    }
    row.shown.attempts = 0;
    row.shown.findings.clear();
}

pub(super) fn limit(now: Time) -> Limit {
    Limit {
        at: now + HOUR,
        given: String::new(),
    }
}

impl Held {
    pub(super) fn has_arrived(&self) -> bool {
        self.outcome.is_some()
    }
}
