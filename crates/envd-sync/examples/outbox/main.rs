//! Declarations written without reception, and sent once there is some: a command line.
//!
//! `cargo run -p envd-sync --example outbox -- --store FILE add|delete|comment|run|list|edit|decide ..`
//!
//! What a command writes is in the file when it ends; `run` sends it. A program that is killed at any moment loses nothing,
//! and sends nothing twice. `offline_farm` tells a story of it.

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

use envd_sdk::model::{CommentInput, Timestamp};
use envd_sync::outbox::{Decision, Entry, Outbox};

use arguments::{Add, Arguments, Choice, Command, Edit, USAGE};
use cli::Failure;
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
        // A mistyped name makes no file.
        Command::List { json } if cli::is_absent(store) => {
            Output::new(json).no_file(store)?;
            return Ok(ExitCode::SUCCESS);
        }
        Command::Edit(_) | Command::Decide { .. } if cli::is_absent(store) => {
            let problem = format!("--store {}: there is no such file", store.display());
            return Err(failure::UnusableStore(problem).into());
        }
        _ => {}
    }
    let file = File::open(&arguments.store)?;
    let outbox = file.outbox()?;
    let entry = match arguments.command {
        Command::Run(options) => return sending::run(file, &options).await,
        Command::List { json } => {
            list(&outbox, json).await?;
            return Ok(ExitCode::SUCCESS);
        }
        Command::Add(options) => add(outbox, options).await?,
        Command::Delete(id) => outbox.delete(id).await?,
        Command::Comment { number, text } => {
            outbox.comment(CommentInput::new(number, text)).await?
        }
        Command::Edit(options) => edit(outbox, options).await?,
        Command::Decide { entry, choice } => {
            let decision = match choice {
                Choice::KeepMine => Decision::KeepMine,
                Choice::TakeTheirs => Decision::TakeTheirs,
                Choice::Resend => Decision::Resend,
                Choice::Discard => Decision::Discard,
                Choice::Adopt(id) => Decision::Adopt(id),
            };
            outbox.decide(entry, decision).await?
        }
    };
    Output::written(&entry)?;
    Ok(ExitCode::SUCCESS)
}

async fn add(outbox: Outbox, options: Add) -> Result<Entry, Failure> {
    let Input {
        input,
        is_submitted,
    } = input::input(&options.input)?;
    let outbox = limited(outbox, options.not_after);
    let record = options.base.as_deref().map(input::record);
    Ok(
        match (record.transpose()?, is_submitted || options.submit) {
            (None, false) => outbox.save(input).await?,
            (None, true) => outbox.save_and_submit(input).await?,
            (Some(record), false) => outbox.update(&record, input).await?,
            (Some(record), true) => outbox.update_and_submit(&record, input).await?,
        },
    )
}

async fn edit(outbox: Outbox, options: Edit) -> Result<Entry, Failure> {
    let Input {
        input,
        is_submitted,
    } = input::input(&options.input)?;
    let outbox = limited(outbox, options.not_after);
    let edited = outbox.edit(options.entry, input).await?;
    if is_submitted {
        outbox.submit(edited.id).await?;
    }
    Ok(edited)
}

fn limited(outbox: Outbox, not_after: Option<Timestamp>) -> Outbox {
    match not_after {
        Some(time) => outbox.not_after(time),
        None => outbox,
    }
}

/// All entries by number, those at their end included.
async fn list(outbox: &Outbox, json: bool) -> Result<(), Failure> {
    let mut entries = outbox.entries().await?;
    let mut before = None;
    loop {
        let page = outbox.history(before).await?;
        entries.extend(page.entries);
        match page.next {
            Some(next) => before = Some(next),
            None => break,
        }
    }
    // One that came to its end meanwhile is in both.
    entries.sort_by_key(|entry| (entry.id, !entry.state.is_final()));
    entries.dedup_by_key(|entry| entry.id);
    let mut output = Output::new(json);
    for entry in &entries {
        output.listed(entry)?;
    }
    output.end_of_list()
}
