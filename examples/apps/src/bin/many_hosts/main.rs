//! A service for many accounts on several hosts that share one database:
//! `cargo run -p apps --bin many_hosts`.
//!
//! `DATABASE_URL` names a Postgres database on this machine, such as `postgres://me@127.0.0.1/test`; without it the example
//! says so and ends. `graphile_worker` decides which host works on which account and when; the stores of `envd-postgres` ensure
//! that nothing is lost or sent twice.
//!
//! Without a command it runs a demonstration. Each host is a process; this process is the web server of the service, which
//! writes declarations but does not send them. One host is killed while it sends.

mod arguments;
#[path = "../../../../cli/mod.rs"]
mod cli;
mod counts;
mod host;
mod processes;
mod queue;
mod service;
#[path = "../../../../settings/mod.rs"]
mod settings;
mod story;

use std::path::Path;
use std::process::ExitCode;

use envd_sdk::model::ConsignmentInput;
use envd_sync::outbox::DeclarationState;
use serde_json::{Value, json};

use arguments::{Arguments, Command};
use cli::{Failure, Unusable};
use service::Service;

const NO_DATABASE: &str =
    "DATABASE_URL is not set. Set it to a Postgres database on this machine, such as
postgres://me@127.0.0.1/test. The example creates the schemas envd_many_hosts and envd_many_hosts_jobs,
and drops them again.";

#[tokio::main]
async fn main() -> ExitCode {
    let given = cli::arguments(arguments::USAGE, arguments::read);
    cli::end(run(given).await)
}

async fn run(given: Arguments) -> Result<(), Failure> {
    let Ok(database) = std::env::var("DATABASE_URL") else {
        println!("{NO_DATABASE}");
        return Ok(());
    };
    let connections = match &given.command {
        // Each run uses one connection at a time, and the engine needs a few more.
        Command::Host(options) => options.jobs + 4,
        _ => 4,
    };
    let service = Service::new(&database, &given.schema, connections)?;
    match carry_out(&service, given.command).await {
        Err(failure) => Err(service.explained(failure).await),
        Ok(()) => Ok(()),
    }
}

async fn carry_out(service: &Service, command: Command) -> Result<(), Failure> {
    match command {
        Command::Story => story::tell(service).await,
        Command::Host(options) => host::run(service, options).await,
        Command::Add(accounts) => {
            service.migrate().await?;
            service.queue().wake(&accounts).await
        }
        Command::Write {
            account,
            file,
            is_submitted,
        } => write(service, account, &file, is_submitted).await,
        Command::Status { is_json } => status(service, is_json).await,
    }
}

/// Writes a declaration into the outbox of an account, and makes the account due.
async fn write(
    service: &Service,
    account: String,
    file: &Path,
    is_submitted: bool,
) -> Result<(), Failure> {
    let text = cli::read_text(file).map_err(|error| Unusable::new(file, error))?;
    let input: ConsignmentInput =
        serde_json::from_str(&text).map_err(|error| Unusable::new(file, error))?;
    let outbox = service.outbox(&account)?;
    let written = if is_submitted {
        outbox.submit(input).await?
    } else {
        outbox.save(input).await?
    };
    cli::announce(&json!({"entry": written.id.to_string()}))?;
    // The declaration is stored, so do not fail the command: running it again would create a second declaration.
    if let Err(failure) = service.queue().wake(&[account]).await {
        let failure = cli::printable(cli::chain(failure.as_ref()));
        eprintln!(
            "The account could not be scheduled; its next run sends the declaration: {failure}"
        );
    }
    Ok(())
}

async fn status(service: &Service, is_json: bool) -> Result<(), Failure> {
    let mut status = service.queue().status().await?;
    let mut waiting = 0_u64;
    let mut needs_attention = 0_u64;
    let mut confirmed = 0_u64;
    let mut late_duplicates = 0;
    for account in service.queue().accounts().await? {
        let outbox = service.outbox(&account)?;
        for declaration in outbox.declarations().await? {
            let asks = matches!(
                declaration.state,
                DeclarationState::Refused | DeclarationState::NeedsAttention
            );
            (waiting, needs_attention) = (
                waiting + u64::from(!asks),
                needs_attention + u64::from(asks),
            );
            late_duplicates += declaration.late_duplicates.len();
        }
        for declaration in service::history(&outbox).await? {
            confirmed += 1;
            late_duplicates += declaration.late_duplicates.len();
        }
    }
    status["waiting"] = waiting.into();
    status["needsAttention"] = needs_attention.into();
    status["confirmed"] = confirmed.into();
    status["lateDuplicates"] = late_duplicates.into();
    if is_json {
        return Ok(cli::announce(&status)?);
    }
    for (name, value) in status.as_object().into_iter().flatten() {
        println!("{name:15} {}", shown(value));
    }
    Ok(())
}

fn shown(value: &Value) -> String {
    value
        .as_f64()
        .filter(|_| value.is_f64())
        .map_or_else(|| value.to_string(), |number| format!("{number:.1}"))
}
