//! The options of the command line.

use std::time::Duration;

use envd_sdk::fake::{Fake, FakeBuilder, World};
use lexopt::Arg::{Long, Short};

use super::cli;

const USAGE: &str = "\
usage: serve_fake [--port N] [--world DIR] [--latency MS] [--token-lifetime SECONDS]

Serves the fakes of the declaration interface, the property register and the
identity provider on 127.0.0.1, until Ctrl-C or SIGTERM. The root is a start
page for browsers, and the address of the declaration interface is GraphiQL.

  --port N                  the port; a free one unless set
  --world DIR               users and records at the start, from a folder of JSON:
                            user-details*.json, account-pics.json, questions.json,
                            consignments/*.json, register/all.json
  --latency MS              the delay of every reply in milliseconds, pages aside
  --token-lifetime SECONDS  lifetime of access tokens; 86400 unless set

The first line on stdout is one JSON object with the addresses, a valid access
token and the ids that a client needs.";

/// The settings of the fake.
pub(crate) struct Options {
    pub(crate) fake: FakeBuilder,
    pub(crate) latency: Duration,
    pub(crate) token_lifetime: Duration,
}

pub(crate) fn read() -> Options {
    cli::arguments(USAGE, parse)
}

fn parse(given: &mut lexopt::Parser) -> Result<Options, lexopt::Error> {
    let mut fake = Fake::builder();
    let mut latency = Duration::ZERO;
    let mut token_lifetime = Duration::from_secs(86_400);
    while let Some(argument) = given.next()? {
        match argument {
            Long("port") => fake = fake.port(cli::port(given)?),
            Long("world") => {
                let folder = given.value()?;
                let world = World::from_folder(&folder);
                let problem = |error| format!("--world: {}", cli::chain(&error));
                fake = fake.world(world.map_err(problem)?);
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
        latency,
        token_lifetime,
    })
}

fn number(given: &mut lexopt::Parser, option: &str) -> Result<u64, lexopt::Error> {
    cli::value(given, option, "a whole number", |text| text.parse().ok())
}
