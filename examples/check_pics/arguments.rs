//! What the command line asks for.

use std::path::PathBuf;

use lexopt::Arg::{Long, Short, Value};

use super::cli;

const USAGE: &str = "\
usage: check_pics [FILE] [--csv OUT]

Checks the PICs of a list before a sale. FILE has one PIC a line, or is CSV with a column PIC;
without FILE a list that comes with the example is checked. It asks a fake register of invented
properties, or the one at ENVD_REGISTER_URL, with ENVD_ACCESS_TOKEN as bearer token if it is set.

  --csv OUT    writes the result as CSV, too. In front of a cell that a spreadsheet would take for
               a formula stands an apostrophe.

The exit code is 1 when a PIC could not be checked because the register did not answer, or none
could be asked for. Ctrl-C ends the check; what is checked by then is in OUT.";

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
        // The list would be gone before the first PIC is checked.
        if let (Some(file), Some(out)) = (&read.file, &read.out)
            && same_file::is_same_file(file, out).unwrap_or(false)
        {
            return Err(format!("--csv {} is the list itself", out.display()).into());
        }
        Ok(read)
    }
}
