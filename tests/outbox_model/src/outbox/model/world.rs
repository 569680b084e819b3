//! One random schedule: the actions of the user, the website, the network, the clocks and the programs.

use std::collections::{BTreeMap, BTreeSet};

use fastrand::Rng;
use serde_json::Value;
use test_support::plain_service::{Author, Record, START, Service};
use test_support::schedules::note;

use super::invariants::{Flight, Invariants, carry_out};
use super::people::{chance, habits, records, website};
use super::program::{Program, Step, Store};
use super::service::date;
use crate::outbox::row::{Row, RowState};

pub(super) struct World {
    pub(super) service: Service,
    pub(super) stores: Vec<Store>,
    pub(super) programs: Vec<Program>,
    pub(super) invariants: Invariants,
    pub(super) random: Rng,
    /// Requests that the service carries out later, with the time.
    pub(super) late: Vec<(u64, Flight)>,
    /// The percentage of requests that may fail.
    pub(super) trouble: u8,
    pub(super) is_offline: bool,
    /// Changes never get a clear answer.
    pub(super) never_answers_changes: bool,
    /// Reads of records never get a usable answer.
    pub(super) never_answers_reads: bool,
    pub(super) reconcile_after: u64,
    pub(super) rows: u64,
    /// Counts of events, which show that the schedules cover them.
    pub(super) counts: BTreeMap<&'static str, u64>,
    /// The texts sent so far, from which the website makes twins.
    pub(super) texts: Vec<Value>,
    /// The planted mistake, or an empty name.
    pub(super) planted: &'static str,
}

impl World {
    pub(super) fn new(seed: u64, planted: &'static str) -> Self {
        let mut random = Rng::with_seed(seed);
        let habits = habits(&mut random);
        let mut of_100 = |part| chance(&mut random, part);
        let never_answers_changes = of_100(5);
        let never_answers_reads = of_100(3);
        let has_lag = of_100(20);
        let service = Service {
            now: START,
            habits,
            lag: if has_lag { random.u64(1..4) } else { 1 },
            ..Service::default()
        };
        let mut world = Self {
            service,
            stores: vec![Store::default()],
            programs: Vec::new(),
            invariants: Invariants::new(date),
            trouble: [0, 10, 30, 60][random.usize(..4)],
            is_offline: false,
            never_answers_changes,
            never_answers_reads,
            reconcile_after: [20, 60][random.usize(..2)],
            random,
            late: Vec::new(),
            rows: 0,
            counts: BTreeMap::new(),
            texts: Vec::new(),
            planted,
        };
        world.start(0);
        world
    }

    pub(super) fn count(&mut self, name: &'static str) {
        *self.counts.entry(name).or_default() += 1;
    }

    pub(super) fn run(&mut self) {
        for _ in 0..self.random.usize(..3) {
            self.website();
        }
        for _ in 0..20 + self.random.usize(..100) {
            self.tick();
        }
        self.end();
    }

    fn start(&mut self, store: usize) {
        let is_wrong = chance(&mut self.random, 20);
        let offset = if is_wrong { self.jump() } else { 0 };
        self.programs.push(Program::new(store, offset));
    }

    /// The number of seconds by which a clock is set forward or back.
    fn jump(&mut self) -> i64 {
        [-90_000, -3_000, -70, 70, 3_000, 90_000][self.random.usize(..6)]
    }

    fn tick(&mut self) {
        self.service.now += self.random.u64(..3);
        self.arrive_late();
        match self.random.usize(..100) {
            0..56 => {
                let program = self.random.usize(..self.programs.len());
                self.step(program);
            }
            56..74 => self.person(),
            74..86 => self.website(),
            86..88 => self.crash(),
            88 => self.set_clock(),
            89..95 => {
                let seconds = [1, 5, 30, 70, 400, 4_000, 30_000][self.random.usize(..7)];
                note(|| format!("{seconds} s pass"));
                self.service.now += seconds;
            }
            95 => self.is_offline ^= true,
            96 => self.trouble = [0, 10, 30, 60][self.random.usize(..4)],
            97 if self.programs.len() < 3 => {
                let store = self.random.usize(..self.stores.len());
                self.start(store);
            }
            98 if self.stores.len() < 2 => {
                note(|| "the store is copied".to_owned());
                let copy = Store {
                    index: 1,
                    ..self.stores[0].reloaded()
                };
                self.invariants.copied();
                self.stores.push(copy);
                self.start(1);
            }
            _ => {}
        }
    }

