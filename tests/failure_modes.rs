//! Checks the table of failure modes: the rows are numbered 1 to 57, and each named test exists and cites its row.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

const TABLE: &str = include_str!("../src/auth/failure_modes.md");

/// The number and the test names of each row.
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

/// Pairs of row and test, from doc comments with `Row N.` above a test.
fn citations(source: &str) -> BTreeSet<(u32, String)> {
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

fn all_citations(folder: &Path) -> BTreeSet<(u32, String)> {
    let mut found = BTreeSet::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(all_citations(&path));
        } else if path.extension() == Some("rs".as_ref()) {
            found.extend(citations(&fs::read_to_string(&path).unwrap()));
        }
    }
    found
}

/// The differences between a table and the citations in the sources.
fn problems(table: &str, citations: &BTreeSet<(u32, String)>) -> Vec<String> {
    let rows = rows(table);
    let numbers: Vec<u32> = rows.iter().map(|(row, _)| *row).collect();
    let mut found = Vec::new();
    if numbers != (1..=57).collect::<Vec<_>>() {
        found.push(format!("the rows are {numbers:?}"));
    }
    for (row, tests) in rows {
        for test in tests {
            if !citations.contains(&(row, test.clone())) {
                found.push(format!("row {row}: {test}"));
            }
        }
    }
    found
}

#[test]
fn every_row_names_tests_that_exist_and_cite_it() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut citations = all_citations(&root.join("src"));
    citations.extend(all_citations(&root.join("tests")));
    let found = problems(TABLE, &citations);
    assert!(found.is_empty(), "{found:#?}");
}

#[test]
fn a_missing_row_or_test_is_reported() {
    let source = "    /// Row 7.\n    #[test]\n    fn a_test() {\n    /// Row 8. Row 9. More.\n    #[tokio::test]\n    async fn another() {\n";
    let citations = citations(source);
    let table =
        |row: u32, test: &str| format!("| row | a | b | tests |\n| {row} | x | y | `{test}` |\n");
    let of = |row, test| problems(&table(row, test), &citations).len();
    // One of the problems is the missing other rows.
    assert_eq!((of(7, "a_test"), of(8, "another")), (1, 1));
    assert_eq!(of(9, "another"), 1);
    assert_eq!((of(7, "gone"), of(8, "a_test")), (2, 2));
}
