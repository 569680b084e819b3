//! A form in the terminal: `cargo run --example answer_questions -- [--out FILE]`.
//!
//! It starts the fake, asks the questions of the form LPAC1, shows why each applies and what is wrong with an answer, and
//! writes the consignment as JSON to FILE or stdout; after Ctrl-C, with the answers so far. Without a terminal it uses
//! scripted answers.

#[path = "../cli/mod.rs"]
mod cli;
mod out;
mod screen;
mod script;
mod user;

use std::process::ExitCode;

use envd_sdk::fake::Fake;
use envd_sdk::model::{
    ConsignmentInput, ConsignmentStatus, Day, FormType, Jurisdiction, PartyInput,
};
use envd_sdk::validate::{Context, Form, ItemKind, Questionnaire};

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
    let mut form = questionnaire.form(&input, &Context::on(today));

    let answered = fill_in(&mut form);
    eprintln!("\nThe consignment is {}", form.report());
    for blocker in form.blockers() {
        eprintln!("  {}", cli::printable(blocker));
    }
    out.write(&serde_json::to_string_pretty(&form.to_input())?)?;
    answered
}

/// Asks until no item is open. If the user ends it, the form has the answers so far.
fn fill_in(form: &mut Form) -> Result<(), Failure> {
    let user = User::at_the_terminal_or_scripted()?;
    while let Some(item) = form.next() {
        screen::show(&item, form.progress());
        let change = if item.kind == ItemKind::Rows {
            let adds = user.wants_a_row()?;
            adds.then(|| form.add_row(item.question.clone()))
        } else {
            let value = user.answer(&item, form)?;
            value.map(|value| form.answer(&item.question.id, item.question.row, value.as_str()))
        };
        match change {
            Some(change) => screen::show_change(&change?),
            None => form.skip(item.question)?,
        }
    }
    Ok(())
}
