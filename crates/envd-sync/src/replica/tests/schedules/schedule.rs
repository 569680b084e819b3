//! One random schedule of edits, programs and consumers, with the invariants checked after each step.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, UNIX_EPOCH};

use serde_json::Value;

use super::edit::{Edit, EditKind};
use super::observed_service::{Failure, ObservedService, Shown};
use super::program::{Interruption, Program, without_date};
use super::reader::Reader;
use crate::error::Error;
use crate::replica::tests::listing::{Compared, ListOrder, Listing, START, Total};
use crate::replica::{Depth, Replica, SyncMode, SyncReport};
use crate::store::SyncStore;
use crate::tests::replies::{client_of, service};
use envd_sdk::Client;
use envd_sdk::Clock;
use envd_sdk::auth::StaticToken;
use envd_sdk::profile::{ComparedDate, Sourced};

#[expect(clippy::struct_excessive_bools, reason = "a list of what may be so")]
pub(super) struct Schedule<'a> {
    random: fastrand::Rng,
    service: Arc<Mutex<ObservedService>>,
    client: Client,
    open: &'a dyn Fn() -> Arc<dyn SyncStore>,
    store: Program,
    readers: Vec<Reader>,
    /// The profile says that `fromDate` compares the last change.
    is_incremental: bool,
    /// The service behaves as the profile says: it compares the last change, shows each change at once, and never moves a date
    /// back.
    is_honest: bool,
    /// No program is killed, and no request fails.
    is_undisturbed: bool,
    depth: Depth,
    page_size: u32,
    overlap: Duration,
    processes: usize,
    /// The offset of the programs' clock from that of the service, in seconds.
    clock: i64,
    /// Whether a sync was interrupted, so that the next one continues its scan.
    is_unfinished: bool,
}

const ACCOUNT: &str = "envd-1";

impl<'a> Schedule<'a> {
    pub(super) fn new(seed: u64, open: &'a dyn Fn() -> Arc<dyn SyncStore>) -> Self {
        let mut random = fastrand::Rng::with_seed(seed);
        let list = listing(&mut random);
        let is_incremental = random.u8(..6) > 0;
        let is_honest = list.compared == Compared::Updated && list.lag == 0;
        let observed = Arc::new(Mutex::new(ObservedService::new(list)));
        let answers = Arc::clone(&observed);
        let answer = move |token: &str, body: &Value| answers.lock().unwrap().answer(token, body);
        let client = client_of(service(answer)).token_source(StaticToken::new("reader").unwrap());
        let client = client.build().unwrap();
        let mut store = Program::new(open(), &observed);
        let is_undisturbed = random.u8(..4) == 0;
        store.saw_all_pages = is_undisturbed && observed.lock().unwrap().list.lag == 0;
        let depth = if random.u8(..6) == 0 {
            Depth::Full
        } else {
            Depth::Summary
        };
        let overlap = [0, 60, 600][random.usize(..3)];
        let mut schedule = Self {
            page_size: random.u32(2..6),
            overlap: Duration::from_secs(overlap),
            readers: Vec::new(),
            processes: 0,
            clock: 0,
            is_unfinished: false,
            random,
            service: observed,
            client,
            is_incremental,
            is_honest,
            open,
            store,
            is_undisturbed,
            depth,
        };
        for _ in 0..schedule.random.usize(..12) {
            schedule.edit_now();
        }
        schedule
    }

