//! `validate`: its input formats, and errors for other input.

use std::path::Path;

use processes::{Folder, Program};
use serde_json::{Value, json};

const DAY: [&str; 2] = ["--today", "2026-11-20"];

fn declaration(pic: &str) -> Value {
    json!({
        "forms": ["LPAC1"],
        "origin": {"pic": pic},
        "destination": {"pic": "QDZZ3333"},
    })
}

#[test]
fn a_single_declaration_is_validated() {
    let folder = Folder::new();
    for (pic, report) in [
        ("QAZZ7777", "line 1: valid\n"),
        ("QAZZ777", "line 1: not valid\n"),
    ] {
        let declaration = declaration(pic);
        for text in [
            declaration.to_string(),
            format!("\u{feff}\n{declaration:#}\n"),
        ] {
            let file = folder.write("declaration.json", &text);
            let ended = Program::new("validate").args(DAY).arg(&file).run().with(0);
            let line = if text.starts_with('{') {
                report.to_owned()
            } else {
                report.replace('1', "2")
            };
            assert!(ended.stdout.starts_with(&line), "{ended:?}");
            assert_eq!(
                pic.len() == 7,
                ended
                    .stdout
                    .contains("PIC of origin QAZZ777 is not a PIC. Enter 8 letters")
            );
        }
    }
}

#[test]
fn the_output_of_answer_questions_is_validated() {
    let folder = Folder::new();
    let file = folder.path("declaration.json");
    Program::new("answer_questions")
        .arg("--out")
        .arg(&file)
        .run()
        .with(0);
    let ended = Program::new("validate")
        .args(DAY)
        .arg("--json")
        .arg(&file)
        .run()
        .with(0);
    assert_eq!(
        serde_json::from_str::<Value>(&ended.stdout).unwrap(),
        json!({"id": null, "valid": true, "findings": []})
    );
}

#[test]
fn unreadable_lines_are_reported_and_the_others_validated() {
    let folder = Folder::new();
    let good = json!({"id": "good", "today": "2026-11-20", "input": declaration("QAZZ7777")});
    let bad = [
        (
            r#"{"id": "cut", "today": "2026-"#.to_owned(),
            json!([]),
            "EOF while parsing a string",
        ),
        ("[]".to_owned(), json!([]), "expected an object"),
        (
            r#"{"today": "2026-11-20", "input": 3}"#.to_owned(),
            json!([]),
            "`input`",
        ),
        (
            r#"{"today": "soon", "input": {}}"#.to_owned(),
            json!(["today"]),
            "a day such as 2026-01-31",
        ),
        (
            r#"{"today": "2026-11-20", "input": {}, "context": {"operation": "erase"}}"#.to_owned(),
            json!(["context", "operation"]),
            "create or update",
        ),
        (
            r#"{"today": "2026-11-20", "input": {}, "questions": [{}, {"id": []}]}"#.to_owned(),
            json!(["questions", "1", "id"]),
            "invalid type: sequence",
        ),
    ];
    for (text, path, reason) in bad {
        // As the first line and as a later one; a blank line is skipped, but counted.
        for (line, lines) in [
            (1, format!("{text}\n{good}\n\n")),
            (3, format!("{good}\n\n{text}")),
        ] {
            let file = folder.write("lines.jsonl", &lines);
            assert_text_report(&file, line, reason);
            assert_json_report(&file, line, &path, reason);
        }
    }
}

fn assert_text_report(file: &Path, line: u64, reason: &str) {
    let ended = Program::new("validate")
        .arg(file)
        .run()
        .with(2)
        .shows("\"good\": valid\n")
        .shows("2 declarations: 1 valid, 1 not\n");
    let named = format!("line {line}: cannot be read");
    let report = ended
        .stdout
        .lines()
        .find(|report| report.starts_with(&named));
    assert!(
        report.is_some_and(|report| report.contains(reason)),
        "{reason}: {ended:?}"
    );
    assert!(
        ended.stderr.contains("1 of 2 could not be read"),
        "{ended:?}"
    );
}

fn assert_json_report(file: &Path, line: u64, path: &Value, reason: &str) {
    let ended = Program::new("validate")
        .arg("--json")
        .arg(file)
        .run()
        .with(2);
    let report = ended.lines();
    assert_eq!(report.len(), 2);
    let rejected = report
        .iter()
        .find(|report| report["rejected"] == true)
        .unwrap();
    assert_eq!((&rejected["line"], &rejected["path"]), (&json!(line), path));
    assert!(
        rejected["reason"].as_str().unwrap().contains(reason),
        "{rejected}"
    );
}

#[test]
fn an_error_in_a_declaration_of_many_lines_has_its_line() {
    let folder = Folder::new();
    let file = folder.write(
        "typo.json",
        "{\n  \"forms\": [\"LPAC1\"],\n  \"origin\": {,},\n  \"answers\": [\n    {}\n  ]\n}\n",
    );
    let ended = Program::new("validate").arg(&file).run().with(2);
    assert!(
        ended.stdout.starts_with("line 3: cannot be read: "),
        "{ended:?}"
    );
    assert_eq!(ended.stdout.lines().count(), 1, "{ended:?}");
}

#[test]
fn empty_and_missing_files_are_named() {
    let folder = Folder::new();
    for file in [
        folder.write("empty.json", "\n\n"),
        folder.path("missing.json"),
        folder.path("."),
    ] {
        Program::new("validate")
            .arg(&file)
            .run()
            .with(2)
            .says(file.to_str().unwrap());
    }
}

#[test]
fn stdin_is_read_for_a_dash() {
    let program = Program::new("validate").args(DAY).arg("-");
    let ended = program.run_with_input(&format!("{:#}", declaration("QAZZ7777")));
    assert!(ended.stdout.starts_with("line 1: valid\n"), "{ended:?}");
    ended.with(0);
}

#[test]
fn help_shows_both_formats() {
    let ended = Program::new("validate").arg("--help").run();
    for part in [
        "\"forms\"",
        "\"today\"",
        "\"input\"",
        "\"questions\"",
        "\"context\"",
        "accreditations",
    ] {
        assert!(ended.stdout.contains(part), "{part}: {ended:?}");
    }
}
