//! Checks the PICs of a list before a sale: `cargo run --example check_pics -- [FILE] [--csv OUT]`.
//!
//! FILE has one PIC a line, or is CSV with a column `PIC`. With no file a list that comes with the example is checked, and
//! with no settings in a fake register of invented properties.

mod settings;

use std::collections::BTreeMap;
use std::io::{self, Read, Write};
use std::path::PathBuf;

use envd_sdk::register::{Answer, Lookup};
use indicatif::{ProgressBar, ProgressStyle};

use settings::{Failure, Settings};

const USAGE: &str = "usage: check_pics [FILE] [--csv OUT]";
const BUNDLED: &str = include_str!("data/pics.csv");
const HEADINGS: [&str; 5] = ["PIC", "NAME", "TOWN", "STATE", "STATUS"];

#[tokio::main]
async fn main() -> Result<(), Failure> {
    let (file, out) = arguments()?;
    let text = match file {
        Some(file) => {
            std::fs::read_to_string(&file).map_err(|e| format!("{}: {e}", file.display()))?
        }
        None => BUNDLED.to_owned(),
    };
    let pics = read_pics(text.as_bytes())?;
    let mut csv = match out {
        Some(out) => Some(csv::Writer::from_path(out)?),
        None => None,
    };
    if let Some(csv) = &mut csv {
        csv.write_record(HEADINGS)?;
    }
    let settings = Settings::read().await?;
    let register = settings.register()?.build()?;

    let bar = progress_bar(pics.len());
    let mut counts = BTreeMap::new();
    // The check goes on to its end, and the file with it, even if nobody reads the screen any more.
    let show = |row: &[String; 5]| {
        let [pic, name, town, state, status] = row;
        let line = format!("{pic:10}  {name:24}  {town:18}  {state:5}  {status}");
        bar.suspend(|| drop(writeln!(io::stdout(), "{line}")));
    };
    show(&HEADINGS.map(str::to_owned));
    let mut answers = register.lookup_many(&pics).concurrency(8);
    while let Some(answer) = answers.next().await {
        let row = row(&answer);
        show(&row);
        if let Some(csv) = &mut csv {
            csv.write_record(&row)?;
        }
        let kind = if answer.property().is_some() {
            row[4].as_str()
        } else {
            unknown(&answer)
        };
        *counts.entry(kind.to_owned()).or_insert(0) += 1;
        bar.set_position(answers.progress().answered as u64);
    }
    bar.finish_and_clear();
    if let Some(csv) = &mut csv {
        csv.flush()?;
    }
    let counts: Vec<_> = counts
        .iter()
        .map(|(kind, count)| format!("{count} {kind}"))
        .collect();
    drop(writeln!(
        io::stdout(),
        "{} checked: {}",
        pics.len(),
        counts.join(", ")
    ));
    Ok(())
}

fn arguments() -> Result<(Option<PathBuf>, Option<PathBuf>), Failure> {
    let (mut file, mut out) = (None, None);
    let mut arguments = std::env::args_os().skip(1);
    while let Some(argument) = arguments.next() {
        let (place, value) = if argument == "--csv" {
            (
                &mut out,
                arguments.next().ok_or("--csv needs a file to write")?,
            )
        } else if argument == "--help" || argument == "-h" {
            println!("{USAGE}");
            std::process::exit(0);
        } else if argument.to_string_lossy().starts_with('-') {
            return Err(USAGE.into());
        } else {
            (&mut file, argument)
        };
        if place.replace(value.into()).is_some() {
            return Err(USAGE.into());
        }
    }
    Ok((file, out))
}

/// The column `PIC` where there is one, else the first one; then the first line is a PIC already.
fn read_pics(text: impl Read) -> Result<Vec<String>, Failure> {
    let mut reader = csv::ReaderBuilder::new()
        .has_headers(false)
        .flexible(true)
        .trim(csv::Trim::All)
        .from_reader(text);
    let (mut column, mut pics) = (0, Vec::new());
    for (number, record) in reader.records().enumerate() {
        let record = record?;
        let clean = |cell: &str| cell.trim_start_matches('\u{feff}').trim().to_owned();
        let named = record
            .iter()
            .position(|cell| clean(cell).eq_ignore_ascii_case("pic"));
        match named {
            Some(at) if number == 0 => column = at,
            _ => pics.push(clean(record.get(column).unwrap_or_default())),
        }
    }
    Ok(pics)
}

fn row(answer: &Answer) -> [String; 5] {
    let text = |field: Option<&String>| field.map_or_else(|| "-".to_owned(), Clone::clone);
    let found = answer.property();
    let status = match found.map(|property| &property.admin_status) {
        Some(Some(status)) => status.to_string(),
        Some(None) => "no status".to_owned(),
        None => match &answer.result {
            Err(error) => error.to_string(),
            Ok(_) => with_advice(answer),
        },
    };
    [
        answer.asked.clone(),
        text(found.and_then(|property| property.name.as_ref())),
        text(found.and_then(|property| property.town.as_ref())),
        text(found.and_then(|property| property.registered_state.as_ref())),
        status,
    ]
}

/// What looks mistyped is worth a word where nothing was found.
fn with_advice(answer: &Answer) -> String {
    let kind = unknown(answer);
    match answer.pic().and_then(|pic| pic.advice()) {
        Some(advice) => format!("{kind} ({advice})"),
        None => kind.to_owned(),
    }
}

fn unknown(answer: &Answer) -> &'static str {
    match &answer.result {
        Ok(Lookup::Several(_)) => "found more than once",
        Ok(_) => "not in the register",
        Err(error) if error.is_config() => "not a PIC",
        Err(_) => "failed",
    }
}

/// On the error output, and hidden where that is no terminal.
fn progress_bar(length: usize) -> ProgressBar {
    let bar = ProgressBar::new(length as u64);
    if let Ok(style) = ProgressStyle::with_template("{bar:40} {pos}/{len} {eta}") {
        bar.set_style(style);
    }
    bar
}
