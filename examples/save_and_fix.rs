//! The server's refusal and the findings of the validator in one list, then a corrected draft that is saved:
//! `cargo run --example save_and_fix`.
//!
//! With the `ENVD_` settings of the README it uses those servers, and leaves a draft there.

mod cli;
mod settings;
mod table;

use std::process::ExitCode;

use envd_sdk::model::{
    AddressInput, AnswerInput, ConsignmentInput, ConsignmentStatus, Day, FormType, Jurisdiction,
    PartyInput,
};
use envd_sdk::validate::{Context, Finding, Questionnaire, Report, Severity, compare};

use cli::{Failure, printable};
use console::Style;
use settings::Settings;
use table::Columns;

const USAGE: &str = "usage: save_and_fix

The server's refusal and the findings of the validator in one list, then a corrected draft that is
saved. It runs on a fake of its own, or on the servers of the ENVD_ settings (examples/README.md),
where it leaves a draft.";

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
    let today = Day::today_in(Jurisdiction::Qld, settings.clock().now());
    let context = Context::of(&user, &account, today);

    // Four mistakes: the PIC of another account, a PIC that is too short, an invalid postcode, and an answer that is not among
    // the choices. The validator finds the first only if the context has the account's PIC.
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
        Ok(_) => return Err("the server accepted a draft with mistakes".into()),
        // After any other error the draft may have been saved.
        Err(error) if !error.server_errors().is_empty() && !error.may_have_applied() => {
            Report::from_server_errors(error.server_errors())
        }
        Err(error) => return Err(error.into()),
    };
    println!("The server refused a draft with mistakes. The findings, and which side has them:");
    screen(&mirror, &server);

    draft.origin.pic = "QAZZ7777".into();
    draft.destination.pic = "QDZZ3333".into();
    let home = AddressInput::new("1 Sample Road", "Roma", "QLD", "4455");
    draft.origin.address = home.into();
    draft.answers = vec![AnswerInput::new("17", "Yes")].into();

    let mirror = questionnaire.validate(&draft, &context);
    if !mirror.is_valid() {
        return Err("the corrected draft still has errors".into());
    }
    let saved = account.save_consignment(draft).await?;
    let number = saved.number()?;
    let server = Report::from_server_errors(&saved.problems);
    println!(
        "\nCorrected, and saved as {}. Questions to answer before it is submitted:",
        printable(number)
    );
    screen(&mirror, &server);
    Ok(())
}

/// Prints one line for each finding. Both reports have the same type; the validator's sentences are more precise.
fn screen(mirror: &Report, server: &Report) {
    let columns = Columns::new([8, 9]);
    println!("{}", columns.headings(["SEVERITY", "FOUND BY"], "FINDING"));
    let comparison = compare(mirror, server);
    for finding in mirror.findings() {
        let only_mirror = comparison.only_mirror.contains(finding);
        line(
            &columns,
            finding,
            if only_mirror { "validator" } else { "both" },
        );
    }
    for finding in &comparison.only_server {
        line(&columns, finding, "server");
    }
}

fn line(columns: &Columns<2>, finding: &Finding, side: &str) {
    let (severity, colour) = match finding.severity {
        Severity::Error => ("error", Style::new().red()),
        _ => ("warning", Style::new().yellow()),
    };
    let line = columns.line([severity, side], printable(finding.sentence()));
    println!("{}", colour.apply_to(line));
}
