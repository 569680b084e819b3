//! A form in the terminal: `cargo run --example answer_questions -- [--out FILE]`.
//!
//! It starts the fake, asks the questions of the form LPAC1 one after the other, says why each is asked and what is wrong
//! with an answer as soon as it is given, and writes the consignment as JSON to FILE, or to stdout. With no terminal it
//! plays a script of answers instead of asking.

mod reader;

use std::error::Error;
use std::io::{self, IsTerminal};
use std::path::PathBuf;
use std::process;

use dialoguer::{Confirm, Input, Select};
use envd_sdk::fake::Fake;
use envd_sdk::model::{
    ConsignmentInput, ConsignmentStatus, Day, FormType, List, PartyInput, Question, QuestionType,
};
use envd_sdk::validate::{AppliedQuestion, Change, Context, Questionnaire, Session};

const USAGE: &str = "usage: answer_questions [--out FILE]";

/// What the script says; any other question gets its first choice, a number, a past day or a word.
const SCRIPT: [(&str, &str); 3] = [("3", "24"), ("17", "No"), ("20", "LT2Months")];

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    reader::may_leave();
    let out = arguments();
    let fake = Fake::start().await;
    let list = fake.client().build()?.questions().await?.value;
    let questionnaire = Questionnaire::prepare(&list.items);

    let origin = PartyInput::new("QAZZ7777").name("Sample Station");
    let destination = PartyInput::new("QDZZ3333").name("Test Yards");
    let input = ConsignmentInput::new([FormType::Lpac1], origin, destination)
        .status(ConsignmentStatus::Draft);
    let today = Day::of(fake.clock().now());
    let mut form = Form {
        session: questionnaire.session(&input, &Context::on(today)),
        questions: list.items,
        skipped: Vec::new(),
        is_asking: io::stdin().is_terminal() && io::stderr().is_terminal(),
    };
    form.fill_in()?;
    let Form { session, .. } = form;

    eprintln!("\nThe consignment is {}", session.report());
    let json = serde_json::to_string_pretty(session.input())?;
    match out {
        Some(file) => std::fs::write(file, json + "\n")?,
        None => println!("{json}"),
    }
    Ok(())
}

fn arguments() -> Option<PathBuf> {
    let mut arguments = std::env::args_os().skip(1);
    match (arguments.next(), arguments.next(), arguments.next()) {
        (None, ..) => None,
        (Some(flag), Some(file), None) if flag == "--out" => Some(file.into()),
        (Some(flag), None, None) if flag == "--help" || flag == "-h" => {
            println!("{USAGE}");
            process::exit(0);
        }
        _ => {
            eprintln!("{USAGE}");
            process::exit(2);
        }
    }
}

struct Form {
    session: Session,
    questions: List<Question>,
    /// Questions that the user left open.
    skipped: Vec<(String, Option<i64>)>,
    is_asking: bool,
}

impl Form {
    /// Asks until nothing waits for an answer.
    fn fill_in(&mut self) -> Result<(), Box<dyn Error>> {
        while let Some(next) = self.next() {
            let progress = self.session.progress();
            eprintln!(
                "\n[{} of {}] {} {}",
                progress.answered,
                progress.questions,
                next.text,
                if next.required { "(required)" } else { "" }
            );
            eprintln!("  question {}: {}", next.question, Self::why(&next));
            if next.question_type == Some(QuestionType::Repeatable) {
                self.open_row(&next)?;
                continue;
            }
            let value = if self.is_asking {
                self.prompt(&next)?
            } else {
                let value = scripted(&next);
                eprintln!("  > {value}");
                Some(value)
            };
            let place = (next.question.id.to_string(), next.question.row);
            match value.filter(|value| !value.is_empty()) {
                None => self.skipped.push(place),
                Some(value) => tell(&self.session.answer(&place.0, place.1, Some(&value))),
            }
        }
        Ok(())
    }

