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
use tokio::task::JoinHandle;

use self::words::{fault, set, text};
use super::farm::{Farm, SAVE, id_of};
use crate::error::{Error, Result};
use crate::outbox::pass::Next;
use crate::outbox::{Decision, DeclarationId, Outbox, OutboxReport};
use crate::store::MemorySync;
use crate::tests::script::{Stage, play, span};
use envd_sdk::fake::controls::{Assumptions, Deleted};
use envd_sdk::fake::{Fault, WebsiteEdit};
use envd_sdk::model::Consignment;

/// The delay of a held reply.
const HELD: Duration = Duration::from_secs(5);

macro_rules! tables {
    ($($name:ident)+) => {$(
        #[tokio::test]
        async fn $name() {
            play::<Play>(include_str!(concat!(stringify!($name), ".txt"))).await;
        }
    )+};
}

tables! { lost_replies twins edits others waiting readings writers }

struct Play {
    farm: Farm,
    outbox: Outbox,
    store: Arc<MemorySync>,
    backup: Option<Arc<MemorySync>>,
    /// The name of the current program, and the outboxes of the others on the same store.
    program: String,
    others: HashMap<String, Outbox>,
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
            program: "one".to_owned(),
            others: HashMap::new(),
            declarations: HashMap::new(),
            seen: HashMap::new(),
            held: None,
            report: OutboxReport::default(),
            next: None,
            before: [0; 2],
        }
    }

    async fn act(&mut self, words: &[&str]) -> Result<()> {
        self.before = self.counts();
        self.take(words).await?;
        // In the order in which they appeared.
        for id in self.farm.made().iter().map(id_of) {
            if self.records.iter().all(|(_, known)| *known != id) {
                let nth = self.records.len() + 1 - self.farm.before.len();
                self.records.push((format!("r{nth}"), id));
            }
        }
        Ok(())
    }

    async fn see(&mut self, words: &[&str]) -> String {
        self.seen_as(words).await
    }
}

impl Play {
    async fn take(&mut self, words: &[&str]) -> Result<()> {
        let (farm, fake) = (&self.farm, &self.farm.fake);
        let account = fake.account_id();
        match *words {
            [] => {}
            ["pass"] => self.passed(self.outbox.pass().await),
            ["send"] => self.report = farm.send(&self.outbox).await,
            ["for", time] => self.passed(Ok(farm.run(&self.outbox, span(time)).await)),
            ["hold"] => self.hold().await,
            ["release"] => {
                farm.clock.advance(HELD);
                let held = self.held.take().unwrap().await;
                self.passed(held.unwrap());
            }
            ["kill"] => {
                if self.held.is_none() {
                    self.hold().await;
                }
                let held = self.held.take().unwrap();
                held.abort();
                assert!(held.await.is_err(), "it ended before it was killed");
            }
            ["wait", time] => farm.clock.advance(span(time)),
            ["clock", "back", time] => farm.clock.set_wall(farm.clock.now() - span(time)),
            ["program", name] => {
                let other = self.others.remove(name).unwrap_or_else(|| farm.outbox());
                let before = std::mem::replace(&mut self.outbox, other);
                let name = std::mem::replace(&mut self.program, name.to_owned());
                self.others.insert(name, before);
            }
            ["restart"] => self.outbox = farm.outbox_on(Arc::clone(&self.store)),
            ["offline"] => self.outbox = farm.unreachable(Arc::clone(&self.store)),
            ["user", name] => {
                let user = (name != "unknown").then(|| name.to_owned());
                self.outbox = self.outbox.clone().user(move || user.clone());
            }
            ["backup"] => self.backup = Some(Arc::new(self.store.duplicate())),
            ["restore"] | ["another", "device"] => {
                self.store = self.backup.take().unwrap_or_default();
                self.outbox = farm.outbox_on(Arc::clone(&self.store));
            }
            ["horizon", time] => {
                let replica = farm.replica_on(Arc::clone(&self.store));
                self.outbox = Outbox::new(&replica.horizon(span(time)));
            }
            ["pages", "of", size] => {
                let replica = farm.replica_on(Arc::clone(&self.store));
                self.outbox = Outbox::new(&replica.page_size(size.parse().unwrap()));
            }
            ["sync"] => drop(self.outbox.replica().sync().await?),
            ["prune"] => drop(self.outbox.prune(farm.clock.now()).await?),
            ["clear"] => farm.clear_scripts(),
            ["late", "requests", "arrive"] => assert!(fake.controls().process_late_requests() > 0),
            ["withdraw", "account"] => fake.controls().withdraw_account(account),
            ["restore", "account"] => fake.controls().restore_account(account),
            ["deleted", "records", "are", how] => {
                let all = [Deleted::Filtered, Deleted::Hidden, Deleted::Listed];
                let mut all = all.into_iter();
                let deleted = all.find(|one| format!("{one:?}").to_lowercase() == how);
                fake.controls()
                    .assume(Assumptions::default().deleted(deleted.unwrap()));
            }
            ["next", operation, ref faults @ ..] => self.script(operation, faults),
            ["web", "makes", ref made @ ..] => {
                drop(farm.edit(WebsiteEdit::insert(self.text(made))));
            }
            ["before", "list", nth, "web", "makes", ref made @ ..] => {
                let edit = WebsiteEdit::insert(self.text(made));
                fake.controls()
                    .edit_before_list(account, nth.parse().unwrap(), edit);
            }
            ["web", "sets", name, ref fields @ ..] => {
                let mut record = self.record(name);
                for field in fields {
                    set(&mut record, field);
                }
                let names = fields
                    .iter()
                    .filter_map(|field| field.split(['.', '=']).next());
                let changed = names.map(|name| (name.to_owned(), record[name].clone()));
                let changed = WebsiteEdit::change(self.id(name), changed.collect::<Value>());
                farm.edit(changed);
            }
            ["web", "deletes", name] => drop(farm.edit(WebsiteEdit::delete(self.id(name)))),
            ["see", name] => self.look(name).await,
            [what, name, ref rest @ ..] => self.write(what, name, rest).await?,
            _ => panic!("{words:?} is no step"),
        }
        Ok(())
    }

