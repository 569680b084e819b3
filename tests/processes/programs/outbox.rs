//! `outbox`: what each command prints and returns, and what the fake has after it.

#[cfg(unix)]
use std::io::{BufRead, Read};

use envd_sdk::fake::{Fake, Fault, WebsiteEdit};
#[cfg(unix)]
use processes::Signal;
use processes::{Ended, Folder, Program};
use serde_json::{Value, json};

const ACCOUNT: &str = "envd-100201";
const SAVE: &str = "CreateOrSaveConsignment";
/// A draft of the sample.
const DRAFT: &str = "00000000-0000-4000-8000-000000000101";

/// A fake, a folder with inputs and a file of an outbox.
struct Farm {
    fake: Fake,
    folder: Folder,
}

impl Farm {
    async fn new() -> Self {
        let farm = Self {
            fake: Fake::start().await,
            folder: Folder::new(),
        };
        farm.write("in.json", &input());
        farm
    }

    fn write(&self, name: &str, json: &Value) {
        self.folder.write(name, json.to_string());
    }

    /// Without reception, a login or any setting.
    fn offline<const N: usize>(&self, arguments: [&str; N]) -> Ended {
        self.program(arguments).run()
    }

    /// With the addresses and a token of the fake.
    fn online<const N: usize>(&self, arguments: [&str; N]) -> Ended {
        self.program(arguments).at(&self.fake).run()
    }

    fn program<const N: usize>(&self, arguments: [&str; N]) -> Program {
        let program = Program::new("outbox").within(&self.folder.path(""));
        program.args(["--store", "farm.db"]).args(arguments)
    }

    /// Writes something down. Returns the number of the entry.
    fn write_down<const N: usize>(&self, arguments: [&str; N]) -> String {
        let requests = self.fake.requests().len();
        let ended = self.offline(arguments).well();
        let line: Value = serde_json::from_str(&ended.stdout).unwrap();
        let entry = line["entry"].as_str().unwrap().to_owned();
        assert_eq!(ended.stdout, format!("{{\"entry\":\"{entry}\"}}\n"));
        assert_eq!(self.fake.requests().len(), requests, "nothing is sent");
        entry
    }

    /// `run --once --json`: the exit code, the changes and the report.
    fn run(&self) -> (i32, Vec<Value>, Value) {
        let ended = self.online(["run", "--once", "--settle", "1", "--json"]);
        let mut lines = ended.lines();
        let mut report = lines.pop().unwrap_or_else(|| panic!("{ended:?}"));
        (ended.code.unwrap(), lines, report["report"].take())
    }

    /// As [`run`](Self::run), with this exit code and counts of entries: confirmed, refused, to be decided, waiting.
    #[track_caller]
    fn run_to(&self, code: i32, [confirmed, refused, attention, waiting]: [u64; 4]) -> Vec<Value> {
        let (found, changes, last) = self.run();
        let expected = report([confirmed, refused, attention, waiting], &last);
        assert_eq!((found, &last), (code, &expected));
        changes
    }

    /// This member of each entry.
    fn listed(&self, name: &str) -> Vec<Value> {
        each(&self.list(), name)
    }

    fn list(&self) -> Vec<Value> {
        let ended = self.offline(["list", "--json"]).well();
        ended.lines()
    }

    fn records(&self) -> Vec<Value> {
        self.fake.consignments(ACCOUNT)
    }

    /// The records that are not of the sample.
    fn new_records(&self) -> Vec<Value> {
        let mut records = self.records();
        records.retain(|record| record["number"].as_str().unwrap() > "C-900000108");
        records
    }

    fn record(&self, id: &str) -> Value {
        let mut records = self.records().into_iter();
        records.find(|record| record["id"] == id).unwrap()
    }
}

/// This member of each line.
fn each(lines: &[Value], name: &str) -> Vec<Value> {
    lines.iter().map(|line| line[name].clone()).collect()
}

fn input() -> Value {
    json!({"forms": ["LPAC1"], "origin": {"pic": "QAZZ7777"}, "destination": {"pic": "QDZZ3333"}})
}

/// With the requests and the problems of another one.
fn report([confirmed, refused, attention, waiting]: [u64; 4], like: &Value) -> Value {
    json!({
        "confirmed": confirmed, "confirmed_with_problems": like["confirmed_with_problems"],
        "refused": refused, "needs_attention": attention, "waiting": waiting,
        "requests": like["requests"], "late_duplicates": 0,
    })
}

