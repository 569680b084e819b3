//! `outbox run` killed or stopped at every step, then started again: what the fake has in the end.

use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Child, Stdio};
use std::sync::{Mutex, OnceLock};
use std::{fs, thread};

use envd_sdk::fake::Fake;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use super::folder::Folder;
use super::gate::{Act, At, Gate};
use super::program::{Ended, Program};

const ACCOUNT: &str = "envd-100201";
const EDITED: &str = "00000000-0000-4000-8000-000000000101";
const DELETED: &str = "00000000-0000-4000-8000-000000000106";
const COPIED: &str = "00000000-0000-4000-8000-000000000107";
const COMMENTED: &str = "C-900000102";

/// The changes of the service.
const CHANGES: [&str; 4] = [
    "CreateOrSaveConsignment",
    "CopyConsignment",
    "DeleteConsignment",
    "CreateComment",
];

/// One entry of each kind, and two loads that are the same.
struct Farm {
    fake: Fake,
    folder: Folder,
    store: PathBuf,
}

impl Farm {
    async fn new(test: &str) -> Self {
        static WRITTEN: OnceLock<Vec<u8>> = OnceLock::new();
        let fake = Fake::start().await;
        let folder = Folder::new(&format!("outbox_killed_{test}"));
        let store = folder.path("farm.db");
        let farm = Self {
            fake,
            folder,
            store,
        };
        // All fakes have the same records, so the entries are written down once.
        let written = WRITTEN.get_or_init(|| {
            farm.write_down();
            fs::read(&farm.store).unwrap()
        });
        fs::write(&farm.store, written).unwrap();
        farm
    }

    fn write_down(&self) {
        let file = |name: &str, json: &Value| {
            let file = self.folder.write(name, json.to_string());
            file.to_str().unwrap().to_owned()
        };
        let mut edit = load();
        edit["id"] = json!(EDITED);
        edit["movementTime"] = json!("04:45");
        let [load, edit] = [file("load.json", &load()), file("edit.json", &edit)];
        let base = file("base.json", &self.record(EDITED));
        for command in [
            &["add", "--submit", &load][..],
            &["add", &load],
            &["add", "--base", &base, &edit],
            &["comment", COMMENTED, "left at dawn"],
            &["delete", DELETED],
            &["copy", COPIED],
        ] {
            let mut program = self.program();
            program.0.args(command);
            let ended = program.run();
            assert_eq!(
                (ended.code, ended.stderr.as_str()),
                (Some(0), ""),
                "{ended:?}"
            );
        }
    }

    fn program(&self) -> Program {
        let program = Program::new("outbox").at(&self.fake);
        program.arg("--store").arg(&self.store)
    }

    /// Whoever runs next need not wait for long after a run that was killed.
    fn run(&self) -> Program {
        self.program()
            .args(["run", "--once", "--settle", "0", "--lease", "0.1", "--json"])
    }

    /// A run that may be frozen. Between its requests it writes nothing that would lock the file for as long as it is frozen.
    fn frozen_run(&self) -> Program {
        self.program()
            .args(["run", "--once", "--settle", "0", "--lease", "2", "--json"])
    }

    /// Runs until nothing is left.
    fn finish(&self, context: &str) -> Ended {
        let ended = self.run().run();
        assert_eq!(
            (ended.code, ended.stderr.as_str()),
            (Some(0), ""),
            "{context}: {ended:?}"
        );
        ended
    }

    fn records(&self) -> Vec<Value> {
        self.fake.consignments(ACCOUNT)
    }

    fn record(&self, id: &str) -> Value {
        let mut records = self.records().into_iter();
        records.find(|record| record["id"] == id).unwrap()
    }

    fn changes(&self) -> usize {
        CHANGES
            .map(|name| self.fake.request_count(name))
            .iter()
            .sum()
    }

    /// Every entry is one record, and none is lost.
    async fn check(&self, context: &str) {
        let mut new = self.records();
        new.retain(|record| record["number"].as_str().unwrap() > "C-900000108");
        let count = |form: &str, status: &str| {
            let is_it =
                |record: &&Value| record["forms"][0]["type"] == form && record["status"] == status;
            new.iter().filter(is_it).count()
        };
        let found = [
            count("LPAC1", "DRAFT"),
            count("LPAC1", "SUBMITTED"),
            count("LPAG3", "DRAFT"),
            new.len(),
        ];
        assert_eq!(found, [1, 1, 1, 3], "{context}");
        assert_eq!(self.record(EDITED)["movementTime"], "04:45", "{context}");
        assert_eq!(self.record(DELETED)["status"], "DELETED", "{context}");
        let account = self.fake.client().build().unwrap().account(ACCOUNT);
        let comments = account.comments(COMMENTED).await.unwrap().value;
        let ours = comments
            .iter()
            .filter(|comment| comment.comment_text.as_deref() == Some("left at dawn"));
        assert_eq!(ours.count(), 1, "{context}");

        let list = self.program().args(["list", "--json"]).run();
        let entries: Vec<Value> = list
            .stdout
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect();
        assert_eq!(entries.len(), 7, "{context}");
        for entry in entries {
            assert_eq!(entry["state"], "confirmed", "{context}: {entry}");
        }
    }
}

