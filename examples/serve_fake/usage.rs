//! How the program is called, and how it ends where it cannot go on.

use std::error::Error;
use std::process::{self, ExitCode};

const USAGE: &str = "\
usage: serve_fake [--port N] [--world DIR] [--latency MS] [--token-lifetime SECONDS]

Serves the fakes of the declaration interface, the property register and the
identity provider on 127.0.0.1, until Ctrl-C or SIGTERM.

  --port N                  the port; a free one unless set
  --world DIR               what there is at the start, from a folder of JSON:
                            user-details*.json, account-pics.json, questions.json,
                            consignments/*.json, register/all.json
  --latency MS              every answer comes so many milliseconds later
  --token-lifetime SECONDS  how long access tokens are valid; 86400 unless set
  --help                    this text

The first line on stdout is one JSON object with the addresses, a valid access
token and the ids that a client needs.";

/// Ends the program with the text above.
pub(crate) fn help() -> ! {
    println!("{USAGE}");
    process::exit(0)
}

/// How the program ends that was called the wrong way.
pub(crate) fn refuse(problem: &dyn Error) -> ExitCode {
    tell(problem);
    eprintln!("\n{USAGE}");
    ExitCode::from(2)
}

/// How the program ends that failed.
pub(crate) fn fail(problem: &dyn Error) -> ExitCode {
    tell(problem);
    ExitCode::FAILURE
}

/// The error and all that lies under it, unless it says that itself.
fn tell(error: &dyn Error) {
    let mut text = error.to_string();
    let mut below = error.source();
    while let Some(error) = below {
        let said = error.to_string();
        if !text.ends_with(&said) {
            text.extend([": ", &said]);
        }
        below = error.source();
    }
    eprintln!("{text}");
}