/// Nothing was to do.
fn idle() -> Value {
    report(
        [0; 4],
        &json!({"confirmed_with_problems": 0, "requests": 0}),
    )
}

#[tokio::test]
async fn what_is_written_without_reception_is_sent_once() {
    let farm = Farm::new().await;
    assert_eq!(farm.write_down(["add", "in.json"]), "1");
    let written = farm.offline(["list", "--json"]);
    assert_eq!(
        written.stdout,
        "{\"entry\":\"1\",\"kind\":\"save\",\"state\":\"queued\",\"consignment\":null,\"attempts\":0,\
         \"reason\":null,\"findings\":[],\"candidates\":[],\"late_duplicates\":[]}\n"
    );
    let ended = farm.online(["run", "--once", "--json"]).well();
    let [record] = &farm.new_records()[..] else {
        panic!("one record: {:?}", farm.new_records());
    };
    let id = record["id"].as_str().unwrap();
    let requests = farm.fake.requests().len() - 1;
    let mut lines = ended.lines();
    // Its questions are not answered.
    let problems = lines[1]["findings"].take();
    assert_eq!(problems.as_array().unwrap().len(), 8);
    let entry = |state: &str, consignment: Value, findings: Value| {
        json!({
            "entry": "1", "kind": "save", "state": state, "consignment": consignment, "attempts": 1,
            "reason": null, "findings": findings, "candidates": [], "late_duplicates": [],
        })
    };
    let report = json!({
        "confirmed": 1, "confirmed_with_problems": 1, "refused": 0, "needs_attention": 0,
        "waiting": 0, "requests": requests, "late_duplicates": 0,
    });
    let expected = [
        entry("sending", Value::Null, json!([])),
        entry("confirmed", json!(id), Value::Null),
        json!({"report": report}),
    ];
    assert_eq!(lines, expected);
    assert_eq!(record["status"], "DRAFT");
    let (code, changes, last) = farm.run();
    assert_eq!((code, changes.len()), (0, 0));
    assert_eq!(last, idle());
    let entry = &farm.list()[0];
    assert_eq!(
        (&entry["state"], &entry["consignment"]),
        (&json!("confirmed"), &record["id"])
    );
}

#[tokio::test]
async fn a_declaration_is_submitted_by_an_option_or_by_its_status() {
    let farm = Farm::new().await;
    let mut submitted = input();
    submitted["status"] = json!("SUBMITTED");
    farm.write("submitted.json", &submitted);
    assert_eq!(farm.write_down(["add", "--submit", "in.json"]), "1");
    assert_eq!(farm.write_down(["add", "submitted.json"]), "2");
    assert_eq!(farm.write_down(["add", "--submit", "in.json"]), "3");
    assert_eq!(farm.write_down(["withdraw", "3"]), "3");
    assert_eq!(farm.listed("kind"), ["submit", "submit", "save"]);
    let (code, _, last) = farm.run();
    // Its questions are not answered.
    let problems = &last["confirmed_with_problems"];
    assert_eq!((code, problems), (0, &last["confirmed"]));
    assert_eq!(problems, 3);
    let statuses = each(&farm.new_records(), "status");
    assert_eq!(statuses, ["SUBMITTED", "SUBMITTED", "DRAFT"]);
    farm.offline(["list"])
        .well()
        .shows("confirmed with problems");

    // A draft of the service is submitted later, with another text.
    assert_eq!(farm.write_down(["edit", "--submit", "3", "in.json"]), "3");
    let run = farm.online(["run", "--once"]).well();
    run.shows("1 of them confirmed with problems.");
    assert_eq!(farm.new_records()[2]["status"], "SUBMITTED");
}

