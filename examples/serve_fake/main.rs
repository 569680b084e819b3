//! Serves the fakes until Ctrl-C or SIGTERM: `cargo run --example serve_fake -- --help`.
//!
//! The first line on stdout is one JSON object with the addresses, a valid access token and the ids that a client needs;
//! how to call each address by hand follows on stderr.

mod by_hand;
#[path = "../reader/mod.rs"]
mod reader;
mod signals;
mod usage;

use std::error::Error;
use std::io::{self, Write};
use std::process::ExitCode;
use std::time::Duration;

use envd_sdk::fake::{Fake, FakeBuilder, World};
use lexopt::Arg::{Long, Short};
use lexopt::ValueExt;

#[tokio::main]
async fn main() -> ExitCode {
    reader::may_leave();
    let builder = match builder(lexopt::Parser::from_env()) {
        Ok(builder) => builder,
        Err(problem) => return usage::refuse(problem.as_ref()),
    };
    match serve(builder).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => usage::fail(failure.as_ref()),
    }
}

async fn serve(builder: FakeBuilder) -> Result<(), Box<dyn Error>> {
    let fake = builder.start().await?;
    announce(&fake).map_err(|error| format!("stdout cannot be written: {error}"))?;
    by_hand::explain(&fake);
    Ok(signals::stop().await?)
}

/// The fake that the arguments ask for.
fn builder(mut arguments: lexopt::Parser) -> Result<FakeBuilder, Box<dyn Error>> {
    let mut builder = Fake::builder();
    while let Some(argument) = arguments.next()? {
        builder = match argument {
            Long("port") => builder.port(arguments.value()?.parse()?),
            Long("world") => builder.world(World::from_folder(arguments.value()?)?),
            Long("latency") => builder.latency(Duration::from_millis(arguments.value()?.parse()?)),
            Long("token-lifetime") => {
                let lifetime = Duration::from_secs(arguments.value()?.parse()?);
                builder.access_token_lifetime(lifetime)
            }
            Long("help") | Short('h') => usage::help(),
            _ => return Err(argument.unexpected().into()),
        };
    }
    Ok(builder)
}

/// One line of JSON for programs, written out at once.
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
