//! Serves the fakes until Ctrl-C or SIGTERM: `cargo run --example serve_fake -- --help`.
//!
//! The first line on stdout is one JSON object with the addresses, a valid access token and the ids that a client needs;
//! how to call each address by hand follows on stderr.

mod reader;

use std::io::Write;
use std::process::ExitCode;
use std::time::Duration;

use envd_sdk::Error;
use envd_sdk::fake::{Fake, FakeBuilder, World};

const USAGE: &str = "\
usage: serve_fake [--port N] [--world DIR] [--latency MS] [--token-lifetime SECONDS]

Serves the fakes of the declaration interface, the property register and the
identity provider on 127.0.0.1, until Ctrl-C or SIGTERM.

  --port N                  the port; a free one unless set
  --world DIR               what there is at the start, from a folder of JSON:
                            user-details*.json, account-pics.json, questions.json,
                            consignments/*.json, register/all.json
  --latency MS              every answer comes so many milliseconds later
  --token-lifetime SECONDS  how long access tokens are valid; 86400 unless set
  --help                    this text

The first line on stdout is one JSON object with the addresses, a valid access
token and the ids that a client needs.";

#[tokio::main]
async fn main() -> ExitCode {
    reader::may_leave();
    let builder = match settings(std::env::args().skip(1)) {
        Ok(Some(builder)) => builder,
        Ok(None) => {
            println!("{USAGE}");
            return ExitCode::SUCCESS;
        }
        Err(problem) => {
            eprintln!("{problem}\n\n{USAGE}");
            return ExitCode::from(2);
        }
    };
    let fake = match builder.start().await {
        Ok(fake) => fake,
        Err(error) => {
            eprintln!("{}", with_sources(&error));
            return ExitCode::FAILURE;
        }
    };
    if let Err(error) = announce(&fake) {
        eprintln!("stdout cannot be written: {error}");
        return ExitCode::FAILURE;
    }
    explain(&fake);
    stop_signal().await;
    ExitCode::SUCCESS
}

/// The settings that the arguments make; none when they ask for help.
fn settings(mut arguments: impl Iterator<Item = String>) -> Result<Option<FakeBuilder>, String> {
    let mut builder = Fake::builder();
    while let Some(argument) = arguments.next() {
        let (name, value) = match argument.split_once('=') {
            Some((name, value)) => (name.to_owned(), Some(value.to_owned())),
            None => (argument, None),
        };
        if matches!(name.as_str(), "--help" | "-h") {
            return Ok(None);
        }
        let known = ["--port", "--world", "--latency", "--token-lifetime"];
        if !known.contains(&name.as_str()) {
            return Err(format!("unknown argument {name}"));
        }
        let value = value.or_else(|| arguments.next());
        let value = value.ok_or_else(|| format!("{name} needs a value"))?;
        let number = || value.parse::<u64>();
        let no_number = |_| format!("{name}: {value} is not a number");
        builder = match name.as_str() {
            "--port" => builder.port(
                value
                    .parse()
                    .map_err(|_| format!("{value} is not a port"))?,
            ),
            "--latency" => builder.latency(Duration::from_millis(number().map_err(no_number)?)),
            "--token-lifetime" => {
                let lifetime = Duration::from_secs(number().map_err(no_number)?);
                builder.access_token_lifetime(lifetime)
            }
            _ => builder.world(World::from_folder(&value).map_err(|error| with_sources(&error))?),
        };
    }
    Ok(Some(builder))
}

/// The error and all that lies under it.
fn with_sources(error: &Error) -> String {
    let mut text = error.to_string();
    let mut source = std::error::Error::source(error);
    while let Some(error) = source {
        text.extend([": ", &error.to_string()]);
        source = error.source();
    }
    text
}

/// One line of JSON for programs, written out at once.
fn announce(fake: &Fake) -> std::io::Result<()> {
    let line = serde_json::json!({
        "graphql": fake.graphql_url().as_str(),
        // The base address: {register}/api/v2/PICRegister is the search.
        "register": fake.register_url().as_str().trim_end_matches('/'),
        "authorize": fake.authorize_url().as_str(),
        "token": fake.token_url().as_str(),
        "revoke": fake.revoke_url().as_str(),
        "logout": fake.logout_url().as_str(),
        "access_token": fake.access_token().expose(),
        "envd_account_id": fake.account_id(),
        "client_id": fake.client_id(),
        "audience": fake.audience(),
        "issuer": fake.issuer(),
        "redirect_uri": fake.redirect_uri().as_str(),
        "return_to": fake.return_to().as_str(),
    });
    let mut out = std::io::stdout().lock();
    writeln!(out, "{line}")?;
    out.flush()
}

/// How to try each address with curl.
fn explain(fake: &Fake) {
    let register = fake.register_url();
    let query = r#"{"query": "{ userDetails { email defaultAccount } }"}"#;
    eprintln!("The fake is up; Ctrl-C stops it. TOKEN is access_token of the line above.\n");
    eprintln!("Declarations:");
    eprintln!(
        "  curl -s {} -H \"authorization: Bearer $TOKEN\" -H 'content-type: application/json' -d '{query}'",
        fake.graphql_url()
    );
    eprintln!("Property register, search and look-up:");
    eprintln!("  curl -s '{register}api/v2/PICRegister?SearchText=yards'");
    eprintln!("  curl -s '{register}api/v2/PICRegister/(PIC=QAZZ7777)'");
    eprintln!("Login, without PKCE; CODE is in the location header of the first answer:");
    eprintln!(
        "  curl -si '{}?response_type=code&client_id={}&redirect_uri={}&audience={}&scope=openid%20offline_access&state=s'",
        fake.authorize_url(),
        fake.client_id(),
        fake.redirect_uri(),
        fake.audience()
    );
    eprintln!(
        "  curl -s {} -d grant_type=authorization_code -d client_id={} -d redirect_uri={} -d code=$CODE",
        fake.token_url(),
        fake.client_id(),
        fake.redirect_uri()
    );
    eprintln!("Revocation and logout:");
    eprintln!(
        "  curl -si {} -d client_id={} -d token=$REFRESH_TOKEN",
        fake.revoke_url(),
        fake.client_id()
    );
    eprintln!(
        "  curl -si '{}?client_id={}&returnTo={}'",
        fake.logout_url(),
        fake.client_id(),
        fake.return_to()
    );
}

#[cfg(unix)]
async fn stop_signal() {
    use tokio::signal::unix::{SignalKind, signal};
    match signal(SignalKind::terminate()) {
        Ok(mut terminate) => {
            tokio::select! {
                _ = tokio::signal::ctrl_c() => {}
                _ = terminate.recv() => {}
            }
        }
        Err(error) => eprintln!("SIGTERM cannot be waited for: {error}"),
    }
}

#[cfg(not(unix))]
async fn stop_signal() {
    if let Err(error) = tokio::signal::ctrl_c().await {
        eprintln!("Ctrl-C cannot be waited for: {error}");
    }
}
