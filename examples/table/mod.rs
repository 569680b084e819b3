//! Rows of a table on the screen.

#![allow(dead_code)] // Each example uses a part of it.

pub(crate) mod consignments;

use std::io::{self, IsTerminal};

use console::{Style, measure_text_width, pad_str, truncate_str};

use super::cli::printable;

/// The widths of the columns but the last one, in cells of a terminal.
pub(crate) struct Columns<const N: usize> {
    widths: [usize; N],
    /// Whether a text that is too wide is cut, so that the columns below stay in line. A file or another program gets it whole.
    cuts: bool,
}

impl<const N: usize> Columns<N> {
    pub(crate) fn new(widths: [usize; N]) -> Self {
        let cuts = io::stdout().is_terminal();
        Self { widths, cuts }
    }

    /// A row; an empty cell is a dash. The last cell is as it is given, and may be styled.
    pub(crate) fn line(&self, cells: [&str; N], last: impl ToString) -> String {
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
        line + &last.to_string()
    }

    /// The headings, which stand out on a terminal.
    pub(crate) fn headings(&self, cells: [&str; N], last: &str) -> String {
        Style::new()
            .bold()
            .apply_to(self.line(cells, last))
            .to_string()
    }
}

/// A text of a server or of a file in a table; a dash if it is empty.
pub(crate) fn or_dash(text: &str) -> String {
    if text.is_empty() {
        return "-".to_owned();
    }
    printable(text)
}
