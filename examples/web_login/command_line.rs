//! The arguments of the command line.

use lexopt::Arg::{Long, Short};

use super::cli;

const USAGE: &str = "\
usage: web_login [--serve [--port N]]

A web application with many users, on a fake identity provider that needs no password.
Without --serve it logs one user in and out and ends.

  --serve     runs until Ctrl-C
  --port N    the port; a free one unless set";

/// Whether the application keeps running, and its port; 0 is a free one.
#[derive(Default)]
pub(crate) struct Arguments {
    pub(crate) serve: bool,
    pub(crate) port: u16,
}

impl Arguments {
    pub(crate) fn read() -> Self {
        cli::arguments(USAGE, Self::parse)
    }

    fn parse(given: &mut lexopt::Parser) -> Result<Self, lexopt::Error> {
        let mut read = Self::default();
        while let Some(argument) = given.next()? {
            match argument {
                Long("serve") => read.serve = true,
                Long("port") => {
                    let port = |text: &str| text.parse().ok();
                    read.port = cli::value(given, "--port", "a port, 0 to 65535", port)?;
                }
                Short('h') | Long("help") => cli::help(USAGE),
                _ => return Err(argument.unexpected()),
            }
        }
        Ok(read)
    }
}
