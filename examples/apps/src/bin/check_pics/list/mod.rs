//! The list to check, from a CSV file or a workbook: nothing here is about the register.

mod column;
mod sheets;
mod text;

use std::fs;
use std::io::Read;
use std::path::Path;

use envd_sdk::model::Pic;

use super::arguments::Arguments;
use super::cli::{Failure, Unusable};
use column::Place;
use sheets::Sheet;

const BUNDLED: &[u8] = include_bytes!("pics.csv");

/// The largest file that is read, in bytes. A list of a million rows is smaller.
const LARGEST: u64 = 100_000_000;

/// The headings, and the rows below them, which may have fewer cells.
#[derive(Default)]
pub(crate) struct List {
    pub(crate) headings: Vec<String>,
    /// The column of the PICs.
    pub(crate) column: usize,
    pub(crate) rows: Vec<Vec<String>>,
    /// How the file was interpreted.
    pub(crate) notes: Vec<String>,
}

impl List {
    /// Reads the list in the file, or the bundled list.
    pub(crate) fn read(arguments: &Arguments) -> Result<Self, Failure> {
        let (name, bytes) = match &arguments.file {
            Some(file) => (file.as_path(), read(file)),
            None => (Path::new("the bundled list"), Ok(BUNDLED.to_vec())),
        };
        let list = bytes.and_then(|bytes| Self::of(bytes, arguments));
        list.map_err(|problem| Unusable::new(name, problem).into())
    }

    fn of(bytes: Vec<u8>, arguments: &Arguments) -> Result<Self, Failure> {
        let mut sheets = sheets::read(bytes)?;
        if let Some(wanted) = &arguments.sheet {
            let names: Vec<String> = sheets.iter().map(|sheet| sheet.name.clone()).collect();
            sheets.retain(|sheet| sheet.name.trim().eq_ignore_ascii_case(wanted.trim()));
            if sheets.is_empty() {
                return Err(format!("--sheet {wanted}: the file has {}", names.join(", ")).into());
            }
        }
        let wanted = arguments.column.as_deref();
        let mut found = Vec::new();
        let mut problem = None;
        for sheet in sheets.into_iter().filter(|sheet| !sheet.rows.is_empty()) {
            match column::find(&sheet, wanted) {
                Ok(place) if place.pics > 0 => found.push((sheet, place)),
                other => problem = problem.or(Some((sheet, other))),
            }
        }
        // Do not just take the first sheet: it is often a cover sheet whose only PIC is the sender's.
        if let [_, _, ..] = &found[..] {
            let names: Vec<&str> = found.iter().map(|(sheet, _)| &*sheet.name).collect();
            let names = names.join(", ");
            return Err(format!(
                "several sheets have PICs: choose one with --sheet NAME ({names})"
            )
            .into());
        }
        match (found.pop(), problem) {
            (Some((sheet, place)), _) => Ok(Self::below(sheet, &place)),
            (None, Some((sheet, place))) => Ok(Self::below(sheet, &place?)),
            (None, None) => Ok(Self::default()),
        }
    }

    fn below(mut sheet: Sheet, place: &Place) -> Self {
        let width = sheet.width();
        let first = place.header.map_or(0, |header| header + 1);
        let rows = sheet.rows.split_off(first);
        let header = place.header.and_then(|_| sheet.rows.pop());
        let mut notes: Vec<String> = sheet.note.take().into_iter().collect();
        let in_sheet = if sheet.name.is_empty() {
            String::new()
        } else {
            format!(" of sheet {}", sheet.name)
        };
        if let Some(header) = &header
            && header.line > 1
        {
            notes.push(format!(
                "the headings are in line {}{in_sheet}; the rows above are skipped",
                header.line
            ));
        }
        let mut headings: Vec<String> = header.map(|header| header.cells).unwrap_or_default();
        for column in headings.len()..width {
            headings.push(match column {
                _ if column == place.column => "PIC".to_owned(),
                _ => format!("COLUMN {}", sheet.number(column)),
            });
        }
        if width > 1 {
            let heading = headings[place.column].trim();
            notes.push(format!(
                "the PICs are in column {}{in_sheet}, \u{201c}{heading}\u{201d}",
                sheet.number(place.column)
            ));
        }
        let rows = rows.into_iter().map(|row| row.cells).collect();
        Self {
            headings,
            column: place.column,
            rows,
            notes,
        }
    }

    /// The PIC of a row, in upper case and trimmed; any other text unchanged.
    pub(crate) fn pic(&self, row: &[String]) -> String {
        let cell = row.get(self.column).map_or("", String::as_str);
        Pic::parse(cell).map_or_else(|_| cell.to_owned(), |pic| pic.to_string())
    }

    /// The row as written to the result: with the PIC in the form that was looked up, and a cell for each heading.
    pub(crate) fn tidied(&self, row: &[String]) -> Vec<String> {
        let mut cells = row.to_vec();
        cells.resize(self.headings.len(), String::new());
        cells[self.column] = self.pic(row);
        cells
    }

    /// The number of PICs in the list that differ in case or blanks from the form that is looked up.
    pub(crate) fn untidy(&self) -> usize {
        let is_untidy = |row: &&Vec<String>| row.get(self.column) != Some(&self.pic(row));
        let rows = self.rows.iter().filter(|row| row.len() > self.column);
        rows.filter(is_untidy).count()
    }
}

fn read(file: &Path) -> Result<Vec<u8>, Failure> {
    // One more byte shows that a file, or a pipe without a size, is too large.
    let mut bytes = Vec::new();
    let mut file = fs::File::open(file)?.take(LARGEST + 1);
    file.read_to_end(&mut bytes)?;
    if bytes.len() as u64 > LARGEST {
        return Err(format!("the file is larger than {} MB", LARGEST / 1_000_000).into());
    }
    Ok(bytes)
}
