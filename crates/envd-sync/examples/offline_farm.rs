//! A day on a farm without reception, on a fake: `cargo run -p envd-sync --example offline_farm`.
//!
//! Two declarations are written in the paddock, a draft is edited here and on the website, and the reply to a request is lost. Each
//! ends as exactly one record, or asks the user.

mod cli;
#[allow(dead_code)] // The lines of JSON are for `outbox`.
#[path = "outbox/output.rs"]
mod output;
mod settings;

use std::io::{self, Write};
use std::process::ExitCode;
use std::time::Duration;

use envd_sdk::RetryPolicy;
use envd_sdk::fake::{Fake, Fault, WebsiteEdit};
use envd_sdk::model::{ConsignmentInput, FormType, PartyInput};
use envd_sync::outbox::{Decision, DeclarationId, Outbox};
use envd_sync::replica::{Depth, Replica};
use envd_sync::store::MemorySync;
use serde_json::{Value, json};
use tokio::time::timeout;

use cli::{Failure, printable};
use output::Output;
use settings::fixed_fake;

const USAGE: &str = "usage: offline_farm

A day on a farm without reception: two declarations are written in the paddock, one reply is
lost, and one draft is edited on the website as well. It runs on a fake of its own and takes no
settings. The example outbox is the same as a command line.";

/// The draft that is edited here and on the website.
const SHARED: &str = "C-900000104";

/// When the loads leave.
const FRIDAY: &str = "2026-11-27";

#[tokio::main]
async fn main() -> ExitCode {
    cli::no_arguments(USAGE);
    cli::end(tell().await)
}

async fn tell() -> Result<(), Failure> {
    let fake = fixed_fake().start().await?;
    let client = fake.client().retry(RetryPolicy::none()).build()?;
    let replica =
        Replica::new(&client.account(fake.account_id()), MemorySync::new()).depth(Depth::Full);
    let outbox = Outbox::new(&replica);

    say("1. Breakfast, with reception. The account is copied to the phone.")?;
    let held = replica.sync().await?.seen;
    say(&format!("   It has {held} consignments now."))?;
    let shared = in_the_paddock(&fake, &replica, &outbox).await?;

    say(&format!(
        "\n3. At home somebody edits {SHARED} on the website, too: it is to leave later."
    ))?;
    let edit = WebsiteEdit::change(SHARED, json!({"movementTime": "06:00"}));
    fake.edit(fake.account_id(), edit);

    on_the_hill(&fake, &outbox).await?;

    say("\n5. They talk. Cattle travel better in the cool: the time of the phone counts.\n")?;
    outbox.decide(shared, Decision::KeepMine).await?;
    send(&outbox).await?;

    say("\n6. In the evening the phone knows how each of them ended:\n")?;
    show(&outbox).await?;
    show_history(&outbox).await?;
    count_at_the_service(&fake, held)
}

/// Writes without reception, and tries to send. Returns the edit of the shared draft.
async fn in_the_paddock(
    fake: &Fake,
    replica: &Replica,
    outbox: &Outbox,
) -> Result<DeclarationId, Failure> {
    say(
        "\n2. In the paddock there is none. Two loads leave next Friday, so two declarations are written;",
    )?;
    say(&format!(
        "   the first is to be submitted. The draft {SHARED} is to leave half an hour earlier."
    ))?;
    fake.on_path("/v2/graphql")
        .fault(Fault::dropped_before())
        .forever();
    let shared = write_down(replica, outbox).await?;
    let report = outbox.send().await?;
    say(&format!(
        "   All are kept, none is sent: {} wait.\n",
        report.waiting
    ))?;
    show(outbox).await?;
    Ok(shared)
}

