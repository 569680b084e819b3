//! Checks consignments offline: `cargo run --example validate -- [--json] [FILE.jsonl|-]`.
//!
//! Each line is one JSON object `{"id", "today", "questions", "input", "context"?}`. `questions` is a list, or the reply
//! that holds one; without it only the fields are checked. What does not have the shape of an input is a finding with a
//! path too; only an input that is no object is rejected. `context` is `{"account_pic", "operation", "accreditations"}`.
//! With `--json` each line in gives one line out, else a report for people. Without a file a sample with defects is
//! checked. The exit code is 0 once every line was judged, whatever was found, or nobody reads on; it is 2 when a file or
//! an argument cannot be read.

mod arguments;
mod verdict;
mod wire;

use std::io::{self, BufRead, ErrorKind, Write};
use std::process::ExitCode;

use envd_sdk::model::{Accreditations, Day, List, Question};
use envd_sdk::validate::{Context, Operation, Questionnaire, validate_fields_json};
use serde_json::Value;

use arguments::{Arguments, refuse};
use verdict::{Verdict, for_people, for_programs};
use wire::{path, question_list, read};

fn main() -> ExitCode {
    let Arguments { lines, as_json } = match Arguments::read() {
        Ok(arguments) => arguments,
        Err(end) => return end,
    };
    match judge_lines(lines, as_json) {
        Ok(()) => ExitCode::SUCCESS,
        // Whoever reads the output has seen enough, as `head` does.
        Err(error) if error.kind() == ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Err(error) => refuse(&error.to_string()),
    }
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

fn judge(task: &Value, last: &mut Option<(Value, Questionnaire)>) -> Verdict {
    if !task.is_object() {
        return Err(Vec::new());
    }
    let today = task["today"].as_str().and_then(|day| Day::parse(day).ok());
    let context = context(today.ok_or_else(|| path(&["today"]))?, &task["context"])?;
    let input = &task["input"];
    if !input.is_object() {
        return Err(Vec::new());
    }
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

/// What is known about the account and its user, besides the consignment.
fn context(today: Day, given: &Value) -> Result<Context, Vec<String>> {
    let operation = match given["operation"].as_str() {
        None if given["operation"].is_null() => Operation::Create,
        Some("create") => Operation::Create,
        Some("update") => Operation::Update,
        _ => return Err(path(&["context", "operation"])),
    };
    let mut context = Context::on(today).operation(operation);
    if let Some(pic) = read::<Option<String>>(&given["account_pic"], &["context", "account_pic"])? {
        context = context.account_pic(pic);
    }
    let at = ["context", "accreditations"];
    if let Some(known) = read::<Option<Accreditations>>(&given["accreditations"], &at)? {
        context = context.accreditations(&known);
    }
    Ok(context)
}
