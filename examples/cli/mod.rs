//! Arguments, exit codes and output of the examples.
//!
//! The exit code is 0 for success, 1 for a failure, 2 for wrong arguments: an unknown option, an invalid value, or a file that
//! cannot be read or created. It is also 0 if the reader of the output closes the pipe, as `head` does. Any other failure to
//! write the output, such as a full disk, gives 1.

#![allow(dead_code)] // Each example uses a part of it.

use std::error::Error;
use std::fmt::{self, Display, Formatter};
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::panic;
use std::path::{Path, PathBuf};
use std::process::{self, ExitCode};
use std::time::{SystemTime, UNIX_EPOCH};

use console::{Term, measure_text_width};
use envd_sdk::model::Day;
use lexopt::Arg::{Long, Short};
use lexopt::{Parser, ValueExt};

/// The error of an example.
pub(crate) type Failure = Box<dyn Error + Send + Sync>;

/// Reads the arguments. Wrong arguments end the program with the usage.
pub(crate) fn arguments<T>(
    usage: &str,
    read: impl FnOnce(&mut Parser) -> Result<T, lexopt::Error>,
) -> T {
    exit_on_failed_print();
    read(&mut Parser::from_env()).unwrap_or_else(|problem| {
        refuse(problem, usage);
        process::exit(2)
    })
}

/// Arguments of an example whose only option is `--help`.
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

/// Parses the value of an option with `read`. The error names the option and the expected value.
pub(crate) fn value<T>(
    given: &mut Parser,
    option: &str,
    expected: &str,
    read: impl FnOnce(&str) -> Option<T>,
) -> Result<T, lexopt::Error> {
    let text = given.value()?.string()?;
    read(&text).ok_or_else(|| format!("{option} {text}: expected {expected}").into())
}

/// The value of `--port`; for 0 the system chooses a free port.
pub(crate) fn port(given: &mut Parser) -> Result<u16, lexopt::Error> {
    let expected = "a port, 0 to 65535";
    value(given, "--port", expected, |text| text.parse().ok())
}

/// Prints the problem and the usage, and returns the exit code for wrong arguments.
pub(crate) fn refuse(problem: impl Display, usage: &str) -> ExitCode {
    let called = usage.split("\n\n").next().unwrap_or_default();
    let problem = fitted(&format!("error: {}", printable(problem)), &Term::stderr());
    eprintln!("{problem}\n\n{called}\n\n--help lists the options.");
    ExitCode::from(2)
}

/// Returns the exit code of a result, and prints an error.
pub(crate) fn end(done: Result<(), Failure>) -> ExitCode {
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => fail(&failure),
    }
}

/// Prints the error, and returns its exit code.
pub(crate) fn fail(failure: &Failure) -> ExitCode {
    if is_closed_pipe(failure) {
        return ExitCode::SUCCESS;
    }
    let problem = format!("error: {}", printable(chain(failure.as_ref())));
    eprintln!("{}", fitted(&problem, &Term::stderr()));
    match failure.downcast_ref() {
        Some(Unusable(_)) => ExitCode::from(2),
        None => ExitCode::FAILURE,
    }
}

/// Whether the reader of the output has closed the pipe.
pub(crate) fn is_closed_pipe(failure: &Failure) -> bool {
    let error = failure.downcast_ref::<io::Error>();
    error.is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
}

/// A file from the arguments that cannot be used.
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

/// True if the folder exists but the file does not: its name may be mistyped.
pub(crate) fn is_absent(file: &Path) -> bool {
    let folder = file.parent().filter(|folder| folder.as_os_str() != "");
    file.file_name().is_some() && !file.exists() && folder.is_none_or(Path::exists)
}

/// The size limit of an input file: a profile, a form or a list of servers has a few KB.
const LARGEST: u64 = 16 << 20;