    fn service(&self) -> MutexGuard<'_, ObservedService> {
        self.service.lock().unwrap()
    }

    fn edit_now(&mut self) {
        let edit = Edit::random(&mut self.random);
        self.service().edit(&edit);
    }

    pub(super) async fn run(&mut self) {
        let names = ["accounting", "yard", "yard screen"];
        for _ in 0..self.random.usize(4..14) {
            for _ in 0..self.random.usize(..4) {
                self.edit_now();
            }
            if self.random.u8(..30) == 0 {
                self.service().list.compared = Compared::Created;
                self.is_honest = false;
            }
            Box::pin(self.sync()).await;
            for name in names {
                if self.random.u8(..3) == 0 {
                    self.read(name).await;
                }
            }
        }
        self.repair().await;
        for name in names {
            self.drain(name).await;
        }
        self.sync_with_nothing_new().await;
        self.find_out().await;
    }

    /// Starts a program with its own token.
    fn start(&mut self, interruption: Interruption) -> (Program, Replica) {
        self.processes += 1;
        let program = self.store.started((self.open)(), interruption);
        let token = format!("process-{}", self.processes);
        let client = with_token(&self.client, &token);
        self.service().begin(token);
        let replica = Replica::new(&client.account(ACCOUNT), program.clone());
        (program, self.set(replica))
    }

    fn set(&self, replica: Replica) -> Replica {
        let now = (self.service().list.now / 1_000).saturating_add_signed(self.clock);
        let clock = Clock::manual(UNIX_EPOCH + Duration::from_secs(now));
        let mut replica = replica.clock(clock).depth(self.depth);
        let date = self.is_incremental.then_some(ComparedDate::LastChange);
        replica.compared = Sourced::seen(date);
        replica.page_size(self.page_size).overlap(self.overlap)
    }

    fn interruption(&mut self) -> Interruption {
        let random = &mut self.random;
        let other =
            |random: &mut fastrand::Rng| Interruption::OtherBeforeCommit(random.usize(1..5));
        match random.u8(..12) {
            _ if self.is_undisturbed => Interruption::None,
            0 | 1 => Interruption::KilledBefore(random.usize(1..16)),
            2 => Interruption::KilledAfterCommit(random.usize(1..6)),
            3 => Interruption::KilledAtPoll(random.usize(1..60)),
            4 => Interruption::RefusedCommit(random.usize(1..6)),
            5 | 6 => other(random),
            _ => Interruption::None,
        }
    }

    async fn sync(&mut self) {
        if self.random.u8(..4) == 0 {
            self.clock = self.random.i64(-200_000..200_000);
        }
        let interruption = self.interruption();
        let (process, replica) = self.start(interruption);
        if let Interruption::OtherBeforeCommit(_) = interruption {
            self.let_another_sync(&process);
        }
        self.schedule_trouble();
        let is_full = self.random.u8(..4) == 0;
        self.service().is_scanning = self.is_unfinished;
        let ended = Box::pin(process.run(sync(&replica, is_full))).await;
        let was_unfinished = std::mem::replace(&mut self.is_unfinished, true);
        let is_alone = !matches!(interruption, Interruption::OtherBeforeCommit(_));
        match ended {
            None => assert!(interruption.ends_it(), "{interruption:?}"),
            Some(Err(error)) => {
                let is_disturbed = self.service().is_disturbed || interruption.ends_it();
                assert!(is_disturbed, "{error:?}");
            }
            Some(Ok(report)) => {
                self.is_unfinished = false;
                self.service().is_scanning = false;
                let is_full = report.mode == SyncMode::Full;
                assert!(is_full || self.is_incremental, "{report}");
                self.check_refuted(&report);
                let copy = self.copy().await;
                if is_alone {
                    self.check_shown(&report, &copy);
                    self.check_current(&report, &copy, was_unfinished);
                }
            }
        }
    }

    /// Lets another program sync over the same store.
    fn let_another_sync(&mut self, process: &Program) {
        let is_full = self.random.bool();
        let replica = with_token(&self.client, &self.service().token).account(ACCOUNT);
        let replica = self.set(Replica::new(&replica, self.store.clone()));
        let service = Arc::clone(&self.service);
        let edit = Edit::random(&mut self.random);
        process.other(async move {
            service.lock().unwrap().edit(&edit);
            let synced = sync(&replica, is_full).await;
            let is_disturbed = service.lock().unwrap().is_disturbed;
            assert!(synced.is_ok() || is_disturbed, "{synced:?}");
        });
    }

    /// Schedules edits between the pages, and a failing request.
    fn schedule_trouble(&mut self) {
        let mut scheduled = Vec::new();
        if self.random.bool() {
            for _ in 0..self.random.usize(..4) {
                scheduled.push((self.random.u64(1..8), Edit::random(&mut self.random)));
            }
        }
        if self.random.u8(..4) == 0 {
            // The first edit may be behind the scan; the second is ahead of it, a day later.
            for (number, pause) in [(2, 1_000), (3, 90_000_000)] {
                let edit = Edit::random(&mut self.random);
                scheduled.push((number, edit.but(EditKind::Change, pause)));
            }
        }
        let number = self.random.u64(1..6);
        let failure = match self.random.u8(..10) {
            _ if self.is_undisturbed => None,
            0 | 1 => Some(Failure::Cursor),
            2 => Some(Failure::Status(502)),
            3 => Some(Failure::Lost),
            _ => None,
        };
        let mut service = self.service();
        service.scheduled = scheduled;
        service.fails = failure.map(|failure| (number, failure));
    }

    /// The records of the copy, read by a program that does not sync.
    async fn copy(&self) -> BTreeMap<String, Value> {
        let replica = Replica::new(&self.client.account(ACCOUNT), self.store.clone());
        let mut query = replica.consignments().page_size(50);
        let mut copy = BTreeMap::new();
        loop {
            let page = query.list().await.unwrap();
            for record in &page.records {
                let value: Value = serde_json::from_str(record.json()).unwrap();
                copy.insert(value["id"].as_str().unwrap().to_owned(), value);
            }
            match page.next {
                Some(next) => query = query.after(next),
                None => return copy,
            }
        }
    }

    /// A service that behaves as the profile says must not refute it, except where a shifting list has hidden a change.
    fn check_refuted(&self, report: &SyncReport) {
        let problems = report.problems.iter();
        for problem in problems.filter(|problem| problem.contains("does not hold")) {
            let service = self.service();
            let mut hidden = service.hidden.iter();
            let is_hidden = hidden.any(|id| problem.contains(&format!(" {id} changed")));
            assert!(!self.is_honest || is_hidden, "{problem}");
        }
    }

    /// The copy must hold the last state of each record that this sync was shown.
    fn check_shown(&self, report: &SyncReport, copy: &BTreeMap<String, Value>) {
        let service = self.service();
        for (id, shown) in &service.shown {
            let is_scanned = |how: Shown| match report.mode {
                SyncMode::Full => how == Shown::FullList,
                _ => how != Shown::Read,
            };
            let Some(last) = shown.iter().rposition(|(_, how)| is_scanned(*how)) else {
                continue;
            };
            let since: Vec<&Value> = shown[last..].iter().map(|(value, _)| value).collect();
            let copied = copy.get(id).unwrap_or(&Value::Null);
            assert!(
                since.contains(&copied),
                "{id} was shown as {since:?} and is {copied}: {report}"
            );
        }
    }

    /// After a clean scan, the copy must not hold a state from before the sync, except for changes that no scan can notice.
    fn check_current(
        &self,
        report: &SyncReport,
        copy: &BTreeMap<String, Value>,
        was_unfinished: bool,
    ) {
        let mut service = self.service();
        let is_full = report.mode == SyncMode::Full;
        let compares_changes = is_full || service.list.compared == Compared::Updated;
        // A continued scan leaves the changes behind it to the next scan.
        let goes_on = is_full && (was_unfinished || report.resumed);
        if !report.clean || goes_on || !compares_changes || service.list.lag > 0 {
            return;
        }
        for (id, record) in &service.list.records {
            let states = service.states.get(id).map_or(&[][..], Vec::as_slice);
            let copied = copy.get(id).unwrap_or(&Value::Null);
            let was_listed = states.first().is_some_and(Value::is_object);
            if !was_listed || !record.is_listed || service.missable.contains(id) {
                continue;
            }
            assert!(
                states.contains(copied),
                "{id} is {copied} in the copy after {states:?}: {report}"
            );
        }
        if is_full && !service.has_edited {
            service.missable.clear();
        }
    }

    async fn read(&mut self, name: &'static str) {
        let mut interruption = self.interruption();
        let chunk = self.random.usize(1..6);
        let most = self.random.usize(..12);
        let each = [None, Some(1), Some(3), Some(6)][self.random.usize(..4)];
        let index = self.readers.iter().position(|reader| reader.name == name);
        let index = index.unwrap_or_else(|| {
            self.readers.push(Reader::new(name));
            self.readers.len() - 1
        });
        // The copy changes between the reads of the store.
        let others = if self.random.u8(..4) == 0 { 4 } else { 0 };
        if others > 0 {
            interruption = Interruption::OtherFrom(self.random.usize(1..8));
        }
        let (process, replica) = self.start(interruption);
        self.service().is_scanning = self.is_unfinished;
        for _ in 0..others {
            self.let_another_sync(&process);
        }
        let read = self.readers[index].read(&replica, most, each, chunk);
        let ended = process.run(read).await;
        // One of the other syncs may have failed.
        self.is_unfinished |= others > 0;
        let is_interrupted = interruption.ends_it();
        assert!(
            ended.is_some_and(|ended| ended.is_ok()) || is_interrupted,
            "{interruption:?}"
        );
    }

    /// Without further edits and failures, the copy must become equal to the list.
    async fn repair(&mut self) {
        self.clock = 0;
        self.store.saw_all_pages = false;
        {
            let mut service = self.service();
            service.list.lag = 0;
            let records = service.list.records.values_mut();
            records.for_each(|record| record.is_found |= record.is_listed);
        }
        let mut clean = 0;
        for number in 0..6 {
            // The continued scan has small pages, and so does the next one.
            self.page_size = if number < 2 { self.page_size } else { 100 };
            let (_, replica) = self.start(Interruption::None);
            let report = replica.sync_full().await.unwrap();
            clean += usize::from(report.clean);
        }
        assert!(clean >= 5, "only {clean} of 6 scans were clean");
        let copy = self.copy().await;
        let service = self.service();
        for (id, record) in &service.list.records {
            match copy.get(id) {
                Some(copied) if record.is_listed => assert_eq!(*copied, record.value, "{id}"),
                Some(_) => assert!(
                    record.is_found,
                    "{id} is neither listed nor found, and not gone"
                ),
                None => assert!(!record.is_listed, "{id} is listed and not in the copy"),
            }
        }
        drop(service);
        let copy = copy
            .into_iter()
            .map(|(id, value)| (id, without_date(value)));
        assert_eq!(copy.collect::<BTreeMap<_, _>>(), self.store.history().now);
    }

    async fn drain(&mut self, name: &'static str) {
        let reader = self.readers.iter().position(|reader| reader.name == name);
        let mut reader = match reader {
            Some(index) => self.readers.swap_remove(index),
            None => Reader::new(name),
        };
        let (_, replica) = self.start(Interruption::None);
        reader.read(&replica, usize::MAX, Some(4), 3).await.unwrap();
        reader.read(&replica, 4, Some(1), 3).await.unwrap();
        reader.check(&self.store.history());
        let mut feed = replica.changes(name);
        assert_eq!(
            feed.next().await.unwrap(),
            None,
            "{name} has acknowledged everything"
        );
    }

    /// A service that compares another date must be detected by the changes that it does not list, and then be read in full.
    async fn find_out(&mut self) {
        if self.service().list.compared != Compared::Created || !self.is_incremental {
            return;
        }
        self.overlap = Duration::from_secs(60);
        // If the edit changes the very record that set the watermark, the sync detects it directly and no change is missed. So try
        // several rounds.
        for _ in 0..8 {
            for kind in [EditKind::Change, EditKind::Insert] {
                let edit = Edit::random(&mut self.random).but(kind, 3_600_000);
                self.service().edit(&edit);
                let (_, replica) = self.start(Interruption::None);
                replica.sync().await.unwrap();
            }
            let (_, replica) = self.start(Interruption::None);
            if replica.sync_full().await.unwrap().next_full_scan.is_none() {
                let report = replica.sync().await.unwrap();
                assert!(report.why.contains("does not hold"), "{report}");
                return;
            }
        }
        panic!("the profile does not hold, and no full scan has found it out");
    }

    /// With a profile that says that `fromDate` compares the last change, syncs are cheap from here.
    async fn sync_with_nothing_new(&mut self) {
        self.page_size = 100;
        for number in 1..=4 {
            let (_, replica) = self.start(Interruption::None);
            let before = self.store.history().commits;
            let report = replica.sync().await.unwrap();
            // This page may move the watermark of the last full scan once.
            if report.mode == SyncMode::Incremental && number > 2 {
                assert_eq!(self.store.history().commits, before, "{report}");
                assert!(self.service().requests <= 2, "{report}");
            }
            assert_eq!(self.service().requests, report.requests);
        }
    }
}

