//! Lists what has changed since a day, page by page, and goes on where it was interrupted.
//!
//! `cargo run --example page_consignments -- [--since DATE] [--page-size N] [--json] [--resume FILE]`

mod arguments;
#[path = "../cli/mod.rs"]
mod cli;
mod resume;
#[path = "../settings/mod.rs"]
mod settings;

use std::fmt::Display;
use std::io::{self, Write};
use std::process::ExitCode;

use envd_sdk::model::{ConsignmentSummary, Day, Jurisdiction, Position};
use envd_sdk::ops::ConsignmentFilter;
use indicatif::ProgressBar;

use arguments::Arguments;
use cli::{Failure, printable};
use resume::Resume;
use settings::Settings;

#[tokio::main]
async fn main() -> ExitCode {
    let arguments = Arguments::read();
    cli::end(run(&arguments).await)
}

async fn run(arguments: &Arguments) -> Result<(), Failure> {
    let settings = Settings::read().await?;
    let (client, _manager) = settings.log_in().await?;
    let client = client.build()?;
    let user = client.registered_user().await?.value;
    let account = client.account(Settings::account_id(&user)?);

    // A run that was interrupted left its position; one that ended left the day for the next.
    let today = Day::today_in(Jurisdiction::Qld, settings.clock().now());
    let mut kept = match &arguments.resume {
        Some(file) if file.exists() => Resume::read(file)?,
        _ => Resume::since(arguments.since),
    };
    if kept.position == Position::start() {
        kept.begun = today.start_in(Jurisdiction::Qld);
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
                println!("{}", cli::json(&serde_json::to_string(consignment)?));
            } else {
                show(consignment);
            }
        }
        for error in &page.unreadable {
            bar.suspend(|| eprintln!("{error}"));
        }
        for notice in &page.notices {
            bar.suspend(|| eprintln!("the list has changed meanwhile: {notice:?}"));
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
    let number = or_dash(consignment.number.as_ref());
    let status = or_dash(consignment.status.as_ref());
    let changed = or_dash(consignment.updated_at.as_ref());
    println!("{number:<12} {status:<10} {changed}");
}

fn or_dash(field: Option<impl Display>) -> String {
    field.map_or_else(|| "-".to_owned(), printable)
}
