//! All steps on the embedded fake: log in, declare a consignment, look up properties, log out.
//!
//! `cargo run --example quickstart`

mod cli;
mod settings;
mod table;

use std::process::ExitCode;

use envd_sdk::auth::{MemoryStore, StaticToken, TokenManager};
use envd_sdk::model::{
    AnswerInput, CommentInput, ConsignmentInput, ConsignmentNumber, ConsignmentStatus, Day,
    FormType, Jurisdiction, PartyInput, TemplateInput,
};
use envd_sdk::ops::ConsignmentFilter;
use envd_sdk::register::{Lookup, PropertySearch};
use envd_sdk::validate::{Context, Item, ItemKind, Questionnaire, Report};
use envd_sdk::{AccountClient, Client, Outcome};

use cli::{Failure, printable, say};
use settings::Settings;
use table::consignments::Consignments;

const USAGE: &str = "usage: quickstart

All steps: log in, declare a consignment, look up properties, log out.
It runs on a fake of its own, or on the servers of the ENVD_ settings (examples/README.md).";

/// Builds the documentation with the features for every page that its front page links to.
const DOCUMENTATION: &str =
    "cargo doc --open --no-deps -p envd-sdk --features fake,keyring,loopback-https,sealed";

#[tokio::main]
async fn main() -> ExitCode {
    cli::no_arguments(USAGE);
    cli::end(run().await)
}

async fn run() -> Result<(), Failure> {
    let settings = Settings::read().await?;
    say!("1. {}.", settings.describe());
    if settings.is_fake() {
        let now = Day::today_in(Jurisdiction::Qld, settings.clock().now());
        say!("   Its clock is fixed at {now}, so that each run prints the same.");
    }

    let (client, manager) = log_in(&settings).await?;
    let user = client.registered_user().await?.value;
    let accounts = user.accounts.len();
    say!("2. Logged in. The user has {accounts} accounts.");

    let account = client.account(Settings::account_id(&user)?);
    say!("3. The account used is {}.", printable(account.id()));

    // The property is in Queensland, so the date of the declaration is the date there.
    let today = Day::today_in(Jurisdiction::Qld, settings.clock().now());
    let draft = draft(today)?;
    let context = Context::of(&user, &account, today).account_pic("QAZZ7777");
    check(&client, &draft, &context).await?;
    let number = save_and_submit(&account, draft).await?;
    list(&account).await?;

    let comment = CommentInput::new(&number, "The truck comes at five.");
    show_problems(&account.create_comment(comment).await?);
    let copy = account.copy_consignment(&number).await?;
    show_problems(&copy);
    let copy = copy.number()?;
    say!("10. Commented, and copied as {}.", printable(copy));
    let template = TemplateInput::new("Goats to Demo Meats", [FormType::Lpahrg0]);
    let template = account.save_template(template).await?;
    show_problems(&template);
    let template = template.number()?;
    say!("11. Saved as the template {}.", printable(template));

    look_up(&settings).await?;
    if let Some(manager) = manager {
        match manager.logout(None).await.problems.len() {
            0 => say!("13. Logged out."),
            problems => say!("13. Logged out, with {problems} problems."),
        }
    }
    say!("\nTry next:");
    for (command, what) in [
        ("answer_questions", "fill in a declaration in the terminal"),
        ("find_property", "search the property register"),
        (
            "serve_fake",
            "the fake as a server, for curl and other languages",
        ),
    ] {
        say!("  cargo run --example {command:18}  {what}");
    }
    say!("\nRead next:");
    say!("  examples/quickstart.rs                  the source of what you have seen");
    say!("  src/guide/cookbook/cookbook.md          complete programs, by task");
    say!("  {DOCUMENTATION}");
    Ok(())
}

/// Shows the problems that the service reports with a change, which is made anyway.
fn show_problems<T>(outcome: &Outcome<T>) {
    for problem in &outcome.problems {
        let code = problem.code().unwrap_or("no code");
        say!("   saved, but {}: {}", printable(code), printable(problem));
    }
}

/// Logs in with OAuth 2.0 and PKCE. Returns no manager if the environment has an access token.
async fn log_in(settings: &Settings) -> Result<(Client, Option<TokenManager>), Failure> {
    let client = Client::builder(settings.graphql_url()?).clock(settings.clock());
    if let Some(token) = Settings::access_token() {
        let client = client.token_source(StaticToken::new(&token)?).build()?;
        return Ok((client, None));
    }
    // `Provider::builder` with the client id and the addresses of the identity provider.
    let provider = settings.provider()?;
    let manager = TokenManager::builder(provider.clone())
        .store(MemoryStore::new())
        .account("quickstart")
        .build()?;
    // In an application the browser opens `login.url()`, and the provider redirects it back with the callback.
    let login = provider.authorization().start()?;
    let callback = settings.callback(&login)?;
    manager.complete_login(login, &callback).await?;
    // The client takes a valid token from the manager for each request. It is cheap to clone.
    let client = client.token_source(manager.clone()).build()?;
    Ok((client, Some(manager)))
}

