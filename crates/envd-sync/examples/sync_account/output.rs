//! Changes, records and reports: as lines of JSON, or as a table for people.

use std::fmt::Display;
use std::io::{self, BufWriter, Stdout, Write};

use console::Term;
use envd_sdk::model::Timestamp;
use envd_sync::replica::{Change, ChangeKind, LocalRecord, SyncMode, SyncReport};
use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::cli::{self, Failure, printable};

/// The number of changes in the table; further ones are only counted.
const ROWS: u64 = 25;

pub(crate) struct Output {
    /// A failed write is an error of the program: unprinted changes must not be acknowledged.
    out: BufWriter<Stdout>,
    json: bool,
    changes: u64,
}

impl Output {
    pub(crate) fn new(json: bool) -> Self {
        Self {
            out: BufWriter::new(io::stdout()),
            json,
            changes: 0,
        }
    }

    pub(crate) fn change(&mut self, change: &Change) -> Result<(), Failure> {
        self.changes += 1;
        if self.json {
            return self.line(&ChangeLine::of(change));
        }
        if self.changes == 1 {
            writeln!(self.out)?;
            self.row(["#", "NUMBER", "STATUS"], "WHAT HAPPENED")?;
        }
        if self.changes <= ROWS {
            let record = change.record();
            let number = or_dash(record.number());
            let status = or_dash(record.status());
            let what = printable(what_happened(&change.kind));
            self.row([&change.sequence.to_string(), &number, &status], &what)?;
        }
        Ok(())
    }

    /// A row of the table. On a terminal that is too narrow for the last cell, the cells follow each other.
    fn row(&mut self, [sequence, number, status]: [&str; 3], what: &str) -> io::Result<()> {
        const BEFORE_LAST: usize = 37;
        const LAST: usize = 24;
        let row = format!("   {sequence:>6}  {number:12}  {status:10}  ");
        let terminal = Term::stdout();
        let width = terminal.size_checked().filter(|_| terminal.is_term());
        let Some(width) = width.map(|(_, width)| usize::from(width)) else {
            return writeln!(self.out, "{row}{what}");
        };
        if width < BEFORE_LAST + LAST {
            let cells = [sequence, number, status, what].map(str::to_owned);
            return writeln!(self.out, "{}", cli::flowing(&cells, width));
        }
        let lines = cli::wrapped(what, width - BEFORE_LAST);
        let next = format!("\n{:BEFORE_LAST$}", "");
        writeln!(self.out, "{row}{}", lines.join(&next))
    }

    /// A line that breaks at blanks on a narrow terminal.
    fn say(&mut self, text: &str) -> io::Result<()> {
        writeln!(self.out, "{}", cli::fitted(text, &Term::stdout()))
    }

    pub(crate) fn end_of_changes(&mut self) -> Result<(), Failure> {
        if !self.json {
            match self.changes {
                0 => self.say("\n   No changes.")?,
                all if all > ROWS => self.say(&format!("   ... and {} more", all - ROWS))?,
                _ => {}
            }
            writeln!(self.out)?;
            self.changes = 0;
        }
        Ok(self.flush()?)
    }

    pub(crate) fn record(&mut self, record: &LocalRecord) -> Result<(), Failure> {
        self.line(&RecordLine {
            id: record.id().map(Into::into),
            number: record.number().map(Into::into),
            status: record.status().map(|status| status.to_string()),
            updated_at: record.updated_at(),
            record: serde_json::from_str(record.json())?,
        })
    }

    pub(crate) fn report(&mut self, report: &SyncReport) -> Result<(), Failure> {
        if self.json {
            let report = ReportLine::of(report);
            self.line(&LastLine { report })?;
        } else {
            self.report_in_words(report)?;
        }
        Ok(self.flush()?)
    }

