//! Kills `sync_account` two hundred times while the website changes records, and checks what its consumers read in all runs together.

use std::collections::BTreeMap;
use std::path::PathBuf;

use envd_sdk::fake::controls::{Assumptions, Deleted};
use envd_sdk::fake::{Fake, WebsiteEdit, World};
use envd_sdk::model::{ConsignmentInput, FormType, PartyInput};
use processes::{Folder, Program, json_lines};
use serde_json::{Value, json};

const ACCOUNT: &str = "envd-100201";

const CONSUMERS: [&str; 3] = ["accounting", "yard", "screen"];

/// The moment of the kill.
#[derive(Clone, Copy, Debug)]
enum Kill {
    AtOnce,
    /// After this number of output lines, or at its end if earlier.
    Lines(usize),
    /// After this number of requests, or at its end if earlier.
    Requests(usize),
}

/// A world with more records than one page.
fn world() -> World {
    let input = || {
        let from = PartyInput::new("QAZZ7777");
        let to = PartyInput::new("QDZZ3333");
        ConsignmentInput::new([FormType::Lpac1], from, to)
    };
    (0..110).fold(World::sample(), |world, _| {
        world.consignment(ACCOUNT, input())
    })
}

struct Killed {
    fake: Fake,
    _folder: Folder,
    store: PathBuf,
    random: fastrand::Rng,
    consumers: BTreeMap<&'static str, Heard>,
}

/// The changes that one consumer read in all runs.
#[derive(Default)]
struct Heard {
    lines: BTreeMap<u64, Value>,
    /// All changes up to this number were certainly acknowledged.
    acknowledged: u64,
}

impl Heard {
    /// Adds the lines of one run.
    fn run(&mut self, lines: &[Value], ack_each: bool, has_ended: bool) {
        let mut last = self.acknowledged;
        for line in lines {
            let sequence = line["sequence"].as_u64().unwrap();
            assert!(sequence > last, "{line} after {last}");
            let left_out = self.lines.range(last + 1..sequence).next();
            // The last line before the kill may or may not have been acknowledged.
            let may_be_acknowledged = last == self.acknowledged;
            assert!(
                left_out.is_none() || may_be_acknowledged,
                "{left_out:?} is left out before {line}"
            );
            last = sequence;
            if let Some(before) = self.lines.get(&sequence) {
                assert_eq!(before, line);
                continue;
            }
            let latest = self.lines.keys().next_back();
            assert!(
                latest.is_none_or(|latest| sequence > *latest),
                "{line} after {latest:?}"
            );
            self.lines.insert(sequence, line.clone());
        }
        let Some(last) = lines.last() else {
            return;
        };
        let last = last["sequence"].as_u64().unwrap();
        if has_ended {
            self.acknowledged = last;
        } else if ack_each {
            // All lines except the last, because the program writes the next line after the acknowledgement.
            let before = lines
                .len()
                .checked_sub(2)
                .map(|at| lines[at]["sequence"].as_u64().unwrap());
            self.acknowledged = self.acknowledged.max(before.unwrap_or(0));
        }
    }

    /// The status of each record, reconstructed from the changes read.
    fn statuses(&self) -> BTreeMap<String, Value> {
        let mut statuses = BTreeMap::new();
        for line in self.lines.values() {
            let id = line["id"].as_str().unwrap().to_owned();
            let known = statuses.contains_key(&id);
            match line["kind"].as_str().unwrap() {
                "appeared" => assert!(!known, "{line}"),
                "changed" => assert!(known, "{line}"),
                _ => {
                    assert!(known, "{line}");
                    statuses.remove(&id);
                    continue;
                }
            }
            statuses.insert(id, line["status"].clone());
        }
        statuses
    }
}

impl Killed {
    async fn new() -> Self {
        let assumptions = Assumptions::default().deleted(Deleted::Hidden);
        let fake = Fake::builder()
            .world(world())
            .assume(assumptions)
            .start()
            .await
            .unwrap();
        // The dates of the sample may be in the future.
        for record in fake.consignments::<Value>(ACCOUNT) {
            let id = record["id"].as_str().unwrap();
            fake.edit(ACCOUNT, WebsiteEdit::change(id, json!({})));
        }
        let folder = Folder::new();
        Self {
            store: folder.path("farm.db"),
            _folder: folder,
            fake,
            random: fastrand::Rng::with_seed(21),
            consumers: CONSUMERS.map(|name| (name, Heard::default())).into(),
        }
    }

