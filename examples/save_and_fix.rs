//! The server's refusal and the findings of the validator on one screen, then mended and saved:
//! `cargo run --example save_and_fix`.
//!
//! With the `ENVD_` settings of the README it runs on the servers that they name, and leaves a draft there.

mod cli;
mod settings;

use std::process::ExitCode;

use envd_sdk::model::{
    AddressInput, AnswerInput, ConsignmentInput, ConsignmentStatus, Day, FormType, Jurisdiction,
    PartyInput,
};
use envd_sdk::validate::{Context, Finding, Questionnaire, Report, Severity, compare};

use cli::{Failure, printable};
use settings::Settings;

const USAGE: &str = "usage: save_and_fix

The server's refusal and the findings of the validator on one screen, then mended and saved.
It runs on a fake of its own, or on the servers that the ENVD_ settings of the README name;
there it leaves a draft.";

#[tokio::main]
async fn main() -> ExitCode {
    cli::no_arguments(USAGE);
    cli::end(run().await)
}

async fn run() -> Result<(), Failure> {
    let settings = Settings::read().await?;
    let client = settings.log_in().await?.0.build()?;
    let user = client.registered_user().await?.value;
    let account = client.account(Settings::account_id(&user)?);
    let questionnaire = Questionnaire::prepare(&client.questions().await?.value.items);
    let context = Context::on(Day::today_in(Jurisdiction::Qld, settings.clock().now()));

    // Four mistakes: the PIC of another account, one with a letter too few, a postcode of another country, an answer
    // out of thin air. Whose PIC it is only the server knows, unless the context names the account's PIC.
    let home = AddressInput::new("1 Sample Road", "Roma", "QLD", "02345");
    let mut draft = ConsignmentInput::new(
        [FormType::Lpac1],
        PartyInput::new("QBZZ2222").address(home),
        PartyInput::new("QDZZ333"),
    )
    .status(ConsignmentStatus::Draft)
    .answer(AnswerInput::new("17", "Maybe"));

    let mirror = questionnaire.validate(&draft, &context);
    let server = match account.save_consignment(draft.clone()).await {
        Ok(_) => return Err("the server took a draft with mistakes".into()),
        // Errors of a server that failed on the way are no refusal: the draft may have been saved.
        Err(error) if error.is_rejected() && !error.may_have_applied() => {
            Report::from_server_errors(error.server_errors())
        }
        Err(error) => return Err(error.into()),
    };
    println!("A draft with mistakes was refused. Who says what is wrong:");
    screen(&mirror, &server);

    draft.origin.pic = "QAZZ7777".into();
    draft.destination.pic = "QDZZ3333".into();
    let home = AddressInput::new("1 Sample Road", "Roma", "QLD", "4455");
    draft.origin.address = home.into();
    draft.answers = vec![AnswerInput::new("17", "Yes")].into();

    let mirror = questionnaire.validate(&draft, &context);
    if !mirror.is_valid() {
        return Err("there are mistakes left".into());
    }
    let saved = account.save_consignment(draft).await?;
    let number = saved.value.number.ok_or("no number")?;
    let server = Report::from_server_errors(&saved.problems);
    println!(
        "\nMended, and saved as {}. To be answered before it is submitted:",
        printable(number)
    );
    screen(&mirror, &server);
    Ok(())
}

/// One line for each finding. The two sides say things in the same type, so one path shows both.
fn screen(mirror: &Report, server: &Report) {
    let comparison = compare(mirror, server);
    for finding in server.findings() {
        let who = if comparison.only_server.contains(finding) {
            "server only"
        } else {
            "both"
        };
        line(finding, who);
    }
    for finding in &comparison.only_mirror {
        line(finding, "validator only");
    }
}

fn line(finding: &Finding, who: &str) {
    let weight = match finding.severity {
        Severity::Error => "error",
        _ => "remark",
    };
    let (code, said) = (printable(&finding.code), printable(finding));
    println!("  {weight:6}  {who:14}  {code:23}  {said}");
}