    fn crash(&mut self) {
        let at = self.random.usize(..self.programs.len());
        note(|| format!("program {at} crashes"));
        let Program { store, offset, .. } = self.programs[at];
        let program = std::mem::replace(&mut self.programs[at], Program::new(store, offset));
        // The request that it was about to send may still arrive.
        if let Step::Depart(flight) = program.step
            && chance(&mut self.random, 50)
        {
            let at = self.service.now + self.random.u64(..200);
            self.late.push((at, flight));
        }
        self.stores[store] = self.stores[store].reloaded();
    }

    fn set_clock(&mut self) {
        let at = self.random.usize(..self.programs.len());
        let by = self.jump();
        note(|| format!("the clock of {at} is set by {by}"));
        self.programs[at].offset += by;
    }

    pub(super) fn arrive_late(&mut self) {
        let now = self.service.now;
        let (due, late): (Vec<_>, Vec<_>) = self.late.drain(..).partition(|(at, _)| *at <= now);
        self.late = late;
        for (_, flight) in due {
            note(|| format!("late: {:?}", flight.request));
            carry_out(&mut self.service, &flight);
            // Another user may delete one of two drafts of the same row.
            if flight.request.record().is_none() && chance(&mut self.random, 30) {
                let row = Author::Row(flight.row);
                let is_one = |kept: &Record| kept.maker() == row && kept.status() == "DRAFT";
                let alike = records(&self.service, is_one);
                if let Some(id) = alike.first().filter(|_| alike.len() > 1) {
                    note(|| format!("the website tidies {id} up"));
                    self.service.delete(id, Author::Website);
                }
            }
        }
    }

    pub(super) fn website(&mut self) {
        website(&mut self.random, &mut self.service, &self.texts);
    }

    fn rows(&self) -> impl Iterator<Item = &Row> {
        self.stores.iter().flat_map(|store| store.rows.values())
    }

    /// The service stays reachable from now on: within two days, no row is open any more.
    fn end(&mut self) {
        self.is_offline = false;
        self.trouble = 0;
        // A row that waits for a row in doubt has its own day without a usable answer afterwards.
        let days = if self.never_answers_reads { 3 } else { 2 };
        // A program whose clock was ahead has begun its day later.
        let failures = self.rows().filter_map(|row| row.read_failures.as_ref());
        let begun = failures.map(|failures| failures.unanswered.since).max();
        let begun = begun.unwrap_or_default().max(self.service.now);
        let until = begun + days * 24 * 60 * 60;
        note(|| "the end begins".to_owned());
        for store in 0..self.stores.len() {
            if !self.programs.iter().any(|program| program.store == store) {
                self.start(store);
            }
        }
        let mut rounds = 0;
        while self.rows().any(is_open) {
            rounds += 1;
            let mut sending = BTreeSet::new();
            for at in 0..self.programs.len() {
                self.programs[at].offset = 0;
                // The first program of a store runs until it has nothing to do.
                let is_first = sending.insert(self.programs[at].store);
                for _ in 0..if is_first { 400 } else { 1 } {
                    self.arrive_late();
                    self.step(at);
                    if matches!(self.programs[at].step, Step::Idle) {
                        break;
                    }
                }
            }
            let now = self.service.now;
            if now > until || rounds > 4_000 {
                let open: Vec<&Row> = self.rows().filter(|row| is_open(row)).collect();
                panic!("invariant 4: after two days these rows are open: {open:?}");
            }
            let next = self.rows().filter_map(due).filter(|due| *due > now).min();
            self.service.now = next.map_or(now + 60, |next| next.min(now + 1_800));
        }
        self.invariants.check_end(&self.service, false);
        for (name, state) in [
            ("confirmed", RowState::Confirmed),
            ("discarded", RowState::Discarded),
        ] {
            let count = self.rows().filter(|row| row.state == state).count();
            self.counts.insert(name, count as u64);
        }
    }
}

fn is_open(row: &Row) -> bool {
    matches!(row.state, RowState::Open { .. } | RowState::Sending)
}

fn due(row: &Row) -> Option<u64> {
    match &row.state {
        RowState::Open { next_at } => next_at.map(|due| due.until),
        _ => None,
    }
}