async fn sync(replica: &Replica, is_full: bool) -> Result<SyncReport, Error> {
    if is_full {
        replica.sync_full().await
    } else {
        replica.sync().await
    }
}

/// The same client with another token.
fn with_token(client: &Client, token: &str) -> Client {
    client.with_token_source(StaticToken::new(token).unwrap())
}

/// Chooses the behaviour of the list.
fn listing(random: &mut fastrand::Rng) -> Listing {
    let compared = [Compared::Created, Compared::Moved, Compared::Nothing];
    let orders = [
        ListOrder::LatestUpdateFirst,
        ListOrder::EarliestUpdateFirst,
        ListOrder::NewestFirst,
        ListOrder::Id,
    ];
    let totals = [Total::Null, Total::Fixed(3), Total::TooMany(2)];
    let compared = compared.get(random.usize(..9)).copied();
    let order = orders[random.usize(..4)];
    let total = totals.get(random.usize(..6)).copied();
    let mut list = Listing::default();
    list.compared = compared.unwrap_or(Compared::Updated);
    (list.order, list.total) = (order, total.unwrap_or(Total::Exact));
    list.by_position = random.u8(..4) > 0;
    if random.u8(..6) == 0 {
        list.lag = random.usize(1..4);
    }
    list
}

// The clock of the service starts here. Those of programs may be up to two days earlier, and must not be negative.
const _: () = assert!(START > 200_000_000);