    /// Makes a step of the user.
    async fn write(&mut self, what: &str, name: &str, rest: &[&str]) -> Result<()> {
        let limit = rest.iter().find_map(|word| word.strip_prefix("limit="));
        let mut outbox = self.outbox.clone();
        if let Some(time) = limit {
            outbox = outbox.not_after(self.farm.clock.now() + span(time));
        }
        let known = match name {
            "never" => "77".parse().ok(),
            name => self.declarations.get(name).copied(),
        };
        let id = || known.unwrap_or_else(|| panic!("{name} is no declaration"));
        let record = rest.first().copied().unwrap_or_default();
        let is_of_record = what.ends_with("-record") || what == "update";
        if is_of_record && !self.seen.contains_key(record) {
            self.look(record).await;
        }
        let base = || &self.seen[record];
        let edit = || self.text(&rest[1..]);
        let written = match what {
            "save" => outbox.save(self.text(rest)).await,
            "submit" => outbox.submit(self.text(rest)).await,
            "edit" => outbox.edit(id(), self.text(rest)).await,
            "edit-and-submit" => outbox.edit_and_submit(id(), self.text(rest)).await,
            "submit-saved" => outbox.submit_saved(id()).await,
            "withdraw" => outbox.withdraw(id()).await,
            "delete" => outbox.delete(id()).await,
            "update" => outbox.update(base(), edit()).await,
            "submit-record" => outbox.submit_record(base(), edit()).await,
            "delete-record" => outbox.delete_record(self.id(record)).await,
            "decide" => outbox.decide(id(), self.decision(rest)).await,
            _ => panic!("{what} is no step"),
        };
        let written = written?.id;
        assert!(
            known.is_none_or(|id| id == written),
            "{name} is another declaration"
        );
        self.declarations.insert(name.to_owned(), written);
        Ok(())
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

    fn text(&self, words: &[&str]) -> envd_sdk::model::ConsignmentInput {
        text(words, |name| self.id(name))
    }

    fn decision(&self, words: &[&str]) -> Decision {
        match words {
            ["adopt", record] => Decision::Adopt(self.id(record).into()),
            words => Decision::named(&words.join(" ")).unwrap(),
        }
    }

    /// Sets the fate of the next requests of an operation.
    fn script(&self, operation: &str, faults: &[&str]) {
        let (operation, field) = match operation {
            "save" => (SAVE, "createOrSaveConsignment"),
            "delete" => ("DeleteConsignment", "deleteConsignment"),
            "read" => ("Consignment", "consignment"),
            _ => ("Consignments", "consignments"),
        };
        let script = self.farm.fake.on_operation(operation);
        for word in faults {
            if let Some(times) = word.strip_prefix('x') {
                script.times(times.parse().unwrap());
            } else if *word == "refused" {
                script.refuse("X", "refused");
            } else {
                script.fault(fault(word, field, |name| self.id(name)));
            }
        }
    }
}
