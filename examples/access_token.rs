//! Prints an access token from the file that `login` wrote: `cargo run --example access_token -- --help`.
//!
//! The token is renewed when that is needed, once, however many processes ask at the same time. With no options a user of
//! the embedded fake logs in first. The exit code is 0 when a token was printed, 1 when none is to be had now, 2 for
//! wrong options, 3 when the user has to log in again.

mod login_options;
mod reader;

use std::io::Write;
use std::process::ExitCode;
use std::time::Duration;

use envd_sdk::auth::TokenManager;
use envd_sdk::fake::Fake;

use login_options::{Failure, Options, failed, usage};

#[tokio::main]
async fn main() -> ExitCode {
    reader::may_leave();
    let options = match Options::read("access_token") {
        Ok(options) => options,
        Err(end) => return end,
    };
    let outcome = if options.names_no_provider() {
        from_the_fake(&options).await
    } else if options.store.is_none() {
        return usage("--store FILE is needed, the file that login wrote");
    } else {
        match options.renewal().build() {
            Ok(provider) => match options.manager(provider).build() {
                Ok(manager) => print(&manager).await,
                Err(error) => Err(error.into()),
            },
            Err(error) => return usage(error),
        }
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => failed(&failure),
    }
}

async fn print(manager: &TokenManager) -> Result<(), Failure> {
    let token = manager.access_token().await;
    // New tokens that could not be stored at once are tried for a while: the next process needs them.
    if !manager.shutdown(Duration::from_secs(10)).await {
        eprintln!(
            "the new tokens could not be stored; log in again before the access token expires"
        );
    }
    let token = token?;
    let mut out = std::io::stdout().lock();
    writeln!(out, "{}", token.expose())?;
    Ok(out.flush()?)
}

async fn from_the_fake(options: &Options) -> Result<(), Failure> {
    let fake = Fake::start().await;
    let manager = options.manager(fake.provider().build()?).build()?;
    let login = manager.provider().authorization().start()?;
    let callback = fake.consent(login.url())?;
    manager.complete_login(login, callback.as_str()).await?;
    print(&manager).await
}