    fn report_in_words(&mut self, report: &SyncReport) -> io::Result<()> {
        match report.mode {
            SyncMode::Full => {
                let why = printable(&report.why);
                if why.contains(':') {
                    self.say(&format!("   Everything is read: {why}"))?;
                } else {
                    self.say(&format!("   {}: everything is read", capitalised(&why)))?;
                }
            }
            _ => self.say("   Read changes only")?,
        }
        let SyncReport {
            seen,
            appeared,
            changed,
            gone,
            ..
        } = report;
        let requests = match report.requests {
            1 => "1 request".to_owned(),
            several => format!("{several} requests"),
        };
        self.say(&format!(
            "   {requests}, {seen} records listed: {appeared} appeared, {changed} changed, {gone} gone"
        ))?;
        if !report.clean {
            self.say(
                "   The list shifted or could not be read in places, so the next sync asks again:",
            )?;
        }
        for problem in &report.problems {
            self.say(&format!("   - {}", printable(problem)))?;
        }
        if let Some(watermark) = &report.watermark {
            let at = watermark.to_time().map(cli::time);
            let at = at.unwrap_or_else(|| printable(watermark));
            self.say(&format!("   Complete up to {at}"))?;
        }
        writeln!(self.out)
    }

    pub(crate) fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }

    fn line(&mut self, line: &impl Serialize) -> Result<(), Failure> {
        writeln!(self.out, "{}", cli::json(&serde_json::to_string(line)?))?;
        Ok(())
    }
}

fn capitalised(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().into_iter().flat_map(char::to_uppercase);
    first.chain(letters).collect()
}

/// A change in words.
fn what_happened(kind: &ChangeKind) -> String {
    match kind {
        ChangeKind::Appeared { record, .. } => {
            let pic = |field: &str| {
                let record: Map<String, Value> = serde_json::from_str(record.json()).ok()?;
                Some(record.get(field)?["pic"].as_str()?.to_owned())
            };
            let (from, to) = (or_dash(pic("origin")), or_dash(pic("destination")));
            format!("appeared: from {from} to {to}")
        }
        ChangeKind::Changed {
            status: Some(status),
            ..
        } => {
            let (before, after) = (
                or_dash(status.before.as_ref()),
                or_dash(status.after.as_ref()),
            );
            format!("status changed from {before} to {after}")
        }
        ChangeKind::Changed { fields, .. } => format!("changed: {}", fields.join(", ")),
        ChangeKind::Gone { .. } => "gone: the service shows it no more".to_owned(),
        _ => "something that this program does not know".to_owned(),
    }
}

fn or_dash(field: Option<impl Display>) -> String {
    field.map_or_else(|| "-".to_owned(), printable)
}

#[derive(Serialize)]
struct ChangeLine<'a> {
    sequence: u64,
    kind: &'static str,
    id: &'a str,
    number: Option<String>,
    status: Option<String>,
    fields: &'a [String],
}

impl<'a> ChangeLine<'a> {
    fn of(change: &'a Change) -> Self {
        let (kind, fields): (_, &[String]) = match &change.kind {
            ChangeKind::Changed { fields, .. } => ("changed", fields),
            ChangeKind::Gone { .. } => ("gone", &[]),
            ChangeKind::Appeared { .. } => ("appeared", &[]),
            _ => ("unknown", &[]),
        };
        let record = change.record();
        Self {
            sequence: change.sequence,
            kind,
            id: change.id.as_str(),
            number: record.number().map(Into::into),
            status: record.status().map(|status| status.to_string()),
            fields,
        }
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct RecordLine<'a> {
    id: Option<String>,
    number: Option<String>,
    status: Option<String>,
    updated_at: Option<Timestamp>,
    record: &'a RawValue,
}

#[derive(Serialize)]
struct LastLine<'a> {
    report: ReportLine<'a>,
}

#[derive(Serialize)]
struct ReportLine<'a> {
    mode: String,
    why: &'a str,
    requests: u64,
    seen: u64,
    appeared: u64,
    changed: u64,
    gone: u64,
    watermark: Option<&'a Timestamp>,
    clean: bool,
}

impl<'a> ReportLine<'a> {
    fn of(report: &'a SyncReport) -> Self {
        Self {
            mode: report.mode.to_string(),
            why: &report.why,
            requests: report.requests,
            seen: report.seen,
            appeared: report.appeared,
            changed: report.changed,
            gone: report.gone,
            watermark: report.watermark.as_ref(),
            clean: report.clean,
        }
    }
}