/// Reads a text file from the arguments. The limit matters for devices and pipes, also behind a link, which may be endless.
pub(crate) fn read_text(file: &Path) -> io::Result<String> {
    let invalid = |problem| io::Error::new(io::ErrorKind::InvalidData, problem);
    let opened = File::open(file)?;
    if !opened.metadata()?.is_file() {
        return Err(invalid("is not a file that can be read"));
    }
    let mut bytes = Vec::new();
    opened.take(LARGEST + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > LARGEST {
        return Err(invalid("has more than 16 MB, which are not read"));
    }
    String::from_utf8(bytes).map_err(|_| invalid("is not text in UTF-8"))
}

/// Replaces a file atomically: after an interruption either the old or the new file exists.
pub(crate) fn replace(file: &Path, contents: &[u8]) -> io::Result<()> {
    let (beside, mut new) = file_beside(file)?;
    new.write_all(contents)?;
    new.sync_all()?;
    fs::rename(&beside, file)
}

/// Creates a new file with the name of another file plus `.new`. Removes an existing file of that name, which a killed program
/// may have left. Does not follow a link, because in a shared directory another user may have planted it.
pub(crate) fn file_beside(file: &Path) -> io::Result<(PathBuf, File)> {
    let mut name = file.as_os_str().to_owned();
    name.push(".new");
    let beside = PathBuf::from(name);
    match fs::remove_file(&beside) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let new = File::create_new(&beside)?;
    Ok((beside, new))
}

/// The messages of the error and all its sources, without repetitions.
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

/// A day for people, such as "2 Nov 2026".
pub(crate) fn day(day: Day) -> String {
    const MONTHS: [&str; 12] = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ];
    let months = (1..).zip(MONTHS);
    let month = months.filter(|(number, _)| *number == day.month());
    let month: String = month.map(|(_, name)| name).collect();
    format!("{} {month} {}", day.day_of_month(), day.year())
}

/// A time for people, such as "2 Nov 2026, 18:00 UTC".
pub(crate) fn time(at: SystemTime) -> String {
    let minutes = at.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs() / 60;
    let hour = minutes / 60 % 24;
    let minute = minutes % 60;
    format!("{}, {hour:02}:{minute:02} UTC", day(Day::of(at)))
}