#[tokio::test]
async fn an_update_is_compared_with_its_base() {
    let farm = Farm::new().await;
    farm.write("base.json", &farm.record(DRAFT));
    let mut update = input();
    update["id"] = json!(DRAFT);
    update["movementTime"] = json!("04:45");
    farm.write("update.json", &update);
    let entry = farm.write_down(["add", "--base", "base.json", "update.json"]);
    let edit = WebsiteEdit::change(DRAFT, json!({"movementTime": "11:15"}));
    farm.fake.edit(ACCOUNT, edit);

    let changes = farm.run_to(1, [0, 0, 1, 0]);
    let asked = ["state", "attempts", "consignment", "reason"];
    let asked = asked.map(|name| &changes[0][name]);
    let expected = json!(["needs_attention", 0, DRAFT, "conflict"]);
    assert_eq!((changes.len(), &json!(asked)), (1, &expected));
    assert_eq!(farm.fake.request_count(SAVE), 0);
    let table = farm.offline(["list"]).stdout;
    assert!(
        table.contains("movementTime: mine 04:45, theirs 11:15"),
        "{table}"
    );

    assert_eq!(farm.write_down(["decide", &entry, "keep-mine"]), entry);
    assert_eq!(farm.run().0, 0);
    assert_eq!(farm.record(DRAFT)["movementTime"], "04:45");
}

#[tokio::test]
async fn a_person_says_which_candidate_it_is() {
    let farm = Farm::new().await;
    let entry = farm.write_down(["add", "in.json"]);
    // A twin from the website, while the reply is lost.
    farm.fake.on_operation(SAVE).fault(Fault::dropped_after());
    let mut twin = input();
    twin["status"] = json!("DRAFT");
    let twin = WebsiteEdit::insert(&twin);
    farm.fake.levers().edit_before_list(ACCOUNT, 2, twin);
    farm.run_to(1, [0, 0, 1, 0]);
    let listed = farm.list();
    assert_eq!(listed[0]["reason"], "candidates");
    let candidates = listed[0]["candidates"].as_array().unwrap();
    assert_eq!(candidates.len(), 2);
    let adopted = candidates[0].as_str().unwrap();
    assert_eq!(farm.write_down(["decide", &entry, "adopt", adopted]), entry);
    assert_eq!(farm.run().0, 0);
    assert_eq!(farm.list()[0]["consignment"], adopted);
    assert_eq!(farm.new_records().len(), 2);
    // What the service has, and what was never sent.
    farm.write_down(["delete", &entry]);
    let never_sent = farm.write_down(["add", "in.json"]);
    farm.write_down(["delete", &never_sent]);
    farm.run_to(0, [2, 0, 0, 0]);
    assert_eq!(farm.record(adopted)["status"], "DELETED");
    assert_eq!(farm.listed("kind"), ["delete", "delete"]);
}

#[tokio::test]
async fn nothing_is_sent_after_its_time() {
    let farm = Farm::new().await;
    farm.write_down(["add", "--not-after", "2020-01-01T00:00:00+10:00", "in.json"]);
    let (code, changes, last) = farm.run();
    assert_eq!(
        (code, &changes[0]["reason"]),
        (1, &json!("not_after_passed"))
    );
    assert_eq!(last, report([0, 0, 1, 0], &last));
    assert_eq!(farm.fake.request_count(SAVE), 0);
    farm.write_down(["decide", "1", "discard"]);
    assert_eq!(farm.run().0, 0);
}

#[tokio::test]
async fn the_exit_code_tells_reception_login_and_store_apart() {
    let farm = Farm::new().await;
    farm.write_down(["add", "in.json"]);
    let run = ["run", "--once", "--json"];
    let waits = report([0, 0, 0, 1], &idle());
    // First with an account that is not known, then with one that is.
    for account in [None, Some(ACCOUNT)] {
        let at = |token: Option<&str>, url: Option<&str>| {
            let settings = [
                ("ENVD_ACCESS_TOKEN", token),
                ("ENVD_GRAPHQL_URL", url),
                ("ENVD_ACCOUNT_ID", account),
            ];
            let mut program = farm.program(run).at(&farm.fake);
            for (name, value) in settings.into_iter().filter_map(|(n, v)| Some((n, v?))) {
                program = program.env(name, value);
            }
            program.run()
        };
        let unreachable = at(None, Some("http://127.0.0.1:9/v2/graphql")).with(1);
        let mut last = unreachable.lines().pop().unwrap()["report"].take();
        last["requests"] = json!(0);
        assert_eq!(last, waits);
        assert!(
            unreachable.stderr.starts_with("waiting: "),
            "{unreachable:?}"
        );
        at(Some("not-a-token-of-the-fake"), None)
            .with(3)
            .says("HTTP 401");
    }
    assert_eq!(farm.listed("state"), ["queued"]);

    farm.folder
        .write("notes.txt", "no outbox, and worth keeping ".repeat(100));
    for file in ["notes.txt", "none/farm.db", ""] {
        for command in ["run", "list"] {
            let program = Program::new("outbox").at(&farm.fake);
            let program = program.within(&farm.folder.path(""));
            let ended = program.args(["--store", file, command]).run().mute(4);
            assert_eq!(ended.stderr.lines().count(), 1, "{ended:?}");
        }
    }
    assert!(farm.folder.read("notes.txt").starts_with("no outbox"));
}

