//! Lists what has changed since a day, page by page, and goes on where it was interrupted.
//!
//! `cargo run --example page_consignments -- [--since DATE] [--page-size N] [--json] [--resume FILE]`

mod reader;
mod settings;

use std::fs;
use std::io::{self, Write};
use std::num::NonZeroU32;
use std::path::{Path, PathBuf};
use std::process;

use envd_sdk::model::{Day, Position, Timestamp};
use envd_sdk::ops::ConsignmentFilter;
use indicatif::ProgressBar;
use serde::{Deserialize, Serialize};

use settings::{Failure, Settings};

const USAGE: &str =
    "usage: page_consignments [--since DATE] [--page-size N] [--json] [--resume FILE]";

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
        Some(file) if file.exists() => serde_json::from_slice(&fs::read(file)?)?,
        _ => Resume {
            since: arguments.since.unwrap_or(Day::parse("2026-01-01")?).into(),
            position: Position::start(),
            begun: today.into(),
        },
    };
    if kept.position == Position::start() {
        kept.begun = today.into();
    }
    let filter = ConsignmentFilter::default()
        .from(kept.since.clone())
        .page_size(arguments.page_size);
    let mut pager = account
        .consignments(&filter)
        .start_at(kept.position.clone());

    // On stderr, and not at all where that is no terminal.
    let bar = ProgressBar::no_length();
    let mut count = 0_u64;
    // While a page is written, the next one is fetched.
    while let Some(page) = pager.next_page().await? {
        if let Some(total) = page.total.and_then(|total| u64::try_from(total).ok()) {
            bar.set_length(total);
        }
        for consignment in &page.records {
            if arguments.json {
                println!("{}", serde_json::to_string(consignment)?);
            } else {
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
            count += 1;
        }
        bar.inc(page.records.len() as u64);
        // Only now: what is not written yet must come again.
        io::stdout().flush()?;
        if let (Some(file), Some(next)) = (&arguments.resume, page.next) {
            kept.position = next;
            write_whole(file, &kept)?;
        }
    }
    bar.finish_and_clear();
    if let Some(file) = &arguments.resume {
        // What changes on the day of this run comes again: better twice than never.
        kept.since = kept.begun.clone();
        kept.position = Position::start();
        write_whole(file, &kept)?;
    }
    if !arguments.json {
        println!("{count} consignments have changed.");
    }
    Ok(())
}

/// What is kept between runs.
#[derive(Serialize, Deserialize)]
struct Resume {
    since: Timestamp,
    position: Position,
    /// The day on which this listing began: the next one starts there.
    begun: Timestamp,
}

/// Writes a file in one step: an interruption leaves the old one or the new one, never half of one.
fn write_whole(file: &Path, kept: &Resume) -> Result<(), Failure> {
    let beside = file.with_extension("new");
    let mut new = fs::File::create(&beside)?;
    new.write_all(&serde_json::to_vec(kept)?)?;
    new.sync_all()?;
    Ok(fs::rename(&beside, file)?)
}

struct Arguments {
    since: Option<Day>,
    page_size: u32,
    json: bool,
    resume: Option<PathBuf>,
}

impl Arguments {
    fn read(mut given: impl Iterator<Item = String>) -> Result<Self, Failure> {
        let mut read = Self {
            since: None,
            page_size: 5,
            json: false,
            resume: None,
        };
        while let Some(name) = given.next() {
            let mut value = || given.next().ok_or(USAGE);
            match name.as_str() {
                "--since" => read.since = Some(Day::parse(&value()?)?),
                "--page-size" => read.page_size = value()?.parse::<NonZeroU32>()?.get(),
                "--json" => read.json = true,
                "--resume" => read.resume = Some(value()?.into()),
                "--help" | "-h" => {
                    println!("{USAGE}");
                    process::exit(0);
                }
                _ => return Err(USAGE.into()),
            }
        }
        Ok(read)
    }
}
