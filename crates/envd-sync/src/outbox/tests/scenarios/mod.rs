//! Scenarios as lists of steps, played against the fake with a manual clock.
//!
//! `tests/support/src/script.rs` describes the format. The farm has three records, `w1` to `w3`; `r1` is the first record created in
//! a scenario. `web` is a step of another user on the website, `next` sets the fate of the next requests of an operation, `pass` makes
//! one pass, `send` calls the method, and `for 2h` runs the loop. A text is a number of head and the fields that differ from a plain
//! declaration, with `~` for a blank.

mod words;

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use test_support::table;
use tokio::task::JoinHandle;

use self::words::{
    Check, Choice, DeletedRecords, Does, EarlyEdit, Fate, FaultWord, Field, FieldValue, Limit,
    Name, Operation, ProgramName, Property, Record, RecordProperty, Sees, Text, TextKind, UserName,
    set,
};
use super::farm::{Farm, id_of};
use crate::error::{Error, Result};
use crate::outbox::pass::Next;
use crate::outbox::{DeclarationId, Outbox, OutboxReport};
use crate::store::MemorySync;
use crate::tests::script::{Stage, Vocabulary, play, refuses_misspelled};
use envd_sdk::fake::controls::Assumptions;
use envd_sdk::fake::{Fault, WebsiteEdit};
use envd_sdk::model::{Consignment, ConsignmentInput};

/// The delay of a held reply.
const HELD: Duration = Duration::from_secs(5);

macro_rules! tables {
    ($($name:ident)+) => {$(
        #[tokio::test]
        async fn $name() {
            play::<Play>(table!(concat!(stringify!($name), ".txt"))).await;
        }
    )+};
}

tables! { lost_replies lost_changes repeated_failures twins edits others waiting readings writers }

struct Play {
    farm: Farm,
    outbox: Outbox,
    store: Arc<MemorySync>,
    backup: Option<Arc<MemorySync>>,
    /// The name of the current program, and the outboxes of the others on the same store.
    program: &'static str,
    others: HashMap<&'static str, Outbox>,
    declarations: HashMap<String, DeclarationId>,
    /// The names of records, with their ids.
    records: Vec<(String, String)>,
    /// The records as the user last saw them.
    seen: HashMap<String, Consignment>,
    held: Option<JoinHandle<Result<(OutboxReport, Next)>>>,
    report: OutboxReport,
    next: Option<Duration>,
    /// The numbers of requests and of lists before this step.
    before: [usize; 2],
}

impl Stage for Play {
    type Error = Error;

    type Does = Does;
    type Sees = Sees;

    async fn start() -> Self {
        let farm = Farm::start().await;
        let names = farm.before.iter().zip(1..);
        Self {
            records: names
                .map(|(id, nth)| (format!("w{nth}"), id.clone()))
                .collect(),
            outbox: farm.outbox(),
            store: Arc::clone(&farm.store),
            farm,
            backup: None,
            program: ProgramName::One.phrase(),
            others: HashMap::new(),
            declarations: HashMap::new(),
            seen: HashMap::new(),
            held: None,
            report: OutboxReport::default(),
            next: None,
            before: [0; 2],
        }
    }

    async fn act(&mut self, does: Does) -> Result<()> {
        self.before = self.counts();
        self.take(does).await?;
        // In the order in which they appeared.
        for id in self.farm.made().iter().map(id_of) {
            if self.records.iter().all(|(_, known)| *known != id) {
                let nth = self.records.len() + 1 - self.farm.before.len();
                self.records.push((format!("r{nth}"), id));
            }
        }
        Ok(())
    }

    async fn see(&mut self, sees: &Sees, expected: &str) -> String {
        self.seen(sees, expected).await
    }
}

