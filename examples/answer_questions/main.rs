//! A form in the terminal: `cargo run --example answer_questions -- [--out FILE]`.
//!
//! It starts the fake, asks the questions of the form LPAC1 one after the other, says why each is asked and what is wrong
//! with an answer as soon as it is given, and writes the consignment as JSON to FILE, or to stdout, after Ctrl-C as far as
//! it was answered. With no terminal it plays a script of answers instead of asking.

#[path = "../cli/mod.rs"]
mod cli;
mod out;
mod screen;
mod script;
mod user;

use std::process::ExitCode;

use envd_sdk::fake::Fake;
use envd_sdk::model::{
    ConsignmentInput, ConsignmentStatus, Day, FormType, Jurisdiction, PartyInput, Question,
    QuestionType,
};
use envd_sdk::validate::{AppliedQuestion, Context, QuestionRef, Questionnaire, Session};

use cli::Failure;
use out::Out;
use user::User;

#[tokio::main]
async fn main() -> ExitCode {
    let out = Out::from_arguments();
    cli::end(run(&out).await)
}

async fn run(out: &Out) -> Result<(), Failure> {
    out.try_to_write()?;
    let fake = Fake::builder().start().await?;
    let questions = fake.client().build()?.questions().await?.value.items;
    let questionnaire = Questionnaire::prepare(&questions);

    let origin = PartyInput::new("QAZZ7777").name("Sample Station");
    let destination = PartyInput::new("QDZZ3333").name("Test Yards");
    let input = ConsignmentInput::new([FormType::Lpac1], origin, destination)
        .status(ConsignmentStatus::Draft);
    let today = Day::today_in(Jurisdiction::Qld, fake.clock().now());
    let mut session = questionnaire.session(&input, &Context::on(today));

    let asked = ask(&mut session, &questions);
    eprintln!("\nThe consignment is {}", session.report());
    out.write(&serde_json::to_string_pretty(session.input())?)?;
    asked
}

/// Asks until nothing is left to ask. Where the user ends it, the session holds what was answered.
fn ask(session: &mut Session, questions: &[Question]) -> Result<(), Failure> {
    let user = User::at_the_terminal_or_scripted()?;
    let mut skipped = Vec::new();
    while let Some(next) = next(session, &skipped) {
        screen::show(&next, session.progress());
        let place = next.question.clone();
        if next.question_type == Some(QuestionType::Repeatable) {
            // A row exists once something in it is answered, so the first question below opens it.
            if let Some((first, text)) = first_below(questions, place.id.as_str())
                && user.wants_a_row()?
            {
                let value = user.begins_a_row(text)?;
                screen::tell(&session.answer(first, Some(0), Some(&value)));
            }
            skipped.push(place);
        } else if let Some(value) = user.answer(&next, session)? {
            screen::tell(&session.answer(place.id, place.row, Some(&value)));
        } else {
            skipped.push(place);
        }
    }
    Ok(())
}

/// The first question that waits for an answer and was not left open by the user.
fn next(session: &Session, skipped: &[QuestionRef]) -> Option<AppliedQuestion> {
    let mut waiting = session.next_questions().into_iter();
    waiting.find(|asked| !skipped.contains(&asked.question))
}

/// Id and text of the first question of the form below a REPEATABLE question, wherever that stands.
fn first_below<'q>(questions: &'q [Question], rows: &str) -> Option<(&'q str, &'q str)> {
    questions.iter().find_map(|question| {
        if question.id.as_ref().is_none_or(|id| *id != rows) {
            return first_below(&question.child_questions, rows);
        }
        let mut below = question.child_questions.iter();
        let first = below.find(|child| child.forms.contains(&FormType::Lpac1))?;
        Some((first.id.as_ref()?.as_str(), first.text.as_deref()?))
    })
}
