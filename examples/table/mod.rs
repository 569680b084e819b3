//! Rows of a table on the screen.

#![allow(dead_code)] // Each example uses a part of it.

pub(crate) mod consignments;

use std::io::{self, IsTerminal};

use console::{Style, Term, measure_text_width, pad_str, truncate_str};

use super::cli::{flowing, printable, wrapped};

/// The minimum width of the last column (a day) and of a wide column, on a narrow terminal.
const LAST: usize = 11;
const LEAST: usize = 12;

/// The widths of all columns except the last, in terminal cells.
pub(crate) struct Columns<const N: usize> {
    widths: [usize; N],
    /// True if texts that are too wide are truncated to keep the columns aligned. Output to files and pipes is never truncated.
    cuts: bool,
    /// The width of the terminal.
    width: Option<usize>,
    /// The width of a terminal that is too narrow for the columns; the cells of a row then follow each other.
    narrow: Option<usize>,
}

impl<const N: usize> Columns<N> {
    /// Shrinks the widest columns on a narrow terminal.
    pub(crate) fn new(mut widths: [usize; N]) -> Self {
        let cuts = io::stdout().is_terminal();
        let size = Term::stdout().size_checked();
        let width = size.map(|(_, width)| width.into()).filter(|_| cuts);
        let before_last = |widths: &[usize]| widths.iter().map(|width| width + 2).sum::<usize>();
        while width.is_some_and(|width| before_last(&widths) + LAST > width)
            && let Some(widest) = widths.iter_mut().max().filter(|widest| **widest > LEAST)
        {
            *widest -= 1;
        }
        Self {
            narrow: width.filter(|width| before_last(&widths) + LAST > *width),
            widths,
            cuts,
            width,
        }
    }

    /// Formats a row; an empty cell becomes a dash. The last cell may be styled and is never truncated; on a terminal it wraps.
    pub(crate) fn line(&self, cells: [&str; N], last: impl ToString) -> String {
        if let Some(width) = self.narrow {
            let last = last.to_string();
            let mut cells: Vec<String> = cells.into_iter().map(or_dash).collect();
            cells.push(last);
            return flowing(&cells, width);
        }
        let mut line = String::new();
        for (cell, width) in cells.into_iter().zip(self.widths) {
            let cell = or_dash(cell);
            let cell = if self.cuts && measure_text_width(&cell) > width {
                truncate_str(&cell, width, "…").into_owned()
            } else {
                cell
            };
            line += &pad_str(&cell, width, console::Alignment::Left, None);
            line += "  ";
        }
        let begin = measure_text_width(&line);
        let last = last.to_string();
        let room = self.width.unwrap_or(usize::MAX).saturating_sub(begin);
        if measure_text_width(&last) <= room {
            return line + &last;
        }
        // Do not split escape sequences of styles.
        if last.contains('\u{1b}') {
            return line + &truncate_str(&last, room, "…");
        }
        let lines = wrapped(&last, room.max(LAST));
        line + &lines.join(&format!("\n{:begin$}", ""))
    }

    /// The headings, highlighted on a terminal.
    pub(crate) fn headings(&self, cells: [&str; N], last: &str) -> String {
        Style::new()
            .bold()
            .apply_to(self.line(cells, last))
            .to_string()
    }
}

/// Makes a text of a server or a file safe for a table; a dash if it is empty.
pub(crate) fn or_dash(text: &str) -> String {
    if text.is_empty() {
        return "-".to_owned();
    }
    printable(text)
}