/// The first reply is lost.
async fn on_the_hill(fake: &Fake, outbox: &Outbox) -> Result<(), Failure> {
    say(
        "\n4. On the hill there is reception again, and at once it is lost: the service saves the first",
    )?;
    say("   declaration, and its reply does not arrive.")?;
    fake.clear_scripts();
    fake.on_operation("CreateOrSaveConsignment")
        .fault(Fault::dropped_after());
    fake.clock().advance(Duration::from_secs(600));
    say("   What happens then, step by step:\n")?;
    send(outbox).await?;
    say(
        "\n   The lost one was looked for, found, and not sent again. The draft that two people changed",
    )?;
    say("   is not overwritten: it waits for a decision.")
}

/// Writes two declarations and an edit of the shared draft. Returns the edit.
async fn write_down(replica: &Replica, outbox: &Outbox) -> Result<DeclarationId, Failure> {
    outbox.submit(load("QDZZ3333", "05:15")).await?;
    outbox.save(load("QCZZ8888", "09:30")).await?;

    let copied = replica.consignments().number(SHARED).list().await?;
    let copied = copied.records.first().ok_or("the copy has no such draft")?;
    let draft = copied.consignment()?;
    let earlier = ConsignmentInput::from(&draft).movement("2026-11-26", "05:00");
    Ok(outbox.update(&draft, earlier).await?.id)
}

fn load(destination: &str, time: &str) -> ConsignmentInput {
    let from = PartyInput::new("QAZZ7777");
    let to = PartyInput::new(destination);
    ConsignmentInput::new([FormType::Lpac1], from, to).movement(FRIDAY, time)
}

/// Sends what is due, and shows each change of state.
async fn send(outbox: &Outbox) -> Result<(), Failure> {
    let mut events = outbox.events();
    let report = outbox.send().await?;
    let mut output = Output::new(false);
    // All events have arrived by now, so this does not wait.
    while let Ok(Some(changed)) = timeout(Duration::ZERO, events.next_state()).await {
        output.entry(&changed)?;
    }
    let confirmed = report.confirmed;
    let asks = report.needs_attention;
    say(&format!(
        "\n   {confirmed} confirmed, {asks} to be decided."
    ))
}

/// Shows the waiting and the finished declarations.
async fn show(outbox: &Outbox) -> Result<(), Failure> {
    let mut declarations = outbox.declarations().await?;
    declarations.extend(outbox.history(None).await?.declarations);
    declarations.sort_by_key(|declaration| declaration.id);
    let mut output = Output::new(false);
    for declaration in &declarations {
        output.entry(declaration)?;
    }
    Ok(())
}

async fn show_history(outbox: &Outbox) -> Result<(), Failure> {
    say("\n   What happened to each:")?;
    for declaration in outbox.history(None).await?.declarations.iter().rev() {
        for event in &declaration.history {
            let at = event.at.to_time().map_or_else(String::new, cli::time);
            let what = event.event.to_string().replace('_', " ");
            let why = printable(&event.why);
            let why = if why.is_empty() {
                why
            } else {
                format!(": {why}")
            };
            say(&format!("   {} at {at} {what}{why}", declaration.id))?;
        }
    }
    Ok(())
}

/// Counts the records at the service.
fn count_at_the_service(fake: &Fake, before: u64) -> Result<(), Failure> {
    let records: Vec<Value> = fake.consignments(fake.account_id());
    let new = records.len() as u64 - before;
    let friday = records
        .iter()
        .filter(|record| record["movementDate"] == FRIDAY);
    let submitted = friday
        .clone()
        .filter(|record| record["status"] == "SUBMITTED");
    say(&format!(
        "\n   The service has {new} new records: {} for Friday, {} of them submitted. None is there twice.",
        friday.clone().count(),
        submitted.count()
    ))?;
    let shared = records.iter().find(|record| record["number"] == SHARED);
    let time = shared.map_or("-".to_owned(), |record| {
        printable(record["movementTime"].as_str().unwrap_or("-"))
    });
    say(&format!("   {SHARED} leaves at {time}."))
}

fn say(text: &str) -> Result<(), Failure> {
    Ok(writeln!(io::stdout(), "{text}")?)
}
