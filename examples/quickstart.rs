//! The whole job on the embedded fake: log in, declare a consignment, look up properties, log out.
//!
//! `cargo run --example quickstart`

mod reader;
mod settings;

use envd_sdk::model::{
    AnswerInput, CommentInput, ConsignmentInput, ConsignmentStatus, Day, FormType, PartyInput,
    TemplateInput,
};
use envd_sdk::ops::ConsignmentFilter;
use envd_sdk::register::{Lookup, TextSearch};
use envd_sdk::validate::{Context, Questionnaire, Report};

use settings::{Failure, Settings};

#[tokio::main]
#[allow(clippy::too_many_lines)] // One story, told in one piece.
async fn main() -> Result<(), Failure> {
    reader::may_leave();
    let settings = Settings::read().await?;
    println!("1. {}.", settings.describe());

    // In an application the browser goes to the authorization URL and comes back with the callback.
    let (client, manager) = settings.log_in().await?;
    let client = client.build()?;
    println!(
        "2. {}.",
        match manager {
            Some(_) => "Logged in with PKCE; the tokens are stored",
            None => "The access token is the one that the environment brings",
        }
    );

    let user = client.registered_user().await?.value;
    let account = client.account(Settings::account_id(&user)?);
    println!(
        "3. The user has {} accounts; {} is used.",
        user.accounts.len(),
        account.id()
    );

    let questions = client.questions().await?.value.items;
    let questionnaire = Questionnaire::prepare(&questions);
    let today = Day::of(settings.clock().now());
    let mut draft = ConsignmentInput::new(
        [FormType::Lpahrg0],
        PartyInput::new("QAZZ777").name("Sample Station"),
        PartyInput::new("QDZZ3333").name("Demo Meats"),
    )
    .status(ConsignmentStatus::Draft)
    .movement(today.plus_days(3).ok_or("the calendar ends")?, "05:15");
    let next = questionnaire.next_questions(&draft);
    let first = next.first().map_or("nothing", |question| &question.text);
    println!(
        "4. {} open; the first asks: {first}",
        count(next.len(), "question")
    );

    let context = Context::on(today).account_pic("QAZZ7777");
    let report = questionnaire.validate(&draft, &context);
    println!(
        "5. Checked offline: {}, {}.",
        count(report.errors().count(), "error"),
        count(report.warnings().count(), "warning")
    );
    for finding in report.errors() {
        println!("   - {}: {finding}", finding.code);
    }

    let refused = account
        .save_consignment(draft.clone())
        .await
        .err()
        .ok_or("a wrong PIC was taken")?;
    let said = Report::from_server_errors(refused.server_errors());
    for finding in said.errors() {
        println!(
            "6. The server refuses with the same finding: {}: {finding}",
            finding.code
        );
    }

    draft.origin.pic = "QAZZ7777".into();
    for (question, value) in [("17", "Yes"), ("70", "No"), ("185", "Yes")] {
        draft = draft.answer(AnswerInput::new(question, value));
    }
    for (question, value) in [
        ("3", "160"),
        ("4", "Rangeland"),
        ("5", "Mixed"),
        ("8", "No"),
    ] {
        draft = draft.answer(AnswerInput::new(question, value).row(0));
    }
    let saved = account.save_consignment(draft.clone()).await?;
    let number = saved.value.number.clone().ok_or("no number")?;
    println!(
        "7. Mended and saved as {number}, with {}.",
        count(saved.problems.len(), "warning")
    );

    draft.number = number.as_str().into();
    let submitted = account.submit_consignment(draft).await?;
    println!(
        "8. Submitted: the status is {}.",
        submitted.value.status.ok_or("no status")?
    );

    let filter = ConsignmentFilter::default()
        .from(Day::parse("2026-01-01")?)
        .page_size(5);
    let (mut seen, mut pages) = (0, 0);
    let mut list = account.consignments(&filter);
    while let Some(page) = list.next_page().await? {
        (seen, pages) = (seen + page.records.len(), pages + 1);
    }
    println!(
        "9. {} changed this year, on {}.",
        count(seen, "consignment"),
        count(pages, "page")
    );

    account
        .create_comment(CommentInput::new(&number, "The truck comes at five."))
        .await?;
    let comments = account.comments(&number).await?.value;
    let copy = account.copy_consignment(&number).await?.value;
    println!(
        "10. {} there now; copied as {}.",
        count(comments.len(), "comment"),
        copy.number.ok_or("no number")?
    );
    let template = account
        .save_template(TemplateInput::new(
            "Goats to Demo Meats",
            [FormType::Lpahrg0],
        ))
        .await?;
    println!(
        "11. Saved as the template {}.",
        template.value.number.ok_or("no number")?
    );

    let register = settings.register()?.build()?;
    let mut yards = register.search(TextSearch::new("yards"));
    let yards = yards.next_page().await?.ok_or("no first page")?;
    println!(
        "12. Found for \"yards\" in the register, on its first page: {}.",
        yards.records.len()
    );
    let mut answers = register.lookup_many(["QAZZ7777", "NE000004", "QZZZ0000"]);
    while let Some(answer) = answers.next().await {
        let what = match answer.result? {
            Lookup::Found(property) if property.is_active() => "active",
            Lookup::Found(_) => "not active",
            _ => "not in the register",
        };
        println!("    {}: {what}", answer.asked);
    }

    if let Some(manager) = manager {
        let logout = manager.logout(None).await;
        println!(
            "13. Logged out; {}. The browser ends its session at the logout address.",
            count(logout.problems.len(), "problem")
        );
    }
    Ok(())
}

fn count(number: usize, noun: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{number} {noun}{plural}")
}
