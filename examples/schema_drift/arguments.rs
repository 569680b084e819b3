//! The arguments of the command line.

use lexopt::Arg::{Long, Short};
use lexopt::ValueExt;

use super::cli;

const USAGE: &str = "\
usage: schema_drift [--endpoint URL --token T] [--json]

Compares the schema of a server with the schema of this crate. Without --endpoint the ENVD_ settings
of the README name the server; without these it shows a sample report, of a fake with a changed
schema.

  --endpoint URL    the address of the declaration interface
  --token T         an access token; other users can see arguments, so prefer ENVD_ACCESS_TOKEN
  --json            the report as one line of JSON

The exit code is 0 when no operation breaks, 1 when one does or the server hides its schema.";

#[derive(Default)]
pub(crate) struct Arguments {
    /// The address and the token.
    pub(crate) endpoint: Option<(String, String)>,
    pub(crate) json: bool,
}

impl Arguments {
    pub(crate) fn read() -> Self {
        cli::arguments(USAGE, Self::parse)
    }

    fn parse(given: &mut lexopt::Parser) -> Result<Self, lexopt::Error> {
        let (mut endpoint, mut token, mut json) = (None, None, false);
        while let Some(argument) = given.next()? {
            match argument {
                Long("endpoint") => endpoint = Some(given.value()?.string()?),
                Long("token") => token = Some(given.value()?.string()?),
                Long("json") => json = true,
                Short('h') | Long("help") => cli::help(USAGE),
                _ => return Err(argument.unexpected()),
            }
        }
        if endpoint.is_some() != token.is_some() {
            return Err("--endpoint and --token require each other".into());
        }
        let endpoint = endpoint.zip(token);
        Ok(Self { endpoint, json })
    }
}
