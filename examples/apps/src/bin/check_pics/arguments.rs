//! The arguments of the command line.

use std::path::PathBuf;

use lexopt::Arg::{Long, Short, Value};
use lexopt::ValueExt;

use super::cli;

const USAGE: &str = "\
usage: check_pics [FILE] [--column NAME|NUMBER] [--sheet NAME] [--csv OUT [--resume]]

Checks the PICs of a list before a sale. FILE is CSV, with commas, semicolons or tabs, or a workbook
(.xlsx); without FILE it checks a bundled list. There may be titles above the headings. It uses a
fake register of invented properties, or the one at ENVD_REGISTER_URL, with ENVD_ACCESS_TOKEN as bearer
token if it is set.

  --column NAME|NUMBER    the column of the PICs, by its heading or its number from 1; needed if
                          several columns have PICs
  --sheet NAME            the sheet of a workbook; the first one with PICs unless set
  --csv OUT               also writes the list and the answers to OUT, each cell in quotes. A cell
                          that a spreadsheet would read as a formula gets an apostrophe in front.
  --resume                continues with OUT, and looks up only rows without an answer

Ctrl-C ends the check; OUT has the rows up to then. The exit code is 0 if each row has an answer of
the register or is not a PIC; 1 if a look-up failed, a row has a formula without its value, the list
has no valid PIC, or the check was interrupted; and 2 for wrong arguments and for a file that cannot
be used.";

/// The list to check, and the file for the result.
#[derive(Default)]
pub(crate) struct Arguments {
    pub(crate) file: Option<PathBuf>,
    pub(crate) column: Option<String>,
    pub(crate) sheet: Option<String>,
    pub(crate) out: Option<PathBuf>,
    pub(crate) resume: bool,
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
                Long("column") => read.column = Some(given.value()?.string()?),
                Long("sheet") => read.sheet = Some(given.value()?.string()?),
                Long("csv") => read.out = Some(given.value()?.into()),
                Long("resume") => read.resume = true,
                Short('h') | Long("help") => cli::help(USAGE),
                _ => return Err(argument.unexpected()),
            }
        }
        if read.resume && read.out.is_none() {
            return Err("--resume needs the file to continue: name it with --csv OUT".into());
        }
        // Otherwise the result would overwrite the list before the check.
        if let (Some(file), Some(out)) = (&read.file, &read.out)
            && same_file::is_same_file(file, out).unwrap_or(false)
        {
            return Err(format!("--csv {} is the list itself", out.display()).into());
        }
        Ok(read)
    }
}
