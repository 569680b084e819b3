//! Entries and reports: as lines of JSON, or as a table for people.

use std::io::{self, Write};
use std::path::Path;

use console::Term;
use envd_sdk::model::{ConsignmentId, ServerError, Timestamp};
use envd_sync::outbox::{Entry, EntryKind, EntryState, Reason};
use serde::Serialize;
use serde_json::Value;

use super::cli::{self, Failure, printable};

/// How wide the table is at most, how wide its last column is at least, and where that begins.
const WIDTH: usize = 100;
const LEAST: usize = 26;
const WORDS: usize = 54;

/// What `run` did, and what is left.
#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct Report {
    pub(crate) confirmed: u64,
    pub(crate) refused: u64,
    pub(crate) needs_attention: u64,
    pub(crate) waiting: u64,
    pub(crate) requests: u64,
    pub(crate) late_duplicates: u64,
    #[serde(skip)]
    pub(crate) login_needed: bool,
}

impl Report {
    /// Counts what is not at its end.
    pub(crate) fn count(&mut self, entries: &[Entry]) {
        let count = |state| entries.iter().filter(|entry| entry.state == state).count() as u64;
        self.refused = count(EntryState::Refused);
        self.needs_attention = count(EntryState::NeedsAttention);
        self.waiting = entries.len() as u64 - self.refused - self.needs_attention;
    }

    pub(crate) fn is_open(&self) -> bool {
        self.refused + self.needs_attention + self.waiting > 0
    }
}

/// Writes to stdout; that it cannot be written to is an error of the program.
pub(crate) struct Output {
    json: bool,
    has_head: bool,
    /// The width of the last column.
    words: usize,
}

impl Output {
    pub(crate) fn new(json: bool) -> Self {
        let terminal = Term::stdout().size_checked();
        let width = terminal.map_or(WIDTH, |(_, width)| WIDTH.min(width.into()));
        Self {
            json,
            has_head: false,
            words: width.saturating_sub(WORDS).max(LEAST),
        }
    }

    /// An entry that was written.
    pub(crate) fn written(entry: &Entry) -> Result<(), Failure> {
        line(&WrittenLine {
            entry: entry.id.to_string(),
        })
    }

    /// An entry whose state changed.
    pub(crate) fn change(&mut self, entry: &Entry) -> Result<(), Failure> {
        if self.json {
            return line(&ChangeLine {
                entry: entry.id.to_string(),
                state: entry.state,
                attempts: entry.attempts.len(),
                consignment: entry.consignment.as_ref(),
                reason: entry.reason,
            });
        }
        match entry.state {
            EntryState::Sending => self.row(entry, "it is being sent"),
            _ => self.row(entry, &next_in_words(entry)),
        }
    }

    /// An entry of the list.
    pub(crate) fn listed(&mut self, entry: &Entry) -> Result<(), Failure> {
        if self.json {
            return line(&ListLine {
                entry: entry.id.to_string(),
                kind: entry.kind,
                state: entry.state,
                consignment: entry.consignment.as_ref(),
                attempts: entry.attempts.len(),
                reason: entry.reason,
                findings: entry.findings.iter().map(ServerError::raw).collect(),
                candidates: &entry.candidates,
                late_duplicates: &entry.late_duplicates,
            });
        }
        self.row(entry, &next_in_words(entry))
    }

    /// Says that the file is not there.
    pub(crate) fn no_file(&self, file: &Path) -> Result<(), Failure> {
        if self.json {
            return Ok(());
        }
        let file = printable(file.display());
        say(&format!(
            "Nothing was written down yet: there is no file {file}. `add` makes it."
        ))
    }

    /// Says that a run waits for what is written down.
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
        let made = match report.late_duplicates {
            1 => "a second draft".to_owned(),
            several => format!("{several} further drafts"),
        };
        if report.late_duplicates > 0 {
            say(&format!(
                "Taken for lost, and carried out late: {made}. `list` names what to delete."
            ))?;
        }
        if report.login_needed {
            say("Nothing is sent before you log in again. Nothing is lost.")?;
        }
        Ok(())
    }

    fn row(&mut self, entry: &Entry, words: &str) -> Result<(), Failure> {
        if !self.has_head {
            self.has_head = true;
            say(&row(
                ["ENTRY", "WHAT", "CONSIGNMENT", "STATE"],
                "WHAT HAPPENS NEXT",
            ))?;
        }
        let state = entry.state.to_string().replace('_', " ");
        let (id, kind) = (entry.id.to_string(), entry.kind.to_string());
        let mut words = cli::wrapped(words, self.words).into_iter();
        let first = words.next().unwrap_or_default();
        say(&row([&id, &kind, &consignment(entry), &state], &first))?;
        let details = details(entry);
        let details = details.iter().flat_map(|detail| {
            let lines = cli::wrapped(&format!("- {detail}"), self.words);
            let lines = lines.into_iter().enumerate();
            lines.map(|(at, line)| if at > 0 { format!("  {line}") } else { line })
        });
        for line in words.chain(details) {
            say(&format!("{:WORDS$}{line}", ""))?;
        }
        Ok(())
    }
}

