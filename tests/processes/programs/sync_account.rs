//! `sync_account`: a copy in a file, and its changes as lines of JSON.

use std::io::{BufRead, Read};
use std::path::Path;

use envd_sdk::Account;
use envd_sdk::fake::{Fake, Fault, World};
use envd_sdk::model::{ConsignmentInput, ConsignmentStatus, FormType, PartyInput};
use envd_sdk::ops::ConsignmentFilter;
use envd_sdk::profile::{ComparedDate, ServiceProfile, Sourced};
use processes::{Ended, Folder, Program, json_lines};
use serde_json::Value;

fn program(fake: &Fake, store: &Path) -> Program {
    Program::new("sync_account")
        .at(fake)
        .arg("--store")
        .arg(store)
}

fn json(fake: &Fake, store: &Path) -> Ended {
    program(fake, store).arg("--json").run()
}

/// The changes, and the report behind them.
fn round(ended: Ended) -> (Vec<Value>, Value) {
    let mut lines = ended.well().lines();
    let mut last = lines.pop().unwrap();
    (lines, last["report"].take())
}

fn sequences(changes: &[Value]) -> Vec<u64> {
    changes
        .iter()
        .map(|change| change["sequence"].as_u64().unwrap())
        .collect()
}

fn account(fake: &Fake) -> Account {
    fake.client().build().unwrap().account(fake.account_id())
}

async fn submit_a_draft(account: &Account) -> String {
    let drafts = ConsignmentFilter::default().status(ConsignmentStatus::Draft);
    let draft = account
        .consignments(&drafts)
        .items()
        .next()
        .await
        .unwrap()
        .unwrap();
    let draft = account.consignment(draft.id.unwrap()).await.unwrap().value;
    let submit = account.submit_consignment(ConsignmentInput::from(&draft));
    let _ = submit.await.unwrap();
    draft.id.unwrap().into()
}

fn many(consignments: usize) -> World {
    let input = ConsignmentInput::new(
        [FormType::Lpac1],
        PartyInput::new("QAZZ7777"),
        PartyInput::new("QDZZ3333"),
    );
    let sample = World::sample();
    (0..consignments).fold(sample, |world, _| {
        world.consignment(
            "envd-100201",
            input.clone().status(ConsignmentStatus::Draft),
        )
    })
}

