//! Reads the rows of a CSV file or of the sheets of a workbook.

use std::fmt::Display;
use std::io::{BufReader, Cursor, Read};
use std::mem;
use std::panic::{self, AssertUnwindSafe};

use calamine::{Data, DataRef, Reader, Xlsx, XlsxFormulaMetadata};
use envd_sdk::model::Pic;
use quick_xml::events::{BytesStart, Event};
use zip::{ZipArchive, ZipWriter};

use super::super::cli::Failure;
use super::text;

/// A sheet of a workbook; a CSV file is a sheet without a name.
#[derive(Default)]
pub(crate) struct Sheet {
    pub(crate) name: String,
    pub(crate) rows: Vec<Row>,
    /// The numbers, from 1, of the columns of a workbook that have texts. Empty for CSV, which keeps all columns.
    used: Vec<usize>,
    /// How the file was interpreted, if that was a guess.
    pub(crate) note: Option<String>,
}

impl Sheet {
    /// The number of a column in the file, from 1.
    pub(crate) fn number(&self, column: usize) -> usize {
        self.used.get(column).copied().unwrap_or(column + 1)
    }

    pub(crate) fn width(&self) -> usize {
        let widths = self.rows.iter().map(|row| row.cells.len());
        widths.max().unwrap_or_default()
    }
}

/// A row that is not blank.
pub(crate) struct Row {
    /// Its line in the file or its number in the sheet, from 1.
    pub(crate) line: u64,
    pub(crate) cells: Vec<String>,
}

/// The limit for the unpacked size of a workbook, and for the memory of its cells.
const BYTES: u64 = 200_000_000;

/// The limit for rows times columns, because the result has a cell for each column in each row.
const CELLS: usize = 8_000_000;

/// The first bytes of an old workbook, and of a workbook with a password.
const COMPOUND: &[u8] = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1";

