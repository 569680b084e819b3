//! One random schedule: what the person, the website, the network, the clocks and the programs do.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use super::laws::{Flight, Laws};
use super::program::{Program, Step, Store};
use equipment::plain_service::{Author, Habits, Record, START, Service};

use super::service::DATE;
use crate::outbox::row::{Row, RowState};

/// Splitmix64.
#[derive(Clone, Debug)]
pub(super) struct Random(u64);

impl Random {
    pub(super) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    pub(super) fn below(&mut self, end: usize) -> usize {
        usize::try_from(self.next() % end as u64).unwrap()
    }

    pub(super) fn chance(&mut self, of_100: u64) -> bool {
        self.next() % 100 < of_100
    }

    pub(super) fn any<T: Clone>(&mut self, of: &[T]) -> Option<T> {
        (!of.is_empty()).then(|| of[self.below(of.len())].clone())
    }
}

pub(super) struct World {
    pub(super) service: Service,
    pub(super) stores: Vec<Store>,
    pub(super) programs: Vec<Program>,
    pub(super) laws: Laws,
    pub(super) random: Random,
    /// Requests that the service carries out later, and when.
    pub(super) late: Vec<(u64, Flight)>,
    /// Of 100 requests so many fail in some way.
    pub(super) trouble: u64,
    pub(super) is_offline: bool,
    /// Changes never get a clear answer.
    pub(super) never_answers_changes: bool,
    /// Reads of records never get a usable answer.
    pub(super) never_answers_reads: bool,
    pub(super) reconcile_after: u64,
    pub(super) rows: u64,
    /// How often things happened: a model in which nothing happens proves nothing.
    pub(super) counts: BTreeMap<&'static str, u64>,
    /// Texts that were sent, for twins.
    pub(super) texts: Vec<Value>,
    pub(super) trace: bool,
    /// The mistake that this schedule is run with.
    pub(super) planted: &'static str,
}

impl World {
    pub(super) fn new(seed: u64, trace: bool) -> Self {
        let mut random = Random(seed);
        let mut bit = || random.chance(50);
        let habits = Habits {
            merges: bit(),
            ignores_null: bit(),
            fills: bit(),
            shows_instants: bit(),
            shows_deleted: bit(),
            shares_login: bit(),
            replies_briefly: random.chance(25),
            locks: random.chance(25),
            hides_author: random.chance(25),
            ..Habits::default()
        };
        let service = Service {
            now: START,
            habits,
            lag: if random.chance(20) {
                1 + random.next() % 3
            } else {
                1
            },
            ..Service::default()
        };
        let mut world = Self {
            service,
            stores: vec![Store::default()],
            programs: Vec::new(),
            laws: Laws::default(),
            trouble: [0, 10, 30, 60][random.below(4)],
            is_offline: false,
            never_answers_changes: random.chance(5),
            never_answers_reads: random.chance(3),
            reconcile_after: [20, 60][random.below(2)],
            random,
            late: Vec::new(),
            rows: 0,
            counts: BTreeMap::new(),
            texts: Vec::new(),
            trace,
            planted: "",
        };
        world.start(0);
        world
    }

    pub(super) fn note(&self, note: impl FnOnce() -> String) {
        if self.trace {
            println!("{} {}", self.service.now - START, note());
        }
    }

    pub(super) fn count(&mut self, name: &'static str) {
        *self.counts.entry(name).or_default() += 1;
    }

    pub(super) fn run(&mut self) {
        for _ in 0..self.random.below(3) {
            self.website();
        }
        for _ in 0..20 + self.random.below(100) {
            self.tick();
            if self.laws.broken.is_some() {
                return;
            }
        }
        self.end();
    }

    fn start(&mut self, store: usize) {
        let is_wrong = self.random.chance(20);
        let offset = if is_wrong { self.jump() } else { 0 };
        self.programs.push(Program::new(store, offset));
    }

