//! The options of the command line.

use std::collections::HashMap;
use std::time::Duration;

use envd_sdk::fake::{Fake, FakeBuilder};
use lexopt::Arg::{Long, Short};
use serde_json::Value;

use super::{cli, folders};

const USAGE: &str = "\
usage: serve_fake [--port N] [--world DIR] [--replies DIR] [--latency MS] [--token-lifetime SECONDS]

Serves the fakes of the declaration interface, the property register and the
identity provider on 127.0.0.1, until Ctrl-C or SIGTERM. The root is a start
page for browsers, and the address of the declaration interface is GraphiQL.

  --port N                  the port; a free one unless set
  --world DIR               users and records at the start, from a folder of JSON:
                            user-details*.json, account-pics.json, questions.json,
                            consignments/*.json, register/all.json
  --replies DIR             replies by the name of the operation, as first_contact
                            writes them, such as UserDetails.json
  --latency MS              the delay of every reply in milliseconds, pages aside
  --token-lifetime SECONDS  lifetime of access tokens; 86400 unless set

The first line on stdout is one JSON object with the addresses, a valid access
token and the ids that a client needs.";

/// The settings of the fake.
pub(crate) struct Options {
    pub(crate) fake: FakeBuilder,
    pub(crate) replies: HashMap<String, Value>,
    pub(crate) latency: Duration,
    pub(crate) token_lifetime: Duration,
}

pub(crate) fn read() -> Options {
    cli::arguments(USAGE, parse)
}

fn parse(given: &mut lexopt::Parser) -> Result<Options, lexopt::Error> {
    let mut fake = Fake::builder();
    let mut replies = HashMap::new();
    let mut latency = Duration::ZERO;
    let mut token_lifetime = Duration::from_secs(86_400);
    while let Some(argument) = given.next()? {
        match argument {
            Long("port") => fake = fake.port(cli::port(given)?),
            Long("world") => {
                let world = folders::world(given.value()?.as_ref());
                fake = fake.world(world.map_err(|error| format!("--world: {error}"))?);
            }
            Long("replies") => {
                let kept = folders::replies(given.value()?.as_ref());
                replies = kept.map_err(|error| format!("--replies: {error}"))?;
            }
            Long("latency") => latency = Duration::from_millis(number(given, "--latency")?),
            Long("token-lifetime") => {
                token_lifetime = Duration::from_secs(number(given, "--token-lifetime")?);
            }
            Short('h') | Long("help") => cli::help(USAGE),
            _ => return Err(argument.unexpected()),
        }
    }
    let fake = fake.access_token_lifetime(token_lifetime);
    Ok(Options {
        fake,
        replies,
        latency,
        token_lifetime,
    })
}

fn number(given: &mut lexopt::Parser, option: &str) -> Result<u64, lexopt::Error> {
    cli::value(given, option, "a whole number", |text| text.parse().ok())
}