pub(crate) fn read(bytes: Vec<u8>) -> Result<Vec<Sheet>, Failure> {
    if bytes.starts_with(b"PK\x03\x04") {
        return workbook(bytes);
    }
    if bytes.starts_with(COMPOUND) {
        return Err(compound(&bytes).into());
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
            // Excel interprets this line and hides it. Keep the line end, so that line numbers stay correct.
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
    let sheet = Sheet {
        rows,
        note,
        ..Sheet::default()
    };
    // A file in which all rows are complete has more bytes than cells.
    check_cells(sheet.rows.len(), sheet.width(), text.len().max(CELLS))?;
    Ok(sheet)
}

/// Refuses a few long rows among many short rows: with a cell for each column, the result of a small file would fill the disk.
fn check_cells(rows: usize, width: usize, limit: usize) -> Result<(), String> {
    if rows.saturating_mul(width) <= limit {
        return Ok(());
    }
    Err(format!(
        "{rows} rows of {width} columns are too many cells: save only the columns of the list as CSV"
    ))
}

/// The line of a record. The reader reports the position before the empty lines that it skips.
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

/// The delimiter that gives the most cells with a PIC; without PICs, the most cells.
fn delimiter(text: &str) -> u8 {
    let score = |delimiter: u8| {
        let mut pics = 0;
        let mut cells = 0;
        for record in reader(text, delimiter).records().take(200).flatten() {
            cells += record.len();
            pics += record
                .iter()
                .filter(|cell| Pic::parse(cell).is_ok())
                .count();
        }
        (pics, cells)
    };
    // `max_by_key` takes the last of equals: the comma.
    let best = [b'\t', b';', b',']
        .into_iter()
        .max_by_key(|delimiter| score(*delimiter));
    best.unwrap_or(b',')
}

/// The line of a quote that opens a cell but is not closed at the end of a cell. The CSV reader would swallow the following
/// lines, up to the next quote, and their PICs would be missing.
fn open_quote(text: &str, delimiter: char) -> Option<usize> {
    let ends_cell = |letter: char| letter == delimiter || matches!(letter, '\r' | '\n');
    let mut line = 1;
    let mut open = None;
    let mut cell_starts = true;
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
    let bytes = check_unpacked(&bytes)?;
    // The reader panics on some files, because it does not limit row and column numbers.
    let report = panic::take_hook();
    panic::set_hook(Box::new(|_| {}));
    let sheets = panic::catch_unwind(AssertUnwindSafe(|| sheets(bytes)));
    panic::set_hook(report);
    sheets.unwrap_or_else(|_| Err(unreadable("its parts contradict each other").into()))
}

fn sheets(bytes: Vec<u8>) -> Result<Vec<Sheet>, Failure> {
    let mut book = Xlsx::new(Cursor::new(bytes)).map_err(unreadable)?;
    let mut left = BYTES;
    let mut sheets = Vec::new();
    for name in book.sheet_names() {
        // Read cell by cell: a rectangular range with two distant cells would fill the memory.
        let mut reader = book.worksheet_cells_reader(&name).map_err(unreadable)?;
        let mut cells = Vec::new();
        while let Some(cell) = reader
            .next_cell_with_formula_metadata()
            .map_err(unreadable)?
        {
            let text = match (cell.value, cell.formula) {
                (DataRef::Empty, Some(formula)) => without_value(&formula),
                (value, _) => shown(&value.into()),
            };
            // Each cell holds its own copy of a shared string.
            let size = (text.len() + mem::size_of::<Cell>()) as u64;
            left = left.checked_sub(size).ok_or_else(too_large)?;
            if !text.is_empty() {
                cells.push((cell.pos, text));
            }
        }
        let (rows, used) = rows(cells)?;
        sheets.push(Sheet {
            name,
            rows,
            used,
            note: None,
        });
    }
    Ok(sheets)
}

/// The memory that the reader uses for an element in addition to its texts, in bytes, including spare capacity of growing lists.
const ELEMENT: u64 = 48;

/// The limit for the text of a cell and for a tag, in bytes. Spreadsheets allow at most 32,767 characters in a cell.
const LONGEST: u64 = 1 << 20;

/// The limit for nested elements: the reader keeps a list of the open elements.
const DEEPEST: usize = 128;

/// Refuses a workbook that would fill the memory: the reader has no limits, and a part may unpack to a thousand times its size.
/// A part cannot unpack to more than its declared size. Returns a workbook with only the checked parts.
fn check_unpacked(bytes: &[u8]) -> Result<Vec<u8>, Failure> {
    let mut archive = ZipArchive::new(Cursor::new(bytes)).map_err(unreadable)?;
    let mut checked = ZipWriter::new(Cursor::new(Vec::new()));
    let mut left = BYTES;
    for at in 0..archive.len() {
        let part = archive.by_index(at).map_err(unreadable)?;
        left = left.checked_sub(part.size()).ok_or_else(too_large)?;
        let name = part.name().map_err(unreadable)?.to_ascii_lowercase();
        // Skip pictures, and documents that other programs embedded.
        let is_sheet_part = matches!(name.rsplit('.').next(), Some("xml" | "rels"));
        if !is_sheet_part || name.starts_with("customxml/") {
            continue;
        }
        check_part(part, name.ends_with("styles.xml"), &mut left)?;
        let part = archive.by_index_raw(at).map_err(unreadable)?;
        checked.raw_copy_file(part).map_err(unreadable)?;
    }
    Ok(checked.finish().map_err(unreadable)?.into_inner())
}

/// Parses an XML part like the reader, and subtracts the memory that the reader will need for it.
fn check_part(part: impl Read, is_styles: bool, left: &mut u64) -> Result<(), Failure> {
    let mut xml = quick_xml::Reader::from_reader(BufReader::new(part).take(LONGEST));
    let config = xml.config_mut();
    config.check_end_names = false;
    config.expand_empty_elements = true;
    let mut count = 0;
    let mut longest = 0;
    let mut depth = 0;
    let mut end = 0;
    // The open elements whose text the reader collects, and the length of that text so far.
    let mut open = Vec::new();
    let mut text = 0;
    let mut buffer = Vec::new();
    loop {
        buffer.clear();
        xml.get_mut().set_limit(LONGEST);
        let event = xml.read_event_into(&mut buffer);
        let length = xml.buffer_position() - end;
        end += length;
        if xml.get_ref().limit() == 0 {
            return Err(too_long().into());
        }
        match event.map_err(unreadable)? {
            Event::Start(element) => {
                let size = kept(&element)?;
                *left = left.checked_sub(size).ok_or_else(too_large)?;
                (count, longest) = (count + 1, longest.max(length));
                depth += 1;
                if matches!(element.local_name().as_ref(), "si" | "is" | "v" | "f") {
                    if open.is_empty() {
                        text = 0;
                    }
                    open.push(element.name().as_ref().to_owned());
                }
                if depth.max(open.len()) > DEEPEST {
                    return Err(unreadable("its elements are nested too deeply").into());
                }
            }
            Event::End(element) => {
                depth = depth.saturating_sub(1);
                open.pop_if(|name| name == element.name().as_ref());
            }
            Event::Eof => break,
            _ if open.is_empty() => {}
            _ => {
                text += length;
                if text > LONGEST {
                    return Err(too_long().into());
                }
            }
        }
    }
    // The reader copies the names of fonts and formats into each style.
    if is_styles && (longest + 200).saturating_mul(count) > BYTES {
        return Err(too_large().into());
    }
    Ok(())
}

/// The memory that the reader needs for an element, in bytes. Cells are counted later, when they are read.
fn kept(element: &BytesStart<'_>) -> Result<u64, String> {
    if matches!(
        element.local_name().as_ref(),
        "c" | "row" | "v" | "f" | "is" | "t" | "r"
    ) {
        return Ok(0);
    }
    let mut size = ELEMENT;
    for attribute in element.attributes().with_checks(false) {
        let attribute = attribute.map_err(unreadable)?;
        if attribute.key.as_ref() == "uniqueCount" {
            // The reader allocates this many strings up front, and ignores a count that does not parse.
            let count: u64 = attribute.value.trim().parse().unwrap_or_default();
            size = size.saturating_add(count.saturating_mul(24));
        }
    }
    Ok(size)
}

fn unreadable(error: impl Display) -> String {
    format!("this workbook cannot be read ({error}): save the list again as .xlsx or CSV")
}

fn too_long() -> String {
    let limit = LONGEST / 1_000_000;
    format!("a cell of the workbook is longer than {limit} MB: save only the list as CSV")
}

fn too_large() -> String {
    let limit = BYTES / 1_000_000;
    format!("the workbook unpacks to more than {limit} MB: save only the list as CSV")
}

/// A text with its row and column, from 0.
type Cell = ((u32, u32), String);

/// Groups the cells into rows, and returns the numbers of their columns.
fn rows(mut cells: Vec<Cell>) -> Result<(Vec<Row>, Vec<usize>), String> {
    // If two cells have the same position, the last wins (the sort is stable).
    cells.sort_by_key(|(place, _)| *place);
    let is_same_row = |one: &Cell, other: &Cell| one.0.0 == other.0.0;
    let mut columns: Vec<u32> = cells.iter().map(|((_, column), _)| *column).collect();
    columns.sort_unstable();
    columns.dedup();
    check_cells(cells.chunk_by(is_same_row).count(), columns.len(), CELLS)?;
    let mut rows = Vec::new();
    for found in cells.chunk_by_mut(is_same_row) {
        let line = u64::from(found[0].0.0) + 1;
        let mut texts = Vec::new();
        for ((_, column), text) in found {
            let at = columns.partition_point(|other| other < column);
            texts.resize(texts.len().max(at + 1), String::new());
            texts[at] = mem::take(text);
        }
        push(&mut rows, line, texts);
    }
    let used = columns.into_iter().map(|column| column as usize + 1);
    Ok((rows, used.collect()))
}

/// The reason to refuse a file in an older format of Excel.
fn compound(bytes: &[u8]) -> &'static str {
    // The name of the stream that holds an encrypted workbook.
    let name: Vec<u8> = "EncryptedPackage"
        .encode_utf16()
        .flat_map(u16::to_le_bytes)
        .collect();
    if bytes.windows(name.len()).any(|part| part == name) {
        "the workbook has a password: open it, remove the password, and save it again"
    } else {
        // The reader cannot read these cells one by one, and a rectangular range with two distant cells would fill the memory.
        "this is a workbook of the old format (.xls): open it, and save it as .xlsx or CSV"
    }
}

