//! The table of failure modes is whole: each row once, each named test there, marked with its row.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

const TABLE: &str = include_str!("../src/auth/failure_modes.md");

/// The number and the named tests of each row.
fn rows(table: &str) -> Vec<(u32, Vec<String>)> {
    let cells = table
        .lines()
        .map(|line| line.split('|').map(str::trim).collect::<Vec<_>>());
    cells
        .filter_map(|cells| Some((cells.get(1)?.parse().ok()?, *cells.get(4)?)))
        .map(|(row, tests)| {
            let names = tests.split(", ").map(|name| name.trim_matches('`'));
            (row, names.map(str::to_owned).collect())
        })
        .collect()
}

/// Pairs of row and test: doc lines with `Row N.` above a test.
fn marks(source: &str) -> BTreeSet<(u32, String)> {
    let mut found = BTreeSet::new();
    let mut rows: Vec<u32> = Vec::new();
    for line in source.lines().map(str::trim) {
        if let Some(words) = line.strip_prefix("/// ") {
            let numbers = words.split("Row ").skip(1);
            let numbers = numbers.filter_map(|rest| rest.split_once('.')?.0.parse::<u32>().ok());
            rows.extend(numbers);
        } else if let Some(rest) = line.strip_prefix("async fn ").or(line.strip_prefix("fn ")) {
            let name = rest.split('(').next().unwrap_or_default();
            found.extend(rows.drain(..).map(|row| (row, name.to_owned())));
        } else if !line.starts_with("#[") {
            rows.clear();
        }
    }
    found
}

fn all_marks(folder: &Path) -> BTreeSet<(u32, String)> {
    let mut found = BTreeSet::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(all_marks(&path));
        } else if path.extension() == Some("rs".as_ref()) {
            found.extend(marks(&fs::read_to_string(&path).unwrap()));
        }
    }
    found
}

/// What is wrong with a table, given the marks in the sources.
fn problems(table: &str, marks: &BTreeSet<(u32, String)>) -> Vec<String> {
    let rows = rows(table);
    let numbers: Vec<u32> = rows.iter().map(|(row, _)| *row).collect();
    let mut found = Vec::new();
    if numbers != (1..=54).collect::<Vec<_>>() {
        found.push(format!("the rows are {numbers:?}"));
    }
    for (row, tests) in rows {
        for test in tests {
            if !marks.contains(&(row, test.clone())) {
                found.push(format!("row {row}: {test}"));
            }
        }
    }
    found
}

#[test]
fn every_row_has_tests_that_exist_and_say_so() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut marks = all_marks(&root.join("src"));
    marks.extend(all_marks(&root.join("tests")));
    let found = problems(TABLE, &marks);
    assert!(found.is_empty(), "{found:#?}");
}

#[test]
fn what_is_missing_would_be_seen() {
    let source = "    /// Row 7.\n    #[test]\n    fn a_test() {\n    /// Row 8. Row 9. More.\n    #[tokio::test]\n    async fn another() {\n";
    let marks = marks(source);
    let table =
        |row: u32, test: &str| format!("| row | a | b | tests |\n| {row} | x | y | `{test}` |\n");
    let of = |row, test| problems(&table(row, test), &marks).len();
    // One problem is that the other rows are not there.
    assert_eq!((of(7, "a_test"), of(8, "another")), (1, 1));
    assert_eq!(of(9, "another"), 1);
    assert_eq!((of(7, "gone"), of(8, "a_test")), (2, 2));
}
