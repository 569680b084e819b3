//! The PICs to check.

use std::fs;
use std::path::Path;

use super::cli::{Failure, Unusable};

const BUNDLED: &str = include_str!("../data/pics.csv");

/// The PICs of the file, or of the bundled list.
pub(crate) fn read(file: Option<&Path>) -> Result<Vec<String>, Failure> {
    let Some(file) = file else {
        return pics(BUNDLED);
    };
    let text = fs::read_to_string(file).map_err(Failure::from);
    let pics = text.and_then(|text| pics(&text));
    pics.map_err(|problem| Unusable::new(file, problem).into())
}

/// The column `PIC` if the first line has it, else the first column including the first line.
fn pics(text: &str) -> Result<Vec<String>, Failure> {
    let text = text.trim_start_matches('\u{feff}');
    if let Some(line) = open_quote(text) {
        return Err(format!("line {line}: this quote is not closed").into());
    }
    let mut reader = csv::ReaderBuilder::new()
        .has_headers(false)
        .flexible(true)
        .trim(csv::Trim::All)
        .from_reader(text.as_bytes());
    let (mut column, mut pics) = (0, Vec::new());
    for (number, record) in reader.records().enumerate() {
        let record = record?;
        let mut cells = record.iter();
        match cells.position(|cell| cell.eq_ignore_ascii_case("pic")) {
            Some(at) if number == 0 => column = at,
            _ => pics.push(record.get(column).unwrap_or_default().to_owned()),
        }
    }
    Ok(pics)
}

/// The line of a quote that opens a cell and is not closed at the end of a cell. The CSV reader would read the following
/// lines, up to the next quote, as part of that cell, and their PICs would be missing.
fn open_quote(text: &str) -> Option<usize> {
    let (mut line, mut open, mut cell_starts) = (1, None, true);
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        match (letter, open) {
            ('"', None) if cell_starts => open = Some(line),
            ('"', Some(_)) if letters.next_if_eq(&'"').is_some() => {}
            ('"', Some(_)) => {
                while letters.next_if(|next| matches!(next, ' ' | '\t')).is_some() {}
                if !matches!(letters.peek(), None | Some(',' | '\r' | '\n')) {
                    return open;
                }
                open = None;
            }
            ('\n', _) => line += 1,
            _ => {}
        }
        cell_starts = matches!(letter, ',' | '\r' | '\n');
    }
    open
}
