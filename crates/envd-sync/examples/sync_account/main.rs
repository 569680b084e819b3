//! Keeps a local copy of an account's consignments, and shows what changed since the last run.
//!
//! `cargo run -p envd-sync --example sync_account -- --store FILE [--full] [--json] [--consumer NAME] [--overlap SECONDS] [--list] [--ack-each]`
//!
//! Each run is one sync. The program prints the changes that the consumer has not acknowledged, and then acknowledges them: if a
//! run is killed between the two, the next run repeats them, in order. Unlike in other examples, the exit code is 3 when the user
//! has to log in.

mod arguments;
#[path = "../cli/mod.rs"]
mod cli;
mod output;
#[path = "../progress/mod.rs"]
mod progress;
#[path = "../settings/mod.rs"]
mod settings;
mod story;

use std::path::Path;
use std::process::ExitCode;

use envd_sdk::auth::StaticToken;
use envd_sdk::{AccountClient, Client, ErrorKind};
use envd_sync::replica::Replica;
use envd_sync::store::SqliteSync;

use arguments::{Arguments, USAGE};
use cli::{Failure, say};
use output::Output;
use progress::Progress;
use settings::Settings;

#[tokio::main]
async fn main() -> ExitCode {
    let arguments = Arguments::read();
    let outcome = match &arguments.store {
        Some(file) if arguments.list => list(file).await,
        Some(file) => sync(file, &arguments).await,
        None if Settings::name_servers() => {
            return cli::refuse("--store FILE is needed, the file of the copy", USAGE);
        }
        None => story::tell().await,
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            let code = cli::fail(&failure);
            if needs_login(&failure) {
                ExitCode::from(3)
            } else {
                code
            }
        }
    }
}

fn needs_login(failure: &Failure) -> bool {
    let of_sync = failure.downcast_ref().map(envd_sync::Error::kind);
    let kind = of_sync.or_else(|| failure.downcast_ref().map(envd_sdk::Error::kind));
    matches!(
        kind,
        Some(ErrorKind::ReauthRequired | ErrorKind::LoginRefused | ErrorKind::Unauthorized)
    )
}

/// Brings the copy up to date, and shows the new changes for the consumer.
async fn sync(file: &Path, arguments: &Arguments) -> Result<(), Failure> {
    let store = open(file)?;
    let settings = Settings::read().await?;
    let (client, _manager) = settings.log_in().await?;
    let account = choose_account(client.build()?, file).await?;

    let progress = if arguments.json {
        Progress::hidden()
    } else {
        say!("{}.", settings.describe());
        if settings.is_fake() {
            say!("Each run has the same records, so a later one with this file shows no changes.");
        }
        Progress::new()
    };
    let mut replica = with_progress(Replica::new(&account, store), &progress);
    if let Some(overlap) = arguments.overlap {
        replica = replica.overlap(overlap);
    }
    let synced = if arguments.full {
        replica.sync_full().await
    } else {
        replica.sync().await
    };
    progress.clear();

    // A failed sync may have copied some pages, so show their changes anyway.
    let mut output = Output::new(arguments.json);
    show_changes(&replica, arguments, &mut output).await?;
    output.report(&synced?)?;
    Ok(())
}

/// Shows the changes that the consumer has not acknowledged, and acknowledges each only after it was printed.
async fn show_changes(
    replica: &Replica,
    arguments: &Arguments,
    output: &mut Output,
) -> Result<(), Failure> {
    let mut feed = replica.changes(arguments.consumer.as_str());
    let mut last = None;
    while let Some(change) = feed.next().await? {
        output.change(&change)?;
        if arguments.ack_each {
            output.flush()?;
            feed.acknowledge(&change).await?;
        } else {
            last = Some(change);
        }
    }
    output.end_of_changes()?;
    if let Some(last) = last {
        // This acknowledges all earlier changes as well.
        feed.acknowledge(&last).await?;
    }
    Ok(())
}

fn with_progress(replica: Replica, shown: &Progress) -> Replica {
    let shown = shown.clone();
    replica.on_progress(move |progress| shown.show(progress.records, progress.estimate))
}

/// Prints the copy without a request.
async fn list(file: &Path) -> Result<(), Failure> {
    const NO_COPY: &str = "the store has no copy yet: run once without --list";
    // A mistyped name must not create a file.
    if cli::is_absent(file) {
        return Err(NO_COPY.into());
    }
    let store = open(file)?;
    let id = match Settings::chosen_account() {
        Some(id) => Some(id),
        None => Settings::remembered_account(file)?,
    };
    let id = id.ok_or(NO_COPY)?;
    // The address and the token are not used.
    let token = StaticToken::new("unused")?;
    let client = Client::builder("https://localhost/")
        .token_source(token)
        .build()?;
    let replica = Replica::new(&client.account(id), store);
    let mut output = Output::new(true);
    let mut query = replica.consignments();
    loop {
        let page = query.list().await?;
        for record in &page.records {
            output.record(record)?;
        }
        match page.next {
            Some(next) => query = query.after(next),
            None => return Ok(output.flush()?),
        }
    }
}

fn open(file: &Path) -> Result<SqliteSync, Failure> {
    SqliteSync::open(file)
        .map_err(|error| format!("--store {}: {}", file.display(), cli::chain(&error)).into())
}

/// The account of the settings, or the user's first account.
async fn choose_account(client: Client, file: &Path) -> Result<AccountClient, Failure> {
    let id = match Settings::chosen_account() {
        Some(id) => id,
        None => Settings::account_id(&client.registered_user().await?.value)?,
    };
    Settings::remember_account(file, &id)?;
    Ok(client.account(id))
}
