//! Lists the consignments changed since a day, page by page, and resumes an interrupted run.
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

    // An interrupted run stored its position; a complete one stored its day.
    let today = Day::today_in(Jurisdiction::Qld, settings.clock().now());
    let mut resume = match &arguments.resume {
        Some(file) if file.exists() => Resume::read(file)?,
        _ => Resume::since(arguments.since),
    };
    if resume.position == Position::start() {
        resume.begun = today.start_in(Jurisdiction::Qld);
    }
    let filter = ConsignmentFilter::default()
        .from(resume.since.clone())
        .page_size(arguments.page_size);
    let mut pages = account
        .consignments(&filter)
        .start_at(resume.position.clone());

    // On stderr; hidden if that is not a terminal.
    let bar = ProgressBar::no_length();
    // The pager fetches the next page while this one is written.
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
            bar.suspend(|| eprintln!("the list changed while it was read: {notice:?}"));
        }
        bar.inc(page.records.len() as u64);
        // Store the position after the output: unwritten records must be listed again.
        io::stdout().flush()?;
        if let (Some(file), Some(next)) = (&arguments.resume, page.next) {
            resume.position = next;
            resume.write(file)?;
        }
    }
    bar.finish_and_clear();
    if let Some(file) = &arguments.resume {
        // Records that change on the day of this run are listed again, so that none is missed.
        resume.since = resume.begun.clone();
        resume.position = Position::start();
        resume.write(file)?;
    }
    if !arguments.json {
        println!("{} changed consignments.", bar.position());
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
