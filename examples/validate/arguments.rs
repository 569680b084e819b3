//! What the command line asks for.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Cursor};
use std::process::ExitCode;

const SAMPLE: &str = include_str!("../data/validate-sample.jsonl");
const USAGE: &str = "usage: validate [--json] [FILE.jsonl|-]";

/// The lines to judge, and whether the verdicts are for programs.
pub(crate) struct Arguments {
    pub(crate) lines: Box<dyn BufRead>,
    pub(crate) as_json: bool,
}

impl Arguments {
    /// Reads the arguments; otherwise tells how the program ends right away.
    pub(crate) fn read() -> Result<Self, ExitCode> {
        let mut as_json = false;
        let mut file = None;
        for argument in std::env::args_os().skip(1) {
            match argument.to_str() {
                Some("--json") => as_json = true,
                Some("--help" | "-h") => {
                    println!("{USAGE}");
                    return Err(ExitCode::SUCCESS);
                }
                Some(flag) if flag.starts_with('-') && flag != "-" => {
                    return Err(refuse(&format!("unknown argument {flag}\n{USAGE}")));
                }
                _ if file.is_some() => return Err(refuse(&format!("more than one file\n{USAGE}"))),
                _ => file = Some(argument),
            }
        }
        let lines: Box<dyn BufRead> = match &file {
            None => Box::new(Cursor::new(SAMPLE)),
            Some(dash) if dash == "-" => Box::new(io::stdin().lock()),
            Some(path) => match File::open(path) {
                Ok(file) => Box::new(BufReader::new(file)),
                Err(error) => return Err(refuse(&format!("{}: {error}", path.display()))),
            },
        };
        Ok(Self { lines, as_json })
    }
}

/// How the program ends where a file or an argument cannot be read.
pub(crate) fn refuse(problem: &str) -> ExitCode {
    eprintln!("{problem}");
    ExitCode::from(2)
}
