//! Serves the fakes until Ctrl-C or SIGTERM: `cargo run --example serve_fake -- --help`.
//!
//! The first line on stdout is a JSON object with the addresses, a valid access token and the ids that a client needs. stderr
//! shows how to call each address with curl.

mod by_hand;
#[path = "../cli/mod.rs"]
mod cli;
mod options;
mod signals;

use std::io::{self, Write};
use std::process::ExitCode;

use envd_sdk::fake::{Fake, FakeBuilder};

use cli::Failure;

#[tokio::main]
async fn main() -> ExitCode {
    cli::end(serve(options::read()).await)
}

async fn serve(builder: FakeBuilder) -> Result<(), Failure> {
    let fake = builder.start().await?;
    // Before the line is printed: a program may send SIGTERM as soon as it has read it.
    let stop = signals::stop()?;
    announce(&fake).map_err(|error| format!("cannot write to stdout: {error}"))?;
    by_hand::explain(&fake);
    stop.await;
    Ok(())
}

/// Prints one line of JSON and flushes it.
fn announce(fake: &Fake) -> io::Result<()> {
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
    let mut out = io::stdout().lock();
    writeln!(out, "{line}")?;
    out.flush()
}
