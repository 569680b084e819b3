//! Runs the tables of stories in this folder.

use envd_sdk::fake::World;
use envd_sdk::profile::{ComparedDate, ServiceProfile, Sourced};
use processes::stories::{Stage, play};
use processes::table;
use serde_json::{Value, json};

/// Sequences that set the title, erase the screen, reverse the direction and end the line.
const HOSTILE: &str = "\u{1b}]0;x\u{7}\u{1b}[2J\u{9b}2J\u{7f}\u{202e}\u{2066}\u{2028}\r\nFORGED";

/// The same text as it must be printed, with the escapes of Rust.
const ESCAPED: &str = r"\u{1b}]0;x\u{7}\u{1b}[2J\u{9b}2J\u{7f}\u{202e}\u{2066}\u{2028}\r\nFORGED";

const IN_JSON: &str =
    r"\u001b]0;x\u0007\u001b[2J\u009b2J\u007f\u202e\u2066\u2028\u000d\u000aFORGED";

const PROVIDER: &str = "--token-url {TOKEN} --authorize-url {AUTHORIZE} --issuer {ISSUER} --audience {AUDIENCE} --client-id {CLIENT}";

/// A line of `validate`.
const GOOD: &str = r#"{"id": "good", "today": "2026-11-20", "input": {"forms": ["LPAC1"], "origin": {"pic": "QAZZ7777"}, "destination": {"pic": "QDZZ3333"}}}"#;

fn stage() -> Stage {
    let mut profile = ServiceProfile::default();
    profile.lists.compared_date = Sourced::seen(Some(ComparedDate::LastChange));
    // A row of a table must be one line.
    let questions = questions().to_string();
    let questions = questions.replace(r"\r\n", r"\u000d\u000a");
    let names = [
        ("OUTBOX", "outbox --store farm.db"),
        ("SYNC", "sync_account --store farm.db"),
        ("FORM", "answer_questions --resume form.json"),
        // A draft of the sample world.
        ("DRAFT", "00000000-0000-4000-8000-000000000101"),
        ("PROVIDER", PROVIDER),
        ("GOOD", GOOD),
        ("HOSTILE", ESCAPED),
        ("SHOWN", &ESCAPED.replace('\\', r"\\")),
        ("INJSON", IN_JSON),
        ("PROFILE", &profile.to_json()),
        ("QUESTIONS", &questions),
    ];
    Stage {
        names: names.map(|(name, text)| (name, text.to_owned())).into(),
        ..Stage::default()
    }
}

macro_rules! tables {
    ($($name:ident)+) => {$(
        #[tokio::test]
        async fn $name() {
            play(table!(concat!(stringify!($name), ".txt")), stage()).await;
        }
    )+};
}

tables! { answer_questions calls lists outbox sync_account tokens validate }

#[tokio::test]
async fn control_characters() {
    let stage = Stage {
        world: hostile_world,
        ..stage()
    };
    play(table!("control_characters.txt"), stage).await;
}

/// A question, a question that it triggers, and a question of an unknown type.
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
