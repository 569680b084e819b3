//! The result on the screen, with a progress bar under it, and in a file of CSV.

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
    /// Begins with the headings. The bar is on the error output, and hidden where that is no terminal.
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

    /// A row; where a cell is empty, the screen has a dash.
    pub(crate) fn add(&mut self, row: [String; 5]) -> Result<(), Failure> {
        let [pic, name, town, state, status] = row.each_ref().map(|cell| match cell.as_str() {
            "" => "-".to_owned(),
            cell => printable(cell),
        });
        let line = format!("{pic:10}  {name:24}  {town:18}  {state:5}  {status}");
        self.bar.suspend(|| show(&line));
        if let Some(csv) = &mut self.csv {
            csv.write_record(row.map(defused))?;
            // The file has whole rows, whenever the program ends.
            csv.flush()?;
        }
        self.bar.inc(1);
        Ok(())
    }

    /// Ends with how many rows there are of each kind.
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

/// A cell that no spreadsheet takes for a formula: with an apostrophe in front, as OWASP recommends against CSV injection.
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

/// The check goes on to its end, and the file with it, even if nobody reads the screen any more.
fn show(line: &str) {
    drop(writeln!(io::stdout(), "{line}"));
}
