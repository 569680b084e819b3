//! The arguments of the command line.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Cursor};
use std::path::PathBuf;
use std::time::SystemTime;

use envd_sdk::model::{Day, Jurisdiction};
use lexopt::Arg::{Long, Short, Value};

use super::cli::{self, Unusable};

const SAMPLE: &str = include_str!("../data/validate-sample.jsonl");
const USAGE: &str = r#"usage: validate [--json] [--today DATE] [FILE|-]

Checks consignments offline. FILE, or stdin with -, has one declaration, as answer_questions
writes it:

  {"forms": ["LPAC1"], "origin": {..}, "destination": {..}, "answers": [..], ..}

or one JSON object a line, a declaration with its context:

  {"id": .., "today": "2026-11-20", "input": {..}, "questions": [..], "context": {..}}

  input      the declaration
  questions  the list, or a reply that contains it; without it only the fields are checked
  context    {"account_pic": "QAZZ7777", "operation": "create" or "update",
             "accreditations": {..}}, each of them optional
  id         any JSON; printed in front of the verdict

  --json        prints a line of JSON for each declaration
  --today DATE  the day of the check, for declarations without one; today in Sydney unless set

Without FILE it checks samples with mistakes. The exit code is 0 when all declarations were checked,
valid or not, and 2 when one could not be read."#;

/// The file, the day, and whether the output is JSON.
pub(crate) struct Arguments {
    /// `-` is stdin.
    pub(crate) file: Option<PathBuf>,
    pub(crate) today: Day,
    pub(crate) as_json: bool,
}

impl Arguments {
    pub(crate) fn read() -> Self {
        cli::arguments(USAGE, Self::parse)
    }

    fn parse(given: &mut lexopt::Parser) -> Result<Self, lexopt::Error> {
        let mut read = Self {
            file: None,
            today: Day::today_in(Jurisdiction::Nsw, SystemTime::now()),
            as_json: false,
        };
        while let Some(argument) = given.next()? {
            match argument {
                Value(file) if read.file.is_none() => read.file = Some(file.into()),
                Long("json") => read.as_json = true,
                Long("today") => {
                    let day = |text: &str| Day::parse(text).ok();
                    read.today = cli::value(given, "--today", "a day such as 2026-01-31", day)?;
                }
                Short('h') | Long("help") => cli::help(USAGE),
                _ => return Err(argument.unexpected()),
            }
        }
        Ok(read)
    }

    pub(crate) fn open(&self) -> Result<Box<dyn BufRead>, Unusable> {
        match &self.file {
            None => Ok(Box::new(Cursor::new(SAMPLE))),
            Some(dash) if dash.as_os_str() == "-" => Ok(Box::new(io::stdin().lock())),
            Some(file) => match File::open(file) {
                Ok(opened) => Ok(Box::new(BufReader::new(opened))),
                Err(error) => Err(Unusable::new(file, error)),
            },
        }
    }
}
