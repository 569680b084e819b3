//! Checks consignments offline: `cargo run --example validate -- [--json] [FILE.jsonl|-]`.
//!
//! Each line is one JSON object `{"id", "today", "questions", "input", "context"?}`. `questions` is a list, or the reply
//! that holds one; without it only the fields are checked. What does not have the shape of an input is a finding with a
//! path too; only an input that is no object is rejected. `context` is `{"account_pic", "operation", "accreditations"}`.
//! With `--json` each line in gives one line out, else a report for people. Without a file a sample with defects is
//! checked. The exit code is 0 once every line was judged, whatever was found, or nobody reads on; it is 2 when a file or
//! an argument cannot be read.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Cursor, ErrorKind, Write};
use std::process::ExitCode;

use envd_sdk::model::{Accreditations, Day, List, Question};
use envd_sdk::validate::{
    Context, Finding, Operation, Questionnaire, Report, validate_fields_json,
};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

const SAMPLE: &str = include_str!("data/validate-sample.jsonl");
const USAGE: &str = "usage: validate [--json] [FILE.jsonl|-]";

fn main() -> ExitCode {
    let mut as_json = false;
    let mut file = None;
    for argument in std::env::args_os().skip(1) {
        match argument.to_str() {
            Some("--json") => as_json = true,
            Some("--help" | "-h") => {
                println!("{USAGE}");
                return ExitCode::SUCCESS;
            }
            Some(flag) if flag.starts_with('-') && flag != "-" => {
                return refuse(&format!("unknown argument {flag}\n{USAGE}"));
            }
            _ if file.is_some() => return refuse(&format!("more than one file\n{USAGE}")),
            _ => file = Some(argument),
        }
    }
    let lines: Box<dyn BufRead> = match &file {
        None => Box::new(Cursor::new(SAMPLE)),
        Some(dash) if dash == "-" => Box::new(io::stdin().lock()),
        Some(path) => match File::open(path) {
            Ok(file) => Box::new(BufReader::new(file)),
            Err(error) => return refuse(&format!("{}: {error}", path.display())),
        },
    };
    match judge_lines(lines, as_json) {
        Ok(()) => ExitCode::SUCCESS,
        // Whoever reads the output has seen enough, as `head` does.
        Err(error) if error.kind() == ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Err(error) => refuse(&error.to_string()),
    }
}

fn refuse(problem: &str) -> ExitCode {
    eprintln!("{problem}");
    ExitCode::from(2)
}

fn judge_lines(mut lines: Box<dyn BufRead>, as_json: bool) -> io::Result<()> {
    // Stdout is written out line by line, so that a program can wait for each verdict.
    let mut out = io::stdout().lock();
    let mut last = None;
    let mut line = Vec::new();
    while lines.read_until(b'\n', &mut line)? > 0 {
        let task: Value = serde_json::from_slice(&line).unwrap_or_default();
        let verdict = judge(&task, &mut last);
        if as_json {
            writeln!(out, "{}", for_programs(&task["id"], verdict))?;
        } else {
            for_people(&mut out, &task["id"], verdict)?;
        }
        line.clear();
    }
    Ok(())
}

/// The report on one line, or the path to what cannot be read.
fn judge(task: &Value, last: &mut Option<(Value, Questionnaire)>) -> Result<Report, Vec<String>> {
    if !task.is_object() {
        return Err(Vec::new());
    }
    let today = task["today"].as_str().and_then(|day| Day::parse(day).ok());
    let today = today.ok_or_else(|| path(&["today"]))?;
    let context = context(&task["context"], today)?;
    if !task["input"].is_object() {
        return Err(Vec::new());
    }
    let input = &task["input"];
    let questions = question_list(&task["questions"]);
    if questions.is_null() {
        return Ok(validate_fields_json(input, &context));
    }
    // Lines of one file mostly share their questions.
    let known = last.take().filter(|(known, _)| known == questions);
    let ready = if let Some(known) = known {
        known
    } else {
        let items: List<Question> = read(questions, &["questions"])?;
        (questions.clone(), Questionnaire::prepare(&items))
    };
    let (_, questionnaire) = last.insert(ready);
    Ok(questionnaire.validate_json(input, &context))
}

/// The list itself, whatever part of a reply stands around it.
fn question_list(mut questions: &Value) -> &Value {
    for name in ["data", "questions", "items"] {
        if let Some(inner) = questions.get(name) {
            questions = inner;
        }
    }
    questions
}

fn context(given: &Value, today: Day) -> Result<Context, Vec<String>> {
    let mut context = Context::on(today);
    context = match &given["operation"] {
        Value::Null => context,
        Value::String(name) if name == "create" => context.operation(Operation::Create),
        Value::String(name) if name == "update" => context.operation(Operation::Update),
        _ => return Err(path(&["context", "operation"])),
    };
    if let Some(pic) = read::<Option<String>>(&given["account_pic"], &["context", "account_pic"])? {
        context = context.account_pic(pic);
    }
    let at = ["context", "accreditations"];
    if let Some(known) = read::<Option<Accreditations>>(&given["accreditations"], &at)? {
        context = context.accreditations(&known);
    }
    Ok(context)
}

/// Reads a value, or tells where it cannot be read, from `at` on.
fn read<T: DeserializeOwned>(value: &Value, at: &[&str]) -> Result<T, Vec<String>> {
    serde_path_to_error::deserialize(value).map_err(|error| {
        use serde_path_to_error::Segment;
        let mut path = path(at);
        path.extend(error.path().iter().filter_map(|segment| match segment {
            Segment::Seq { index } => Some(index.to_string()),
            Segment::Map { key } => Some(key.clone()),
            Segment::Enum { variant } => Some(variant.clone()),
            Segment::Unknown => None,
        }));
        path
    })
}

fn path(names: &[&str]) -> Vec<String> {
    names.iter().map(ToString::to_string).collect()
}

fn for_programs(id: &Value, verdict: Result<Report, Vec<String>>) -> Value {
    let report = match verdict {
        Ok(report) => report,
        Err(path) => return json!({"id": id, "rejected": true, "path": path}),
    };
    let finding = |finding: &Finding| {
        json!({
            "severity": finding.severity,
            "code": finding.code,
            "path": finding.path,
            "message": finding.message,
            "question_id": finding.question.as_ref().map(|question| &question.id),
            "index": finding.question.as_ref().and_then(|question| question.row),
        })
    };
    let findings: Vec<Value> = report.findings().iter().map(|f| finding(f)).collect();
    json!({"id": id, "valid": report.is_valid(), "findings": findings})
}

fn for_people(
    out: &mut impl Write,
    id: &Value,
    verdict: Result<Report, Vec<String>>,
) -> io::Result<()> {
    let report = match verdict {
        Ok(report) => report,
        Err(path) if path.is_empty() => return writeln!(out, "{id}: cannot be read"),
        Err(path) => return writeln!(out, "{id}: cannot be read at {}", path.join(".")),
    };
    writeln!(out, "{id}: {report}")
}
