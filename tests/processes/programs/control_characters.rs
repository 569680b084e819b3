//! Text of servers and files is printed without control characters, and cannot forge a line.

use envd_sdk::fake::{Fake, Fault, World};
use processes::{Ended, Folder, Program};
use serde_json::{Value, json};

/// Sequences that set the title, erase the screen, reverse the direction and end the line.
const HOSTILE: &str = "\u{1b}]0;x\u{7}\u{1b}[2J\u{9b}2J\u{7f}\u{202e}\u{2066}\u{2028}\r\nFORGED";
/// The same text as printed.
const SHOWN: &str = r"\u{1b}]0;x\u{7}\u{1b}[2J\u{9b}2J\u{7f}\u{202e}\u{2066}\u{2028}\r\nFORGED";

fn assert_clean(name: &str, ended: &Ended) {
    for text in [&ended.stdout, &ended.stderr] {
        for letter in text.chars() {
            let is_control = letter.is_control() && letter != '\n'
                || matches!(letter, '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
            assert!(!is_control, "{name}: {letter:?} in {ended:?}");
        }
        assert!(!text.contains("\nFORGED"), "{name}: {ended:?}");
    }
}

/// A question, one that it triggers, and one of an unknown type.
fn questions() -> Value {
    let question = |id: &str, kind: &str| {
        json!({
            "id": id, "order": 1, "text": format!("{HOSTILE} {id}"), "type": kind,
            "forms": ["LPAC1", "LPAHRG0"],
            "validators": [{"type": "required", "parameter": "", "errorMessage": HOSTILE}],
            "acceptableAnswers": [{"displayName": HOSTILE, "value": format!("{HOSTILE}{id}")}],
        })
    };
    let mut list = json!([
        question("17", "SINGLE_CHOICE"),
        question("70", "SINGLE_CHOICE"),
        question("9", "ODD\u{1b}")
    ]);
    list[1]["triggers"] = json!([{"questionId": "17", "value": format!("{HOSTILE}17")}]);
    list
}

fn hostile_world() -> World {
    World::sample().questions(questions()).property(json!({
        "PIC": "QZZZ0001", "PICName": format!("Evil{HOSTILE}"), "Town": HOSTILE, "RegisteredState": HOSTILE,
        "AdminStatus": {"ShortCode": HOSTILE, "Description": HOSTILE},
        "PropertyTypes": [{"ShortCode": HOSTILE}],
    }))
}

#[tokio::test]
async fn control_characters_of_the_register_are_escaped() {
    let fake = Fake::builder()
        .world(hostile_world())
        .start()
        .await
        .unwrap();
    let ended = Program::new("find_property")
        .arg("Evil")
        .at(&fake)
        .run()
        .with(0)
        .shows(&format!("Evil{SHOWN}"));
    assert_clean("find_property", &ended);
}

#[tokio::test]
async fn control_characters_of_the_questions_are_escaped() {
    for name in ["quickstart", "save_and_fix"] {
        let fake = Fake::builder()
            .world(hostile_world())
            .start()
            .await
            .unwrap();
        let ended = Program::new(name).at(&fake).run().shows(SHOWN);
        assert_clean(name, &ended);
    }
}

#[tokio::test]
async fn control_characters_of_a_dialog_are_escaped() {
    let fake = Fake::builder()
        .world(hostile_world())
        .start()
        .await
        .unwrap();
    let ended = Program::new("answer_questions")
        .at(&fake)
        .run()
        .with(0)
        .says(SHOWN);
    assert_clean("answer_questions", &ended);
    let declaration: Value = serde_json::from_str(&ended.stdout).unwrap();
    assert_eq!(declaration["answers"][0]["value"], format!("{HOSTILE}17"));
}

#[tokio::test]
async fn control_characters_of_consignments_are_escaped() {
    let fake = Fake::start().await;
    let node = |field| format!("/data/consignments/edges/0/node/{field}");
    for program in [
        Program::new("page_consignments"),
        Program::new("page_consignments").arg("--json"),
    ] {
        fake.on_operation("Consignments")
            .fault(Fault::replaced(node("number"), HOSTILE))
            .times(1);
        let ended = program
            .args(["--page-size", "100"])
            .at(&fake)
            .run()
            .with(0)
            .shows("FORGED");
        assert_clean("page_consignments", &ended);
        // JSON output preserves the text with JSON escapes.
        if let Ok(first) = serde_json::from_str::<Value>(ended.stdout.lines().next().unwrap()) {
            assert_eq!(first["number"], HOSTILE);
        }
    }
}

#[tokio::test]
async fn control_characters_of_a_copy_are_escaped() {
    let fake = Fake::start().await;
    let folder = Folder::new();
    let node = |field| format!("/data/consignments/edges/0/node/{field}");
    let run = |options: [&str; 2]| {
        for field in ["number", "status", "origin/pic"] {
            let hostile = Fault::replaced(node(field), HOSTILE);
            fake.on_operation("Consignments").fault(hostile).times(1);
        }
        let store = folder.path(options[1]);
        let program = Program::new("sync_account").at(&fake);
        let ended = program.arg("--store").arg(store).arg(options[0]).run();
        fake.clear_scripts();
        assert_eq!(ended.code, Some(0), "{ended:?}");
        assert!(ended.stdout.contains("FORGED"), "{ended:?}");
        assert_clean("sync_account", &ended);
        ended
    };
    run(["--full", "people.db"]);
    let ended = run(["--json", "programs.db"]);
    let first: Value = serde_json::from_str(ended.stdout.lines().next().unwrap()).unwrap();
    assert_eq!(first["number"], HOSTILE);
    let list = run(["--list", "programs.db"]);
    let hostile = |line: &str| serde_json::from_str::<Value>(line).unwrap()["number"] == HOSTILE;
    assert!(list.stdout.lines().any(hostile), "{list:?}");
}

#[tokio::test]
async fn control_characters_of_refusals_are_escaped() {
    for name in ["quickstart", "save_and_fix", "page_consignments"] {
        let fake = Fake::start().await;
        let errors = json!({"errors": [{
            "message": HOSTILE, "path": [HOSTILE],
            "extensions": {"code": HOSTILE, "data": {"description": HOSTILE}},
        }]});
        fake.on_path("/v2/graphql")
            .fault(Fault::status(400).json(errors))
            .forever();
        let ended = Program::new(name).at(&fake).run().with(1);
        assert_clean(name, &ended);
    }
}

#[test]
fn control_characters_of_a_file_of_declarations_are_escaped() {
    let folder = Folder::new();
    let input =
        json!({"forms": [HOSTILE], "origin": {"pic": HOSTILE}, "destination": {"pic": "QDZZ3333"}});
    let answered = json!({
        "forms": ["LPAC1"], "origin": {"pic": HOSTILE}, "destination": {"pic": "QDZZ3333"},
        "answers": [{"questionId": "17", "value": HOSTILE}],
    });
    let line = |input: &Value, operation| {
        json!({
            "id": HOSTILE, "today": "2026-11-20", "questions": questions(), "input": input,
            "context": {"operation": operation},
        })
    };
    let lines = [
        line(&input, "create"),
        line(&answered, "create"),
        line(&input, HOSTILE),
        json!({HOSTILE: 1}),
    ];
    let lines = lines.map(|line| line.to_string()).join("\n");
    let file = folder.write("lines.jsonl", lines);
    for program in [
        Program::new("validate"),
        Program::new("validate").arg("--json"),
    ] {
        let ended = program.arg(&file).run().with(2).shows("FORGED");
        assert_clean("validate", &ended);
    }
}