    fn next(&self) -> Option<AppliedQuestion> {
        let waiting = self.session.next_questions().into_iter();
        let mut open = waiting.filter(|asked| {
            let is_skipped = |(id, row): &(String, Option<i64>)| {
                asked.question.id == id.as_str() && asked.question.row == *row
            };
            !self.skipped.iter().any(is_skipped)
        });
        open.next()
    }

    /// A row exists once something in it is answered, so the first question below opens it.
    fn open_row(&mut self, rows: &AppliedQuestion) -> Result<(), Box<dyn Error>> {
        let id = rows.question.id.to_string();
        let wanted = !self.is_asking
            || Confirm::new()
                .with_prompt("  Add a row?")
                .default(true)
                .interact()?;
        let first = first_below(&self.questions, &id);
        if let (true, Some(first)) = (wanted, first) {
            let value = if self.is_asking {
                Input::new()
                    .with_prompt(format!("  question {first}"))
                    .interact_text()?
            } else {
                "24".to_owned()
            };
            tell(&self.session.answer(first, Some(0), Some(&value)));
        }
        self.skipped.push((id, None));
        Ok(())
    }

    fn why(asked: &AppliedQuestion) -> String {
        if asked.because.is_empty() {
            return "asked of everybody".to_owned();
        }
        let reasons: Vec<String> = asked.because.iter().map(ToString::to_string).collect();
        format!("asked because {}", reasons.join(" and "))
    }

    fn prompt(&self, asked: &AppliedQuestion) -> Result<Option<String>, Box<dyn Error>> {
        if !asked.choices.is_empty() {
            let names: Vec<&str> = asked.choices.iter().map(|c| c.name.as_str()).collect();
            let chosen = Select::new().items(&names).default(0).interact_opt()?;
            return Ok(chosen.map(|at| asked.choices[at].value.clone()));
        }
        // Each try is judged by a copy of the session, so that a wrong answer never gets into the form.
        let (id, row) = (asked.question.id.clone(), asked.question.row);
        let session = self.session.clone();
        let judge = move |text: &String| -> Result<(), String> {
            let mut session = session.clone();
            session.answer(&id, row, Some(text));
            let report = session.report();
            let mut wrong = report.question(id.as_str()).filter(|f| {
                f.question.as_ref().is_some_and(|q| q.row == row) && f.message != "Required"
            });
            wrong
                .next()
                .map_or(Ok(()), |finding| Err(finding.to_string()))
        };
        let text = Input::new()
            .with_prompt("  answer, or Enter to leave it open")
            .allow_empty(true)
            .validate_with(judge)
            .interact_text()?;
        Ok(Some(text))
    }
}

/// The first question of a form below a REPEATABLE question, wherever that stands.
fn first_below(questions: &[Question], rows: &str) -> Option<String> {
    questions.iter().find_map(|question| {
        if question.id.as_ref().is_none_or(|id| *id != rows) {
            return first_below(&question.child_questions, rows);
        }
        let below = question.child_questions.iter();
        let mut below = below.filter(|child| child.forms.contains(&FormType::Lpac1));
        below.next()?.id.as_ref().map(ToString::to_string)
    })
}

fn scripted(asked: &AppliedQuestion) -> String {
    let id = asked.question.id.as_str();
    if let Some((_, value)) = SCRIPT.iter().find(|(question, _)| *question == id) {
        return (*value).to_owned();
    }
    let first = asked.choices.first().map(|choice| choice.value.as_str());
    let value = first.unwrap_or(match asked.question_type {
        Some(QuestionType::Number) => "24",
        Some(QuestionType::Boolean) => "True",
        Some(QuestionType::Date) => "2024-05-06",
        Some(QuestionType::DateTime) => "05:15",
        Some(QuestionType::DateMonth) => "2024-05",
        _ => "sample",
    });
    value.to_owned()
}

fn tell(change: &Change) {
    for finding in &change.added {
        eprintln!("  {}: {} ({})", finding.severity, finding, finding.code);
    }
    for question in &change.vanished {
        eprintln!("  question {question} is no longer asked");
    }
}
