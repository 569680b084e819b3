//! The table of failure modes: its rows are numbered, and each names tests that exist and cite it as `Row N.` in a doc comment, or
//! scenarios of a table with such a comment above them.

use super::{files, rust_files};

const TABLE: &str = include_str!("../../src/auth/failure_modes.md");

/// The name of each function, with the doc comment above it.
fn functions(source: &str) -> Vec<(String, String)> {
    let (mut found, mut comment) = (Vec::new(), String::new());
    for line in source.lines().map(str::trim) {
        if let Some(words) = line.strip_prefix("///") {
            comment += words;
        } else if let Some(rest) = line.strip_prefix("async fn ").or(line.strip_prefix("fn ")) {
            let name = rest.split('(').next().unwrap_or_default();
            found.push((name.to_owned(), std::mem::take(&mut comment)));
        } else if !line.starts_with("#[") {
            comment.clear();
        }
    }
    found
}

/// The name of each scenario of a table as that of a function, with the comment above it.
fn scenarios(table: &str) -> Vec<(String, String)> {
    let (mut found, mut comment) = (Vec::new(), String::new());
    for line in table.lines().filter(|line| !line.starts_with(' ')) {
        if let Some(words) = line.strip_prefix('#') {
            comment += words;
        } else {
            let name = line
                .to_lowercase()
                .replace(|it: char| !it.is_alphanumeric(), "_");
            found.push((name, std::mem::take(&mut comment)));
        }
    }
    found
}

/// The differences between a table and the tests.
fn problems(table: &str, tests: &[(String, String)]) -> Vec<String> {
    let cells = table
        .lines()
        .map(|line| line.split('|').map(str::trim).collect::<Vec<_>>());
    let rows =
        cells.filter_map(|cells| Some((cells.get(1)?.parse::<usize>().ok()?, *cells.get(4)?)));
    let mut problems = Vec::new();
    for (nth, (row, names)) in rows.enumerate() {
        if row != nth + 1 {
            problems.push(format!("row {row} is number {}", nth + 1));
        }
        let citation = format!("Row {row}.");
        for name in names.split(", ").map(|name| name.trim_matches('`')) {
            if !tests
                .iter()
                .any(|(test, comment)| *test == name && comment.contains(&citation))
            {
                problems.push(format!("row {row}: {name}"));
            }
        }
    }
    problems
}

#[test]
fn every_row_names_tests_that_exist_and_cite_it() {
    let sources = [rust_files("src"), rust_files("tests")].concat();
    let tables = files("src/auth/manager/tests/scenarios", "txt");
    let functions = sources.iter().flat_map(|(_, text)| functions(text));
    let scenarios = tables.iter().flat_map(|(_, text)| scenarios(text));
    let tests: Vec<_> = functions.chain(scenarios).collect();
    let found = problems(TABLE, &tests);
    assert!(found.is_empty(), "{found:#?}");
    assert!(TABLE.lines().count() > 50);
}

#[test]
fn a_missing_row_or_test_is_reported() {
    let source = "/// Row 1.\n#[test]\nfn a_test() {\n/// Row 2. More.\n/// Row 3.\n#[tokio::test]\nasync fn another() {\n";
    let table =
        "# Row 4.\n\nAnother thing holds\n  a call\n# Row 5. More.\nA scenario holds\n  a call\n";
    let tests = [functions(source), scenarios(table)].concat();
    let of = |rows: &str| problems(rows, &tests);
    assert_eq!(
        of("| 1 | x | y | `a_test` |\n| 2 | x | y | `another` |\n"),
        [""; 0]
    );
    assert_eq!(of("| 2 | x | y | `another` |\n"), ["row 2 is number 1"]);
    assert_eq!(
        of("| 1 | x | y | `a_test`, `gone`, `another` |\n"),
        ["row 1: gone", "row 1: another"]
    );
    let found = of(
        "| 1 | x | y | `a_test` |\n| 2 | x | y | `another` |\n| 3 | x | y | `another` |\n| 4 | x | y | `another_thing_holds` |\n| 5 | x | y | `a_scenario_holds` |\n",
    );
    assert_eq!(found, ["row 4: another_thing_holds"]);
}
