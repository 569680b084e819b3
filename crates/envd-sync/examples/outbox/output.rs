//! Entries and reports: as lines of JSON, or as a table for people.

use std::io::{self, Write};
use std::path::Path;

use console::Term;
use envd_sdk::model::{ConsignmentId, ServerError, Timestamp};
use envd_sync::outbox::{Decision, Declaration, DeclarationState, Reason, Wanted};
use serde::Serialize;
use serde_json::Value;

use super::cli::{self, Failure, printable};

/// The maximum width of the table, the minimum width of its last column, and the start of that column.
const WIDTH: usize = 100;
const LEAST: usize = 26;
const WORDS: usize = 54;

/// The results of `run`, and the remaining entries.
#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct Report {
    pub(crate) confirmed: u64,
    pub(crate) confirmed_with_problems: u64,
    pub(crate) refused: u64,
    pub(crate) needs_attention: u64,
    pub(crate) waiting: u64,
    pub(crate) requests: u64,
    pub(crate) late_duplicates: u64,
    #[serde(skip)]
    pub(crate) login_needed: bool,
}

impl Report {
    /// Counts the unfinished entries.
    pub(crate) fn count(&mut self, entries: &[Declaration]) {
        let count = |state| entries.iter().filter(|entry| entry.state == state).count() as u64;
        self.refused = count(DeclarationState::Refused);
        self.needs_attention = count(DeclarationState::NeedsAttention);
        self.waiting = entries.len() as u64 - self.refused - self.needs_attention;
    }

    pub(crate) fn is_open(&self) -> bool {
        self.refused + self.needs_attention + self.waiting > 0
    }
}

/// Writes to stdout; a failed write is an error of the program.
pub(crate) struct Output {
    json: bool,
    has_head: bool,
    /// The width and the start of the last column.
    words: usize,
    begin: usize,
    /// The width of a terminal that is too narrow for the table: there the cells of a row follow each other.
    narrow: Option<usize>,
}

impl Output {
    pub(crate) fn new(json: bool) -> Self {
        let terminal = Term::stdout();
        let size = terminal.size_checked().filter(|_| terminal.is_term());
        let width = size.map_or(WIDTH, |(_, width)| WIDTH.min(width.into()));
        let narrow = Some(width).filter(|width| *width < WORDS + LEAST);
        let begin = if narrow.is_some() { 2 } else { WORDS };
        Self {
            json,
            has_head: false,
            words: width.saturating_sub(begin),
            begin,
            narrow,
        }
    }

    /// Prints the number of a new entry.
    pub(crate) fn written(entry: &Declaration) -> Result<(), Failure> {
        line(&WrittenLine {
            entry: entry.id.to_string(),
        })
    }

    /// Prints the state of an entry.
    pub(crate) fn entry(&mut self, entry: &Declaration) -> Result<(), Failure> {
        if self.json {
            return line(&EntryLine {
                entry: entry.id.to_string(),
                key: entry.key.as_deref(),
                writers: &entry.writers,
                kind: entry.wanted,
                state: entry.state,
                consignment: entry.consignment.as_ref(),
                attempts: entry.attempts,
                reason: entry.reason,
                trouble: entry.trouble.as_deref(),
                findings: entry.findings.iter().map(ServerError::raw).collect(),
                candidates: &entry.candidates,
                late_duplicates: &entry.late_duplicates,
            });
        }
        self.row(entry)
    }

    /// Says that the file does not exist.
    pub(crate) fn no_file(&self, file: &Path) -> Result<(), Failure> {
        if self.json {
            return Ok(());
        }
        let file = printable(file.display());
        say(&format!(
            "Nothing was written down yet: there is no file {file}. `add` makes it."
        ))
    }

    /// Says that a run waits for new entries.
    pub(crate) fn waits(&self) -> Result<(), Failure> {
        if self.json {
            return Ok(());
        }
        say("Nothing to send. Waiting for what is written down; Ctrl-C ends.")
    }

    pub(crate) fn end_of_list(&self) -> Result<(), Failure> {
        if !self.json && !self.has_head {
            say("Nothing was written down yet: `add` a declaration.")?;
        }
        Ok(())
    }

    pub(crate) fn report(&self, report: &Report) -> Result<(), Failure> {
        if self.json {
            return line(&LastLine { report });
        }
        if self.has_head {
            say("")?;
        }
        if !self.has_head && !report.is_open() && report.requests == 0 {
            return say("Nothing to send.");
        }
        let Report {
            confirmed,
            refused,
            needs_attention,
            waiting,
            ..
        } = report;
        let requests = match report.requests {
            1 => "1 request".to_owned(),
            several => format!("{several} requests"),
        };
        say(&format!(
            "{confirmed} confirmed, {refused} refused, {needs_attention} for you to decide, {waiting} waiting; {requests}."
        ))?;
        if report.confirmed_with_problems > 0 {
            let count = report.confirmed_with_problems;
            say(&format!("{count} of them confirmed with problems."))?;
        }
        let made = match report.late_duplicates {
            1 => "a second draft".to_owned(),
            several => format!("{several} further drafts"),
        };
        if report.late_duplicates > 0 {
            say(&format!(
                "A request that was taken for lost may have made {made}. `list` names what to compare, and to delete if it is one too many."
            ))?;
        }
        if report.login_needed {
            say("Nothing is sent before you log in again. Nothing is lost.")?;
        }
        Ok(())
    }

