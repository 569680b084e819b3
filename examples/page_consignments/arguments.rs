//! The arguments of the command line.

use std::num::NonZeroU32;
use std::path::PathBuf;

use envd_sdk::model::Day;
use lexopt::Arg::{Long, Short};

use super::cli;

const USAGE: &str = "\
usage: page_consignments [--since DATE] [--page-size N] [--json] [--resume FILE]

Lists the changed consignments of an account, page by page. It runs on a fake of its own, or on
the servers of the ENVD_ settings (examples/README.md).

  --since DATE     lists changes since that day; 2026-01-01 unless set
  --page-size N    consignments a page; 5 unless set
  --json           each consignment as one line of JSON
  --resume FILE    continues an interrupted run, or lists the changes since the last complete
                   one; FILE stores the position";

pub(crate) struct Arguments {
    pub(crate) since: Day,
    pub(crate) page_size: u32,
    pub(crate) json: bool,
    pub(crate) resume: Option<PathBuf>,
}

impl Arguments {
    pub(crate) fn read() -> Self {
        cli::arguments(USAGE, Self::parse)
    }

    fn parse(given: &mut lexopt::Parser) -> Result<Self, lexopt::Error> {
        let mut read = Self {
            since: Day::parse("2026-01-01").map_err(|error| error.to_string())?,
            page_size: 5,
            json: false,
            resume: None,
        };
        while let Some(argument) = given.next()? {
            match argument {
                Long("since") => {
                    let day = |text: &str| Day::parse(text).ok();
                    read.since = cli::value(given, "--since", "a day such as 2026-01-31", day)?;
                }
                Long("page-size") => {
                    let size = |text: &str| text.parse().ok();
                    let size: NonZeroU32 =
                        cli::value(given, "--page-size", "a number from 1 on", size)?;
                    read.page_size = size.get();
                }
                Long("json") => read.json = true,
                Long("resume") => read.resume = Some(given.value()?.into()),
                Short('h') | Long("help") => cli::help(USAGE),
                _ => return Err(argument.unexpected()),
            }
        }
        Ok(read)
    }
}
