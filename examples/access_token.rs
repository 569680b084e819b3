//! Prints an access token from the file that `login` wrote: `cargo run --example access_token -- --help`.
//!
//! The token is refreshed if needed, once, however many processes run at the same time. With no options a user of
//! the embedded fake logs in first. The exit code is 0 when a token was printed, 1 when none is available now, 2 for
//! wrong options, and, unlike in other examples, 3 when the user has to log in again: a script has to distinguish that from
//! an outage.

mod cli;
mod login_options;

use std::io::Write;
use std::process::ExitCode;
use std::time::Duration;

use envd_sdk::Error;
use envd_sdk::auth::TokenManager;
use envd_sdk::fake::Fake;

use cli::{Failure, printable};
use login_options::Options;

const WHAT: &str = "\
Prints an access token from the file that login wrote, and refreshes it if needed.
The exit code is 0 with a token, 1 when none is available now, 3 when the user has to log in again.";

#[tokio::main]
async fn main() -> ExitCode {
    let usage = login_options::usage("access_token", WHAT);
    let options = Options::read(&usage);
    let outcome = if options.names_no_provider() {
        from_the_fake(&options).await
    } else if options.store.is_none() {
        return cli::refuse("--store FILE is needed, the file that login wrote", &usage);
    } else {
        match options.renewal().build() {
            Ok(provider) => match options.manager(provider).build() {
                Ok(manager) => print(&manager).await,
                Err(error) => Err(error.into()),
            },
            Err(error) => return cli::refuse(cli::chain(&error), &usage),
        }
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
    let error = failure.downcast_ref::<Error>();
    error.is_some_and(|error| error.is_reauth_required() || error.is_login_refused())
}

async fn print(manager: &TokenManager) -> Result<(), Failure> {
    let token = manager.access_token().await;
    // If new tokens could not be stored, this retries for a while: the next process needs them.
    if !manager.shutdown(Duration::from_secs(10)).await {
        eprintln!(
            "the new tokens could not be stored; log in again before the access token expires"
        );
    }
    let token = token?;
    let mut out = std::io::stdout().lock();
    writeln!(out, "{}", printable(token.expose()))?;
    Ok(out.flush()?)
}

async fn from_the_fake(options: &Options) -> Result<(), Failure> {
    let fake = Fake::builder().start().await?;
    let manager = options.manager(fake.provider().build()?).build()?;
    let login = manager.provider().authorization().start()?;
    let callback = fake.consent(login.url())?;
    manager.complete_login(login, callback.as_str()).await?;
    print(&manager).await
}
