//! The PICs to check.

use std::fs;
use std::path::Path;

use super::settings::Failure;

const BUNDLED: &str = include_str!("../data/pics.csv");

/// The PICs of the file, or of the list that comes with the example.
pub(crate) fn read(file: Option<&Path>) -> Result<Vec<String>, Failure> {
    let Some(file) = file else {
        return pics(BUNDLED);
    };
    pics(&fs::read_to_string(file).map_err(|e| format!("{}: {e}", file.display()))?)
}

/// The column `PIC` where there is one, else the first one; then the first line is a PIC already.
fn pics(text: &str) -> Result<Vec<String>, Failure> {
    let mut reader = csv::ReaderBuilder::new()
        .has_headers(false)
        .flexible(true)
        .trim(csv::Trim::All)
        .from_reader(text.as_bytes());
    let (mut column, mut pics) = (0, Vec::new());
    for (number, record) in reader.records().enumerate() {
        let record = record?;
        let clean = |cell: &str| cell.trim_start_matches('\u{feff}').trim().to_owned();
        let named = record
            .iter()
            .position(|cell| clean(cell).eq_ignore_ascii_case("pic"));
        match named {
            Some(at) if number == 0 => column = at,
            _ => pics.push(clean(record.get(column).unwrap_or_default())),
        }
    }
    Ok(pics)
}