#[tokio::test]
async fn wrong_arguments_and_files_write_nothing() {
    let farm = Farm::new().await;
    farm.write("misspelt.json", &json!({"origin": {"pik": "QAZZ7777"}}));
    farm.write(
        "deleted.json",
        &json!({"forms": ["LPAC1"], "status": "DELETED"}),
    );
    farm.write("list.json", &json!([]));
    farm.write("named.json", &json!({"forms": ["LPAC1"], "id": DRAFT}));
    let refused: &[&[&str]] = &[
        &[],
        &["add"],
        &["add", "in.json", "in.json"],
        &["add", "none.json"],
        &["add", "list.json"],
        &["add", "misspelt.json"],
        &["add", "deleted.json"],
        &["add", "named.json"],
        &["add", "--submit", "named.json"],
        &["add", "--base", "none.json", "in.json"],
        &["add", "--base", "in.json", "in.json"],
        &["add", "--not-after", "tomorrow", "in.json"],
        &["add", "--json", "in.json"],
        &["list", "--once"],
        &["run", "--settle", "-1"],
        &["run", "--for", "soon"],
        &["run", "now"],
        &["edit", "7", "in.json"],
        &["edit", "x", "in.json"],
        &["decide", "7", "discard"],
        &["decide", "7", "adopt"],
        &["decide", "7", "maybe"],
        &["withdraw", "7"],
        &["withdraw", DRAFT],
        &["withdraw", "--submit", "7"],
        &["delete", "7"],
        &["delete"],
        &["comment", "C-900000101", "left at dawn"],
        &["copy", DRAFT],
        &["send"],
    ];
    for arguments in refused {
        let program = farm.program([]).args(*arguments);
        program.run().mute(2).fails();
    }
    assert_eq!(farm.list(), [Value::Null; 0]);
    Program::new("outbox")
        .arg("list")
        .run()
        .with(2)
        .says("--store FILE is needed");
    Program::new("outbox").at(&farm.fake).run().with(2);
}

#[cfg(unix)]
#[tokio::test]
async fn a_run_that_goes_on_sends_what_others_write_and_ends_with_a_report() {
    let farm = Farm::new().await;
    farm.write_down(["add", "in.json"]);
    let program = farm.program(["run", "--json"]).at(&farm.fake);
    let (mut run, mut stdout) = program.listened();
    let mut line = String::new();
    for number in ["1", "2"] {
        let is_end = |line: &str| {
            let change: Value = serde_json::from_str(line).unwrap_or_default();
            change["entry"] == number && change["state"] == "confirmed"
        };
        while !is_end(&line) {
            line.clear();
            assert!(stdout.read_line(&mut line).unwrap() > 0);
        }
        if number == "1" {
            assert_eq!(farm.offline(["add", "in.json"]).code, Some(0));
        }
    }
    processes::signal(run.id(), Signal::INT);
    line.clear();
    stdout.read_to_string(&mut line).unwrap();
    let last: Value = serde_json::from_str(&line).unwrap();
    let last = &last["report"];
    assert_eq!(last, &report([2, 0, 0, 0], last));
    assert_eq!(run.wait().unwrap().code(), Some(0));
    assert_eq!(farm.new_records().len(), 2);
}

#[tokio::test]
async fn a_run_ends_at_its_time() {
    let farm = Farm::new().await;
    let ended = farm.online(["run", "--for", "0.1", "--json"]).well();
    assert_eq!(ended.lines(), [json!({"report": idle()})]);
}

#[tokio::test]
async fn fields_that_the_program_does_not_know_are_sent() {
    let farm = Farm::new().await;
    let mut unknown = input();
    unknown["revision"] = json!(7);
    farm.write("unknown.json", &unknown);
    farm.write_down(["add", "unknown.json"]);
    farm.run();
    let sent = farm.fake.requests().into_iter();
    let sent = sent.filter(|request| request.operation().as_deref() == Some(SAVE));
    let body = String::from_utf8(sent.last().unwrap().body().to_vec()).unwrap();
    assert!(body.contains("\"revision\":7"), "{body}");
}

