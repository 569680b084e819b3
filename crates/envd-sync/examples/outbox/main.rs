//! A command line that writes declarations without reception, and sends them once there is reception.
//!
//! `cargo run -p envd-sync --example outbox -- --store FILE add|edit|withdraw|delete|decide|run|list ..`
//!
//! When a command ends, its entry is in the file; `run` sends it. A program that is killed at any moment loses nothing, and sends
//! nothing twice. For a story see `offline_farm`.

mod arguments;
#[path = "../cli/mod.rs"]
mod cli;
mod failure;
mod file;
mod input;
mod output;
mod sending;
#[path = "../settings/mod.rs"]
mod settings;

use std::process::ExitCode;

use envd_sdk::model::Timestamp;
use envd_sync::outbox::{Declaration, Outbox};

use arguments::{Add, Arguments, Command, Edit, USAGE};
use cli::{Failure, Unusable};
use file::File;
use input::Input;
use output::Output;
use settings::Settings;

#[tokio::main]
async fn main() -> ExitCode {
    let Some(arguments) = Arguments::read() else {
        if Settings::name_servers() {
            return cli::refuse("--store FILE and a command are needed", USAGE);
        }
        println!("{USAGE}\n\nThe example offline_farm shows on a fake what it is good for.");
        return ExitCode::SUCCESS;
    };
    let done = execute(arguments).await;
    done.unwrap_or_else(|failure| failure::fail(&failure))
}

async fn execute(arguments: Arguments) -> Result<ExitCode, Failure> {
    let store = &arguments.store;
    match arguments.command {
        // A mistyped name must not create a file.
        Command::List { json } if cli::is_absent(store) => {
            Output::new(json).no_file(store)?;
            return Ok(ExitCode::SUCCESS);
        }
        Command::Edit(_) | Command::Withdraw(_) | Command::Delete(_) | Command::Decide { .. }
            if cli::is_absent(store) =>
        {
            let problem = format!("--store {}: there is no such file", store.display());
            return Err(failure::UnusableStore(problem).into());
        }
        _ => {}
    }
    let file = File::open(&arguments.store)?;
    let outbox = file.outbox()?;
    let written = match arguments.command {
        Command::Run(options) => return sending::run(file, &options).await,
        Command::List { json } => {
            list(&outbox, json).await?;
            return Ok(ExitCode::SUCCESS);
        }
        Command::Add(options) => add(outbox, options).await?,
        Command::Edit(options) => edit(outbox, options).await?,
        Command::Withdraw(entry) => outbox.withdraw(entry).await?,
        Command::Delete(entry) => outbox.delete(entry).await?,
        Command::DeleteRecord(id) => outbox.delete_record(id).await?,
        Command::Decide { entry, decision } => outbox.decide(entry, decision).await?,
    };
    Output::written(&written)?;
    Ok(ExitCode::SUCCESS)
}

async fn add(outbox: Outbox, options: Add) -> Result<Declaration, Failure> {
    let Input {
        input,
        is_submitted,
    } = input::input(&options.input)?;
    let outbox = limited(outbox, options.not_after);
    let record = options.base.as_deref().map(input::record);
    let names = (input.input().id.value(), input.input().number.value());
    let is_submitted = is_submitted || options.submit;
    Ok(match (record.transpose()?, is_submitted) {
        (None, _) if names != (None, None) => {
            let problem = "it names a record: --base RECORD.json, as it was edited, is needed";
            return Err(Unusable::new(&options.input, problem).into());
        }
        (None, _) => {
            let new = if is_submitted {
                outbox.submit(input)
            } else {
                outbox.save(input)
            };
            match options.key {
                Some(key) => new.key(key).await?,
                None => new.await?,
            }
        }
        (Some(record), false) => outbox.update(&record, input).await?,
        (Some(record), true) => outbox.update(&record, input).submit().await?,
    })
}

async fn edit(outbox: Outbox, options: Edit) -> Result<Declaration, Failure> {
    let Input {
        input,
        is_submitted,
    } = input::input(&options.input)?;
    let outbox = limited(outbox, options.not_after);
    Ok(if is_submitted || options.submit {
        outbox.edit(options.entry, input).submit().await?
    } else {
        outbox.edit(options.entry, input).await?
    })
}

fn limited(outbox: Outbox, not_after: Option<Timestamp>) -> Outbox {
    match not_after {
        Some(time) => outbox.not_after(time),
        None => outbox,
    }
}

/// Lists all entries by number, including finished ones.
async fn list(outbox: &Outbox, json: bool) -> Result<(), Failure> {
    let mut entries = outbox.declarations().await?;
    let mut before = None;
    loop {
        let page = outbox.history(before).await?;
        entries.extend(page.declarations);
        match page.next {
            Some(next) => before = Some(next),
            None => break,
        }
    }
    // An entry that finished in the meantime is in both.
    entries.sort_by_key(|entry| (entry.id, !entry.state.is_final()));
    entries.dedup_by_key(|entry| entry.id);
    let mut output = Output::new(json);
    for entry in &entries {
        output.entry(entry)?;
    }
    output.end_of_list()
}
