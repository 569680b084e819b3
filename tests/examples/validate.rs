//! `validate`: its input formats, and errors for other input.

use std::io::Write;
use std::path::Path;
use std::process::Stdio;

use serde_json::{Value, json};

use super::folder::Folder;
use super::program::{Ended, Program};

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
    let folder = Folder::new("validate_plain");
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
            let ended = Program::new("validate").args(DAY).arg(&file).run();
            assert_eq!(ended.code, Some(0), "{ended:?}");
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
                    .contains("QAZZ777 is not a valid value for PIC")
            );
        }
    }
}

#[test]
fn the_output_of_answer_questions_is_validated() {
    let folder = Folder::new("validate_answers");
    let file = folder.path("declaration.json");
    let ended = Program::new("answer_questions")
        .arg("--out")
        .arg(&file)
        .run();
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let ended = Program::new("validate")
        .args(DAY)
        .arg("--json")
        .arg(&file)
        .run();
    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert_eq!(
        serde_json::from_str::<Value>(&ended.stdout).unwrap(),
        json!({"id": null, "valid": true, "findings": []})
    );
}

#[test]
fn unreadable_lines_are_reported_and_the_others_validated() {
    let folder = Folder::new("validate_lines");
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
    let ended = Program::new("validate").arg(file).run();
    assert_eq!(ended.code, Some(2), "{ended:?}");
    assert!(ended.stdout.contains("\"good\": valid\n"), "{ended:?}");
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
    let ended = Program::new("validate").arg("--json").arg(file).run();
    assert_eq!(ended.code, Some(2), "{ended:?}");
    let report = ended.stdout.lines().map(serde_json::from_str::<Value>);
    let report: Vec<Value> = report.map(Result::unwrap).collect();
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
    let folder = Folder::new("validate_many_lines");
    let file = folder.write(
        "typo.json",
        "{\n  \"forms\": [\"LPAC1\"],\n  \"origin\": {,},\n  \"answers\": [\n    {}\n  ]\n}\n",
    );
    let ended = Program::new("validate").arg(&file).run();
    assert_eq!(ended.code, Some(2), "{ended:?}");
    assert!(
        ended.stdout.starts_with("line 3: cannot be read: "),
        "{ended:?}"
    );
    assert_eq!(ended.stdout.lines().count(), 1, "{ended:?}");
}

#[test]
fn empty_and_missing_files_are_named() {
    let folder = Folder::new("validate_nothing");
    for file in [
        folder.write("empty.json", "\n\n"),
        folder.path("missing.json"),
        folder.path("."),
    ] {
        let ended = Program::new("validate").arg(&file).run();
        assert_eq!(ended.code, Some(2), "{ended:?}");
        assert!(ended.stderr.contains(file.to_str().unwrap()), "{ended:?}");
    }
}

#[test]
fn stdin_is_read_for_a_dash() {
    let mut program = Program::new("validate").args(DAY).arg("-");
    let mut child = program
        .0
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    write!(stdin, "{:#}", declaration("QAZZ7777")).unwrap();
    drop(stdin);
    let ended: Ended = child.wait_with_output().unwrap().into();
    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert!(ended.stdout.starts_with("line 1: valid\n"), "{ended:?}");
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
