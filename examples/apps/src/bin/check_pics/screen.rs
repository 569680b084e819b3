//! The result on the screen, with a progress bar below it.

use std::collections::BTreeMap;
use std::io::{self, IsTerminal, Write};

use console::{Style, Term};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::answer::{Answer, UNREAD};
use super::cli::{Failure, fitted, printable};
use super::table::Columns;

pub(crate) struct Screen {
    bar: ProgressBar,
    columns: Columns<4>,
    /// True if advice gets a separate line.
    has_space: bool,
    counts: BTreeMap<String, usize>,
}

impl Screen {
    /// Prints the headings. The bar is on stderr, and hidden unless both stderr and stdout are terminals.
    pub(crate) fn begin(rows: usize) -> Result<Self, Failure> {
        let bar = ProgressBar::new(rows as u64);
        bar.set_style(ProgressStyle::with_template(
            "{bar:40} {pos} of {len}, {eta} left",
        )?);
        let columns = Columns::new([10, 24, 18, 5]);
        let has_space = io::stdout().is_terminal();
        // A program that reads the output from a pipe may use the same terminal.
        if !has_space {
            bar.set_draw_target(ProgressDrawTarget::hidden());
        }
        show(&columns.headings(["PIC", "NAME", "TOWN", "STATE"], "STATUS"));
        Ok(Self {
            bar,
            columns,
            has_space,
            counts: BTreeMap::new(),
        })
    }

    pub(crate) fn add(&mut self, pic: &str, answer: &Answer) {
        let colour = match answer.kind.as_str() {
            "Active" => Style::new().green(),
            "not a PIC" | "failed" | UNREAD => Style::new().red(),
            _ => Style::new().yellow(),
        };
        let status = if self.has_space {
            answer.kind.clone()
        } else {
            answer.status()
        };
        let status = colour.apply_to(printable(status));
        let mut lines = self
            .columns
            .line([pic, &answer.name, &answer.town, &answer.state], status);
        if let Some(advice) = answer.advice.as_ref().filter(|_| self.has_space) {
            let advice = format!("\n{:12}{}", "", printable(advice));
            let advice = fitted(&advice, &Term::stdout());
            lines += &Style::new().dim().apply_to(advice).to_string();
        }
        self.bar.suspend(|| show(&lines));
        self.bar.inc(1);
        *self.counts.entry(answer.kind.clone()).or_default() += 1;
    }

    pub(crate) fn count(&self, kind: &str) -> usize {
        self.counts.get(kind).copied().unwrap_or_default()
    }

    pub(crate) fn rows(&self) -> usize {
        self.counts.values().sum()
    }

    /// Prints the count of each kind.
    pub(crate) fn end(&self) {
        self.bar.finish_and_clear();
        let kinds = self.counts.iter();
        let kinds: Vec<String> = kinds
            .map(|(kind, count)| format!("{count} {kind}"))
            .collect();
        let counts = format!("{} checked: {}", self.rows(), printable(kinds.join(", ")));
        show(&fitted(&counts, &Term::stdout()));
    }
}

/// Ignores errors, so that a closed stdout does not end the check and its file.
fn show(line: &str) {
    drop(writeln!(io::stdout(), "{line}"));
}
