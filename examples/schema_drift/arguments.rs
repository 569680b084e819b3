//! What the command line asks for.

use std::{env, process};

const USAGE: &str = "usage: schema_drift [--endpoint URL --token T] [--json]";

#[derive(Default)]
pub(crate) struct Arguments {
    pub(crate) endpoint: Option<String>,
    pub(crate) token: Option<String>,
    pub(crate) json: bool,
}

impl Arguments {
    /// Reads the arguments. The program ends here when they are wrong, or ask for help.
    pub(crate) fn read() -> Self {
        match Self::parse(env::args().skip(1)) {
            Ok(Some(arguments)) => arguments,
            Ok(None) => {
                println!("{USAGE}");
                process::exit(0);
            }
            Err(problem) => {
                eprintln!("{problem}\n{USAGE}");
                process::exit(2);
            }
        }
    }

    /// `None` asks for help.
    fn parse(mut words: impl Iterator<Item = String>) -> Result<Option<Self>, String> {
        let mut read = Self::default();
        while let Some(word) = words.next() {
            let mut value = || words.next().ok_or(format!("{word} needs a value"));
            match word.as_str() {
                "--endpoint" => read.endpoint = Some(value()?),
                "--token" => read.token = Some(value()?),
                "--json" => read.json = true,
                "--help" | "-h" => return Ok(None),
                _ => return Err(format!("unknown argument {word}")),
            }
        }
        if read.endpoint.is_some() != read.token.is_some() {
            return Err("--endpoint and --token go together".to_owned());
        }
        Ok(Some(read))
    }
}
