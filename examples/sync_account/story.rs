//! How a copy stays in step, told on a fake.

use std::io::{self, Write};

use envd_sdk::Account;
use envd_sdk::model::{ConsignmentInput, ConsignmentStatus};
use envd_sdk::ops::ConsignmentFilter;
use envd_sdk::sync::replica::{Replica, SyncReport};
use envd_sdk::sync::store::{MemorySync, Order};
use indicatif::ProgressBar;

use super::cli::{Failure, printable};
use super::output::Output;
use super::settings::Settings;
use super::with_progress;

pub(crate) async fn tell() -> Result<(), Failure> {
    let settings = Settings::read().await?;
    let (client, _manager) = settings.log_in().await?;
    let client = client.build()?;
    let user = client.registered_user().await?.value;
    let account = client.account(Settings::account_id(&user)?);
    say(&format!(
        "1. {}. The copy is in memory; --store FILE keeps it in a file.",
        settings.describe()
    ))?;

    let bar = ProgressBar::no_length();
    let replica = with_progress(account.replica(MemorySync::new()), &bar).page_size(5);
    let report = replica.sync().await?;
    bar.finish_and_clear();
    say(
        "2. The first sync copies everything, and the feed of the consumer \"accounting\" shows it:",
    )?;
    show_changes(&replica, &report).await?;

    say("3. From here on the copy answers without a request, as where there is no reception:")?;
    ask_the_copy(&replica).await?;

    say("4. Someone submits a draft on the website. The next sync finds it:")?;
    submit_a_draft(&account).await?;
    let report = replica.sync().await?;
    show_changes(&replica, &report).await?;

    say(
        "5. By now the replica knows which date the service compares, so it asks for changes alone:",
    )?;
    let report = replica.sync().await?;
    show_changes(&replica, &report).await?;

    let mut late = replica.changes("screen in the yard");
    let mut told = 0;
    while let Some(change) = late.next().await? {
        late.acknowledge(&change).await?;
        told += 1;
    }
    say(&format!(
        "6. A consumer that is named late is told all that the copy holds: {told} records. Consumers now:"
    ))?;
    for consumer in replica.consumers().await? {
        let (name, position) = (printable(consumer.name), consumer.acknowledged);
        say(&format!(
            "   {name} has acknowledged everything up to change {position}"
        ))?;
    }
    Ok(())
}

/// Shows and acknowledges what is new.
async fn show_changes(replica: &Replica, report: &SyncReport) -> Result<(), Failure> {
    let mut output = Output::new(false);
    let mut feed = replica.changes("accounting");
    while let Some(change) = feed.next().await? {
        output.change(&change)?;
        output.flush()?;
        feed.acknowledge(&change).await?;
    }
    output.end_of_changes()?;
    output.report(report)
}

async fn ask_the_copy(replica: &Replica) -> Result<(), Failure> {
    let drafts = replica.consignments().status(ConsignmentStatus::Draft);
    let all = replica.consignments().count().await?;
    say(&format!(
        "   {} of {all} consignments are drafts",
        drafts.count().await?
    ))?;
    let latest = replica
        .consignments()
        .order(Order::LastUpdated)
        .page_size(3);
    for record in latest.list().await?.records {
        let summary = record.summary()?;
        let number = summary.number.map_or_else(|| "-".to_owned(), printable);
        let updated = summary.updated_at.map_or_else(|| "-".to_owned(), printable);
        say(&format!("   {number} was updated at {updated}"))?;
    }
    say("")
}

/// What the website does; the copy knows nothing of it.
async fn submit_a_draft(account: &Account) -> Result<(), Failure> {
    let drafts = ConsignmentFilter::default().status(ConsignmentStatus::Draft);
    let mut drafts = account.consignments(&drafts).items();
    let draft = drafts.next().await.ok_or("there is no draft")??;
    let id = draft.id.ok_or("the draft has no id")?;
    let draft = account.consignment(id).await?.value;
    account
        .submit_consignment(ConsignmentInput::from(&draft))
        .await?;
    Ok(())
}

fn say(line: &str) -> Result<(), Failure> {
    Ok(writeln!(io::stdout(), "{line}")?)
}
