//! Checks the PICs of a list before a sale: `cargo run --example check_pics -- [FILE] [--csv OUT]`.
//!
//! FILE has one PIC a line, or is CSV with a column `PIC`. Without a file a bundled list is checked, and without settings in
//! a fake register of invented properties.

mod arguments;
#[path = "../cli/mod.rs"]
mod cli;
mod list;
mod row;
#[path = "../settings/mod.rs"]
mod settings;
mod table;

use std::collections::BTreeMap;
use std::process::ExitCode;

use arguments::Arguments;
use cli::Failure;
use settings::Settings;
use table::Table;

#[tokio::main]
async fn main() -> ExitCode {
    cli::end(run(Arguments::read()).await)
}

async fn run(arguments: Arguments) -> Result<(), Failure> {
    let pics = list::read(arguments.file.as_deref())?;
    if pics.is_empty() {
        return Err("the list is empty".into());
    }
    let settings = Settings::read().await?;
    let register = settings.register()?.build()?;

    let mut table = Table::begin(pics.len(), arguments.out.as_deref())?;
    let (mut counts, mut no_pics, mut failed) = (BTreeMap::new(), 0, 0);
    let mut look_ups = register.lookup_many(&pics).concurrency(8);
    let mut interrupts = cli::interrupts()?;
    let interrupted = loop {
        tokio::select! {
            look_up = look_ups.next() => match look_up {
                Some(look_up) => {
                    table.add(row::cells(&look_up))?;
                    *counts.entry(row::kind(&look_up)).or_insert(0) += 1;
                    match &look_up.result {
                        Ok(_) => {}
                        Err(error) if error.is_config() => no_pics += 1,
                        Err(_) => failed += 1,
                    }
                }
                None => break false,
            },
            _ = interrupts.recv() => break true,
        }
    };

    let (checked, all) = (look_ups.progress().returned, pics.len());
    table.end(checked, &counts);
    if interrupted || checked < all {
        Err(format!("interrupted: {checked} of {all} are checked").into())
    } else if failed > 0 {
        Err(format!("{failed} of {all} look-ups failed").into())
    } else if no_pics == all {
        Err("the list has no valid PIC".into())
    } else {
        Ok(())
    }
}
