//! The arguments of the command line.

use std::path::PathBuf;
use std::time::Duration;

use lexopt::Arg::{Long, Short};
use lexopt::ValueExt;

use super::cli;

pub(crate) const USAGE: &str = "\
usage: sync_account --store FILE [--full] [--json] [--consumer NAME] [--overlap SECONDS]
                    [--ack-each]
       sync_account --store FILE --list

Updates the copy of an account's consignments in FILE, and shows what changed. It uses the
servers of the ENVD_ settings (examples/README.md), or a fake of its own. Without options it
shows on a fake how a copy stays up to date.

  --store FILE       the copy; created if there is none
  --full             reads the whole list, not only the changes
  --json             each change as one line of JSON, and the report as the last line
  --consumer NAME    shows the changes that NAME has not acknowledged; `default` unless set
  --overlap SECONDS  how far before the last known change the list is read again; 600 unless set
  --ack-each         acknowledges each change once it is written, not all at the end
  --list             sends nothing, and prints the copy as lines of JSON, ordered by id

The exit code is 0 when all is done, 1 when the sync failed (the copy keeps what it has), 2 for wrong
arguments, and 3 when the user has to log in.";

// One for each option without a value.
#[allow(clippy::struct_excessive_bools)]
pub(crate) struct Arguments {
    /// `None` without options.
    pub(crate) store: Option<PathBuf>,
    pub(crate) full: bool,
    pub(crate) json: bool,
    pub(crate) list: bool,
    pub(crate) ack_each: bool,
    pub(crate) consumer: String,
    pub(crate) overlap: Option<Duration>,
}

impl Arguments {
    pub(crate) fn read() -> Self {
        cli::arguments(USAGE, Self::parse)
    }

    fn parse(given: &mut lexopt::Parser) -> Result<Self, lexopt::Error> {
        let mut read = Self {
            store: None,
            full: false,
            json: false,
            list: false,
            ack_each: false,
            consumer: "default".to_owned(),
            overlap: None,
        };
        let mut has_options = false;
        while let Some(argument) = given.next()? {
            match argument {
                Long("store") => read.store = Some(given.value()?.into()),
                Long("full") => read.full = true,
                Long("json") => read.json = true,
                Long("list") => read.list = true,
                Long("ack-each") => read.ack_each = true,
                Long("consumer") => read.consumer = consumer(given.value()?.string()?)?,
                Long("overlap") => {
                    let seconds = |text: &str| text.parse().ok();
                    let seconds: u32 =
                        cli::value(given, "--overlap", "a whole number of seconds", seconds)?;
                    read.overlap = Some(Duration::from_secs(seconds.into()));
                }
                Short('h') | Long("help") => cli::help(USAGE),
                _ => return Err(argument.unexpected()),
            }
            has_options = true;
        }
        if has_options && read.store.is_none() {
            return Err("--store FILE is needed, the file of the copy".into());
        }
        Ok(read)
    }
}

/// Names that are valid for a change feed.
fn consumer(name: String) -> Result<String, lexopt::Error> {
    if (1..=100).contains(&name.len()) && !name.contains(char::is_control) {
        return Ok(name);
    }
    Err("--consumer: expected a name of 1 to 100 bytes without control characters".into())
}
