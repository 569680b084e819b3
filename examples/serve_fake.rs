//! Serves the fakes until Ctrl-C or SIGTERM: `cargo run --example serve_fake -- [--port N]`.
//!
//! The first line on stdout is one JSON object with the addresses, a valid access token and the ids that a client needs;
//! how to call each address by hand follows on stderr.

use std::io::Write;
use std::process::ExitCode;

use envd_sdk::fake::Fake;

#[tokio::main]
async fn main() -> ExitCode {
    let port = match port(std::env::args().skip(1)) {
        Ok(port) => port,
        Err(problem) => {
            eprintln!("{problem}\nusage: serve_fake [--port N]");
            return ExitCode::from(2);
        }
    };
    let fake = match Fake::builder().port(port).start().await {
        Ok(fake) => fake,
        Err(error) => {
            eprintln!("{error}");
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

/// 0, a free port, unless the arguments name one.
fn port(mut arguments: impl Iterator<Item = String>) -> Result<u16, String> {
    let Some(first) = arguments.next() else {
        return Ok(0);
    };
    let value = match first.strip_prefix("--port") {
        Some("") => arguments.next(),
        Some(rest) => rest.strip_prefix('=').map(str::to_owned),
        None => return Err(format!("unknown argument {first}")),
    };
    let value = value.ok_or("--port needs a number")?;
    if let Some(extra) = arguments.next() {
        return Err(format!("unknown argument {extra}"));
    }
    value.parse().map_err(|_| format!("{value} is not a port"))
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