/// A declaration of goats for an abattoir, with a PIC that is too short.
fn draft(today: Day) -> Result<ConsignmentInput, Failure> {
    let origin = PartyInput::new("QAZZ777").name("Sample Station");
    let destination = PartyInput::new("QDZZ3333").name("Demo Meats");
    Ok(
        ConsignmentInput::new([FormType::Lpahrg0], origin, destination)
            .status(ConsignmentStatus::Draft)
            .movement(today.plus_days(3).ok_or("the calendar ends")?, "05:15"),
    )
}

/// Shows the questions of the form, the missing answers and the mistakes. Sends only the request for the questions.
async fn check(
    client: &Client,
    draft: &ConsignmentInput,
    context: &Context,
) -> Result<(), Failure> {
    let questions = client.questions().await?.value.items;
    let questionnaire = Questionnaire::prepare(&questions);
    let form = questionnaire.form(draft, context);
    say!("4. Started a declaration of goats. It asks:");
    for item in form.items().iter().flat_map(Item::descendants) {
        let kind = match item.kind {
            ItemKind::Display => continue,
            ItemKind::Rows => "no row",
            _ if item.findings.is_empty() => "optional",
            _ => "missing",
        };
        say!("   {kind:8}  {}", printable(&item.text));
    }
    say!("5. Checked offline, fields and answers:");
    let findings = form.report().findings().iter();
    for finding in findings.filter(|finding| finding.question.is_none()) {
        say!(
            "   {:8}  {}",
            finding.severity,
            printable(finding.sentence())
        );
    }
    Ok(())
}

/// Saves the draft with its mistake, then corrected, and submits it. Returns its number.
async fn save_and_submit(
    account: &AccountClient,
    mut draft: ConsignmentInput,
) -> Result<ConsignmentNumber, Failure> {
    let refused = account.save_consignment(draft.clone()).await;
    let refused = refused.err().ok_or("the server accepted a wrong PIC")?;
    for finding in Report::from_server_errors(refused.server_errors()).errors() {
        say!(
            "6. The server refuses it: {}",
            printable(finding.sentence())
        );
    }

    draft.origin.pic = "QAZZ7777".into();
    draft = draft
        .answer(AnswerInput::new("17", "Yes")) // Did the vendor breed all of them?
        .answer(AnswerInput::new("70", "No")) // Any feed still inside a withholding period?
        .answer(AnswerInput::new("185", "Yes")) // Does every goat carry a device?
        .answer(AnswerInput::new("3", "160").row(0)) // Number of head
        .answer(AnswerInput::new("4", "Rangeland").row(0)) // Breed
        .answer(AnswerInput::new("5", "Mixed").row(0)) // Sex or class
        .answer(AnswerInput::new("8", "No").row(0)); // Will you draw the brand?
    let saved = account.save_consignment(draft.clone()).await?;
    show_problems(&saved);
    let number = saved.number()?;
    say!("7. Corrected, and saved as {}.", printable(&number));

    draft = draft.number(&number);
    let submitted = account.submit_consignment(draft).await?;
    show_problems(&submitted);
    let status = submitted.value.status.ok_or("no status")?;
    say!("8. Submitted. Its status is {}.", printable(status));
    Ok(number)
}

/// Lists the consignments changed since a day, page by page.
async fn list(account: &AccountClient) -> Result<(), Failure> {
    let new_year = Day::parse("2026-01-01")?;
    let filter = ConsignmentFilter::default().from_day(new_year, Jurisdiction::Qld);
    let mut pages = account.consignments(&filter.page_size(5));
    say!("9. Consignments changed this year:");
    let table = Consignments::new();
    println!("{}", table.headings());
    while let Some(page) = pages.next_page().await? {
        for consignment in &page.records {
            println!("{}", table.row(consignment));
        }
    }
    Ok(())
}

/// Searches the property register, and looks up three PICs.
async fn look_up(settings: &Settings) -> Result<(), Failure> {
    let register = settings.register()?.build()?;
    let mut found = register.search(&PropertySearch::text("yards"));
    let found = found.next_page().await?.ok_or("no first page")?;
    let yards = found.records.len();
    say!("12. The register has {yards} properties for \"yards\". Three look-ups:");
    let mut look_ups = register.lookup_many(["QAZZ7777", "NE000004", "QZZZ0000"]);
    while let Some(look_up) = look_ups.next().await {
        let status = match look_up.result? {
            Lookup::Found(property) if property.is_active() => "active",
            Lookup::Found(_) => "not active",
            _ => "not in the register",
        };
        say!("   {}  {status}", look_up.input);
    }
    Ok(())
}
