//! Lists the consignments changed since a day, page by page, and resumes an interrupted run.
//!
//! `cargo run --example page_consignments -- [--since DATE] [--page-size N] [--json] [--resume FILE]`

mod arguments;
#[path = "../cli/mod.rs"]
mod cli;
#[path = "../progress/mod.rs"]
mod progress;
mod resume;
#[path = "../settings/mod.rs"]
mod settings;
#[path = "../table/mod.rs"]
mod table;

use std::io::{self, Write};
use std::process::ExitCode;

use envd_sdk::Pager;
use envd_sdk::model::{ConsignmentSummary, Day, Jurisdiction, Position};
use envd_sdk::ops::ConsignmentFilter;

use arguments::Arguments;
use cli::{Failure, printable, say};
use progress::Progress;
use resume::Resume;
use settings::Settings;
use table::consignments::Consignments;

#[tokio::main]
async fn main() -> ExitCode {
    let arguments = Arguments::read();
    cli::end(run(&arguments).await)
}

async fn run(arguments: &Arguments) -> Result<(), Failure> {
    let settings = Settings::read().await?;
    // An interrupted run stored its position; a complete one stored its day.
    let today = Day::today_in(Jurisdiction::Qld, settings.clock().now());
    let mut resume = match &arguments.resume {
        Some(file) if file.exists() => Resume::read(file)?,
        _ => Resume::since(arguments.since),
    };
    if resume.position == Position::start() {
        resume.begun = today.start_in(Jurisdiction::Qld);
    }
    // Check that the file can be written before listing anything.
    if let Some(file) = &arguments.resume {
        resume.write(file)?;
    }

    let (client, _manager) = settings.log_in().await?;
    let client = client.build()?;
    let user = client.registered_user().await?.value;
    let account = client.account(Settings::account_id(&user)?);
    let filter = ConsignmentFilter::default()
        .from(resume.since.clone())
        .page_size(arguments.page_size);
    let mut pages = account
        .consignments(&filter)
        .start_at(resume.position.clone());

    let listed = list(&mut pages, arguments, &mut resume).await?;
    if let Some(file) = &arguments.resume {
        // The next run lists records of this day again, so that it misses no change.
        resume.since = resume.begun.clone();
        resume.position = Position::start();
        resume.write(file)?;
    }
    if !arguments.json {
        match listed {
            0 => say!("No consignment has changed."),
            1 => say!("1 changed consignment."),
            several => say!("{several} changed consignments."),
        }
    }
    Ok(())
}

/// Prints the pages, and stores the position after each. Returns the number of consignments.
async fn list(
    pages: &mut Pager<ConsignmentSummary>,
    arguments: &Arguments,
    resume: &mut Resume,
) -> Result<u64, Failure> {
    let table = Consignments::new();
    if !arguments.json {
        println!("{}", table.headings());
    }
    let progress = Progress::new();
    let mut listed = 0;
    // The pager fetches the next page while the program prints the current one.
    while let Some(page) = pages.next_page().await? {
        let total = page.total.and_then(|total| u64::try_from(total).ok());
        progress.show(listed, total);
        let mut lines = Vec::new();
        for consignment in &page.records {
            lines.push(if arguments.json {
                cli::json(&serde_json::to_string(consignment)?)
            } else {
                table.row(consignment)
            });
        }
        progress.clear();
        for line in lines {
            println!("{line}");
        }
        for error in &page.unreadable {
            eprintln!("{}", printable(error));
        }
        for notice in &page.notices {
            eprintln!("the list changed while it was read: {notice:?}");
        }
        listed += page.records.len() as u64;
        progress.show(listed, total);
        // Store the position after the output: unwritten records must be listed again.
        io::stdout().flush()?;
        if let (Some(file), Some(next)) = (&arguments.resume, page.next) {
            resume.position = next;
            resume.write(file)?;
        }
    }
    Ok(listed)
}
