//! Searches the property register: `cargo run --example find_property -- [TEXT]`.
//!
//! Searches at `ENVD_REGISTER_URL`, with `ENVD_ACCESS_TOKEN` as bearer token if it is set; with no settings, in a fake
//! register of invented properties.

mod cli;
mod settings;
mod table;

use std::process::ExitCode;

use console::Term;
use envd_sdk::ErrorKind;
use envd_sdk::model::{Property, PropertyTypeCode};
use envd_sdk::register::PropertySearch;
use lexopt::Arg::{Long, Short, Value};
use lexopt::ValueExt;

use cli::{Failure, printable};
use settings::Settings;
use table::{Columns, or_dash};

const USAGE: &str = "usage: find_property [TEXT]

Searches the property register for TEXT, or for \"yards\": a fake register of invented properties,
or the one at ENVD_REGISTER_URL, with ENVD_ACCESS_TOKEN as bearer token if it is set.";

#[tokio::main]
async fn main() -> ExitCode {
    let mut words = cli::arguments(USAGE, words);
    if words.is_empty() {
        words.push("yards".to_owned());
    }
    if words.iter().all(|word| word.trim().is_empty()) {
        return cli::refuse("the search text is empty", USAGE);
    }
    cli::end(run(&words.join(" ")).await)
}

fn words(given: &mut lexopt::Parser) -> Result<Vec<String>, lexopt::Error> {
    let mut words = Vec::new();
    while let Some(argument) = given.next()? {
        match argument {
            Value(word) => words.push(word.string()?),
            Short('h') | Long("help") => cli::help(USAGE),
            _ => return Err(argument.unexpected()),
        }
    }
    Ok(words)
}

async fn run(text: &str) -> Result<(), Failure> {
    let settings = Settings::read().await?;
    let register = settings.register()?.build()?;

    let columns = Columns::new([8, 24, 18, 5, 11]);
    let headings = ["PIC", "NAME", "TOWN", "STATE", "STATUS"];
    let search = PropertySearch::text(text).page_size(50);
    let mut properties = register.search(&search).items();
    let mut shown = 0;
    while let Some(property) = properties.next().await {
        match property {
            Ok(property) => {
                if shown == 0 {
                    println!("{}", columns.headings(headings, "USE"));
                }
                println!("{}", row(&columns, &property));
                shown += 1;
            }
            Err(error) if error.kind() == ErrorKind::UnreadableRecord => {
                eprintln!("{}", printable(error));
            }
            Err(error) => return Err(error.into()),
        }
    }
    let text = printable(text);
    let end = if shown == 0 {
        format!(
            "Nothing was found for \u{201c}{text}\u{201d}. Try a part of the name, or the town."
        )
    } else {
        format!("{shown} found for \u{201c}{text}\u{201d}")
    };
    println!("{}", cli::fitted(&end, &Term::stdout()));
    Ok(())
}

fn row(columns: &Columns<5>, property: &Property) -> String {
    let text = |field: &Option<String>| field.clone().unwrap_or_default();
    let status = property.admin_status.as_ref();
    let uses: Vec<&str> = property.property_types.iter().map(in_words).collect();
    columns.line(
        [
            &text(&property.pic),
            &text(&property.name),
            &text(&property.town),
            &text(&property.registered_state),
            &status.map_or(String::new(), ToString::to_string),
        ],
        or_dash(&uses.join(", ")),
    )
}

/// The meanings of the codes are inferred; an unknown code is shown unchanged.
fn in_words(code: &PropertyTypeCode) -> &str {
    match code {
        PropertyTypeCode::Property => "farm",
        PropertyTypeCode::Feedlot => "feedlot",
        PropertyTypeCode::StockAgent => "stock agent",
        PropertyTypeCode::Saleyard => "saleyard",
        PropertyTypeCode::Abattoir => "abattoir",
        other => other.as_str(),
    }
}
