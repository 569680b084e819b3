//! How an example is called, how it ends, and what reaches the screen.
//!
//! The exit code is 0 when the example has done its work, 1 when it has not, 2 when it was called the wrong way: with an
//! option that it does not know, a value that the option does not take, or a file that cannot be read or created.

#![allow(dead_code)] // Each example uses a part of it.

use std::error::Error;
use std::fmt::{self, Display, Formatter};
use std::path::Path;
use std::process::{self, ExitCode};
use std::{io, panic};

use lexopt::Arg::{Long, Short};
use lexopt::{Parser, ValueExt};

/// What an example may fail with.
pub(crate) type Failure = Box<dyn Error + Send + Sync>;

/// Reads the arguments. The program ends here, with the usage, when they are wrong.
pub(crate) fn arguments<T>(
    usage: &str,
    read: impl FnOnce(&mut Parser) -> Result<T, lexopt::Error>,
) -> T {
    leave_in_silence();
    read(&mut Parser::from_env()).unwrap_or_else(|problem| {
        refuse(problem, usage);
        process::exit(2)
    })
}

/// For an example that takes no arguments but `--help`.
pub(crate) fn no_arguments(usage: &str) {
    arguments(usage, |given| match given.next()? {
        None => Ok(()),
        Some(Short('h') | Long("help")) => help(usage),
        Some(other) => Err(other.unexpected()),
    });
}

/// Ends the program with the usage on stdout.
pub(crate) fn help(usage: &str) -> ! {
    println!("{usage}");
    process::exit(0)
}

/// The value of an option as `read` takes it; otherwise an error that names the option and what it expects.
pub(crate) fn value<T>(
    given: &mut Parser,
    option: &str,
    expected: &str,
    read: impl FnOnce(&str) -> Option<T>,
) -> Result<T, lexopt::Error> {
    let text = given.value()?.string()?;
    read(&text).ok_or_else(|| format!("{option} {text}: expected {expected}").into())
}

/// The exit code of a program that was called the wrong way.
pub(crate) fn refuse(problem: impl Display, usage: &str) -> ExitCode {
    eprintln!("error: {}\n\n{usage}", printable(problem));
    ExitCode::from(2)
}

/// The exit code of a program that has done its work, or prints why it has not.
pub(crate) fn end(done: Result<(), Failure>) -> ExitCode {
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => fail(&failure),
    }
}

/// The exit code of a program that failed; the error is printed.
pub(crate) fn fail(failure: &Failure) -> ExitCode {
    eprintln!("error: {}", printable(chain(failure.as_ref())));
    match failure.downcast_ref() {
        Some(Unusable(_)) => ExitCode::from(2),
        None => ExitCode::FAILURE,
    }
}

/// A file that an argument names and that cannot be used.
#[derive(Debug)]
pub(crate) struct Unusable(String);

impl Unusable {
    pub(crate) fn new(file: &Path, problem: impl Display) -> Self {
        Self(format!("{}: {problem}", file.display()))
    }
}

impl Display for Unusable {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Error for Unusable {}

/// Each layer of the error, unless the one above says it already.
pub(crate) fn chain(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut below = error.source();
    while let Some(error) = below {
        let layer = error.to_string();
        if !text.ends_with(&layer) {
            text.extend([": ", &layer]);
        }
        below = error.source();
    }
    text
}

/// Text of a server or of a file as part of a line on the screen. What a terminal obeys is shown as an escape: control
/// characters, marks of direction, and line ends, with which a text could forge lines.
pub(crate) fn printable(text: impl Display) -> String {
    let escape = |letter: char| letter.escape_default().to_string();
    escaped(&text.to_string(), |letter| {
        is_obeyed(letter).then(|| escape(letter))
    })
}

/// JSON that a terminal shows as it is: what [`printable`] escapes is escaped in its strings, as JSON does it.
pub(crate) fn json(text: &str) -> String {
    // A line end is none of a string's: those are escaped already.
    let obeyed = |letter| is_obeyed(letter) && letter != '\n';
    let escape = |letter| format!("\\u{:04x}", u32::from(letter));
    escaped(text, |letter| obeyed(letter).then(|| escape(letter)))
}

fn escaped(text: &str, escape: impl Fn(char) -> Option<String>) -> String {
    let mut shown = String::with_capacity(text.len());
    for letter in text.chars() {
        match escape(letter) {
            Some(escape) => shown.push_str(&escape),
            None => shown.push(letter),
        }
    }
    shown
}

/// Marks of direction as in the Unicode character property `Bidi_Control`; the two separators end lines.
fn is_obeyed(letter: char) -> bool {
    letter.is_control()
        || matches!(letter, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Ctrl-C, from now on; without this it ends the program at once.
#[cfg(unix)]
pub(crate) fn interrupts() -> io::Result<tokio::signal::unix::Signal> {
    tokio::signal::unix::signal(tokio::signal::unix::SignalKind::interrupt())
}

/// Ctrl-C, from now on; without this it ends the program at once.
#[cfg(windows)]
pub(crate) fn interrupts() -> io::Result<tokio::signal::windows::CtrlC> {
    tokio::signal::windows::ctrl_c()
}

/// Ends the program with 0 once whoever reads its output has seen enough, as `head` does.
///
/// `println!` panics then, and neither a panic nor a `?` at each line belongs into the story of an example.
fn leave_in_silence() {
    let report = panic::take_hook();
    panic::set_hook(Box::new(move |panic| {
        let said = panic.payload().downcast_ref::<String>();
        if said.is_some_and(|said| said.starts_with("failed printing to std")) {
            process::exit(0);
        }
        report(panic);
    }));
}
