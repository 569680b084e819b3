//! The rows of a file: of a CSV, or of the sheets of a workbook.

use std::collections::BTreeMap;
use std::io::Cursor;

use calamine::{Data, Range, Reader, Xls, Xlsx};
use envd_sdk::model::Pic;

use super::cli::Failure;
use super::text;

/// A sheet of a workbook; a CSV is one without a name.
#[derive(Default)]
pub(crate) struct Sheet {
    pub(crate) name: String,
    pub(crate) rows: Vec<Row>,
    /// How the file was read, where that was a guess.
    pub(crate) note: Option<String>,
}

/// A row that is not blank.
pub(crate) struct Row {
    /// Its line in the file or its number in the sheet, from 1.
    pub(crate) line: u64,
    pub(crate) cells: Vec<String>,
}

/// What an old workbook and a workbook with a password begin with.
const COMPOUND: &[u8] = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1";

pub(crate) fn read(bytes: Vec<u8>) -> Result<Vec<Sheet>, Failure> {
    if bytes.starts_with(b"PK\x03\x04") {
        return workbook(bytes);
    }
    if bytes.starts_with(COMPOUND) {
        return old_workbook(bytes);
    }
    if let Some(kind) = text::foreign(&bytes) {
        return Err(format!("{kind}: export the list as CSV or as a workbook (.xlsx)").into());
    }
    Ok(vec![csv(&bytes)?])
}

fn csv(bytes: &[u8]) -> Result<Sheet, Failure> {
    let text = text::decode(bytes)?;
    let note = text
        .assumed
        .map(|encoding| format!("the text is read as {encoding}"));
    let mut text = text.text;
    let delimiter = match text
        .lines()
        .next()
        .and_then(|line| line.trim().strip_prefix("sep="))
    {
        Some(named) if named.len() == 1 => {
            // Excel reads this line, and does not show it. The line ends stay, so that lines keep their numbers.
            let delimiter = named.as_bytes()[0];
            let end = text.find('\n').unwrap_or(text.len());
            text.replace_range(..end, "");
            delimiter
        }
        _ => delimiter(&text),
    };
    if let Some(line) = open_quote(&text, char::from(delimiter)) {
        return Err(format!("line {line}: this quote is not closed").into());
    }
    let mut rows = Vec::new();
    for record in reader(&text, delimiter).records() {
        let record = record?;
        let line = record
            .position()
            .map_or(0, |position| line_of(&text, position));
        push(&mut rows, line, record.iter().map(str::to_owned).collect());
    }
    Ok(Sheet {
        rows,
        note,
        ..Sheet::default()
    })
}

/// The line of a record; the position of the reader is before the empty lines that it skips.
fn line_of(text: &str, position: &csv::Position) -> u64 {
    let start = usize::try_from(position.byte()).unwrap_or_default();
    let skipped = text.get(start..).unwrap_or_default().bytes();
    let skipped = skipped.take_while(|byte| matches!(byte, b'\r' | b'\n'));
    position.line() + skipped.filter(|byte| *byte == b'\n').count() as u64
}

fn reader(text: &str, delimiter: u8) -> csv::Reader<&[u8]> {
    let mut reader = csv::ReaderBuilder::new();
    reader
        .has_headers(false)
        .flexible(true)
        .delimiter(delimiter);
    reader.from_reader(text.as_bytes())
}

/// The delimiter that leaves most cells with a PIC; where none has one, with most cells.
fn delimiter(text: &str) -> u8 {
    let score = |delimiter: u8| {
        let (mut pics, mut cells) = (0, 0);
        for record in reader(text, delimiter).records().take(200).flatten() {
            cells += record.len();
            pics += record
                .iter()
                .filter(|cell| Pic::parse(cell).is_ok())
                .count();
        }
        (pics, cells)
    };
    // Of equals the last one.
    let best = [b'\t', b';', b',']
        .into_iter()
        .max_by_key(|delimiter| score(*delimiter));
    best.unwrap_or(b',')
}

