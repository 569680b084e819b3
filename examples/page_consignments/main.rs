//! Lists what has changed since a day, page by page, and goes on where it was interrupted.
//!
//! `cargo run --example page_consignments -- [--since DATE] [--page-size N] [--json] [--resume FILE]`

mod arguments;
#[path = "../reader/mod.rs"]
mod reader;
mod resume;
#[path = "../settings/mod.rs"]
mod settings;

use std::io::{self, Write};

use envd_sdk::model::{ConsignmentSummary, Day, Position, Timestamp};
use envd_sdk::ops::ConsignmentFilter;
use indicatif::ProgressBar;

use arguments::Arguments;
use resume::Resume;
use settings::{Failure, Settings};

#[tokio::main]
async fn main() -> Result<(), Failure> {
    reader::may_leave();
    let arguments = Arguments::read(std::env::args().skip(1))?;
    let settings = Settings::read().await?;
    let (client, _manager) = settings.log_in().await?;
    let client = client.build()?;
    let user = client.registered_user().await?.value;
    let account = client.account(Settings::account_id(&user)?);

    // A run that was interrupted left its position; one that ended left the day for the next.
    let today = Day::of(settings.clock().now());
    let mut kept = match &arguments.resume {
        Some(file) if file.exists() => Resume::read(file)?,
        _ => Resume::since(arguments.since),
    };
    if kept.position == Position::start() {
        kept.begun = today.into();
    }
    let filter = ConsignmentFilter::default()
        .from(kept.since.clone())
        .page_size(arguments.page_size);
    let mut pages = account
        .consignments(&filter)
        .start_at(kept.position.clone());

    // On stderr, and not at all where that is no terminal.
    let bar = ProgressBar::no_length();
    // While a page is written, the next one is fetched.
    while let Some(page) = pages.next_page().await? {
        if let Some(total) = page.total.and_then(|total| u64::try_from(total).ok()) {
            bar.set_length(total);
        }
        for consignment in &page.records {
            if arguments.json {
                println!("{}", serde_json::to_string(consignment)?);
            } else {
                show(consignment);
            }
        }
        bar.inc(page.records.len() as u64);
        // Only now: what is not written yet must come again.
        io::stdout().flush()?;
        if let (Some(file), Some(next)) = (&arguments.resume, page.next) {
            kept.position = next;
            kept.write(file)?;
        }
    }
    bar.finish_and_clear();
    if let Some(file) = &arguments.resume {
        // What changes on the day of this run comes again: better twice than never.
        kept.since = kept.begun.clone();
        kept.position = Position::start();
        kept.write(file)?;
    }
    if !arguments.json {
        println!("{} consignments have changed.", bar.position());
    }
    Ok(())
}

fn show(consignment: &ConsignmentSummary) {
    let number = consignment
        .number
        .as_ref()
        .map_or("-", |text| text.as_str());
    let status = consignment
        .status
        .as_ref()
        .map_or("-", |text| text.as_str());
    let changed = consignment
        .updated_at
        .as_ref()
        .map_or("-", Timestamp::as_str);
    println!("{number:<12} {status:<10} {changed}");
}
