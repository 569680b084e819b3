//! Problems of a schema or a document, with their places.

use std::cmp::Reverse;
use std::fmt;
use std::path::Path;

use apollo_compiler::diagnostic::ToCliReport;
use apollo_compiler::parser::{SourceMap, SourceSpan};
use apollo_compiler::validation::DiagnosticList;

use crate::rust;

/// The maximum number of names in an error.
const MOST_NAMES: usize = 12;

/// One problem: `queries/heads.graphql:5:7: Consignment has no field headz; it has heads, ..`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub struct Problem {
    /// The name of the file as given.
    pub file: String,
    /// The line and the column, from 1; `None` if the file could not be read or written.
    pub place: Option<(usize, usize)>,
    /// The problem, and the existing names.
    pub message: String,
}

/// All problems, in the order of the files; nothing was written. `Debug` equals `Display`, for `main` of a build script.
pub struct Error {
    problems: Vec<Problem>,
}

impl Error {
    pub(crate) fn new(mut problems: Vec<Problem>) -> Self {
        for problem in &mut problems {
            problem.message = printable(&problem.message);
        }
        problems.sort();
        problems.dedup();
        Self { problems }
    }

    /// The value, if the list is empty.
    pub(crate) fn unless_empty<T>(problems: Vec<Problem>, value: T) -> Result<T, Self> {
        if problems.is_empty() {
            Ok(value)
        } else {
            Err(Self::new(problems))
        }
    }

    pub(crate) fn of_file(file: &Path, message: impl ToString) -> Self {
        Self::new(vec![Problem {
            file: file.display().to_string(),
            place: None,
            message: message.to_string(),
        }])
    }

    /// All problems.
    pub fn problems(&self) -> &[Problem] {
        &self.problems
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { file, message, .. } = self;
        match self.place {
            Some((line, column)) => write!(f, "{file}:{line}:{column}: {message}"),
            None => write!(f, "{file}: {message}"),
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lines: Vec<String> = self.problems.iter().map(Problem::to_string).collect();
        f.write_str(&lines.join("\n"))
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for Error {}

/// Escapes control characters. Messages quote schemas and documents, and go to a terminal and, line by line, to cargo.
fn printable(message: &str) -> String {
    let mut printable = String::new();
    for letter in message.chars() {
        if rust::is_control(letter) {
            printable.extend(letter.escape_default());
        } else {
            printable.push(letter);
        }
    }
    printable
}

/// Formats a location of the sources as file, line and column.
pub(crate) fn place(sources: &SourceMap, span: Option<SourceSpan>) -> String {
    let problem = at(sources, span, String::new());
    let (line, column) = problem.place.unwrap_or_default();
    format!("{}:{line}:{column}", problem.file)
}

/// A problem at a location of the sources.
pub(crate) fn at(sources: &SourceMap, span: Option<SourceSpan>, message: String) -> Problem {
    let file = span.and_then(|span| sources.get(&span.file_id()));
    let file = file.map(|file| file.path().display().to_string());
    let place = span.and_then(|span| span.line_column(sources));
    Problem {
        file: file.unwrap_or_default(),
        place: place.map(|place| (place.line, place.column)),
        message,
    }
}

/// Converts the errors of apollo-compiler.
pub(crate) fn found(errors: &DiagnosticList) -> Vec<Problem> {
    let problems = errors.iter();
    let problems = problems.map(|one| at(one.sources, one.error.location(), one.error.to_string()));
    problems.collect()
}

/// Formats the existing names, with those most similar to the wrong one first.
pub(crate) fn instead<'a>(wrong: &str, names: impl Iterator<Item = &'a str>) -> String {
    let common = |name: &str| {
        let pairs = wrong.bytes().zip(name.bytes());
        pairs.take_while(|(a, b)| a.eq_ignore_ascii_case(b)).count()
    };
    let mut names: Vec<&str> = names.collect();
    names.sort_by_key(|name| (Reverse(common(name)), *name));
    let more = match names.len().saturating_sub(MOST_NAMES) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let shown = names.iter().take(MOST_NAMES);
    let shown: Vec<_> = shown.map(|name| format!("`{name}`")).collect();
    if shown.is_empty() {
        "none".to_owned()
    } else {
        shown.join(", ") + &more
    }
}