#[tokio::test]
async fn each_change_is_a_line_of_json_and_the_report_is_the_last_one() {
    let (fake, folder) = (Fake::start().await, Folder::new());
    let store = folder.path("farm.db");
    let ended = json(&fake, &store);
    let text = ended.stdout.clone();
    let (changes, report) = round(ended);
    let first = text.lines().next().unwrap();
    assert!(
        first.starts_with(r#"{"sequence":1,"kind":"appeared","id":""#),
        "{first}"
    );
    assert!(
        first.contains(r#"","number":"C-9"#) && first.ends_with(r#","fields":[]}"#),
        "{first}"
    );
    let last = text.lines().last().unwrap();
    assert!(
        last.starts_with(r#"{"report":{"mode":"full","why":""#),
        "{last}"
    );
    assert!(last.ends_with(r#","clean":true}}"#), "{last}");
    let names = [
        "mode",
        "why",
        "requests",
        "seen",
        "appeared",
        "changed",
        "gone",
        "watermark",
        "clean",
    ];
    let found: Vec<_> = report
        .as_object()
        .unwrap()
        .keys()
        .map(String::as_str)
        .collect();
    assert_eq!(found.len(), names.len());
    assert!(names.iter().all(|name| found.contains(name)), "{found:?}");
    assert_eq!(report["appeared"], changes.len());
    assert_eq!(
        (&report["seen"], &report["changed"], &report["gone"]),
        (&report["appeared"], &0.into(), &0.into())
    );
    assert!(report["watermark"].is_string(), "{report}");

    // All are acknowledged, so the next run has what is new alone.
    let id = submit_a_draft(&account(&fake)).await;
    let (changes, report) = round(json(&fake, &store));
    assert_eq!(
        (&report["appeared"], &report["changed"]),
        (&0.into(), &1.into())
    );
    let [change] = &changes[..] else {
        panic!("one change: {changes:?}");
    };
    let fields = change["fields"].as_array().unwrap();
    assert_eq!(
        (&change["kind"], &change["id"], &change["status"]),
        (&"changed".into(), &id.into(), &"SUBMITTED".into())
    );
    assert!(
        fields.contains(&"status".into()) && !fields.contains(&"updatedAt".into()),
        "{fields:?}"
    );
    assert_eq!(round(json(&fake, &store)).0, [Value::Null; 0]);
}

#[tokio::test]
async fn consumers_do_not_disturb_each_other() {
    let (fake, folder) = (Fake::start().await, Folder::new());
    let store = folder.path("farm.db");
    let all = round(json(&fake, &store)).0;
    let late = program(&fake, &store)
        .args(["--json", "--consumer", "late", "--ack-each"])
        .run();
    assert_eq!(round(late).0, all);
    assert_eq!(round(json(&fake, &store)).0, [Value::Null; 0]);
}

#[tokio::test]
async fn the_copy_is_listed_by_id_without_a_request() {
    let (fake, folder) = (Fake::start().await, Folder::new());
    let store = folder.path("farm.db");
    let changes = round(json(&fake, &store)).0;
    drop(fake);
    // No setting names a server, and none is asked.
    let list = || {
        Program::new("sync_account")
            .arg("--store")
            .arg(&store)
            .arg("--list")
    };
    let ended = list().run().well();
    assert!(ended.stdout.starts_with(r#"{"id":""#), "{ended:?}");
    let records = ended.lines();
    assert!(records.is_sorted_by_key(|record| record["id"].as_str().unwrap().to_owned()));
    assert_eq!(records.len(), changes.len());
    for record in &records {
        let received = &record["record"];
        for name in ["id", "number", "status", "updatedAt"] {
            assert_eq!(record[name], received[name], "{record}");
        }
        assert!(
            received["forms"].is_array() && received["origin"]["pic"].is_string(),
            "{received}"
        );
    }
    list().env("ENVD_ACCOUNT_ID", "envd-other").run().mute(0);
}

#[tokio::test]
async fn a_full_walk_can_be_asked_for() {
    let (fake, folder) = (Fake::start().await, Folder::new());
    let store = folder.path("farm.db");
    let mut profile = ServiceProfile::default();
    profile.lists.compared_date = Sourced::seen(Some(ComparedDate::LastChange));
    let file = folder.write("profile.json", profile.to_json());
    let with_profile = |arguments: &[&str]| {
        let program = program(&fake, &store).env("ENVD_PROFILE", &file);
        round(program.arg("--json").args(arguments).run()).1
    };
    with_profile(&[]);
    submit_a_draft(&account(&fake)).await;
    let report = with_profile(&[]);
    assert_eq!(report["mode"], "incremental", "{report}");
    assert_eq!(with_profile(&["--full", "--overlap", "0"])["mode"], "full");
}

#[tokio::test]
async fn a_failed_sync_shows_what_it_copied_and_no_report() {
    let fake = Fake::builder().world(many(120)).start().await.unwrap();
    let folder = Folder::new();
    let store = folder.path("farm.db");
    let failing = fake.on_operation("Consignments");
    failing
        .fault(Fault::none())
        .refuse("BROKEN", "the second page is broken")
        .times(20);
    let ended = json(&fake, &store).with(1).fails();
    let first = ended.lines();
    assert_eq!(first.len(), 100, "{ended:?}");
    fake.clear_scripts();
    let (rest, report) = round(json(&fake, &store));
    let all = [sequences(&first), sequences(&rest)].concat();
    assert!(
        all.is_sorted() && report["clean"] == true,
        "{all:?} {report}"
    );
    let listed = Program::new("sync_account")
        .arg("--store")
        .arg(&store)
        .arg("--list")
        .run();
    assert_eq!(listed.lines().len(), all.len());
}

#[tokio::test]
async fn the_exit_code_tells_a_login_from_a_failure() {
    let (fake, folder) = (Fake::start().await, Folder::new());
    let store = folder.path("farm.db");
    for (setting, value, code) in [
        ("ENVD_ACCESS_TOKEN", "not-a-token-of-the-fake", 3),
        ("ENVD_GRAPHQL_URL", "http://127.0.0.1:9/v2/graphql", 1),
    ] {
        let program = program(&fake, &store).env(setting, value);
        program.arg("--json").run().mute(code);
    }

    // With settings of servers, the file is needed; without, the program tells its story.
    Program::new("sync_account")
        .at(&fake)
        .run()
        .with(2)
        .says("--store FILE is needed");
    Program::new("sync_account").arg("--json").run().with(2);
}

#[tokio::test]
async fn a_file_that_is_no_copy_is_named_and_left_as_it_is() {
    let (fake, folder) = (Fake::start().await, Folder::new());
    let text = folder.write("notes.txt", "not a copy, and worth keeping ".repeat(100));
    for file in [text, folder.path("none").join("farm.db")] {
        for mode in ["--json", "--list"] {
            let ended = program(&fake, &file)
                .arg(mode)
                .run()
                .mute(1)
                .says(file.to_str().unwrap());
            assert_eq!(ended.stderr.lines().count(), 1, "{ended:?}");
        }
    }
    assert!(folder.read("notes.txt").starts_with("not a copy"));
    Program::new("sync_account")
        .arg("--store")
        .arg(folder.path("new.db"))
        .arg("--list")
        .run()
        .with(1)
        .says("no copy yet");
}

#[tokio::test]
async fn people_get_a_table_and_the_reasons() {
    let (fake, folder) = (Fake::start().await, Folder::new());
    let ended = program(&fake, &folder.path("farm.db")).run().with(0);
    for text in [
        "NUMBER",
        "C-900000101",
        "appeared: from QAZZ7777 to QCZZ8888",
        "Everything is read: it is not known which date fromDate compares",
    ] {
        assert!(ended.stdout.contains(text), "{text}: {ended:?}");
    }
    program(&fake, &folder.path("farm.db"))
        .run()
        .shows("No changes.");
}

/// More lines than a pipe holds, so that the program is still writing when the test ends it.
async fn too_many_for_a_pipe() -> Fake {
    Fake::builder().world(many(1_300)).start().await.unwrap()
}

/// Starts the program, reads some lines and ends it. Returns all whole lines that it has written.
fn kill_after(program: Program, count: usize) -> Vec<Value> {
    let (mut child, mut stdout) = program.listened();
    let mut text = String::new();
    for _ in 0..count {
        stdout.read_line(&mut text).unwrap();
    }
    child.kill().unwrap();
    child.wait().unwrap();
    stdout.read_to_string(&mut text).unwrap();
    json_lines(&text[..text.rfind('\n').unwrap()])
}

#[tokio::test]
async fn a_program_killed_before_it_acknowledges_repeats_that_change_and_nothing_older() {
    let (fake, folder) = (too_many_for_a_pipe().await, Folder::new());
    let store = folder.path("farm.db");
    // First without acknowledging each: all comes again.
    let written = kill_after(program(&fake, &store).arg("--json"), 3);
    assert_eq!(written[0]["sequence"], 1);
    let mut last = 0;
    for lines in [5, 1] {
        let each = program(&fake, &store).args(["--json", "--ack-each"]);
        let written = sequences(&kill_after(each, lines));
        // The last line of the run before may have been written and not acknowledged, or cut.
        let first = written[0];
        assert!(
            first == last.max(1) || first == last + 1,
            "{first} after {last}"
        );
        assert!(
            written.is_sorted() && written.windows(2).all(|two| two[0] + 1 == two[1]),
            "{written:?}"
        );
        last = *written.last().unwrap();
    }
    let (rest, _) = round(json(&fake, &store));
    let rest = sequences(&rest);
    assert!(
        rest[0] == last || rest[0] == last + 1,
        "{} after {last}",
        rest[0]
    );
    assert_eq!(*rest.last().unwrap(), 1_308);
}

#[tokio::test]
async fn a_closed_stdout_acknowledges_nothing() {
    let (fake, folder) = (too_many_for_a_pipe().await, Folder::new());
    let store = folder.path("farm.db");
    let mut child = program(&fake, &store).arg("--json").piped();
    let mut some = [0];
    child.stdout.take().unwrap().read_exact(&mut some).unwrap();
    // As `head` ends a program.
    assert_eq!(Ended::of(child).with(0).stderr, "");
    assert_eq!(round(json(&fake, &store)).0[0]["sequence"], 1);
}