/// Wraps the text to the terminal: breaks long lines at blanks and keeps their indentation. Leaves the text unchanged for files and pipes.
pub(crate) fn fitted(text: &str, terminal: &Term) -> String {
    let Some((_, width)) = terminal.size_checked().filter(|_| terminal.is_term()) else {
        return text.to_owned();
    };
    let lines = text.split('\n').map(|line| {
        let words = line.trim_start_matches(' ');
        let indent = line.len() - words.len();
        let room = usize::from(width).saturating_sub(indent).max(12);
        let begin = " ".repeat(indent);
        begin.clone() + &wrapped(words, room).join(&format!("\n{begin}"))
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// Prints lines, wrapped at blanks on a narrow terminal.
#[allow(unused_macros)]
macro_rules! say {
    ($($text:tt)*) => {
        println!("{}", crate::cli::fitted(&format!($($text)*), &console::Term::stdout()))
    };
}

#[allow(unused_imports)]
pub(crate) use say;

/// Joins cells with two blanks, for a terminal that is too narrow for a table. A cell that does not fit moves to a new,
/// indented line; it breaks at blanks only if it is longer than a line.
pub(crate) fn flowing(cells: &[String], width: usize) -> String {
    const INDENT: &str = "  ";
    let room = width.saturating_sub(INDENT.len()).max(12);
    let mut lines = vec![String::new()];
    for cell in cells.iter().map(|cell| cell.trim()) {
        let last = lines.len() - 1;
        let length = measure_text_width(&lines[last]) + 2 + measure_text_width(cell);
        if !lines[last].is_empty() && length <= width {
            lines[last].extend(["  ", cell]);
            continue;
        }
        for part in wrapped(cell, room) {
            let last = lines.len() - 1;
            if lines[last].is_empty() {
                lines[last].push_str(&part);
            } else {
                lines.push(INDENT.to_owned() + &part);
            }
        }
    }
    lines.join("\n")
}

/// Wraps words into lines of at most this width. A longer word gets its own line.
pub(crate) fn wrapped(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        let at = lines.len() - 1;
        let length = measure_text_width(&lines[at]) + 1 + measure_text_width(word);
        if lines[at].is_empty() {
            lines[at].push_str(word);
        } else if length <= width {
            lines[at].extend([" ", word]);
        } else {
            lines.push(word.to_owned());
        }
    }
    lines
}

/// Makes text of a server or a file safe to print within a line. Escapes control characters, bidirectional marks and line ends,
/// so that a text cannot control the terminal or forge lines.
pub(crate) fn printable(text: impl Display) -> String {
    let escape = |letter: char| letter.escape_default().to_string();
    escaped(&text.to_string(), |letter| {
        is_control(letter).then(|| escape(letter))
    })
}

/// Writes the characters that [`printable`] escapes as JSON escapes.
pub(crate) fn json(text: &str) -> String {
    // Line ends inside strings are already escaped; the others are formatting.
    let control = |letter| is_control(letter) && letter != '\n';
    let escape = |letter| format!("\\u{:04x}", u32::from(letter));
    escaped(text, |letter| control(letter).then(|| escape(letter)))
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

/// Includes the Unicode property `Bidi_Control`, and the two separators that end lines.
fn is_control(letter: char) -> bool {
    letter.is_control()
        || matches!(letter, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Handles Ctrl-C from now on; without the handler, Ctrl-C ends the program immediately.
#[cfg(unix)]
pub(crate) fn interrupts() -> io::Result<tokio::signal::unix::Signal> {
    tokio::signal::unix::signal(tokio::signal::unix::SignalKind::interrupt())
}

/// Handles Ctrl-C from now on; without the handler, Ctrl-C ends the program immediately.
#[cfg(windows)]
pub(crate) fn interrupts() -> io::Result<tokio::signal::windows::CtrlC> {
    tokio::signal::windows::ctrl_c()
}

/// Prints one line of JSON and flushes it.
pub(crate) fn announce(line: &serde_json::Value) -> io::Result<()> {
    let mut out = io::stdout().lock();
    writeln!(out, "{line}")?;
    out.flush()
}

/// Installs the handlers immediately; the future completes on Ctrl-C or SIGTERM.
#[cfg(unix)]
pub(crate) fn stop() -> io::Result<impl Future<Output = ()>> {
    use tokio::signal::unix::{SignalKind, signal};
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    Ok(async move {
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
        }
    })
}

/// Installs the handlers immediately; the future completes on Ctrl-C or Ctrl-Break, which supervisors send.
#[cfg(windows)]
pub(crate) fn stop() -> io::Result<impl Future<Output = ()>> {
    let mut interrupt = tokio::signal::windows::ctrl_c()?;
    let mut ctrl_break = tokio::signal::windows::ctrl_break()?;
    Ok(async move {
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = ctrl_break.recv() => {}
        }
    })
}

/// Ends the program if its output cannot be written: with 0 if the reader closes the pipe, as `head` does, otherwise with 1, as
/// on a full disk.
///
/// `println!` panics in these cases; a `?` on each line would clutter the examples.
fn exit_on_failed_print() {
    let report = panic::take_hook();
    panic::set_hook(Box::new(move |panic| {
        let message = panic.payload().downcast_ref::<String>();
        let Some(problem) = message.and_then(|it| it.strip_prefix("failed printing to std")) else {
            return report(panic);
        };
        if is_broken_pipe(problem) {
            process::exit(0);
        }
        let problem = problem.split_once(": ").map_or(problem, |(_, why)| why);
        // OK to ignore: the failure cannot be reported anywhere else.
        let _ = writeln!(
            io::stderr(),
            "error: the output cannot be written: {problem}"
        );
        process::exit(1);
    }));
}

/// True if a message ends with the system's error number for a closed pipe: `(os error 32)` on Unix.
fn is_broken_pipe(message: &str) -> bool {
    let number = message
        .rsplit_once("(os error ")
        .and_then(|(_, number)| number.trim_end_matches(')').parse().ok());
    number.is_some_and(|number| {
        io::Error::from_raw_os_error(number).kind() == io::ErrorKind::BrokenPipe
    })
}
