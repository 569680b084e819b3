//! A story on a fake: how a copy stays up to date.

use std::io::{self, Write};

use console::Term;
use envd_sdk::fake::WebsiteEdit;
use envd_sdk::fake::controls::{Assumptions, Deleted};
use envd_sdk::model::ConsignmentStatus;
use envd_sdk::profile::{ComparedDate, ServiceProfile, Sourced};
use envd_sync::replica::{Replica, SyncReport};
use envd_sync::store::{MemorySync, Order};
use serde_json::json;

use super::cli::{self, Failure, printable};
use super::output::Output;
use super::progress::Progress;
use super::settings::fixed_fake;
use super::with_progress;

pub(crate) async fn tell() -> Result<(), Failure> {
    let assumed = Assumptions::default().deleted(Deleted::Hidden);
    let fake = fixed_fake().assume(assumed).start().await?;
    let mut profile = ServiceProfile::default();
    profile.lists.compared_date = Sourced::seen(Some(ComparedDate::LastChange));
    let client = fake.client().profile(&profile).build()?;
    let account = client.account(fake.account_id());
    say("1. Started a fake of the service on this machine. The copy of its account is in memory;")?;
    say("   --store FILE keeps one in a file.")?;

    let progress = Progress::new();
    let replica = with_progress(Replica::new(&account, MemorySync::new()), &progress).page_size(5);
    let report = replica.sync().await?;
    progress.clear();
    say(
        "2. The first sync copies everything, and the feed of the consumer \"accounting\" shows it:",
    )?;
    show_changes(&replica, &report).await?;

    say("3. From here on the copy answers without a request, as where there is no reception:")?;
    ask_the_copy(&replica).await?;

    say(
        "4. On the website one draft is submitted, one is edited and one is deleted. The profile says that the",
    )?;
    say(
        "   service compares the last change, so the next sync asks for changes alone. It finds the first two:",
    )?;
    let submitted = WebsiteEdit::change("C-900000103", json!({"status": "SUBMITTED"}));
    let edited = WebsiteEdit::change("C-900000104", json!({"movementTime": "04:30"}));
    let deleted = WebsiteEdit::delete("C-900000106");
    for edit in [submitted, edited, deleted] {
        fake.edit(fake.account_id(), edit);
    }
    let report = replica.sync().await?;
    show_changes(&replica, &report).await?;

    say(
        "5. A full scan does not list the third draft, which may be a mistake of a list that shifts:",
    )?;
    let report = replica.sync_full().await?;
    show_changes(&replica, &report).await?;

    say("6. A second one does not list it either, and a read does not find it:")?;
    let report = replica.sync_full().await?;
    show_changes(&replica, &report).await?;

    let mut late = replica.changes("screen in the yard");
    let mut reported = 0;
    while let Some(change) = late.next().await? {
        late.acknowledge(&change).await?;
        reported += 1;
    }
    say(&format!(
        "7. A consumer that is named late is told all that the copy holds, {reported} records. Consumers now:"
    ))?;
    for consumer in replica.consumers().await? {
        let name = printable(consumer.name);
        let position = consumer.acknowledged;
        say(&format!(
            "   {name} has acknowledged everything up to change {position}"
        ))?;
    }
    Ok(())
}

/// Shows and acknowledges the new changes.
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
    let all = replica.consignments().count().await?;
    let drafts = replica.consignments().status(ConsignmentStatus::Draft);
    let drafts = drafts.count().await?;
    say(&format!("   {drafts} of {all} consignments are drafts."))?;
    say("   The last three by the time of their last change:")?;
    let latest = replica.consignments().order(Order::LastUpdated);
    for record in latest.page_size(3).list().await?.records {
        let summary = record.summary()?;
        let number = summary.number.map_or_else(|| "-".to_owned(), printable);
        let updated = summary.updated_at.and_then(|at| at.to_time());
        let updated = updated.map_or_else(|| "-".to_owned(), cli::time);
        say(&format!("   {number}  {updated}"))?;
    }
    say("")
}

fn say(line: &str) -> Result<(), Failure> {
    let line = cli::fitted(line, &Term::stdout());
    Ok(writeln!(io::stdout(), "{line}")?)
}
