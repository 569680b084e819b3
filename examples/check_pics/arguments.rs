//! What the command line asks for.

use std::path::PathBuf;

use super::settings::Failure;

const USAGE: &str = "usage: check_pics [FILE] [--csv OUT]";

/// The list to check, and the file for the result.
#[derive(Default)]
pub(crate) struct Arguments {
    pub(crate) file: Option<PathBuf>,
    pub(crate) out: Option<PathBuf>,
}

impl Arguments {
    /// Reads the arguments. The program ends here when they ask for help.
    pub(crate) fn read() -> Result<Self, Failure> {
        let mut read = Self::default();
        let mut arguments = std::env::args_os().skip(1);
        while let Some(argument) = arguments.next() {
            let (place, value) = if argument == "--csv" {
                let out = arguments.next().ok_or("--csv needs a file to write")?;
                (&mut read.out, out)
            } else if argument == "--help" || argument == "-h" {
                println!("{USAGE}");
                std::process::exit(0);
            } else if argument.to_string_lossy().starts_with('-') {
                return Err(USAGE.into());
            } else {
                (&mut read.file, argument)
            };
            if place.replace(value.into()).is_some() {
                return Err(USAGE.into());
            }
        }
        Ok(read)
    }
}
