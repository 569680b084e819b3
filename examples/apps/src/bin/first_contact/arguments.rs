//! The arguments of the command line.

use std::path::PathBuf;

use envd_sdk::model::Role;
use lexopt::Arg::{Long, Short};
use lexopt::ValueExt;

use super::cli;

const USAGE: &str = "\
usage: first_contact [--profile FILE] [--record DIR] [--role TEXT=ROLE].. [--json]

Queries a service for everything that no source shows, and prints each assumption, the finding and the
entry of the profile. It sends at most 60 requests and changes nothing. The settings are those of all
examples; the account is that of ENVD_ACCOUNT_ID, or the first one of the user.

  --profile FILE     reads the profile in FILE, if there is one, and writes it with the findings
  --record DIR       writes the replies into DIR, with a sample in place of each value, and report.txt:
                     shapes, names and status codes, and nothing of your records. A fake serves them.
                     schema.graphql is the schema of the service, if it shows it, for envd-codegen.
  --role TEXT=ROLE   the service writes TEXT for ROLE, such as VENDOR=Producer
  --json             prints a line of JSON for each finding

A failed query is a line with its status and the words of the service; these are not in report.txt.

The exit code is 0 when all queries were sent, whatever the answers; 1 when they could not be, such
as without a login, with the findings so far shown and written; and 2 for wrong arguments.";

#[derive(Default)]
pub(crate) struct Arguments {
    pub(crate) profile: Option<PathBuf>,
    pub(crate) record: Option<PathBuf>,
    pub(crate) roles: Vec<(String, Role)>,
    pub(crate) is_json: bool,
}

impl Arguments {
    pub(crate) fn read() -> Self {
        cli::arguments(USAGE, Self::parse)
    }

    fn parse(given: &mut lexopt::Parser) -> Result<Self, lexopt::Error> {
        let mut read = Self::default();
        while let Some(argument) = given.next()? {
            match argument {
                Long("profile") => read.profile = Some(given.value()?.into()),
                Long("record") => read.record = Some(given.value()?.into()),
                Long("role") => {
                    let named = given.value()?.string()?;
                    let role = named
                        .split_once('=')
                        .map(|(text, role)| (text, Role::from(role)));
                    let role = role.filter(|(_, role)| role.is_known());
                    let (text, role) =
                        role.ok_or("--role takes TEXT=ROLE, such as VENDOR=Producer")?;
                    read.roles.push((text.to_owned(), role));
                }
                Long("json") => read.is_json = true,
                Short('h') | Long("help") => cli::help(USAGE),
                _ => return Err(argument.unexpected()),
            }
        }
        Ok(read)
    }
}