    /// How far a clock is set.
    fn jump(&mut self) -> i64 {
        [-90_000, -3_000, -70, 70, 3_000, 90_000][self.random.below(6)]
    }

    fn tick(&mut self) {
        self.service.now += self.random.next() % 3;
        self.arrive_late();
        match self.random.below(100) {
            0..56 => {
                let program = self.random.below(self.programs.len());
                self.step(program);
            }
            56..74 => self.person(),
            74..86 => self.website(),
            86..88 => self.crash(),
            88 => self.set_clock(),
            89..95 => {
                let seconds = [1, 5, 30, 70, 400, 4_000, 30_000][self.random.below(7)];
                self.note(|| format!("{seconds} s pass"));
                self.service.now += seconds;
            }
            95 => self.is_offline ^= true,
            96 => self.trouble = [0, 10, 30, 60][self.random.below(4)],
            97 if self.programs.len() < 3 => {
                let store = self.random.below(self.stores.len());
                self.start(store);
            }
            98 if self.stores.len() < 2 => {
                self.note(|| "the store is copied".to_owned());
                let copy = Store {
                    index: 1,
                    ..self.stores[0].reloaded()
                };
                self.laws.copied();
                self.stores.push(copy);
                self.start(1);
            }
            _ => {}
        }
    }

    fn crash(&mut self) {
        let at = self.random.below(self.programs.len());
        self.note(|| format!("program {at} crashes"));
        let Program { store, offset, .. } = self.programs[at];
        let program = std::mem::replace(&mut self.programs[at], Program::new(store, offset));
        // What it was about to send may still be on its way.
        if let Step::Depart(flight, _) = program.step
            && self.random.chance(50)
        {
            let at = self.service.now + self.random.next() % 200;
            self.late.push((at, flight));
        }
        self.stores[store] = self.stores[store].reloaded();
    }

    fn set_clock(&mut self) {
        let at = self.random.below(self.programs.len());
        let by = self.jump();
        self.note(|| format!("the clock of {at} is set by {by}"));
        self.programs[at].offset += by;
    }

    pub(super) fn arrive_late(&mut self) {
        let now = self.service.now;
        let (due, late): (Vec<_>, Vec<_>) = self.late.drain(..).partition(|(at, _)| *at <= now);
        self.late = late;
        for (_, flight) in due {
            self.note(|| format!("late: {:?}", flight.request));
            self.carry_out(&flight);
            // Somebody tidies up: of two alike, one is deleted.
            if flight.request.record().is_none() && self.random.chance(30) {
                let row = Author::Row(flight.row);
                let alike = self.records(|kept| kept.maker() == row && kept.status() == "DRAFT");
                if let Some(id) = alike.first().filter(|_| alike.len() > 1) {
                    self.note(|| format!("the website tidies {id} up"));
                    self.service.delete(id, Author::Website);
                }
            }
        }
    }

    /// Somebody else works on the website.
    pub(super) fn website(&mut self) {
        let ids = self.records(|kept| !kept.is_deleted);
        let what = self.random.below(20);
        if what < 10 {
            let Some(id) = self.random.any(&ids) else {
                return;
            };
            let fields = match what {
                0..8 => self.edit_of(&id),
                8 => json!({"status": "SUBMITTED"}),
                _ => Value::Null,
            };
            self.note(|| format!("the website edits {id}: {fields}"));
            if fields.is_null() {
                self.service.delete(&id, Author::Website);
            } else {
                self.service.save(&id, Author::Website, &fields);
            }
            return;
        }
        let made = if what < 16 {
            let Some(mut twin) = self.random.any(&self.texts) else {
                return;
            };
            match self.random.below(4) {
                0 => twin["consignee"] = json!({"name": "Pat Sample"}),
                1 => twin["movementTime"] = json!("07:45"),
                _ => {}
            }
            twin
        } else {
            content(&mut self.random)
        };
        self.note(|| format!("the website makes {made}"));
        self.service.insert(Author::Website, made);
    }

