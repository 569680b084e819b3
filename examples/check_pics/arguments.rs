//! The arguments of the command line.

use std::path::PathBuf;

use lexopt::Arg::{Long, Short, Value};

use super::cli;

const USAGE: &str = "\
usage: check_pics [FILE] [--csv OUT]

Checks the PICs of a list before a sale. FILE has one PIC a line, or is CSV with a column PIC;
without FILE it checks a list of its own. It uses a fake register of invented properties, or the
one at ENVD_REGISTER_URL, with ENVD_ACCESS_TOKEN as bearer token if it is set.

  --csv OUT    also writes the result as CSV. A cell that a spreadsheet would read as a formula
               gets an apostrophe in front.

The exit code is 1 when a look-up failed, or when the list has no valid PIC. Ctrl-C ends the check;
OUT has the rows up to then.";

/// The list to check, and the file for the result.
#[derive(Default)]
pub(crate) struct Arguments {
    pub(crate) file: Option<PathBuf>,
    pub(crate) out: Option<PathBuf>,
}

impl Arguments {
    pub(crate) fn read() -> Self {
        cli::arguments(USAGE, Self::parse)
    }

    fn parse(given: &mut lexopt::Parser) -> Result<Self, lexopt::Error> {
        let mut read = Self::default();
        while let Some(argument) = given.next()? {
            match argument {
                Value(file) if read.file.is_none() => read.file = Some(file.into()),
                Long("csv") => read.out = Some(given.value()?.into()),
                Short('h') | Long("help") => cli::help(USAGE),
                _ => return Err(argument.unexpected()),
            }
        }
        // Otherwise the list would be overwritten before it is checked.
        if let (Some(file), Some(out)) = (&read.file, &read.out)
            && same_file::is_same_file(file, out).unwrap_or(false)
        {
            return Err(format!("--csv {} is the list itself", out.display()).into());
        }
        Ok(read)
    }
}
