//! Where the filled-in consignment goes.

use std::error::Error;
use std::path::PathBuf;
use std::process;

const USAGE: &str = "usage: answer_questions [--out FILE]";

/// A file, or stdout where none is named.
pub(crate) struct Out(Option<PathBuf>);

impl Out {
    /// Reads the arguments. The program ends here when they are wrong, or ask for help.
    pub(crate) fn from_arguments() -> Self {
        let mut arguments = std::env::args_os().skip(1);
        match (arguments.next(), arguments.next(), arguments.next()) {
            (None, ..) => Self(None),
            (Some(flag), Some(file), None) if flag == "--out" => Self(Some(file.into())),
            (Some(flag), None, None) if flag == "--help" || flag == "-h" => {
                println!("{USAGE}");
                process::exit(0);
            }
            _ => {
                eprintln!("{USAGE}");
                process::exit(2);
            }
        }
    }

    pub(crate) fn write(&self, json: &str) -> Result<(), Box<dyn Error>> {
        match &self.0 {
            Some(file) => std::fs::write(file, format!("{json}\n"))?,
            None => println!("{json}"),
        }
        Ok(())
    }
}
