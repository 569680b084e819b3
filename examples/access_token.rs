//! Prints an access token from the file that `login` wrote: `cargo run --example access_token -- --help`.
//!
//! The token is refreshed if needed, once, however many processes run at the same time. With no options a user of
//! the embedded fake logs in first. The exit code is 0 when a token was printed, 1 when none is available now, 2 for
//! wrong options, and, unlike in other examples, 3 when the user has to log in again: a script has to distinguish that from
//! an outage. With `--status` it prints who is logged in and the state of the session, with the same exit codes; it then
//! sends nothing, renews nothing and prints no token.

mod cli;
mod login_options;

use std::io::{self, Write};
use std::process::ExitCode;
use std::time::{Duration, SystemTime};

use envd_sdk::auth::{Inspection, Provider, ProviderBuilder, SessionState, TokenManager};
use envd_sdk::fake::Fake;
use envd_sdk::{Error, ErrorKind};

use cli::{Failure, chain, printable};
use login_options::Options;

const WHAT: &str = "\
Prints an access token from the file that login wrote, and refreshes it if needed. With --status, who is
logged in and the state of the session instead; it takes the same options and renews nothing.
The exit code is 0 with a token, 1 when none is available now, 3 when the user has to log in again.";

#[tokio::main]
async fn main() -> ExitCode {
    let usage = login_options::usage("access_token", WHAT);
    let options = Options::read(&usage);
    if options.json {
        return cli::refuse("--json is an option of login", &usage);
    }
    let is_fake = options.names_no_provider();
    let outcome = if is_fake && !(options.status && options.store.is_some()) {
        from_the_fake(&options).await
    } else if options.store.is_none() {
        return cli::refuse("--store FILE is needed, the file that login wrote", &usage);
    } else {
        let provider = if is_fake {
            Ok(unknown_provider())
        } else {
            options.provider().await
        };
        match provider.and_then(ProviderBuilder::build) {
            Ok(provider) => from_the_file(&options, provider).await,
            Err(error) if error.kind() == ErrorKind::Config => {
                return cli::refuse(chain(&error), &usage);
            }
            Err(error) => Err(options.explained(error)),
        }
    };
    match outcome {
        Ok(code) => code,
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
    error.is_some_and(|error| error.is_reauth_required() || error.kind() == ErrorKind::LoginRefused)
}

async fn print_token(manager: &TokenManager) -> Result<ExitCode, Failure> {
    let token = manager.access_token().await;
    // If new tokens could not be stored, this retries for a while: the next process needs them.
    if !manager.shutdown(Duration::from_secs(10)).await {
        eprintln!(
            "the new tokens could not be stored; log in again before the access token expires"
        );
    }
    let token = token?;
    let mut out = io::stdout().lock();
    writeln!(out, "{}", printable(token.expose()))?;
    out.flush()?;
    Ok(ExitCode::SUCCESS)
}

async fn from_the_file(options: &Options, provider: Provider) -> Result<ExitCode, Failure> {
    if options.status {
        let manager = options.manager(provider).build()?;
        return print_status(options, &manager.inspect().await);
    }
    options.check_store().await?;
    print_token(&options.manager(provider).build()?).await
}

async fn from_the_fake(options: &Options) -> Result<ExitCode, Failure> {
    let fake = Fake::builder().start().await?;
    let manager = options.manager(fake.provider().build()?).build()?;
    let login = manager.provider().authorization().start()?;
    let callback = fake.consent(login.url())?;
    manager.complete_login(login, callback.as_str()).await?;
    if options.status {
        print_status(options, &manager.inspect().await)
    } else {
        print_token(&manager).await
    }
}

/// For a status without the options of the login: whether there is one. It is another client's, so no more of it is shown.
fn unknown_provider() -> ProviderBuilder {
    Provider::builder("unknown").token_url("http://127.0.0.1/")
}

fn print_status(options: &Options, session: &Inspection) -> Result<ExitCode, Failure> {
    let (state, code) = match &session.state {
        SessionState::LoggedIn => ("logged in".to_owned(), ExitCode::SUCCESS),
        SessionState::BackingOff { until } => {
            let text = format!("logged in; renewals wait until {}", cli::time(*until));
            (text, ExitCode::SUCCESS)
        }
        SessionState::NeedsLogin { reason } => (chain(reason), ExitCode::from(3)),
        SessionState::LoggedOut => ("logged out".to_owned(), ExitCode::from(3)),
        _ => ("unknown".to_owned(), ExitCode::FAILURE),
    };
    let time = |time: Option<SystemTime>| time.map_or_else(|| "unknown".to_owned(), cli::time);
    let mut lines = vec![
        ("state", state),
        ("account", session.account.clone()),
        ("store", session.store.clone()),
    ];
    if let Some(error) = &session.store_error {
        lines.push(("store error", options.store_error(error)));
    }
    if let Some(generation) = session.generation {
        let subject = session.subject.clone();
        lines.extend([
            ("user", subject.unwrap_or_else(|| "unknown".to_owned())),
            ("logged in at", time(session.logged_in_at)),
            ("renewed at", time(session.renewed_at)),
            ("access token ends", time(session.access_token_ends_at)),
            ("session ends", time(session.session_ends_at)),
            ("generation", generation.to_string()),
            (
                "stored",
                if session.is_stored { "yes" } else { "no" }.to_owned(),
            ),
        ]);
    }
    if let Some(began_at) = session.refresh_began_at {
        lines.push(("unfinished refresh since", time(Some(began_at))));
    }
    if let Some(failure) = &session.last_failure {
        let text = options.store_error(&failure.error);
        let text = format!("{text} ({})", time(Some(failure.at)));
        lines.push(("last failure", text));
    }
    let mut out = io::stdout().lock();
    for (name, value) in lines {
        writeln!(out, "{name}: {}", printable(value))?;
    }
    out.flush()?;
    Ok(code)
}
