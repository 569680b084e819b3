//! Writes the consignment.

use std::fs::{self, OpenOptions};
use std::path::PathBuf;

use lexopt::Arg::{Long, Short};

use super::cli::{self, Failure, Unusable};

const USAGE: &str = "\
usage: answer_questions [--out FILE]

Asks the questions of the form LPAC1 in the terminal, and writes the consignment as JSON to stdout.
Without a terminal it uses scripted answers.

  --out FILE    writes the consignment to a file

Ctrl-C ends the questions and writes the answers so far.";

/// The file, or stdout if none is given.
pub(crate) struct Out(Option<PathBuf>);

impl Out {
    pub(crate) fn from_arguments() -> Self {
        cli::arguments(USAGE, |given| {
            let mut out = None;
            while let Some(argument) = given.next()? {
                match argument {
                    Long("out") => out = Some(given.value()?.into()),
                    Short('h') | Long("help") => cli::help(USAGE),
                    _ => return Err(argument.unexpected()),
                }
            }
            Ok(Self(out))
        })
    }

    /// Fails if the file cannot be written, before the first question. Leaves the file unchanged.
    pub(crate) fn try_to_write(&self) -> Result<(), Unusable> {
        let Some(file) = &self.0 else { return Ok(()) };
        let opened = OpenOptions::new().append(true).create(true).open(file);
        opened.map(drop).map_err(|error| Unusable::new(file, error))
    }

    /// Writes to the file; if that fails, to stdout, so that no answer is lost.
    pub(crate) fn write(&self, json: &str) -> Result<(), Failure> {
        let json = cli::json(json);
        if let Some(file) = &self.0 {
            match fs::write(file, format!("{json}\n")) {
                Ok(()) => return Ok(()),
                Err(error) => {
                    println!("{json}");
                    return Err(Unusable::new(file, error).into());
                }
            }
        }
        println!("{json}");
        Ok(())
    }
}
