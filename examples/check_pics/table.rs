//! The result on the screen, with a progress bar below it, and in a CSV file.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Write};
use std::path::Path;

use indicatif::{ProgressBar, ProgressStyle};

use super::cli::{Failure, Unusable, printable};

const HEADINGS: [&str; 5] = ["PIC", "NAME", "TOWN", "STATE", "STATUS"];

pub(crate) struct Table {
    bar: ProgressBar,
    csv: Option<csv::Writer<File>>,
}

impl Table {
    /// Writes the headings. The bar is on stderr, and hidden if that is not a terminal.
    pub(crate) fn begin(length: usize, out: Option<&Path>) -> Result<Self, Failure> {
        let bar = ProgressBar::new(length as u64);
        bar.set_style(ProgressStyle::with_template("{bar:40} {pos}/{len} {eta}")?);
        let create = |out| csv::Writer::from_path(out).map_err(|error| Unusable::new(out, error));
        let csv = out.map(create).transpose()?;
        let mut table = Self { bar, csv };
        table.add(HEADINGS.map(str::to_owned))?;
        table.bar.set_position(0);
        Ok(table)
    }

    /// Writes a row; on the screen an empty cell is a dash.
    pub(crate) fn add(&mut self, row: [String; 5]) -> Result<(), Failure> {
        let [pic, name, town, state, status] = row.each_ref().map(|cell| match cell.as_str() {
            "" => "-".to_owned(),
            cell => printable(cell),
        });
        let line = format!("{pic:10}  {name:24}  {town:18}  {state:5}  {status}");
        self.bar.suspend(|| show(&line));
        if let Some(csv) = &mut self.csv {
            csv.write_record(row.map(defused))?;
            // The file has whole rows even if the program is interrupted.
            csv.flush()?;
        }
        self.bar.inc(1);
        Ok(())
    }

    /// Writes the count of each kind.
    pub(crate) fn end(self, rows: usize, counts: &BTreeMap<String, usize>) {
        self.bar.finish_and_clear();
        let kinds = counts.iter();
        let kinds: Vec<String> = kinds
            .map(|(kind, count)| format!("{count} {kind}"))
            .collect();
        let summary = printable(kinds.join(", "));
        show(&format!("{rows} checked: {summary}"));
    }
}

/// A cell that spreadsheets do not read as a formula: with an apostrophe in front, as OWASP recommends against CSV injection.
fn defused(cell: String) -> String {
    let formula = |first| {
        matches!(
            first,
            '=' | '+' | '-' | '@' | '\t' | '\r' | '\n' | '＝' | '＋' | '－' | '＠'
        )
    };
    if cell.starts_with(formula) {
        return format!("'{cell}");
    }
    cell
}

/// Ignores errors, so that a closed stdout does not end the check and its file.
fn show(line: &str) {
    drop(writeln!(io::stdout(), "{line}"));
}