    fn edit(&mut self) {
        let records: Vec<Value> = self.fake.consignments(ACCOUNT);
        let record = &records[self.random.usize(..records.len())];
        let id = record["id"].as_str().unwrap();
        let statuses = ["DRAFT", "SUBMITTED", "LOCKED"];
        let edit = match self.random.u8(..8) {
            0 => {
                let from = PartyInput::new("QAZZ7777");
                let to = PartyInput::new("QDZZ3333");
                WebsiteEdit::insert(ConsignmentInput::new([FormType::Lpac1], from, to))
            }
            1 => WebsiteEdit::delete(id),
            _ => WebsiteEdit::change(id, json!({"status": statuses[self.random.usize(..3)]})),
        };
        self.fake.edit(ACCOUNT, edit);
    }

    fn program(&self, consumer: &str, ack_each: bool, full: bool) -> Program {
        let mut program = Program::new("sync_account")
            .at(&self.fake)
            .arg("--store")
            .arg(&self.store);
        program = program.args(["--json", "--consumer", consumer]);
        for (option, is_set) in [("--ack-each", ack_each), ("--full", full)] {
            program = if is_set { program.arg(option) } else { program };
        }
        program
    }

    /// Runs the program, kills it, and records the complete lines that it has written.
    fn run_and_kill(&mut self, consumer: &'static str, kill: Kill) {
        let ack_each = self.random.u8(..4) > 0;
        let full = self.random.u8(..8) == 0;
        let before = self.fake.request_count("Consignments");
        let program = self.program(consumer, ack_each, full);
        let mut program = program.start();
        let mut text = String::new();
        match kill {
            Kill::AtOnce => {}
            Kill::Lines(lines) => text.extend((0..lines).map(|_| program.line())),
            Kill::Requests(requests) => {
                let is_sent = || self.fake.request_count("Consignments") >= before + requests;
                program.until("requests of a run", is_sent);
            }
        }
        program.kill();
        text += &program.rest();
        self.note(consumer, &text, ack_each);
    }

    fn run(&mut self, consumer: &'static str, full: bool) {
        let ended = self.program(consumer, true, full).run().well();
        self.note(consumer, &ended.stdout, true);
    }

    fn note(&mut self, consumer: &'static str, text: &str, ack_each: bool) {
        let mut lines = json_lines(text.rfind('\n').map_or("", |end| &text[..end]));
        // The program writes the report after it has acknowledged all changes.
        let has_ended = lines.pop_if(|line| line.get("report").is_some()).is_some();
        self.consumers
            .get_mut(consumer)
            .unwrap()
            .run(&lines, ack_each, has_ended);
    }

    fn on_the_website(&self) -> BTreeMap<String, Value> {
        let records: Vec<Value> = self.fake.consignments(ACCOUNT);
        let status = |record: Value| {
            (
                record["id"].as_str().unwrap().to_owned(),
                record["status"].clone(),
            )
        };
        records.into_iter().map(status).collect()
    }

    /// Checks that after complete runs each consumer knows the latest state of each record.
    fn check(&mut self) {
        // The first run may continue the scan of a killed run and miss changes behind it; the next run reads them.
        self.run(CONSUMERS[0], false);
        for consumer in CONSUMERS {
            self.run(consumer, false);
            let known = self.consumers[consumer].statuses();
            for (id, status) in self.on_the_website() {
                assert_eq!(known.get(&id), Some(&status), "{consumer}: {id}");
            }
        }
    }
}

#[tokio::test]
async fn each_consumer_reads_every_change_in_order_over_200_kills() {
    let mut killed = Killed::new().await;
    for number in 0..200 {
        for _ in 0..killed.random.usize(..4) {
            killed.edit();
        }
        killed
            .fake
            .clock()
            .advance(std::time::Duration::from_secs(1));
        let kill = match number % 8 {
            0 => Kill::AtOnce,
            1 | 4 => Kill::Requests(killed.random.usize(1..6)),
            2 => Kill::Lines(1),
            _ => Kill::Lines(killed.random.usize(1..8)),
        };
        killed.run_and_kill(CONSUMERS[number % 3], kill);
        if number % 20 == 19 {
            killed.check();
        }
    }
    for _ in 0..4 {
        killed.run("yard", true);
    }
    killed.check();
    for consumer in CONSUMERS {
        assert_eq!(
            killed.consumers[consumer].statuses(),
            killed.on_the_website(),
            "{consumer}"
        );
    }
    // All consumers started in the first three runs or later, and read the same changes since.
    let first = |name| *killed.consumers[name].lines.keys().next_back().unwrap();
    assert!(first("yard") == first("screen") && first("screen") == first("accounting"));

    let list = Program::new("sync_account")
        .arg("--store")
        .arg(&killed.store)
        .arg("--list")
        .run();
    let mut records: Vec<Value> = killed.fake.consignments(ACCOUNT);
    records.sort_by_key(|record| record["id"].as_str().unwrap().to_owned());
    let shown =
        |record: &Value| ["id", "number", "status", "updatedAt"].map(|name| record[name].clone());
    let copy: Vec<_> = list.lines().iter().map(shown).collect();
    assert_eq!(copy, records.iter().map(shown).collect::<Vec<_>>());
}