fn load() -> Value {
    json!({"forms": ["LPAC1"], "origin": {"pic": "QAZZ7777"}, "destination": {"pic": "QDZZ3333"}})
}

/// The operations that a run calls, and the number of its lines, if nothing disturbs it.
async fn undisturbed(test: &str) -> (Vec<String>, usize) {
    let farm = Farm::new(test).await;
    let before = farm.fake.requests().len();
    let ended = farm.finish("undisturbed");
    let requests = &farm.fake.requests()[before..];
    let operations = requests
        .iter()
        .map(|request| request.operation().unwrap())
        .collect();
    assert_eq!(farm.changes(), 7);
    farm.check("undisturbed").await;
    (operations, ended.stdout.lines().count())
}

/// Each case on a fake of its own, some at a time.
fn each<T: Send>(threads: usize, cases: Vec<T>, check: impl AsyncFn(T) + Sync) {
    let cases = Mutex::new(cases);
    thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                let runtime = tokio::runtime::Builder::new_current_thread()
                    .enable_all()
                    .build();
                let runtime = runtime.unwrap();
                loop {
                    let Some(case) = cases.lock().unwrap().pop() else {
                        return;
                    };
                    runtime.block_on(check(case));
                }
            });
        }
    });
}

/// After each request, and before each that changes something: one that only reads makes no difference there.
fn steps(operations: &[String]) -> Vec<At> {
    let steps = operations.iter().enumerate().flat_map(|(at, operation)| {
        let is_change = CHANGES.contains(&operation.as_str());
        [
            is_change.then_some(At::Before(at + 1)),
            Some(At::After(at + 1)),
        ]
    });
    steps.flatten().collect()
}

fn signal(child: &Child, signal: Signal) {
    kill_process(Pid::from_child(child), signal).unwrap();
}

#[tokio::test]
async fn killed_at_each_request_it_makes_each_record_once() {
    let (operations, _) = undisturbed("requests").await;
    each(4, steps(&operations), async |at| {
        let context = format!("{at:?}");
        let farm = Farm::new(&context).await;
        let gate = Gate::new(&farm.fake, Act::Kill, at);
        let mut program = farm.run();
        program.0.stdout(Stdio::null()).stderr(Stdio::null());
        let mut child = gate.spawn(program);
        assert!(gate.has_acted(&mut child), "{context}");
        child.wait().unwrap();
        gate.settle();
        farm.finish(&context);
        farm.check(&context).await;
    });
}

#[tokio::test]
async fn killed_at_each_line_it_makes_each_record_once() {
    let (_, lines) = undisturbed("lines").await;
    each(4, (1..=lines).collect(), async |line| {
        let context = format!("line {line}");
        let farm = Farm::new(&context).await;
        let gate = Gate::new(&farm.fake, Act::Kill, At::Never);
        let mut program = farm.run();
        program.0.stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = gate.spawn(program);
        let mut stdout = BufReader::new(child.stdout.take().unwrap());
        for _ in 0..line {
            assert!(
                stdout.read_line(&mut String::new()).unwrap() > 0,
                "{context}"
            );
        }
        child.kill().unwrap();
        child.wait().unwrap();
        gate.settle();
        farm.finish(&context);
        farm.check(&context).await;
    });
}

#[tokio::test]
async fn killed_at_writes_of_its_file_it_makes_each_record_once() {
    each(4, (1..=36).step_by(3).collect(), async |write: usize| {
        let context = format!("write {write}");
        let farm = Farm::new(&context).await;
        let gate = Gate::new(&farm.fake, Act::Kill, At::Never);
        let mut program = farm.run();
        program.0.stdout(Stdio::null()).stderr(Stdio::null());
        let log = farm.store.with_extension("db-wal");
        let mut child = gate.spawn(program);
        let (mut before, mut writes) = (None, 0);
        while writes < write && child.try_wait().unwrap().is_none() {
            let now = fs::metadata(&log)
                .and_then(|log| Ok((log.len(), log.modified()?)))
                .ok();
            writes += usize::from(now != before);
            before = now;
        }
        child.kill().unwrap();
        child.wait().unwrap();
        gate.settle();
        farm.finish(&context);
        farm.check(&context).await;
    });
}

