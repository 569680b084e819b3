//! The options of the command line.

use std::time::Duration;

use envd_sdk::fake::{Fake, FakeBuilder, World};
use lexopt::Arg::{Long, Short};

use super::cli;

const USAGE: &str = "\
usage: serve_fake [--port N] [--world DIR] [--latency MS] [--token-lifetime SECONDS]

Serves the fakes of the declaration interface, the property register and the
identity provider on 127.0.0.1, until Ctrl-C or SIGTERM.

  --port N                  the port; a free one unless set
  --world DIR               users and records at the start, from a folder of JSON:
                            user-details*.json, account-pics.json, questions.json,
                            consignments/*.json, register/all.json
  --latency MS              the delay of every reply in milliseconds
  --token-lifetime SECONDS  lifetime of access tokens; 86400 unless set

The first line on stdout is one JSON object with the addresses, a valid access
token and the ids that a client needs.";

/// The settings of the fake.
pub(crate) fn read() -> FakeBuilder {
    cli::arguments(USAGE, parse)
}

fn parse(given: &mut lexopt::Parser) -> Result<FakeBuilder, lexopt::Error> {
    let mut builder = Fake::builder();
    while let Some(argument) = given.next()? {
        builder = match argument {
            Long("port") => {
                let port = |text: &str| text.parse().ok();
                builder.port(cli::value(given, "--port", "a port, 0 to 65535", port)?)
            }
            Long("world") => {
                let folder = given.value()?;
                let world = World::from_folder(&folder);
                builder.world(world.map_err(|error| format!("--world: {}", cli::chain(&error)))?)
            }
            Long("latency") => builder.latency(Duration::from_millis(number(given, "--latency")?)),
            Long("token-lifetime") => {
                let lifetime = Duration::from_secs(number(given, "--token-lifetime")?);
                builder.access_token_lifetime(lifetime)
            }
            Short('h') | Long("help") => cli::help(USAGE),
            _ => return Err(argument.unexpected()),
        };
    }
    Ok(builder)
}

fn number(given: &mut lexopt::Parser, option: &str) -> Result<u64, lexopt::Error> {
    cli::value(given, option, "a whole number", |text| text.parse().ok())
}
