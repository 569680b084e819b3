//! A form in the terminal: `cargo run --example answer_questions -- [--resume FILE] [--out FILE]`.
//!
//! It asks the questions of the form LPAC1, on a terminal or over a pipe, and writes the consignment as JSON. Ctrl-C saves the
//! answers, and `--resume` continues from there. If stdin is empty, it uses scripted answers.

#[path = "../cli/mod.rs"]
mod cli;
mod dialog;
mod files;
mod places;
mod screen;
mod script;
#[path = "../settings/mod.rs"]
mod settings;
mod typed;
mod value;

use std::io::{self, IsTerminal};
use std::process::ExitCode;

use envd_sdk::model::{
    ConsignmentInput, ConsignmentStatus, Day, FormType, Jurisdiction, PartyInput,
};
use envd_sdk::validate::{Context, Form, Questionnaire};

use cli::Failure;
use dialog::{Dialog, Ended};
use files::Files;
use settings::Settings;

#[tokio::main]
async fn main() -> ExitCode {
    let files = Files::from_arguments();
    run(files)
        .await
        .unwrap_or_else(|failure| cli::fail(&failure))
}

async fn run(mut files: Files) -> Result<ExitCode, Failure> {
    files.try_to_write()?;
    let settings = Settings::read().await?;
    let client = settings.log_in().await?.0.build()?;
    let questions = client.questions().await?.value.items;
    let questionnaire = Questionnaire::prepare(&questions);
    let today = Day::today_in(Jurisdiction::Qld, settings.clock().now());
    let user = client.registered_user().await?.value;
    let context = Context::of(&user, Settings::account_id(&user)?, today).advice(true);
    let mut form = open(&questionnaire, &files, &context)?;

    let dialog = Dialog::new(&files, today)?;
    let ended = dialog.fill_in(&mut form).await?;
    screen::end(&form);
    let saved = match ended {
        Ended::Complete => files.save_again(&form),
        _ => files.save(&form),
    };
    if files.has_out() || !io::stdout().is_terminal() {
        files.write(&serde_json::to_string_pretty(&form.to_input())?)?;
    } else {
        screen::summary(&form);
    }
    saved?;
    if ended == Ended::Complete {
        return Ok(ExitCode::SUCCESS);
    }
    if ended == Ended::NoInput {
        eprintln!("The input ended before the questions.");
    }
    let file = cli::printable(files.saved());
    eprintln!("Saved to {file}. Continue with: answer_questions --resume {file}");
    Ok(ExitCode::FAILURE)
}

/// Opens the saved form, or a new form.
fn open(questionnaire: &Questionnaire, files: &Files, context: &Context) -> Result<Form, Failure> {
    let Some(saved) = files.read()? else {
        let origin = PartyInput::new("QAZZ7777").name("Sample Station");
        let destination = PartyInput::new("QDZZ3333").name("Test Yards");
        let input = ConsignmentInput::new([FormType::Lpac1], origin, destination)
            .status(ConsignmentStatus::Draft);
        return Ok(questionnaire.form(&input, context));
    };
    let input = saved.input().clone();
    questionnaire.open(saved, context).or_else(|_| {
        screen::note("The questions have changed since the form was saved. The answers are kept where they still fit.");
        Ok(questionnaire.form(&input, context))
    })
}
