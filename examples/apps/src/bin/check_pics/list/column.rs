//! Finds the column of the PICs.

use envd_sdk::model::Pic;

use super::sheets::{Row, Sheet};

/// The headings must be within the first rows.
const FIRST_ROWS: usize = 50;

/// The column of the PICs.
pub(crate) struct Place {
    pub(crate) column: usize,
    /// The index of the heading row.
    pub(crate) header: Option<usize>,
    /// The number of cells in the column that look like PICs.
    pub(crate) pics: usize,
}

/// Finds the requested column, by name or by number from 1. Without a request, finds the only column whose heading or contents
/// look like PICs.
pub(crate) fn find(sheet: &Sheet, wanted: Option<&str>) -> Result<Place, String> {
    match wanted {
        Some(wanted) => named(sheet, wanted),
        None => headed(sheet).unwrap_or_else(|| by_contents(sheet)),
    }
}

fn named(sheet: &Sheet, wanted: &str) -> Result<Place, String> {
    let rows = &sheet.rows;
    let header = headings(rows)
        .max_by_key(|place| place.pics)
        .and_then(|place| place.header);
    if let Ok(number) = wanted.parse::<usize>() {
        let columns = 0..sheet.width();
        let last = columns.clone().last().map_or(0, |last| sheet.number(last));
        let column = columns
            .into_iter()
            .find(|column| sheet.number(*column) == number);
        let place = column.map(|column| place(rows, column, header));
        return place.ok_or_else(|| {
            format!("--column {number}: nothing is in it; the last column is {last}")
        });
    }
    for (at, row) in rows.iter().enumerate().take(FIRST_ROWS) {
        let is_wanted = |(_, cell): &(usize, &String)| words(cell) == words(wanted);
        let columns: Vec<usize> = row
            .cells
            .iter()
            .enumerate()
            .filter(is_wanted)
            .map(|(column, _)| column)
            .collect();
        match columns[..] {
            [] => {}
            [column] => return Ok(place(rows, column, Some(at))),
            _ => {
                return Err(choose(
                    sheet,
                    Some(at),
                    &columns,
                    "several columns have that name",
                ));
            }
        }
    }
    let all: Vec<usize> = (0..rows.first().map_or(0, |row| row.cells.len())).collect();
    let what = format!("--column {wanted}: no column has that heading");
    Err(choose(sheet, header.or(Some(0)), &all, &what))
}

/// Finds the column by its heading, if there is a heading for PICs. Since a title may look like a heading, it takes the
/// candidate with the most PICs below it, and the last of equals.
fn headed(sheet: &Sheet) -> Option<Result<Place, String>> {
    let rows = &sheet.rows;
    let best = headings(rows).max_by_key(|place| place.pics)?;
    let of_row = headings(rows).filter(|place| place.header == best.header);
    let mut places: Vec<Place> = of_row
        .filter(|place| place.pics > 0 || best.pics == 0)
        .collect();
    Some(match places.pop() {
        Some(place) if places.is_empty() => Ok(place),
        last => {
            let columns: Vec<usize> = places
                .iter()
                .chain(&last)
                .map(|place| place.column)
                .collect();
            Err(choose(
                sheet,
                best.header,
                &columns,
                "several columns may be the PICs",
            ))
        }
    })
}

/// All cells that may be a heading for PICs.
fn headings(rows: &[Row]) -> impl Iterator<Item = Place> {
    let rows_with_places = rows.iter().enumerate().take(FIRST_ROWS);
    rows_with_places.flat_map(move |(at, row)| {
        let columns = row
            .cells
            .iter()
            .enumerate()
            .filter(|(_, cell)| is_heading(cell));
        columns.map(move |(column, _)| place(rows, column, Some(at)))
    })
}

fn by_contents(sheet: &Sheet) -> Result<Place, String> {
    let rows = &sheet.rows;
    let width = sheet.width();
    if width <= 1 {
        return Ok(place(rows, 0, None));
    }
    let mostly_pics = |column: &usize| {
        let filled = rows.iter().filter(|row| {
            row.cells
                .get(*column)
                .is_some_and(|cell| !cell.trim().is_empty())
        });
        let pics = place(rows, *column, None).pics;
        pics > 0 && pics * 2 >= filled.count()
    };
    let columns: Vec<usize> = (0..width).filter(mostly_pics).collect();
    match columns[..] {
        [column] => Ok(place(rows, column, None)),
        [] => Err(choose(
            sheet,
            Some(0),
            &(0..width).collect::<Vec<_>>(),
            "no column looks like PICs",
        )),
        _ => Err(choose(
            sheet,
            None,
            &columns,
            "several columns may be the PICs",
        )),
    }
}

fn place(rows: &[Row], column: usize, header: Option<usize>) -> Place {
    let below = rows.iter().skip(header.map_or(0, |header| header + 1));
    let cells = below.filter_map(|row| row.cells.get(column));
    Place {
        column,
        header,
        pics: cells.filter(|cell| may_be_pic(cell)).count(),
    }
}

/// Requires letters and digits, because a word of 8 letters or a date of 8 digits is probably not a PIC. A formula without its
/// value may be a PIC.
fn may_be_pic(cell: &str) -> bool {
    if cell.starts_with('=') {
        return true;
    }
    let has = |kind: fn(&u8) -> bool| cell.bytes().any(|byte| kind(&byte));
    Pic::parse(cell).is_ok() && has(u8::is_ascii_digit) && has(u8::is_ascii_alphabetic)
}

/// True for "PIC", "Vendor PIC", "PIC No.", "Property Identification Code" and similar texts.
fn is_heading(cell: &str) -> bool {
    let words = words(cell);
    let has = |word: &str| words.iter().any(|other| other == word);
    let is_pic = has("pic")
        || has("pics")
        || has("property") && (has("identification") || has("id")) && (has("code") || has("codes"));
    is_pic && words.len() <= 5
}

fn words(cell: &str) -> Vec<String> {
    let words = cell.split(|letter: char| !letter.is_alphanumeric());
    words
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
        .collect()
}

/// The message that asks for `--column` and lists the columns to choose from.
fn choose(sheet: &Sheet, header: Option<usize>, columns: &[usize], what: &str) -> String {
    let rows = &sheet.rows;
    let row = header.and_then(|header| rows.get(header)).or(rows.first());
    let shown = columns.iter().take(20).map(|column| {
        let cell = row.and_then(|row| row.cells.get(*column));
        format!(
            "{} \u{201c}{}\u{201d}",
            sheet.number(*column),
            cell.map_or("", |cell| cell.trim())
        )
    });
    let shown: Vec<String> = shown.collect();
    format!(
        "{what}: choose one with --column NAME or --column NUMBER ({})",
        shown.join(", ")
    )
}
