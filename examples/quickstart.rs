//! All steps on the embedded fake: log in, declare a consignment, look up properties, log out.
//!
//! `cargo run --example quickstart`

mod cli;
mod settings;

use std::process::ExitCode;

use envd_sdk::model::{
    AnswerInput, CommentInput, ConsignmentInput, ConsignmentStatus, Day, FormType, Jurisdiction,
    PartyInput, TemplateInput,
};
use envd_sdk::ops::ConsignmentFilter;
use envd_sdk::register::{Lookup, PropertySearch};
use envd_sdk::validate::{Context, Questionnaire, Report};

use cli::{Failure, printable};
use settings::Settings;

const USAGE: &str = "usage: quickstart

All steps: log in, declare a consignment, look up properties, log out.
It runs on a fake of its own, or on the servers that the ENVD_ settings of the README name.";

#[tokio::main]
async fn main() -> ExitCode {
    cli::no_arguments(USAGE);
    cli::end(run().await)
}

async fn run() -> Result<(), Failure> {
    let settings = Settings::read().await?;
    println!("1. {}.", settings.describe());

    // In an application the browser opens the authorization URL and is redirected with the callback.
    let (client, manager) = settings.log_in().await?;
    let client = client.build()?;
    let user = client.registered_user().await?.value;
    let accounts = user.accounts.len();
    println!("2. Logged in. The user has {accounts} accounts.");

    let account = client.account(Settings::account_id(&user)?);
    println!("3. The account used is {}.", printable(account.id()));

    // The property is in Queensland, so the date of the declaration is the date there.
    let today = Day::today_in(Jurisdiction::Qld, settings.clock().now());
    let mut draft = ConsignmentInput::new(
        [FormType::Lpahrg0],
        PartyInput::new("QAZZ777").name("Sample Station"),
        PartyInput::new("QDZZ3333").name("Demo Meats"),
    )
    .status(ConsignmentStatus::Draft)
    .movement(today.plus_days(3).ok_or("the calendar ends")?, "05:15");
    let questions = client.questions().await?.value.items;
    let questionnaire = Questionnaire::prepare(&questions);
    println!("4. Started a declaration of goats. Its first questions:");
    for question in questionnaire.next_questions(&draft) {
        println!("   - {}", printable(question.text));
    }

    let context = Context::on(today).account_pic("QAZZ7777");
    let report = questionnaire.validate(&draft, &context);
    println!("5. Checked offline:");
    for finding in report.findings() {
        println!("   - {}", printable(finding.sentence()));
    }

    let refused = account.save_consignment(draft.clone()).await;
    let refused = refused.err().ok_or("the server accepted a wrong PIC")?;
    for finding in Report::from_server_errors(refused.server_errors()).errors() {
        println!(
            "6. The server refuses it: {}",
            printable(finding.sentence())
        );
    }

    draft.origin.pic = "QAZZ7777".into();
    draft = draft
        .answer(AnswerInput::new("17", "Yes"))
        .answer(AnswerInput::new("70", "No"))
        .answer(AnswerInput::new("185", "Yes"))
        .answer(AnswerInput::new("3", "160").row(0))
        .answer(AnswerInput::new("4", "Rangeland").row(0))
        .answer(AnswerInput::new("5", "Mixed").row(0))
        .answer(AnswerInput::new("8", "No").row(0));
    let saved = account.save_consignment(draft.clone()).await?.value;
    let number = saved.number.ok_or("no number")?;
    println!("7. Corrected, and saved as {}.", printable(&number));

    draft = draft.number(&number);
    let submitted = account.submit_consignment(draft).await?.value;
    let status = submitted.status.ok_or("no status")?;
    println!("8. Submitted. Its status is {}.", printable(status));

    let new_year = Day::parse("2026-01-01")?;
    let filter = ConsignmentFilter::default().from_day(new_year, Jurisdiction::Qld);
    let mut pages = account.consignments(&filter.page_size(5));
    println!("9. Consignments changed this year:");
    while let Some(page) = pages.next_page().await? {
        let changed = page.records.len();
        println!("   - a page of {changed}");
    }

    let comment = CommentInput::new(&number, "The truck comes at five.");
    account.create_comment(comment).await?;
    let copy = account.copy_consignment(&number).await?.value;
    let copy = copy.number.ok_or("no number")?;
    println!("10. Commented, and copied as {}.", printable(copy));
    let template = TemplateInput::new("Goats to Demo Meats", [FormType::Lpahrg0]);
    let template = account.save_template(template).await?.value;
    let template = template.number.ok_or("no number")?;
    println!("11. Saved as the template {}.", printable(template));

    let register = settings.register()?.build()?;
    let mut found = register.search(&PropertySearch::text("yards"));
    let found = found.next_page().await?.ok_or("no first page")?;
    let yards = found.records.len();
    println!("12. The register has {yards} properties for \"yards\". Three look-ups:");
    let mut look_ups = register.lookup_many(["QAZZ7777", "NE000004", "QZZZ0000"]);
    while let Some(look_up) = look_ups.next().await {
        let status = match look_up.result? {
            Lookup::Found(property) if property.is_active() => "active",
            Lookup::Found(_) => "not active",
            _ => "not in the register",
        };
        println!("   - {}: {status}", look_up.input);
    }

    if let Some(manager) = manager {
        match manager.logout(None).await.problems.len() {
            0 => println!("13. Logged out."),
            problems => println!("13. Logged out, with {problems} problems."),
        }
    }
    Ok(())
}
