//! Checks the tables of promises: the tests that they name exist.

use std::collections::{BTreeMap, BTreeSet};

use super::{ends, files};

/// The rows are numbered. `guarantees.md` has their tests, which cite them as `Row N.` in a doc comment.
const FAILURE_MODES: &str = include_str!("../../src/auth/failure_modes.md");
const GUARANTEES: &str = include_str!("../guarantees.md");
const SECURITY: &str = include_str!("../../SECURITY.md");

/// The name of each function, with the doc comment above it.
fn functions(source: &str) -> Vec<(&str, String)> {
    let mut found = Vec::new();
    let mut comment = String::new();
    for line in source.lines().map(str::trim) {
        if let Some(words) = line.strip_prefix("///") {
            comment += words;
        } else if let Some(rest) = line.strip_prefix("async fn ").or(line.strip_prefix("fn ")) {
            let name = rest.split('(').next().unwrap_or_default();
            found.push((name, std::mem::take(&mut comment)));
        } else if !line.starts_with("#[") {
            comment.clear();
        }
    }
    found
}

/// The name of each scenario of a table, unchanged and as a function name, with the comment above it.
fn scenarios(table: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut comment = String::new();
    for line in table.lines() {
        if let Some(words) = line.strip_prefix('#') {
            comment += words;
        } else {
            let name = line.to_lowercase();
            let name = name.replace(|it: char| !it.is_alphanumeric(), "_");
            found.push((name, comment.clone()));
            found.push((line.to_owned(), std::mem::take(&mut comment)));
        }
    }
    found
}

/// The cells of each row of the tables, without headings.
fn rows(table: &str) -> impl Iterator<Item = Vec<&str>> {
    let lines = table.lines().filter(|line| line.starts_with("| "));
    let rows = lines.map(|line| line.split('|').map(str::trim).collect::<Vec<_>>());
    rows.filter(|cells| !cells[1].starts_with("---") && !["row", "promise"].contains(&cells[1]))
}

/// The tests of a cell: functions in code, or one line of a table of scenarios.
fn named(cell: &str) -> impl Iterator<Item = &str> {
    let is_code = cell.starts_with('`');
    let functions = cell.split(", ").filter(move |_| is_code);
    let functions = functions.map(|name| name.trim_matches('`'));
    functions.chain((!is_code).then_some(cell))
}

/// The names of tests and scenarios with their comments.
fn tests() -> BTreeMap<String, String> {
    let mut tests = BTreeMap::<String, String>::new();
    for folder in ["src", "tests", "crates", "examples/apps/tests"] {
        for (path, text) in files(folder) {
            if ends(&path, "txt") {
                tests.extend(scenarios(&text));
                continue;
            }
            for (name, comment) in functions(&text).into_iter().filter(|_| ends(&path, "rs")) {
                *tests.entry(name.to_owned()).or_default() += &comment;
            }
        }
    }
    tests
}

#[test]
fn every_promise_names_tests_that_exist() {
    let tests = tests();
    let mut missing = BTreeSet::new();
    let (promises, tokens) = GUARANTEES.split_once("## Tokens").unwrap();
    for cells in rows(promises) {
        for name in cells[2..4].iter().flat_map(|cell| named(cell)) {
            missing.extend(Some(name).filter(|name| !tests.contains_key(*name)));
        }
    }
    // The table of readers has six columns, with the tests in the last.
    let readers = rows(SECURITY).filter(|cells| cells.len() == 8 && cells[1] != "reader");
    let mut count = 0;
    for cells in readers {
        count += 1;
        let names = cells[6].split(", ").filter(|name| name.starts_with('`'));
        let names = names.map(|name| name.trim_matches('`'));
        missing.extend(names.filter(|name| !tests.contains_key(*name)));
    }
    assert!(count > 10, "{count} readers");
    assert!(missing.is_empty(), "{missing:#?}");
    let pairs = rows(FAILURE_MODES).zip(rows(tokens));
    for (at, (failure, cells)) in pairs.enumerate() {
        let citation = format!("Row {}.", at + 1);
        assert_eq!(format!("Row {}.", cells[1]), citation, "rows are numbered");
        assert_eq!(failure[1..3], cells[1..3]);
        for name in named(cells[3]) {
            let cites = |comment: &String| comment.contains(&citation);
            assert!(tests.get(name).is_some_and(cites), "{citation} {name}");
        }
    }
    assert!(rows(promises).count() > 30 && rows(FAILURE_MODES).count() > 40);
    assert_eq!(rows(FAILURE_MODES).count(), rows(tokens).count());
}

#[test]
fn rows_and_tests_are_read() {
    let source =
        "/// Row 1.\n#[test]\nfn a_test() {\n/// Row 2. More.\n#[tokio::test]\nasync fn b() {\n";
    let found = functions(source).into_iter();
    let found = found.map(|(name, comment)| name.to_owned() + &comment);
    assert_eq!(
        found.collect::<Vec<_>>(),
        ["a_test Row 1.", "b Row 2. More."]
    );
    let found = scenarios("# Row 3.\n\n# Row 4. More.\nA call waits\n  a call\n");
    let cites = |comment: &str| found.iter().filter(|it| it.1 == comment).count();
    let names: Vec<_> = found.iter().map(|it| &*it.0).collect();
    assert_eq!(names[2..4], ["a_call_waits", "A call waits"]);
    assert_eq!((cites(" Row 3."), cites(" Row 4. More.")), (2, 2));
    let table = "| row | x |\n| --- | --- |\n| 1 | `a_test`, `b` |\n| 2 | A line, whole |\n";
    let cells = rows(table).flat_map(|cells| named(cells[2]).collect::<Vec<_>>());
    assert_eq!(cells.collect::<Vec<_>>(), ["a_test", "b", "A line, whole"]);
}