impl Play {
    #[expect(clippy::too_many_lines, reason = "an arm for each step")]
    async fn take(&mut self, does: Does) -> Result<()> {
        let farm = &self.farm;
        let controls = farm.fake.controls();
        let account = farm.fake.account_id();
        match does {
            Does::Pass => self.passed(self.outbox.pass().await),
            Does::Send => self.report = farm.send(&self.outbox).await,
            Does::RunLoop(time) => self.passed(Ok(farm.run(&self.outbox, time).await)),
            Does::Hold => self.hold().await,
            Does::Release => {
                farm.clock.advance(HELD);
                let held = self.held.take().unwrap().await;
                self.passed(held.unwrap());
            }
            Does::Kill => {
                if self.held.is_none() {
                    self.hold().await;
                }
                let held = self.held.take().unwrap();
                held.abort();
                assert!(held.await.is_err(), "it ended before it was killed");
            }
            Does::Wait(time) => farm.clock.advance(time),
            Does::SetClockBack(time) => farm.clock.set_wall(farm.clock.now() - time),
            Does::Program(name) => {
                let name = name.phrase();
                let other = self.others.remove(name).unwrap_or_else(|| farm.outbox());
                let before = std::mem::replace(&mut self.outbox, other);
                let name = std::mem::replace(&mut self.program, name);
                self.others.insert(name, before);
            }
            Does::Restart => self.outbox = farm.outbox_on(Arc::clone(&self.store)),
            Does::RetryAtOnce => self.outbox = farm.retrying(Arc::clone(&self.store)),
            Does::GoOffline => self.outbox = farm.unreachable(Arc::clone(&self.store)),
            Does::LogIn(user) => {
                self.outbox = self.outbox.clone().user(move || user.known());
            }
            Does::Backup => self.backup = Some(Arc::new(self.store.duplicate())),
            Does::Restore => {
                self.store = self.backup.take().expect("a backup");
                self.outbox = farm.outbox_on(Arc::clone(&self.store));
            }
            Does::AnotherDevice => {
                self.store = Arc::default();
                self.outbox = farm.outbox_on(Arc::clone(&self.store));
            }
            Does::Horizon(time) => {
                let replica = farm.replica_on(Arc::clone(&self.store));
                self.outbox = Outbox::new(&replica.horizon(time));
            }
            Does::PageSize(size) => {
                let replica = farm.replica_on(Arc::clone(&self.store));
                self.outbox = Outbox::new(&replica.page_size(size));
            }
            Does::Sync => drop(self.outbox.replica().sync().await?),
            Does::Prune => drop(self.outbox.prune(farm.clock.now()).await?),
            Does::ClearScripts => farm.clear_scripts(),
            Does::LateRequestsArrive => assert!(controls.process_late_requests() > 0),
            Does::WithdrawAccount => controls.withdraw_account(account),
            Does::RestoreAccount => controls.restore_account(account),
            Does::ShowDeleted(how) => {
                controls.assume(Assumptions::default().deleted(how.assumed()));
            }
            Does::Next(operation, fates) => self.script(&operation, &fates),
            Does::WebMakes(text) => drop(farm.edit(WebsiteEdit::insert(self.input(&text)))),
            Does::BeforeList(nth, EarlyEdit::Makes(text)) => {
                let edit = WebsiteEdit::insert(self.input(&text));
                controls.edit_before_list(account, nth, edit);
            }
            Does::WebSets(Record(name), fields) => self.web_sets(&name, &fields),
            Does::WebDeletes(Record(name)) => drop(farm.edit(WebsiteEdit::delete(self.id(&name)))),
            Does::Look(Record(name)) => self.look(&name).await,
            Does::Save(name, text) => {
                let written = self.until(text.limit).save(self.input(&text)).await?;
                self.declare(&name, written.id);
            }
            Does::Submit(name, text) => {
                let written = self.until(text.limit).submit(self.input(&text)).await?;
                self.declare(&name, written.id);
            }
            Does::Edit(name, text) => {
                let outbox = self.until(text.limit);
                let edit = outbox.edit(self.declared(&name), self.input(&text));
                let written = edit.await?;
                self.declare(&name, written.id);
            }
            Does::EditAndSubmit(name, text) => {
                let outbox = self.until(text.limit);
                let edit = outbox.edit(self.declared(&name), self.input(&text));
                let written = edit.submit().await?;
                self.declare(&name, written.id);
            }
            Does::SubmitSaved(name, limit) => {
                let limit = limit.map(|Limit::Within(time)| time);
                let outbox = self.until(limit);
                let written = outbox.submit_saved(self.declared(&name)).await?;
                self.declare(&name, written.id);
            }
            Does::Withdraw(name) => {
                let written = self.outbox.withdraw(self.declared(&name)).await?;
                self.declare(&name, written.id);
            }
            Does::Delete(name) => {
                let written = self.outbox.delete(self.declared(&name)).await?;
                self.declare(&name, written.id);
            }
            Does::Update(name, record, text) => {
                let outbox = self.until(text.limit);
                let base = self.base(&record).await;
                let written = outbox.update(&base, self.input(&text)).await?;
                self.declare(&name, written.id);
            }
            Does::SubmitRecord(name, record, text) => {
                let outbox = self.until(text.limit);
                let base = self.base(&record).await;
                let update = outbox.update(&base, self.input(&text));
                let written = update.submit().await?;
                self.declare(&name, written.id);
            }
            Does::DeleteRecord(name, record) => {
                self.base(&record).await;
                let written = self.outbox.delete_record(self.id(&record.0)).await?;
                self.declare(&name, written.id);
            }
            Does::Decide(name, choice) => {
                let decision = choice.decision(|name| self.id(name));
                let decided = self.outbox.decide(self.declared(&name), decision);
                let written = decided.await?;
                self.declare(&name, written.id);
            }
        }
        Ok(())
    }