fn row([id, kind, consignment, state]: [&str; 4], words: &str) -> String {
    format!("{id:>5} {kind:7}  {consignment:20}  {state:15}  {words}")
}

/// Which consignment an entry is about: its number, or what is known of it.
fn consignment(entry: &Entry) -> String {
    let number = entry.number.as_ref().map(printable);
    let pics = || {
        let input = entry.input.as_ref()?;
        let (from, to) = (input.origin.pic.value()?, input.destination.pic.value()?);
        Some(printable(format!("{from} to {to}")))
    };
    let id = || entry.consignment.as_ref().map(printable);
    let known = number.or_else(pics).or_else(id);
    known.unwrap_or_else(|| "a new one".to_owned())
}

/// What happens next, in words.
fn next_in_words(entry: &Entry) -> String {
    let sent = match entry.attempts.len() {
        0 | 1 => String::new(),
        times => format!(", sent {times} times"),
    };
    match (entry.state, entry.reason) {
        (EntryState::Confirmed, _) if entry.kind == EntryKind::Delete => {
            "nothing: the service does not have the record any more".to_owned()
        }
        (EntryState::Confirmed, _) if entry.is_adopted => {
            format!("nothing: its reply was lost, and the service has it{sent}")
        }
        (EntryState::Confirmed, _) => format!("nothing: the service has it{sent}"),
        (EntryState::Discarded, reason) => {
            let why =
                reason.map_or_else(|| "it was given up".to_owned(), |reason| reason.to_string());
            format!("nothing: {why}")
        }
        (EntryState::Sending, _) => {
            "it was being sent when a run ended: the service is asked before it is sent again"
                .to_owned()
        }
        (EntryState::Queued, None) => "it is sent with the next run".to_owned(),
        (_, Some(reason)) => in_words(reason, entry),
        (state, None) => state.to_string(),
    }
}

/// The reason of an entry that is not at its end.
fn in_words(reason: Reason, entry: &Entry) -> String {
    let next = entry.next_at.as_ref().and_then(Timestamp::to_time);
    let until = next.map(|at| format!("; next at {}", cli::time(at)));
    match reason {
        Reason::NoReception => "it is sent when the service can be reached".to_owned(),
        reason => format!("{reason}{}", until.unwrap_or_default()),
    }
}

/// What a person needs to decide.
fn details(entry: &Entry) -> Vec<String> {
    let mut details = Vec::new();
    if !entry.state.is_final() {
        details.extend(entry.findings.iter().map(|finding| {
            let text = finding.description().unwrap_or(finding.message());
            printable(text)
        }));
    }
    let candidates = entry.candidates.iter();
    details.extend(candidates.map(|id| format!("it may be {}", printable(id))));
    for field in entry.conflict.iter().flat_map(|conflict| &conflict.fields) {
        let value = |value: &Value| match value {
            Value::Null => "nothing".to_owned(),
            Value::String(text) => printable(text),
            other => printable(other),
        };
        let (path, mine, theirs) = (&field.path, value(&field.mine), value(&field.theirs));
        details.push(printable(format!("{path}: mine {mine}, theirs {theirs}")));
    }
    if entry.kind == EntryKind::Comment {
        details.extend(entry.comment.as_ref().map(printable));
    }
    let duplicates = entry.late_duplicates.iter();
    details.extend(duplicates.map(|id| format!("late duplicate: {}", printable(id))));
    details
}

fn say(text: &str) -> Result<(), Failure> {
    Ok(writeln!(io::stdout(), "{}", text.trim_end())?)
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
struct ChangeLine<'a> {
    entry: String,
    state: EntryState,
    attempts: usize,
    consignment: Option<&'a ConsignmentId>,
    reason: Option<Reason>,
}

#[derive(Serialize)]
struct ListLine<'a> {
    entry: String,
    kind: EntryKind,
    state: EntryState,
    consignment: Option<&'a ConsignmentId>,
    attempts: usize,
    reason: Option<Reason>,
    findings: Vec<&'a Value>,
    candidates: &'a [ConsignmentId],
    late_duplicates: &'a [ConsignmentId],
}

#[derive(Serialize)]
struct LastLine<'a> {
    report: &'a Report,
}