    fn rows(&self) -> impl Iterator<Item = &Row> {
        self.stores.iter().flat_map(|store| store.rows.values())
    }

    pub(super) fn records(&self, which: impl Fn(&Record) -> bool) -> Vec<String> {
        let records = self.service.records.iter().filter(|(_, kept)| which(kept));
        records.map(|(id, _)| id.clone()).collect()
    }

    /// A change of one field of a record, also in its form alone.
    pub(super) fn edit_of(&mut self, id: &str) -> Value {
        let name = &self.service.records[id].last().value["origin"]["name"];
        let name = name.as_str().unwrap_or("Sample Downs");
        let origin = |name: String| json!({"origin": {"pic": "QAZZ7777", "name": name}});
        let time = ["05:15", "06:30", "08:00"][self.random.below(3)];
        let signature = ["", "cGF0"][self.random.below(2)];
        let answer = |value: &str| json!([{"questionId": "17.1", "index": null, "value": value}]);
        match self.random.below(10) {
            0 => json!({"movementTime": time}),
            1 => origin(name.to_uppercase()),
            2 => origin(format!("{name} ")),
            3 => origin("Other Downs".to_owned()),
            4 => json!({"consignee": {"name": "Pat Sample"}}),
            5 => json!({"consignee": null}),
            6 => json!({"answers": answer("No")}),
            7 => json!({"answers": answer("2021-01-01")}),
            8 => json!({"declaration": {"fullName": "Pat", "signature": signature}}),
            _ => json!({"destination": {"pic": "QDZZ3333", "name": "Pats Yards"}}),
        }
    }

    /// No more trouble: within two days of reachable time, everything comes to its end.
    fn end(&mut self) {
        self.is_offline = false;
        self.trouble = 0;
        // What waits behind a doubt has its own day without a usable answer.
        let days = if self.never_answers_reads { 3 } else { 2 };
        let until = self.service.now + days * 24 * 60 * 60;
        self.note(|| "the end begins".to_owned());
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
                // The first program of a store goes on until it has nothing to do.
                let is_first = sending.insert(self.programs[at].store);
                for _ in 0..if is_first { 400 } else { 1 } {
                    self.arrive_late();
                    self.step(at);
                    if self.laws.broken.is_some() {
                        return;
                    }
                    if matches!(self.programs[at].step, Step::Idle) {
                        break;
                    }
                }
            }
            let now = self.service.now;
            if now > until || rounds > 4_000 {
                let open: Vec<&Row> = self.rows().filter(|row| is_open(row)).collect();
                let law = format!("law 4: after two days these rows are open: {open:?}");
                self.laws.broken = Some(law);
                return;
            }
            let next = self.rows().filter_map(due).filter(|due| *due > now).min();
            self.service.now = next.map_or(now + 60, |next| next.min(now + 1_800));
        }
        self.laws.check_end(&self.service, &self.stores);
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

/// A load. Few differ, so that many are identical.
pub(super) fn content(random: &mut Random) -> Value {
    let time = ["05:15", "06:30"][random.below(2)];
    let answer = ["Yes", "2021"][random.below(2)];
    let date = if random.chance(97) {
        DATE
    } else {
        "2024-01-05T00:00:00"
    };
    let mut content = json!({
        "forms": ["LPAC1"],
        "origin": {"pic": "QAZZ7777", "name": "Sample Downs"},
        "destination": {"pic": "QDZZ3333"},
        "movementDate": date,
        "movementTime": time,
        "answers": [{"questionId": "17.1", "index": null, "value": answer}],
    });
    if random.chance(30) {
        content["consignee"] = json!({"name": "Sam"});
    }
    if random.chance(20) {
        let signature = ["c2ln", "c2FtMg"][random.below(2)];
        content["declaration"] = json!({"fullName": "Sam", "signature": signature});
    }
    content
}