fn push(rows: &mut Vec<Row>, line: u64, cells: Vec<String>) {
    if cells.iter().any(|cell| !cell.trim().is_empty()) {
        rows.push(Row { line, cells });
    }
}

/// The text of a formula without a value, as written by a program that does not compute it. The cell is not empty, but its
/// value is unknown.
fn without_value(formula: &XlsxFormulaMetadata) -> String {
    match formula {
        XlsxFormulaMetadata::Normal { formula } | XlsxFormulaMetadata::Shared { formula, .. } => {
            format!("={formula}")
        }
        // A reference to the shared formula of another cell.
        _ => "=".to_owned(),
    }
}

/// The value of a cell, without the format in which the spreadsheet shows it.
fn shown(cell: &Data) -> String {
    match cell {
        Data::DateTime(time) if time.is_datetime() => {
            let (year, month, day, hour, minute, second, _) = time.to_ymd_hms_milli();
            let day = format!("{year:04}-{month:02}-{day:02}");
            match (hour, minute, second) {
                // A time without a day.
                _ if time.as_f64() < 1.0 => format!("{hour:02}:{minute:02}:{second:02}"),
                (0, 0, 0) => day,
                _ => format!("{day} {hour:02}:{minute:02}:{second:02}"),
            }
        }
        cell => cell.to_string(),
    }
}
