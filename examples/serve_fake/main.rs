//! Serves the fakes until Ctrl-C or SIGTERM: `cargo run --example serve_fake -- --help`.
//!
//! The first line on stdout is a JSON object with the addresses, a valid access token and the ids that a client needs. stderr
//! shows how to call each address with curl. In a browser the root shows a start page, and the address of the declaration
//! interface shows `GraphiQL`. CORS allows pages on this machine to call all addresses.

mod addresses;
mod by_hand;
#[path = "../cli/mod.rs"]
mod cli;
mod cors;
mod folders;
#[path = "../look/form_title.rs"]
mod form_title;
mod front;
mod html;
mod landing;
mod options;

use std::process::ExitCode;
use std::sync::Arc;

use envd_sdk::fake::Fake;
use serde_json::{Map, Value};

use cli::Failure;
use front::Front;
use options::Options;

#[tokio::main]
async fn main() -> ExitCode {
    cli::end(serve(options::read()).await)
}

async fn serve(options: Options) -> Result<(), Failure> {
    let fake = Arc::new(options.fake.start().await?);
    let front = Front::of(&fake, options.latency, options.token_lifetime).await?;
    let replies = options.replies;
    fake.on_every_request(move |request| {
        let reply = replies.get(&request.operation().unwrap_or_default());
        Some(front.fault(request, reply))
    });
    // Install the handler before printing: a program may send SIGTERM as soon as it has read the line.
    let stop = cli::stop()?;
    cli::announce(&first_line(&fake))
        .map_err(|error| format!("cannot write to stdout: {error}"))?;
    by_hand::explain(&fake);
    stop.await;
    Ok(())
}

/// The addresses, the token and the ids for a client.
fn first_line(fake: &Fake) -> Value {
    let addresses = addresses::of(fake).map(|(name, value)| (name.to_owned(), value.into()));
    let mut line: Map<String, Value> = addresses.collect();
    line.insert(
        "access_token".to_owned(),
        fake.access_token().expose().into(),
    );
    line.into()
}
