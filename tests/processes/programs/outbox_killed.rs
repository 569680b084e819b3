//! Kills or suspends `outbox run` at every step, runs it again, and checks the records of the fake.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock};
use std::{fs, thread};

use envd_sdk::fake::Fake;
use processes::{Ended, Folder, Process, Program, Proxy};
#[cfg(unix)]
use processes::{Mode, Signal, json_lines, signal, until};
use serde_json::{Value, json};

const ACCOUNT: &str = "envd-100201";
const EDITED: &str = "00000000-0000-4000-8000-000000000101";
const DELETED: &str = "00000000-0000-4000-8000-000000000106";

/// Leases, in seconds. With a long lease, a run does not write between its requests, so it holds no lock on the file while it is suspended.
const BRIEF: &str = "0.1";
#[cfg(unix)]
const LONG: &str = "2";

/// The operations that change data.
const CHANGES: [&str; 2] = ["CreateOrSaveConsignment", "DeleteConsignment"];

/// The number of changes for four entries: a creation and a submit, a creation, an update, a delete.
const EXPECTED: usize = 5;

/// One entry of each kind, including two identical loads.
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
        // All fakes have the same records, so the entries are written only once.
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

    /// A run with a lease of this number of seconds.
    fn run(&self, lease: &str) -> Program {
        let run = ["run", "--once", "--settle", "1", "--lease", lease, "--json"];
        self.program().args(run)
    }

    /// Starts a run through the proxy.
    fn run_through(&self, proxy: &Proxy, lease: &str) -> Program {
        let url = proxy.through(self.fake.graphql_url());
        self.run(lease).env("ENVD_GRAPHQL_URL", url)
    }

    /// Runs until no entries are left. A short lease avoids a long wait for a killed run.
    fn finish(&self) -> Ended {
        self.run(BRIEF).run().well()
    }

    /// Kills a run, waits until the fake has processed its requests, and runs again.
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

    /// Checks that every entry is exactly one record.
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

/// The operations of an undisturbed run, and the number of its output lines.
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

/// Runs each case with its own fake, several at a time. The proxies run while a test waits for a process.
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

/// The moment of the kill: at one of the requests, counted from 1.
#[derive(Clone, Copy, Debug)]
enum At {
    /// The program has sent the request, but the fake does not get it.
    Before(usize),
    /// The fake has carried the request out, but the program does not get the reply.
    After(usize),
}

/// After each request, and before each change; before a read, a kill makes no difference.
fn steps(operations: &[String]) -> Vec<At> {
    let steps = operations.iter().enumerate().flat_map(|(at, operation)| {
        let is_change = CHANGES.contains(&operation.as_str());
        let before = is_change.then_some(At::Before(at + 1));
        [before, Some(At::After(at + 1))]
    });
    steps.flatten().collect()
}

/// Waits for this number of changes to a file, or the end of the program.
fn wait_for_writes(file: &Path, count: usize, program: &mut Process) {
    let mut before = None;
    let mut writes = 0;
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
        // The entry may be missing, but not once its number was printed.
        assert!(
            now == entries + 1 || now == entries && said.is_empty(),
            "{said:?} {after:?}"
        );
        entries = now;
    }
}

#[cfg(unix)]
#[tokio::test]
async fn a_sender_that_was_frozen_at_any_request_sends_nothing_twice() {
    let (operations, _) = undisturbed().await;
    // They mostly wait for a lease to end, so run many at once.
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

/// The one case that a client cannot prevent: the service carries out a request after the client has abandoned it. The outbox reports it.
#[cfg(unix)]
#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn a_request_that_arrives_when_it_was_given_up_makes_a_draft_that_is_reported() {
    let farm = Farm::new().await;
    let proxy = Proxy::of(&farm.fake).await;
    // The abandoned request is a creation, after the list.
    proxy.hold_after(1);
    let mut frozen = farm.run_through(&proxy, LONG).start();
    proxy.stopped_for(&mut frozen).await;
    signal(frozen.id(), Signal::STOP);
    farm.finish();
    farm.check("given up");
    proxy.set(Mode::Pass);
    // If the program continued before the fake has the request, it would cancel the request.
    let has_arrived = async || farm.changes() > EXPECTED;
    until("the request that was given up", has_arrived).await;
    signal(frozen.id(), Signal::CONT);
    let mut lines = json_lines(&frozen.rest());
    frozen.wait();
    proxy.settle().await;
    let mut submitted = farm.records();
    submitted.retain(|record| record["status"] == "SUBMITTED");
    assert_eq!((farm.changes(), submitted.len()), (EXPECTED + 1, 4));
    // The running process may find the duplicate if it searches again; otherwise the next run does.
    lines.extend(farm.finish().lines());
    let duplicates = |line: &Value| line["late_duplicates"].as_array().map_or(0, Vec::len);
    let reported = lines.iter().map(duplicates).filter(|count| *count > 0);
    assert_eq!(reported.collect::<Vec<_>>(), [1], "{lines:?}");
    let reported = |line: &Value| line["report"]["late_duplicates"].as_u64().unwrap_or(0);
    assert_eq!(lines.iter().map(reported).sum::<u64>(), 1, "{lines:?}");
    let list = farm.program().arg("list").run();
    assert_eq!(list.stdout.matches("late duplicate").count(), 1, "{list:?}");
}