/// The line of a quote that opens a cell and is not closed at the end of a cell. The CSV reader would read the following
/// lines, up to the next quote, as part of that cell, and their PICs would be missing.
fn open_quote(text: &str, delimiter: char) -> Option<usize> {
    let ends_cell = |letter: char| letter == delimiter || matches!(letter, '\r' | '\n');
    let (mut line, mut open, mut cell_starts) = (1, None, true);
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        match (letter, open) {
            ('"', None) if cell_starts => open = Some(line),
            ('"', Some(_)) if letters.next_if_eq(&'"').is_some() => {}
            ('"', Some(_)) => {
                let blank = |next: &char| *next == ' ' || *next == '\t' && delimiter != '\t';
                while letters.next_if(blank).is_some() {}
                if letters.peek().is_some_and(|next| !ends_cell(*next)) {
                    return open;
                }
                open = None;
            }
            ('\n', _) => line += 1,
            _ => {}
        }
        cell_starts = ends_cell(letter);
    }
    open
}

fn workbook(bytes: Vec<u8>) -> Result<Vec<Sheet>, Failure> {
    let problem = |error| {
        format!(
            "this is no workbook that can be read ({error}): save the list again as .xlsx or CSV"
        )
    };
    let mut book = Xlsx::new(Cursor::new(bytes)).map_err(problem)?;
    let mut sheets = Vec::new();
    for name in book.sheet_names() {
        // Cell by cell: as a rectangle, two cells far apart would fill the memory.
        let mut rows: BTreeMap<u32, BTreeMap<u32, String>> = BTreeMap::new();
        let mut cells = book.worksheet_cells_reader(&name).map_err(problem)?;
        while let Some(cell) = cells.next_cell().map_err(problem)? {
            let (row, column) = cell.get_position();
            let text = shown(&cell.get_value().clone().into());
            rows.entry(row).or_default().insert(column, text);
        }
        let mut sheet = Sheet {
            name,
            ..Sheet::default()
        };
        for (row, mut cells) in rows {
            let width = cells.keys().next_back().map_or(0, |last| last + 1);
            let cells = (0..width).map(|column| cells.remove(&column).unwrap_or_default());
            push(&mut sheet.rows, u64::from(row) + 1, cells.collect());
        }
        sheets.push(sheet);
    }
    Ok(sheets)
}

fn old_workbook(bytes: Vec<u8>) -> Result<Vec<Sheet>, Failure> {
    // The name of the stream that holds a workbook with a password.
    let name: Vec<u8> = "EncryptedPackage"
        .encode_utf16()
        .flat_map(u16::to_le_bytes)
        .collect();
    if bytes.windows(name.len()).any(|part| part == name) {
        return Err(
            "the workbook has a password: open it, remove the password, and save it again".into(),
        );
    }
    let problem = |error| {
        format!(
            "this is no workbook that can be read ({error}): save the list again as .xlsx or CSV"
        )
    };
    let mut book = Xls::new(Cursor::new(bytes)).map_err(problem)?;
    let mut sheets = Vec::new();
    for (name, range) in book.worksheets() {
        sheets.push(Sheet {
            name,
            rows: rows(&range),
            note: None,
        });
    }
    Ok(sheets)
}

fn rows(range: &Range<Data>) -> Vec<Row> {
    let (first, indent) = range.start().unwrap_or_default();
    let mut rows = Vec::new();
    for (line, cells) in (u64::from(first) + 1..).zip(range.rows()) {
        let before = (0..indent).map(|_| String::new());
        push(
            &mut rows,
            line,
            before.chain(cells.iter().map(shown)).collect(),
        );
    }
    rows
}

fn push(rows: &mut Vec<Row>, line: u64, cells: Vec<String>) {
    if cells.iter().any(|cell| !cell.trim().is_empty()) {
        rows.push(Row { line, cells });
    }
}

/// The value of a cell, without the format in which the spreadsheet shows it.
fn shown(cell: &Data) -> String {
    match cell {
        Data::DateTime(time) if time.is_datetime() => {
            let (year, month, day, hour, minute, second, _) = time.to_ymd_hms_milli();
            let day = format!("{year:04}-{month:02}-{day:02}");
            match (hour, minute, second) {
                // A time of no day.
                _ if time.as_f64() < 1.0 => format!("{hour:02}:{minute:02}:{second:02}"),
                (0, 0, 0) => day,
                _ => format!("{day} {hour:02}:{minute:02}:{second:02}"),
            }
        }
        cell => cell.to_string(),
    }
}
