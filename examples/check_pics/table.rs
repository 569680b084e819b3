//! The result on the screen, with a progress bar under it, and in a file of CSV.

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;

use indicatif::{ProgressBar, ProgressStyle};

use super::settings::Failure;

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
        let csv = out.map(csv::Writer::from_path).transpose()?;
        let mut table = Self { bar, csv };
        table.add(HEADINGS.map(str::to_owned), 0)?;
        Ok(table)
    }

    pub(crate) fn add(&mut self, row: [String; 5], done: usize) -> Result<(), Failure> {
        let [pic, name, town, state, status] = &row;
        let line = format!("{pic:10}  {name:24}  {town:18}  {state:5}  {status}");
        self.bar.suspend(|| show(&line));
        if let Some(csv) = &mut self.csv {
            csv.write_record(&row)?;
        }
        self.bar.set_position(done as u64);
        Ok(())
    }

    pub(crate) fn end(mut self, summary: &str) -> Result<(), Failure> {
        self.bar.finish_and_clear();
        if let Some(csv) = &mut self.csv {
            csv.flush()?;
        }
        show(summary);
        Ok(())
    }
}

/// The check goes on to its end, and the file with it, even if nobody reads the screen any more.
fn show(line: &str) {
    drop(writeln!(io::stdout(), "{line}"));
}
