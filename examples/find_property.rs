//! Searches the property register: `cargo run --example find_property -- [TEXT]`.
//!
//! Searches at `ENVD_REGISTER_URL`, with `ENVD_ACCESS_TOKEN` as bearer token if it is set; with no settings, in a fake
//! register of invented properties.

mod cli;
mod settings;

use std::process::ExitCode;

use envd_sdk::model::{Property, PropertyTypeCode};
use envd_sdk::register::PropertySearch;
use lexopt::Arg::{Long, Short, Value};
use lexopt::ValueExt;

use cli::{Failure, printable};
use settings::Settings;

const USAGE: &str = "usage: find_property [TEXT]

Searches the property register for TEXT, or for \"yards\": a fake register of invented properties,
or the one at ENVD_REGISTER_URL, with ENVD_ACCESS_TOKEN as bearer token if it is set.";

#[tokio::main]
async fn main() -> ExitCode {
    let mut words = cli::arguments(USAGE, words);
    if words.is_empty() {
        words.push("yards".to_owned());
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

    println!(
        "{:8}  {:24}  {:16}  {:5}  {:10}  TYPES",
        "PIC", "NAME", "TOWN", "STATE", "STATUS"
    );
    let search = PropertySearch::text(text).page_size(50);
    let mut properties = register.search(&search).items();
    let mut shown = 0;
    while let Some(property) = properties.next().await {
        match property {
            Ok(property) => {
                print_row(&property);
                shown += 1;
            }
            Err(error) if error.is_unreadable_record() => eprintln!("{error}"),
            Err(error) => return Err(error.into()),
        }
    }
    println!("{shown} found for {text:?}");
    Ok(())
}

fn print_row(property: &Property) {
    let or_dash = |field: &Option<String>| field.as_ref().map_or("-".to_owned(), printable);
    let status = property.admin_status.as_ref();
    let status = status.map_or("-".to_owned(), printable);
    let types = property.property_types.iter();
    let types: Vec<&str> = types.map(PropertyTypeCode::as_str).collect();
    println!(
        "{:8}  {:24}  {:16}  {:5}  {status:10}  {}",
        or_dash(&property.pic),
        or_dash(&property.name),
        or_dash(&property.town),
        or_dash(&property.registered_state),
        printable(types.join(" ")),
    );
}
