//! Checks the PICs of a list before a sale: `cargo run --example check_pics -- [FILE] [--csv OUT]`.
//!
//! FILE has one PIC a line, or is CSV with a column `PIC`. With no file a list that comes with the example is checked, and
//! with no settings in a fake register of invented properties.

mod arguments;
mod list;
#[path = "../settings/mod.rs"]
mod settings;
mod table;

use std::collections::BTreeMap;

use envd_sdk::register::{Answer, Lookup};

use arguments::Arguments;
use settings::{Failure, Settings};
use table::Table;

#[tokio::main]
async fn main() -> Result<(), Failure> {
    let Arguments { file, out } = Arguments::read()?;
    let pics = list::read(file.as_deref())?;
    let settings = Settings::read().await?;
    let register = settings.register()?.build()?;

    let mut table = Table::begin(pics.len(), out.as_deref())?;
    let mut counts = BTreeMap::new();
    let mut answers = register.lookup_many(&pics).concurrency(8);
    while let Some(answer) = answers.next().await {
        table.add(row(&answer), answers.progress().answered)?;
        *counts.entry(kind(&answer)).or_insert(0) += 1;
    }

    let counts = counts.iter().map(|(kind, count)| format!("{count} {kind}"));
    let counts: Vec<String> = counts.collect();
    table.end(&format!("{} checked: {}", pics.len(), counts.join(", ")))
}

/// PIC, name, town, state and status.
fn row(answer: &Answer) -> [String; 5] {
    let text = |field: Option<&String>| field.map_or_else(|| "-".to_owned(), Clone::clone);
    let found = answer.property();
    [
        answer.asked.clone(),
        text(found.and_then(|property| property.name.as_ref())),
        text(found.and_then(|property| property.town.as_ref())),
        text(found.and_then(|property| property.registered_state.as_ref())),
        status(answer),
    ]
}

fn status(answer: &Answer) -> String {
    // What looks mistyped is worth a word where nothing was found.
    let advice = answer.pic().and_then(|pic| pic.advice());
    match (&answer.result, advice) {
        (Err(error), _) => error.to_string(),
        (Ok(_), Some(advice)) if answer.property().is_none() => {
            format!("{} ({advice})", kind(answer))
        }
        _ => kind(answer),
    }
}

/// What is counted.
fn kind(answer: &Answer) -> String {
    match &answer.result {
        Ok(Lookup::Found(property)) => match &property.admin_status {
            Some(status) => status.to_string(),
            None => "no status".to_owned(),
        },
        Ok(Lookup::Several(_)) => "found more than once".to_owned(),
        Ok(_) => "not in the register".to_owned(),
        Err(error) if error.is_config() => "not a PIC".to_owned(),
        Err(_) => "failed".to_owned(),
    }
}