    fn row(&mut self, entry: &Declaration) -> Result<(), Failure> {
        if !self.has_head {
            self.has_head = true;
            let headings = ["ENTRY", "WHAT", "CONSIGNMENT", "STATE"];
            self.first_line(headings, "IN WORDS")?;
        }
        let state = entry.state.to_string().replace('_', " ");
        let id = entry.id.to_string();
        let kind = entry.wanted.to_string();
        let mut words = cli::wrapped(&in_words(entry), self.words).into_iter();
        let first = match self.narrow {
            Some(_) => String::new(),
            None => words.next().unwrap_or_default(),
        };
        self.first_line([&id, &kind, &consignment(entry), &state], &first)?;
        let details = details(entry);
        let details = details.iter().flat_map(|detail| {
            // All lines except the first are indented.
            let lines = cli::wrapped(&format!("- {detail}"), self.words - 2);
            let lines = lines.into_iter().enumerate();
            lines.map(|(at, line)| if at > 0 { format!("  {line}") } else { line })
        });
        for line in words.chain(details) {
            say(&format!("{:begin$}{line}", "", begin = self.begin))?;
        }
        Ok(())
    }

    fn first_line(&self, cells: [&str; 4], words: &str) -> Result<(), Failure> {
        match self.narrow {
            Some(width) => {
                let cells: Vec<String> = cells
                    .into_iter()
                    .chain([words])
                    .map(str::to_owned)
                    .collect();
                say(&cli::flowing(&cells, width))
            }
            None => say(&row(cells, words)),
        }
    }
}

fn row([id, kind, consignment, state]: [&str; 4], words: &str) -> String {
    format!("{id:>5} {kind:7}  {consignment:20}  {state:15}  {words}")
}

/// Identifies the consignment of an entry by its number, its PICs or its id.
fn consignment(entry: &Declaration) -> String {
    let number = entry.number.as_ref().map(printable);
    let pics = || {
        let input = entry.input.as_ref()?;
        let from = input.origin.pic.value()?;
        let to = input.destination.pic.value()?;
        Some(printable(format!("{from} to {to}")))
    };
    let id = || entry.consignment.as_ref().map(printable);
    let known = number.or_else(pics).or_else(id);
    known.unwrap_or_else(|| "a new one".to_owned())
}

fn in_words(entry: &Declaration) -> String {
    let is_found = entry.is_adopted && entry.state != DeclarationState::Sending;
    let found = is_found.then(|| "it was found there".to_owned());
    let next = entry.next_at.as_ref().and_then(Timestamp::to_time);
    let next = next.map(|at| format!("next at {}", cli::time(at)));
    let words = std::iter::once(printable(entry.sentence()));
    words
        .chain(found)
        .chain(next)
        .collect::<Vec<_>>()
        .join("; ")
}

/// The details that the user needs to decide.
fn details(entry: &Declaration) -> Vec<String> {
    let mut details = Vec::new();
    let problems = entry.findings.len();
    if entry.state == DeclarationState::Confirmed && problems > 0 {
        details.push(format!(
            "confirmed with problems: {problems}, as --json shows"
        ));
    }
    if entry.state == DeclarationState::Refused {
        details.extend(entry.findings.iter().map(|finding| {
            let text = finding.description().unwrap_or(finding.message());
            match finding.code() {
                Some(code) if code != text => printable(format!("{code}: {text}")),
                _ => printable(text),
            }
        }));
    }
    details.extend(
        entry
            .key
            .as_ref()
            .map(|key| format!("key {}", printable(key))),
    );
    // Without reception, the sentence already names the trouble.
    let is_reported = entry.reason == Some(Reason::NoReception);
    details.extend(
        entry
            .trouble
            .as_ref()
            .filter(|_| !is_reported)
            .map(printable),
    );
    for field in entry.conflict.iter().flat_map(|conflict| &conflict.fields) {
        let value = |value: &Value| match value {
            Value::Null => "nothing".to_owned(),
            Value::String(text) => printable(text),
            other => printable(other),
        };
        let path = &field.path;
        let mine = value(&field.mine);
        let theirs = value(&field.theirs);
        details.push(printable(format!("{path}: mine {mine}, theirs {theirs}")));
    }
    let asks = [DeclarationState::NeedsAttention, DeclarationState::Refused];
    if asks.contains(&entry.state) {
        for decision in entry.decisions() {
            let name = match &decision {
                Decision::Adopt(id) => format!("adopt {}", printable(id)),
                other => other.to_string().replace(' ', "-"),
            };
            let will = printable(entry.consequence(&decision));
            details.push(format!("decide {} {name}: {will}", entry.id));
        }
    }
    let duplicates = entry.late_duplicates.iter();
    details.extend(duplicates.map(|id| format!("late duplicate: {}", printable(id))));
    details
}

fn say(text: &str) -> Result<(), Failure> {
    let text = cli::fitted(text.trim_end(), &Term::stdout());
    Ok(writeln!(io::stdout(), "{text}")?)
}

fn line(line: &impl Serialize) -> Result<(), Failure> {
    let text = serde_json::to_string(line)?;
    Ok(writeln!(io::stdout(), "{}", cli::json(&text))?)
}

#[derive(Serialize)]
struct WrittenLine {
    entry: String,
}

#[derive(Serialize)]
struct EntryLine<'a> {
    entry: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    key: Option<&'a str>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    writers: &'a [String],
    kind: Wanted,
    state: DeclarationState,
    consignment: Option<&'a ConsignmentId>,
    attempts: u64,
    reason: Option<Reason>,
    #[serde(skip_serializing_if = "Option::is_none")]
    trouble: Option<&'a str>,
    findings: Vec<&'a Value>,
    candidates: &'a [ConsignmentId],
    late_duplicates: &'a [ConsignmentId],
}

#[derive(Serialize)]
struct LastLine<'a> {
    report: &'a Report,
}
