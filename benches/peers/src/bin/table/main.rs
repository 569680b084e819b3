//! Builds and runs all programs, and writes the table of `src/guide/performance.md` and its excerpt in `README.md`.
//!
//! `cargo run --release --manifest-path benches/peers/Cargo.toml --bin table [-- --quick] [--check] [--date YYYY-MM-DD]`
//!
//! The programs run in turn, several times; each figure is the median of the runs, but clean builds are measured once.
//! `--quick` runs each once with fewer rounds and writes nothing. `--check` exits with an error when a goal is missed. The date is that of the commit unless it is given.

mod block;
mod programs;
#[path = "../../../../row.rs"]
mod row;

use std::process::{Command, ExitCode};

use block::Place;
use programs::Programs;

struct Options {
    quick: bool,
    check: bool,
    date: Option<String>,
}

fn main() -> ExitCode {
    let Some(options) = options() else {
        eprintln!("usage: table [--quick] [--check] [--date YYYY-MM-DD]");
        return ExitCode::from(2);
    };
    let programs = Programs::build();
    let rows = programs.run(options.quick);
    let date = options
        .date
        .unwrap_or_else(|| output("git", &["log", "-1", "--format=%cs"]));
    let about = block::about(&date);
    if options.quick {
        println!("{}", block::of_guide(&about, &rows));
    } else {
        Place::GUIDE.write(&block::of_guide(&about, &rows));
        Place::README.write(&block::of_readme(&about, &rows));
    }
    let missed: Vec<_> = rows.iter().filter(|row| !row.is_met()).collect();
    println!(
        "{} of {} figures miss their goals",
        missed.len(),
        rows.len()
    );
    for row in &missed {
        println!("{row}");
    }
    ExitCode::from(u8::from(options.check && !missed.is_empty()))
}

fn options() -> Option<Options> {
    let mut options = Options {
        quick: false,
        check: false,
        date: None,
    };
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--quick" => options.quick = true,
            "--check" => options.check = true,
            "--date" => options.date = Some(arguments.next()?),
            _ => return None,
        }
    }
    Some(options)
}

/// What a program prints, which must succeed.
fn output(program: &str, arguments: &[&str]) -> String {
    let output = Command::new(program).args(arguments).output();
    let output = output.unwrap_or_else(|error| panic!("{program}: {error}"));
    assert!(output.status.success(), "{program}: {output:?}");
    let text = String::from_utf8(output.stdout).unwrap();
    text.trim().to_owned()
}
