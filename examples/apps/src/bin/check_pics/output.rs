//! The result file: the columns of the list, followed by the answers.

use std::collections::{HashMap, VecDeque};
use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};

use csv::QuoteStyle;

use super::answer::{Answer, HEADINGS};
use super::cli::{self, Failure, Unusable};
use super::list::List;

/// Byte order mark: without it Excel reads UTF-8 as Windows-1252.
const MARK: &str = "\u{feff}";

pub(crate) struct Output {
    file: csv::Writer<File>,
    path: PathBuf,
    /// Rows of an earlier run that have not been rewritten yet. Until they are, the earlier file stays unchanged and a new file
    /// is written next to it.
    earlier: VecDeque<Vec<String>>,
    beside: Option<PathBuf>,
}

/// The answers of an earlier run, by PIC.
pub(crate) type Known = HashMap<String, Answer>;

impl Output {
    /// Creates a file with the headings.
    pub(crate) fn create(path: &Path, list: &List) -> Result<Self, Failure> {
        let file = File::create(path).map_err(|error| Unusable::new(path, error))?;
        let file = begun(file, list)?;
        Ok(Self {
            file,
            path: path.to_owned(),
            earlier: VecDeque::new(),
            beside: None,
        })
    }

    /// Continues the file of an interrupted run, if it exists.
    pub(crate) fn resume(path: &Path, list: &List) -> Result<(Self, Known), Failure> {
        if !path.exists() {
            return Ok((Self::create(path, list)?, Known::new()));
        }
        let earlier = earlier(path, list).map_err(|problem| Unusable::new(path, problem))?;
        let width = list.headings.len();
        let answers = earlier.iter().zip(&list.rows).filter_map(|(written, row)| {
            let answer = Answer::read(&undo_defusing(&written[width..]))?;
            Some((list.pic(row), answer))
        });
        let known = answers.collect();
        let beside = cli::file_beside(path).map_err(|error| Unusable::new(path, error));
        let (beside, file) = beside?;
        let file = begun(file, list)?;
        let output = Self {
            file,
            path: path.to_owned(),
            earlier: earlier.into(),
            beside: Some(beside),
        };
        Ok((output, known))
    }

    /// Writes and flushes a row, so that the file has complete rows even if the program is killed.
    pub(crate) fn add(&mut self, row: Vec<String>, answer: &Answer) -> Result<(), Failure> {
        let cells = row.into_iter().map(kept);
        let cells = cells.chain(answer.cells().map(defused));
        self.file.write_record(cells)?;
        self.file.flush()?;
        self.earlier.pop_front();
        if self.earlier.is_empty() {
            self.replace()?;
        }
        Ok(())
    }

    /// Finishes the file. After an interruption it keeps the rows of the earlier run that this run did not reach.
    pub(crate) fn end(mut self) -> Result<(), Failure> {
        for row in std::mem::take(&mut self.earlier) {
            self.file.write_record(row)?;
        }
        self.file.flush()?;
        self.replace()
    }

    fn replace(&mut self) -> Result<(), Failure> {
        match self.beside.take() {
            Some(beside) => Ok(fs::rename(beside, &self.path)?),
            None => Ok(()),
        }
    }
}

fn begun(mut file: File, list: &List) -> Result<csv::Writer<File>, Failure> {
    file.write_all(MARK.as_bytes())?;
    // Quote every cell: in a locale with another separator, a spreadsheet would split an unquoted `x;=1+1` and read a formula.
    let mut file = csv::WriterBuilder::new()
        .quote_style(QuoteStyle::Always)
        .from_writer(file);
    file.write_record(headings(list))?;
    file.flush()?;
    Ok(file)
}

fn headings(list: &List) -> Vec<String> {
    let taken = |name: &str| {
        list.headings
            .iter()
            .any(|other| other.trim().eq_ignore_ascii_case(name))
    };
    let answers = HEADINGS.map(|name| {
        if taken(name) {
            format!("REGISTER {name}")
        } else {
            name.to_owned()
        }
    });
    list.headings
        .iter()
        .cloned()
        .chain(answers)
        .map(defused)
        .collect()
}

/// Reads the rows of the earlier run, and checks that they belong to this list.
fn earlier(path: &Path, list: &List) -> Result<Vec<Vec<String>>, Failure> {
    let text = fs::read_to_string(path)?;
    let text = text.strip_prefix(MARK).unwrap_or(&text);
    // Drop an incomplete last row.
    let text = &text[..text.rfind('\n').map_or(0, |end| end + 1)];
    let mut reader = csv::ReaderBuilder::new()
        .has_headers(false)
        .flexible(true)
        .from_reader(text.as_bytes());
    let mut rows = Vec::new();
    for record in reader.records() {
        rows.push(record?.iter().map(str::to_owned).collect::<Vec<String>>());
    }
    if rows.is_empty() {
        return Ok(rows);
    }
    if rows.remove(0) != headings(list) {
        return Err("this is the result of another list: its columns differ".into());
    }
    if rows.len() > list.rows.len() {
        return Err("this is the result of another list: it has more rows".into());
    }
    for (number, (written, row)) in (1..).zip(rows.iter().zip(&list.rows)) {
        let expected: Vec<String> = list.tidied(row).into_iter().map(kept).collect();
        if !written.starts_with(&expected) || written.len() != expected.len() + HEADINGS.len() {
            return Err(format!(
                "row {number} differs from the list, which has changed: write to another file"
            )
            .into());
        }
    }
    Ok(rows)
}

/// Prefixes an apostrophe to a cell that a spreadsheet would read as a formula, as OWASP recommends against CSV injection.
fn defused(cell: String) -> String {
    if cell.starts_with(begins_formula) {
        format!("'{cell}")
    } else {
        cell
    }
}

/// Defuses a cell of the list, but leaves a number such as -5 unchanged.
fn kept(cell: String) -> String {
    let number = |byte: u8| byte.is_ascii_digit() || matches!(byte, b'+' | b'-' | b'.');
    if cell.bytes().all(number) && cell.parse::<f64>().is_ok() {
        return cell;
    }
    defused(cell)
}

fn undo_defusing(cells: &[String]) -> Vec<String> {
    let undo = |cell: &String| match cell.strip_prefix('\'') {
        Some(formula) if formula.starts_with(begins_formula) => formula.to_owned(),
        _ => cell.clone(),
    };
    cells.iter().map(undo).collect()
}

fn begins_formula(first: char) -> bool {
    matches!(
        first,
        '=' | '+' | '-' | '@' | '\t' | '\r' | '\n' | '＝' | '＋' | '－' | '＠'
    )
}