    /// The outbox, with a time limit for the next declaration.
    fn until(&self, limit: Option<Duration>) -> Outbox {
        let outbox = self.outbox.clone();
        match limit {
            Some(time) => outbox.not_after(self.farm.clock.now() + time),
            None => outbox,
        }
    }

    /// The id of a declaration. No declaration has the id of `never`.
    fn declared(&self, Name(name): &Name) -> DeclarationId {
        if name == "never" {
            return "77".parse().unwrap();
        }
        let known = self.declarations.get(name).copied();
        known.unwrap_or_else(|| panic!("{name} is no declaration"))
    }

    /// Names a declaration. A known name stays with its declaration.
    fn declare(&mut self, Name(name): &Name, id: DeclarationId) {
        let known = self.declarations.insert(name.clone(), id);
        assert!(
            known.is_none_or(|known| known == id),
            "{name} is another declaration"
        );
    }

    /// The record as the user last saw it.
    async fn base(&mut self, Record(name): &Record) -> Consignment {
        if !self.seen.contains_key(name) {
            self.look(name).await;
        }
        self.seen[name].clone()
    }

    fn web_sets(&self, name: &str, fields: &[FieldValue]) {
        let mut record = self.record(name);
        for field in fields {
            set(&mut record, field);
        }
        let members = fields
            .iter()
            .filter_map(|field| field.path.split('.').next());
        let changed = members.map(|member| (member.to_owned(), record[member].clone()));
        let edit = WebsiteEdit::change(self.id(name), changed.collect::<Value>());
        self.farm.edit(edit);
    }

    fn passed(&mut self, passed: Result<(OutboxReport, Next)>) {
        let (report, next) = passed.unwrap();
        self.report = report;
        self.next = next.at().map(|at| self.outbox.time_until(at));
    }

    /// Makes a pass, and holds the reply to its next request.
    async fn hold(&mut self) {
        self.farm.fault(Fault::latency(HELD));
        let outbox = self.outbox.clone();
        let mut held = tokio::spawn(async move { Box::pin(outbox.pass()).await });
        tokio::select! {
            biased;
            () = self.farm.delayed() => self.held = Some(held),
            _ = &mut held => panic!("nothing was sent"),
        }
    }

    async fn look(&mut self, name: &str) {
        let seen = self.farm.read(&self.farm.outbox(), &self.id(name)).await;
        self.seen.insert(name.to_owned(), seen);
    }

    /// The id of a record; an unknown name is returned unchanged.
    fn id(&self, name: &str) -> String {
        let known = self.records.iter().find(|(known, _)| known == name);
        known.map_or(name, |(_, id)| id).to_owned()
    }

    fn name(&self, id: &str) -> String {
        let known = self.records.iter().find(|(_, known)| known == id);
        known.map_or(id, |(name, _)| name).to_owned()
    }

    fn record(&self, name: &str) -> Value {
        let id = self.id(name);
        let fake = &self.farm.fake;
        let mut all = fake.consignments::<Value>(fake.account_id()).into_iter();
        all.find(|record| id_of(record) == id).unwrap()
    }

    fn input(&self, text: &Text) -> ConsignmentInput {
        text.input(|name| self.id(name))
    }

    /// Sets the fate of the next requests of an operation.
    fn script(&self, operation: &Operation, fates: &[Fate]) {
        let (operation, field) = operation.names();
        let script = self.farm.fake.on_operation(operation);
        for fate in fates {
            match fate {
                Fate::Times(times) => script.times(*times),
                Fate::Fault { is_done, fault } => match fault.fault(field, |name| self.id(name)) {
                    None => script.refuse("X", "refused"),
                    Some(fault) if *is_done => script.fault(fault.processed()),
                    Some(fault) => script.fault(fault),
                },
            };
        }
    }
}

/// Each word of each vocabulary, misspelled, is an error with the place and the known words.
#[test]
fn misspelled_words_are_refused() {
    refuses_misspelled::<Play, Does>("{} a r1 24");
    refuses_misspelled::<Play, EarlyEdit>("before list 2 {} 24");
    refuses_misspelled::<Play, ProgramName>("program {}");
    refuses_misspelled::<Play, UserName>("user {}");
    refuses_misspelled::<Play, DeletedRecords>("deleted records are {}");
    refuses_misspelled::<Play, Choice>("decide a {}");
    refuses_misspelled::<Play, Operation>("next {} lost");
    refuses_misspelled::<Play, FaultWord>("next save done-{}");
    refuses_misspelled::<Play, TextKind>("save a 24 {}");
    refuses_misspelled::<Play, Limit>("submit-saved a {}30s");
    refuses_misspelled::<Play, Field>("save a 24 {}1=x");
    refuses_misspelled::<Play, Check>("pass -> {}");
    refuses_misspelled::<Play, Property>("pass -> a {}");
    refuses_misspelled::<Play, RecordProperty>("pass -> r1 {} status=DRAFT");
}