#[tokio::test]
async fn accounts_of_a_file_are_kept_apart() {
    let farm = Farm::new().await;
    let of = |account: &str, arguments: [&str; 2]| {
        let program = farm.program(arguments);
        program.env("ENVD_ACCOUNT_ID", account).run()
    };
    // Written before an account is known; it is of the first one that is.
    farm.write_down(["add", "in.json"]);
    assert_eq!(of(ACCOUNT, ["list", "--json"]).lines().len(), 1);
    of("envd-other", ["list", "--json"]).mute(0);
    assert_eq!(
        of("envd-other", ["delete", DRAFT]).stdout,
        "{\"entry\":\"1\"}\n"
    );
    assert_eq!(of(ACCOUNT, ["list", "--json"]).lines()[0]["kind"], "save");
    // The last one that was named.
    assert_eq!(farm.list()[0]["kind"], "save");
}

#[tokio::test]
async fn people_get_a_table_that_fits_a_terminal() {
    let farm = Farm::new().await;
    let hostile = "bad\u{1b}[2J\u{202e}\nFORGED ".to_owned() + &"word ".repeat(40);
    farm.fake.on_operation(SAVE).refuse("BAD", &hostile);
    farm.write_down(["add", "--submit", "in.json"]);
    farm.write_down(["delete", DRAFT]);
    let run = farm.online(["run", "--once"]);
    let list = farm.offline(["list"]);
    for shown in [&run, &list] {
        for line in shown.stdout.lines() {
            assert!(line.chars().count() <= 100, "{line}");
            assert!(!line.starts_with("FORGED"), "{line}");
        }
        let is_control =
            |letter: char| letter.is_control() && letter != '\n' || letter == '\u{202e}';
        assert!(!shown.stdout.contains(is_control), "{shown:?}");
        assert!(shown.stdout.starts_with("ENTRY WHAT "), "{shown:?}");
    }
    assert!(
        run.stdout
            .contains("1 confirmed, 1 refused, 0 for you to decide, 0 waiting; "),
        "{run:?}"
    );
    list.shows("decide 1 resend | discard");
    let none = Farm::new().await.offline(["list"]);
    assert!(
        none.stdout.starts_with("Nothing was written down yet"),
        "{none:?}"
    );
    // A mistyped name makes no file, and whoever waits is told.
    let farm = Farm::new().await;
    let typo = || {
        Program::new("outbox")
            .arg("--store")
            .arg(farm.folder.path("typo"))
    };
    typo().arg("list").run().well().shows("there is no file");
    typo()
        .args(["decide", "1", "discard"])
        .run()
        .mute(4)
        .says("there is no such file");
    assert!(!farm.folder.path("typo").exists());
    farm.online(["run", "--once"])
        .with(0)
        .shows("Nothing to send.\n");
    farm.online(["run", "--for", "0"])
        .with(0)
        .shows("Waiting for what is written down; Ctrl-C ends.\n");
}

#[test]
fn without_arguments_and_settings_it_says_how_to_use_it() {
    let ended = Program::new("outbox").run().with(0);
    assert!(ended.stdout.starts_with("usage: outbox"), "{ended:?}");
}

#[test]
fn the_story_tells_how_each_declaration_ends() {
    let ended = Program::new("offline_farm").run().well();
    let mut rest = ended.stdout.as_str();
    for text in [
        "3 wait",
        "1 submit   QAZZ7777 to QDZZ3333  queued           Waiting for reception",
        "1 submit   QAZZ7777 to QDZZ3333  unconfirmed",
        "1 submit   C-900000118           confirmed",
        "movementTime: mine 05:00, theirs 06:00",
        "2 confirmed, 1 for a person to decide",
        "3 save     C-900000104           confirmed",
        "The service has 2 new records: 2 for Friday, 1 of them submitted. None is there twice.",
        "C-900000104 leaves at 05:00.",
    ] {
        let at = rest
            .find(text)
            .unwrap_or_else(|| panic!("{text} is missing: {}", ended.stdout));
        rest = &rest[at..];
    }
    assert_eq!(Program::new("offline_farm").run().stdout, ended.stdout);
}
