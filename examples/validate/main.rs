//! Checks consignments offline: `cargo run --example validate -- [--json] [--today DATE] [FILE|-]`.
//!
//! The file has one declaration, or one JSON object per line with a declaration and its context; `--help` shows both. Values of
//! the wrong type are findings with a path; only a document that is not an object is rejected. Without a file it checks samples
//! with mistakes. The exit code is 0 if all declarations were checked, valid or not, or if the reader closed the output; it is
//! 2 if a declaration cannot be read.

mod arguments;
#[path = "../cli/mod.rs"]
mod cli;
mod context;
mod documents;
mod verdict;
mod wire;

use std::path::Path;
use std::process::ExitCode;

use envd_sdk::model::{Day, Question};
use envd_sdk::validate::{Context, Questionnaire, Report, validate_fields_json};
use serde_json::Value;

use arguments::Arguments;
use cli::{Failure, Unusable};
use documents::Documents;
use verdict::{for_people, for_programs};
use wire::{Unreadable, question_list, read};

fn main() -> ExitCode {
    cli::end(run(&Arguments::read()))
}

fn run(arguments: &Arguments) -> Result<(), Failure> {
    let file = arguments.file.as_deref().unwrap_or(Path::new("the sample"));
    let mut documents = Documents::of(arguments.open()?);
    let mut last = None;
    let mut all = 0;
    let mut valid = 0;
    let mut rejected = 0;
    while let Some((line, document)) = documents.next().map_err(|e| Unusable::new(file, e))? {
        let id = document.as_ref().ok().and_then(|task| task.get("id"));
        let id = id.cloned().unwrap_or_default();
        let verdict = document.and_then(|task| judge(&task, arguments.today, &mut last));
        if arguments.as_json {
            println!("{}", for_programs(line, &id, &verdict));
        } else {
            println!("{}", for_people(line, &id, &verdict));
        }
        all += 1;
        valid += usize::from(verdict.as_ref().is_ok_and(Report::is_valid));
        rejected += usize::from(verdict.is_err());
    }
    if all > 1 && !arguments.as_json {
        println!("{all} declarations: {valid} valid, {} not", all - valid);
    }
    if all == 0 {
        return Err(Unusable::new(file, "there is no declaration in it").into());
    }
    if rejected > 0 {
        let problem = format!("{rejected} of {all} could not be read");
        return Err(Unusable::new(file, problem).into());
    }
    Ok(())
}

fn judge(
    document: &Value,
    today: Day,
    last: &mut Option<(Value, Questionnaire)>,
) -> Result<Report, Unreadable> {
    if !document.is_object() {
        return Err(Unreadable::new(&[], "expected an object"));
    }
    let around = ["input", "today", "questions", "context"];
    if around.iter().all(|name| document.get(name).is_none()) {
        return Ok(validate_fields_json(document, &Context::on(today)));
    }
    let context = context::read(document)?;
    let input = &document["input"];
    if !input.is_object() {
        return Err(Unreadable::new(&[], "expected `input` to be an object"));
    }
    let questions = question_list(&document["questions"]);
    if questions.is_null() {
        return Ok(validate_fields_json(input, &context));
    }
    // Most lines of a file have the same questions.
    let known = last.take().filter(|(known, _)| known == questions);
    let ready = if let Some(known) = known {
        known
    } else {
        let items: Vec<Option<Question>> = read(questions, &["questions"])?;
        let items: Vec<Question> = items.into_iter().flatten().collect();
        (questions.clone(), Questionnaire::prepare(&items))
    };
    let (_, questionnaire) = last.insert(ready);
    Ok(questionnaire.validate_json(input, &context))
}
