//! What the command line asks for, and how the program ends.

use std::process::{self, ExitCode};

use lexopt::Arg::Long;
use lexopt::ValueExt;

use super::browser::Failure;

const USAGE: &str = "usage: web_login [--serve [--port N]]";

/// Whether the application stays up, and on which port; 0 is a free one.
#[derive(Default)]
pub(crate) struct Arguments {
    pub(crate) serve: bool,
    pub(crate) port: u16,
}

impl Arguments {
    /// Reads the arguments. The program ends here when they are wrong, or ask for help.
    pub(crate) fn read() -> Self {
        Self::parse(lexopt::Parser::from_env()).unwrap_or_else(|problem| {
            eprintln!("{problem}\n{USAGE}");
            process::exit(2);
        })
    }

    fn parse(mut parser: lexopt::Parser) -> Result<Self, lexopt::Error> {
        let mut read = Self::default();
        while let Some(argument) = parser.next()? {
            match argument {
                Long("serve") => read.serve = true,
                Long("port") => read.port = parser.value()?.parse()?,
                Long("help") => {
                    println!("{USAGE}");
                    process::exit(0);
                }
                _ => return Err(argument.unexpected()),
            }
        }
        Ok(read)
    }
}

/// What has failed is told on stderr.
pub(crate) fn end(ended: Result<(), Failure>) -> ExitCode {
    match ended {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("{failure}");
            ExitCode::FAILURE
        }
    }
}
