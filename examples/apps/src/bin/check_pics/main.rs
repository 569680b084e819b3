//! Checks the PICs of a list before a sale: `cargo run -p apps --bin check_pics -- [FILE] [--csv OUT]`.
//!
//! FILE is a CSV file or a workbook. Without a file it checks a bundled list; without settings it uses a fake register of
//! invented properties.

mod advice;
mod answer;
mod arguments;
#[path = "../../../../cli/mod.rs"]
mod cli;
mod list;
mod output;
mod screen;
#[path = "../../../../settings/mod.rs"]
mod settings;
#[path = "../../../../table/mod.rs"]
mod table;

use std::process::ExitCode;

use console::Term;
use envd_sdk::register::Register;

use answer::Answer;
use arguments::Arguments;
use cli::{Failure, printable};
use list::List;
use output::{Known, Output};
use screen::Screen;
use settings::Settings;

#[tokio::main]
async fn main() -> ExitCode {
    cli::end(run(Arguments::read()).await)
}

async fn run(arguments: Arguments) -> Result<(), Failure> {
    let list = List::read(&arguments)?;
    if list.rows.is_empty() {
        return Err("the list is empty".into());
    }
    let settings = Settings::read().await?;
    let register = settings.register()?.build()?;

    let (mut output, known) = match &arguments.out {
        Some(out) if arguments.resume => {
            Output::resume(out, &list).map(|(output, known)| (Some(output), known))?
        }
        Some(out) => (Some(Output::create(out, &list)?), Known::new()),
        None => (None, Known::new()),
    };
    for note in &list.notes {
        eprintln!("{}", cli::fitted(&printable(note), &Term::stderr()));
    }
    let mut screen = Screen::begin(list.rows.len())?;
    check(&register, &list, &known, &mut output, &mut screen).await?;
    screen.end();
    if let Some(output) = output {
        output.end()?;
    }
    let untidy = list.untidy();
    if untidy > 0 {
        let note =
            format!("{untidy} of the PICs had small letters or blanks, and were looked up without");
        eprintln!("{}", cli::fitted(&note, &Term::stderr()));
    }
    verdict(&screen, list.rows.len(), &arguments)
}

/// Looks up the PICs without a known answer, and writes the rows in the order of the list. Ctrl-C ends it.
async fn check(
    register: &Register,
    list: &List,
    known: &Known,
    output: &mut Option<Output>,
    screen: &mut Screen,
) -> Result<(), Failure> {
    let pics: Vec<String> = list.rows.iter().map(|row| list.pic(row)).collect();
    let is_unknown = |pic: &&String| !pic.trim().is_empty() && !known.contains_key(*pic);
    let mut look_ups = register
        .lookup_many(pics.iter().filter(is_unknown))
        .concurrency(8);
    let mut interrupts = cli::interrupts()?;
    for (row, pic) in list.rows.iter().zip(&pics) {
        let answer = if let Some(answer) = known.get(pic) {
            answer.clone()
        } else if is_unknown(&pic) {
            let look_up = tokio::select! {
                look_up = look_ups.next() => look_up,
                _ = interrupts.recv() => None,
            };
            match look_up {
                Some(look_up) => Answer::of(&look_up),
                None => break,
            }
        } else {
            Answer::blank()
        };
        screen.add(pic, &answer);
        if let Some(output) = output {
            output.add(list.tidied(row), &answer)?;
        }
    }
    Ok(())
}

fn verdict(screen: &Screen, all: usize, arguments: &Arguments) -> Result<(), Failure> {
    let resume = match arguments.out {
        Some(_) => "; continue with --resume",
        None => "",
    };
    let checked = screen.rows();
    let failed = screen.count("failed");
    if checked < all {
        Err(format!("interrupted: {checked} of {all} are checked{resume}").into())
    } else if failed > 0 {
        Err(format!("{failed} of {all} look-ups failed{resume}").into())
    } else if screen.count(answer::UNREAD) > 0 {
        let unread = screen.count(answer::UNREAD);
        Err(format!(
            "{unread} of {all} rows have a formula without its value, so they were not checked"
        )
        .into())
    } else if screen.count("not a PIC") + screen.count("no PIC in the row") == all {
        Err("the list has no valid PIC".into())
    } else {
        Ok(())
    }
}