#[tokio::test]
async fn killed_while_it_writes_down_an_entry_is_there_or_not() {
    let farm = Farm::new("add").await;
    let list = || farm.program().args(["list", "--json"]).run();
    let load = farm.folder.write("load.json", load().to_string());
    let mut entries = list().stdout.lines().count();
    let log = farm.store.with_extension("db-wal");
    for write in 1..=12 {
        let mut program = farm.program().args(["add", "--submit"]).arg(&load);
        program.0.stdout(Stdio::piped());
        let mut child = program.0.spawn().unwrap();
        let (mut before, mut writes) = (None, 0);
        while writes < write && child.try_wait().unwrap().is_none() {
            let now = fs::metadata(&log)
                .and_then(|log| Ok((log.len(), log.modified()?)))
                .ok();
            writes += usize::from(now != before);
            before = now;
        }
        child.kill().unwrap();
        let said = child.wait_with_output().unwrap();
        let after = list();
        assert_eq!(
            (after.code, after.stderr.as_str()),
            (Some(0), ""),
            "{after:?}"
        );
        let now = after.stdout.lines().count();
        // With its submit, or not at all; and surely when the number was printed.
        assert!(
            now == entries + 2 || now == entries && said.stdout.is_empty(),
            "{said:?} {after:?}"
        );
        entries = now;
    }
}

#[tokio::test]
async fn two_runs_at_a_time_send_once() {
    let farm = Farm::new("two").await;
    let run = || {
        let mut program = farm.program().args(["run", "--once", "--json"]);
        program.0.stdout(Stdio::piped()).stderr(Stdio::piped());
        program.0.spawn().unwrap()
    };
    let runs = [run(), run(), run()];
    for run in runs {
        let ended = Ended::from(run.wait_with_output().unwrap());
        assert_eq!(
            (ended.code, ended.stderr.as_str()),
            (Some(0), ""),
            "{ended:?}"
        );
    }
    assert_eq!(farm.changes(), 7);
    farm.check("two").await;
}

#[tokio::test]
async fn a_sender_that_was_frozen_at_any_request_sends_nothing_twice() {
    let (operations, _) = undisturbed("frozen").await;
    // Most of the time they wait for the end of a lease.
    each(8, (1..=operations.len()).collect(), async |number| {
        let at = At::After(number);
        let context = format!("frozen {at:?}");
        let farm = Farm::new(&context).await;
        let gate = Gate::new(&farm.fake, Act::Stop, at);
        let mut program = farm.frozen_run();
        program.0.stdout(Stdio::null()).stderr(Stdio::piped());
        let mut frozen = gate.spawn(program);
        assert!(gate.has_acted(&mut frozen), "{context}");
        farm.finish(&context);
        let changes = farm.changes();
        signal(&frozen, Signal::CONT);
        gate.open();
        let ended = Ended::from(frozen.wait_with_output().unwrap());
        assert_eq!(
            (ended.code, ended.stderr.as_str()),
            (Some(0), ""),
            "{context}: {ended:?}"
        );
        assert_eq!(farm.changes(), changes, "{context}");
        assert_eq!(changes, 7, "{context}");
        farm.check(&context).await;
    });
}

/// The one thing that a client cannot prevent: a request that is carried out after it was given up. It is told.
#[tokio::test]
async fn a_request_that_arrives_when_it_was_given_up_makes_a_draft_that_is_told() {
    let farm = Farm::new("stray").await;
    // What is given up is a creation: the second request, after the list.
    let gate = Gate::new(&farm.fake, Act::Stop, At::Before(3));
    let mut program = farm.frozen_run();
    program.0.stdout(Stdio::null()).stderr(Stdio::null());
    let mut frozen = gate.spawn(program);
    assert!(gate.has_acted(&mut frozen));
    farm.finish("stray");
    farm.check("stray").await;
    gate.open();
    // The program would take the request back if it went on before the fake has it.
    while farm.changes() < 8 {
        std::thread::yield_now();
    }
    signal(&frozen, Signal::CONT);
    frozen.wait().unwrap();
    gate.settle();
    let submitted = farm
        .records()
        .into_iter()
        .filter(|record| record["status"] == "SUBMITTED");
    assert_eq!((farm.changes(), submitted.count()), (8, 4));
    farm.finish("stray");
    let list = farm.program().arg("list").run();
    assert_eq!(list.stdout.matches("one too many").count(), 1, "{list:?}");
}
