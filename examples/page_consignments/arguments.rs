//! What the command line asks for.

use std::num::NonZeroU32;
use std::path::PathBuf;
use std::process;

use envd_sdk::model::Day;

use super::settings::Failure;

const USAGE: &str =
    "usage: page_consignments [--since DATE] [--page-size N] [--json] [--resume FILE]";

pub(crate) struct Arguments {
    pub(crate) since: Day,
    pub(crate) page_size: u32,
    pub(crate) json: bool,
    pub(crate) resume: Option<PathBuf>,
}

impl Arguments {
    /// Reads the arguments. The program ends here when they ask for help.
    pub(crate) fn read(mut given: impl Iterator<Item = String>) -> Result<Self, Failure> {
        let mut read = Self {
            since: Day::parse("2026-01-01")?,
            page_size: 5,
            json: false,
            resume: None,
        };
        while let Some(name) = given.next() {
            let mut value = || given.next().ok_or(USAGE);
            match name.as_str() {
                "--since" => read.since = Day::parse(&value()?)?,
                "--page-size" => read.page_size = value()?.parse::<NonZeroU32>()?.get(),
                "--json" => read.json = true,
                "--resume" => read.resume = Some(value()?.into()),
                "--help" | "-h" => {
                    println!("{USAGE}");
                    process::exit(0);
                }
                _ => return Err(USAGE.into()),
            }
        }
        Ok(read)
    }
}
