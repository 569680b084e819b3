//! `outbox run` killed or stopped at every step, then started again: what the fake has in the end.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock};
use std::{fs, thread};

use envd_sdk::fake::Fake;
use processes::{Ended, Folder, Mode, Process, Program, Proxy, Signal, json_lines, signal, until};
use serde_json::{Value, json};

const ACCOUNT: &str = "envd-100201";
const EDITED: &str = "00000000-0000-4000-8000-000000000101";
const DELETED: &str = "00000000-0000-4000-8000-000000000106";

/// Leases, in seconds. Between its requests a run writes nothing that would lock the file for as long as it is frozen, if its lease
/// is long.
const BRIEF: &str = "0.1";
const LONG: &str = "2";

/// The changes of the service.
const CHANGES: [&str; 2] = ["CreateOrSaveConsignment", "DeleteConsignment"];

/// How many changes four entries take: a creation and a submit, a creation, an update, a delete.
const EXPECTED: usize = 5;

/// One entry of each kind, and two loads that are the same.
struct Farm {
    fake: Fake,
    folder: Folder,
    store: PathBuf,
}

impl Farm {
    async fn new() -> Self {
        static WRITTEN: OnceLock<Vec<u8>> = OnceLock::new();
        let fake = Fake::start().await;
        let folder = Folder::new();
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
        farm.folder.write("farm.db", written);
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
            &["delete", DELETED],
        ] {
            self.program().args(command).run().well();
        }
    }

    fn program(&self) -> Program {
        let program = Program::new("outbox").at(&self.fake);
        let program = program.env("ENVD_ACCOUNT_ID", ACCOUNT);
        program.arg("--store").arg(&self.store)
    }

    /// A run whose lease lasts so many seconds.
    fn run(&self, lease: &str) -> Program {
        let run = ["run", "--once", "--settle", "1", "--lease", lease, "--json"];
        self.program().args(run)
    }

    /// Starts a run through the proxy.
    fn run_through(&self, proxy: &Proxy, lease: &str) -> Program {
        let url = proxy.through(self.fake.graphql_url());
        self.run(lease).env("ENVD_GRAPHQL_URL", url)
    }

    /// Runs until nothing is left. The next run need not wait for long after a run that was killed.
    fn finish(&self) -> Ended {
        self.run(BRIEF).run().well()
    }

    /// Kills a run, waits for what the fake has of it, and runs again.
    async fn go_on_after_kill(&self, mut run: Process, proxy: &Proxy, context: &str) {
        run.kill();
        proxy.settle().await;
        self.finish();
        self.check(context);
    }

    fn records(&self) -> Vec<Value> {
        self.fake.consignments(ACCOUNT)
    }

    fn record(&self, id: &str) -> Value {
        let mut records = self.records().into_iter();
        records.find(|record| record["id"] == id).unwrap()
    }

    fn changes(&self) -> usize {
        let counts = CHANGES.map(|name| self.fake.request_count(name));
        counts.iter().sum()
    }

    /// Every entry is one record, and none is lost.
    fn check(&self, context: &str) {
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
            new.len(),
        ];
        assert_eq!(found, [1, 1, 2], "{context}");
        assert_eq!(self.record(EDITED)["movementTime"], "04:45", "{context}");
        assert_eq!(self.record(DELETED)["status"], "DELETED", "{context}");
        let entries = self.program().args(["list", "--json"]).run().lines();
        assert_eq!(entries.len(), 4, "{context}");
        for entry in entries {
            assert_eq!(entry["state"], "confirmed", "{context}: {entry}");
        }
    }
}

fn load() -> Value {
    json!({"forms": ["LPAC1"], "origin": {"pic": "QAZZ7777"}, "destination": {"pic": "QDZZ3333"}})
}

/// The operations that a run calls, and the number of its lines, if nothing disturbs it.
async fn undisturbed() -> (Vec<String>, usize) {
    let farm = Farm::new().await;
    let before = farm.fake.requests().len();
    let ended = farm.finish();
    let requests = &farm.fake.requests()[before..];
    let operations = requests.iter().map(|request| request.operation().unwrap());
    assert_eq!(farm.changes(), EXPECTED);
    farm.check("undisturbed");
    (operations.collect(), ended.stdout.lines().count())
}

/// Each case on a fake of its own, some at a time. The proxies run while a test waits for a process.
fn each<T: Send>(threads: usize, cases: Vec<T>, check: impl AsyncFn(T) + Sync) {
    let cases = Mutex::new(cases);
    let next = || cases.lock().unwrap().pop();
    thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                let mut runtime = tokio::runtime::Builder::new_multi_thread();
                let runtime = runtime.worker_threads(1).enable_all().build().unwrap();
                while let Some(case) = next() {
                    runtime.block_on(check(case));
                }
            });
        }
    });
}

/// When a run is killed: at one of its requests, counted from 1.
#[derive(Clone, Copy, Debug)]
enum At {
    /// It has sent the request, and the fake does not get it.
    Before(usize),
    /// The fake has carried the request out, and the program does not get the reply.
    After(usize),
}

/// After each request, and before each that changes something: one that only reads makes no difference there.
fn steps(operations: &[String]) -> Vec<At> {
    let steps = operations.iter().enumerate().flat_map(|(at, operation)| {
        let is_change = CHANGES.contains(&operation.as_str());
        let before = is_change.then_some(At::Before(at + 1));
        [before, Some(At::After(at + 1))]
    });
    steps.flatten().collect()
}

