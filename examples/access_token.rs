//! Prints an access token from the file that `login` wrote: `cargo run --example access_token -- --help`.
//!
//! If the token needs a refresh, only one of several concurrent processes sends it. With no options a user of the embedded fake
//! logs in first. The exit code is 0 if a token was printed, 1 if none is available now, 2 for wrong options, and, unlike in
//! other examples, 3 if the user has to log in again, so that a script can distinguish this from an outage. With `--status` it
//! prints the user and the state of the session, with the same exit codes; it then sends nothing, refreshes nothing and prints
//! no token. The file is enough for that; with the options of the login it also prints why a session ended.

mod cli;
mod login_options;

use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, SystemTime};

use envd_sdk::auth::{
    FileStore, Inspection, Provider, ProviderBuilder, SessionState, TokenManager, TokenStore,
};
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
    let outcome = match (&options.store, options.names_no_provider()) {
        (Some(file), true) if options.status => status_of_the_file(&options, file).await,
        (_, true) => from_the_fake(&options).await,
        (None, false) => {
            return cli::refuse("--store FILE is needed, the file that login wrote", &usage);
        }
        (Some(_), false) => match options.provider().await.and_then(ProviderBuilder::build) {
            Ok(provider) => from_the_file(&options, provider).await,
            Err(error) if error.kind() == ErrorKind::Config => {
                return cli::refuse(chain(&error), &usage);
            }
            Err(error) => Err(options.explained(error)),
        },
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
    // If new tokens could not be stored, retry for a while: the next process needs them.
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

/// Prints the status from the file alone. Without the options of the login there is no manager, because tokens belong to a client id.
async fn status_of_the_file(options: &Options, file: &Path) -> Result<ExitCode, Failure> {
    let store = FileStore::new(file);
    let mut lines = vec![
        ("account", "default".to_owned()),
        ("store", store.describe()),
    ];
    let stored = store.load("default").await;
    let tokens = stored.as_ref().ok().and_then(Option::as_ref);
    let tokens = tokens.map(|stored| stored.record.tokens());
    let (state, code) = match (&stored, tokens) {
        (Err(error), _) => {
            let error = Error::from(error.clone());
            lines.push(("store error", options.store_error(&error)));
            ("unknown", ExitCode::FAILURE)
        }
        (_, None) => ("logged out", ExitCode::from(3)),
        (_, Some(tokens)) => {
            let ends = Some(tokens.expires_at()).filter(|end| *end > tokens.issued_at());
            lines.extend(lines_of(tokens.generation(), tokens.subject()));
            lines.extend([
                ("logged in at", time_or_unknown(tokens.logged_in_at())),
                ("renewed at", time_or_unknown(Some(tokens.issued_at()))),
                ("access token ends", time_or_unknown(ends)),
            ]);
            if tokens.refresh_token().is_some() || tokens.expires_at() > SystemTime::now() {
                ("logged in", ExitCode::SUCCESS)
            } else {
                ("the session has ended", ExitCode::from(3))
            }
        }
    };
    lines.insert(0, ("state", state.to_owned()));
    let marked = stored.ok().flatten();
    if let Some(began_at) = marked.and_then(|stored| stored.record.refresh_began_at()) {
        lines.push(("unfinished refresh since", cli::time(began_at)));
    }
    print_lines(lines, code)
}

fn lines_of(generation: u64, subject: Option<&str>) -> [(&'static str, String); 2] {
    [
        ("user", subject.unwrap_or("unknown").to_owned()),
        ("generation", generation.to_string()),
    ]
}

fn time_or_unknown(time: Option<SystemTime>) -> String {
    time.map_or_else(|| "unknown".to_owned(), cli::time)
}

fn print_lines(lines: Vec<(&str, String)>, code: ExitCode) -> Result<ExitCode, Failure> {
    let mut out = io::stdout().lock();
    for (name, value) in lines {
        writeln!(out, "{name}: {}", printable(value))?;
    }
    out.flush()?;
    Ok(code)
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
    let mut lines = vec![
        ("state", state),
        ("account", session.account.clone()),
        ("store", session.store.clone()),
    ];
    if let Some(error) = &session.store_error {
        lines.push(("store error", options.store_error(error)));
    }
    if let Some(generation) = session.generation {
        lines.extend(lines_of(generation, session.subject.as_deref()));
        lines.extend([
            ("logged in at", time_or_unknown(session.logged_in_at)),
            ("renewed at", time_or_unknown(session.renewed_at)),
            (
                "access token ends",
                time_or_unknown(session.access_token_ends_at),
            ),
            ("session ends", time_or_unknown(session.session_ends_at)),
            (
                "stored",
                if session.is_stored { "yes" } else { "no" }.to_owned(),
            ),
        ]);
    }
    if let Some(began_at) = session.refresh_began_at {
        lines.push(("unfinished refresh since", cli::time(began_at)));
    }
    if let Some(failure) = &session.last_failure {
        let text = options.store_error(&failure.error);
        let text = format!("{text} ({})", cli::time(failure.at));
        lines.push(("last failure", text));
    }
    print_lines(lines, code)
}