/// Waits for so many changes of a file, or the end of the program.
fn wait_for_writes(file: &Path, count: usize, program: &mut Process) {
    let (mut before, mut writes) = (None, 0);
    program.until("writes of a run", || {
        let now = fs::metadata(file).and_then(|file| Ok((file.len(), file.modified()?)));
        let now = now.ok();
        writes += usize::from(now != before);
        before = now;
        writes >= count
    });
}

#[tokio::test]
async fn killed_at_each_request_it_makes_each_record_once() {
    let (operations, _) = undisturbed().await;
    each(4, steps(&operations), async |at| {
        let farm = Farm::new().await;
        let proxy = Proxy::of(&farm.fake).await;
        match at {
            At::Before(number) => proxy.hold_after(number - 1),
            At::After(number) => proxy.hold_reply(number),
        }
        let mut run = farm.run_through(&proxy, BRIEF).start();
        proxy.stopped_for(&mut run).await;
        farm.go_on_after_kill(run, &proxy, &format!("{at:?}")).await;
    });
}

#[tokio::test]
async fn killed_at_each_line_it_makes_each_record_once() {
    let (_, lines) = undisturbed().await;
    each(4, (1..=lines).collect(), async |line| {
        let context = format!("line {line}");
        let farm = Farm::new().await;
        let proxy = Proxy::of(&farm.fake).await;
        let mut run = farm.run_through(&proxy, BRIEF).start();
        for _ in 0..line {
            assert_ne!(run.line(), "", "{context}");
        }
        farm.go_on_after_kill(run, &proxy, &context).await;
    });
}

#[tokio::test]
async fn killed_at_writes_of_its_file_it_makes_each_record_once() {
    each(4, (1..=36).step_by(3).collect(), async |write: usize| {
        let farm = Farm::new().await;
        let proxy = Proxy::of(&farm.fake).await;
        let log = farm.store.with_extension("db-wal");
        let mut run = farm.run_through(&proxy, BRIEF).start();
        wait_for_writes(&log, write, &mut run);
        farm.go_on_after_kill(run, &proxy, &format!("write {write}"))
            .await;
    });
}

#[tokio::test]
async fn killed_while_it_writes_down_an_entry_is_there_or_not() {
    let farm = Farm::new().await;
    let list = || farm.program().args(["list", "--json"]).run().well();
    let load = farm.folder.write("load.json", load().to_string());
    let mut entries = list().stdout.lines().count();
    let log = farm.store.with_extension("db-wal");
    for write in 1..=12 {
        let program = farm.program().args(["add", "--submit"]).arg(&load);
        let mut child = program.start();
        wait_for_writes(&log, write, &mut child);
        child.kill();
        let said = child.rest();
        let after = list();
        let now = after.stdout.lines().count();
        // There or not; and surely when the number was printed.
        assert!(
            now == entries + 1 || now == entries && said.is_empty(),
            "{said:?} {after:?}"
        );
        entries = now;
    }
}

#[tokio::test]
async fn a_sender_that_was_frozen_at_any_request_sends_nothing_twice() {
    let (operations, _) = undisturbed().await;
    // Most of the time they wait for the end of a lease.
    each(8, (1..=operations.len()).collect(), async |number| {
        let context = format!("frozen after {number}");
        let farm = Farm::new().await;
        let proxy = Proxy::of(&farm.fake).await;
        proxy.hold_reply(number);
        let mut frozen = farm.run_through(&proxy, LONG).start();
        proxy.stopped_for(&mut frozen).await;
        signal(frozen.id(), Signal::STOP);
        farm.finish();
        let changes = farm.changes();
        signal(frozen.id(), Signal::CONT);
        proxy.set(Mode::Pass);
        assert_eq!(frozen.wait(), Some(0), "{context}");
        assert_eq!(farm.changes(), changes, "{context}");
        assert_eq!(changes, EXPECTED, "{context}");
        farm.check(&context);
    });
}

/// The one thing that a client cannot prevent: a request that is carried out after it was given up. It is told.
#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn a_request_that_arrives_when_it_was_given_up_makes_a_draft_that_is_told() {
    let farm = Farm::new().await;
    let proxy = Proxy::of(&farm.fake).await;
    // What is given up is a creation, after the list.
    proxy.hold_after(1);
    let mut frozen = farm.run_through(&proxy, LONG).start();
    proxy.stopped_for(&mut frozen).await;
    signal(frozen.id(), Signal::STOP);
    farm.finish();
    farm.check("given up");
    proxy.set(Mode::Pass);
    // The program would take the request back if it went on before the fake has it.
    let has_arrived = async || farm.changes() > EXPECTED;
    until("the request that was given up", has_arrived).await;
    signal(frozen.id(), Signal::CONT);
    let mut lines = json_lines(&frozen.rest());
    frozen.wait();
    proxy.settle().await;
    let mut submitted = farm.records();
    submitted.retain(|record| record["status"] == "SUBMITTED");
    assert_eq!((farm.changes(), submitted.len()), (EXPECTED + 1, 4));
    // The run that goes on may find it, if it looks once more; else the next one does.
    lines.extend(farm.finish().lines());
    let duplicates = |line: &Value| line["late_duplicates"].as_array().map_or(0, Vec::len);
    let told = lines.iter().map(duplicates).filter(|count| *count > 0);
    assert_eq!(told.collect::<Vec<_>>(), [1], "{lines:?}");
    let reported = |line: &Value| line["report"]["late_duplicates"].as_u64().unwrap_or(0);
    assert_eq!(lines.iter().map(reported).sum::<u64>(), 1, "{lines:?}");
    let list = farm.program().arg("list").run();
    assert_eq!(list.stdout.matches("late duplicate").count(), 1, "{list:?}");
}
