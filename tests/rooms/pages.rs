//! The examples in README, in the guide and in the comments of the code.

use std::fs;
use std::path::{Path, PathBuf};

/// The length of a line of code that a page of documentation shows without scrolling.
const WIDEST: usize = 100;

/// The text of each page and example, by its path; of the library, the comments alone.
fn pages() -> Vec<(PathBuf, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut open = ["src", "crates", "examples", "README.md"]
        .map(|name| root.join(name))
        .to_vec();
    let mut pages = Vec::new();
    while let Some(path) = open.pop() {
        if path.is_dir() {
            let entries = fs::read_dir(&path).unwrap();
            open.extend(entries.map(|entry| entry.unwrap().path()));
            continue;
        }
        let is_code = path.extension().is_some_and(|end| end == "rs");
        if is_code || path.extension().is_some_and(|end| end == "md") {
            let mut text = fs::read_to_string(&path).unwrap();
            let is_library = path.components().any(|part| part.as_os_str() == "src");
            if is_code && is_library && !path.starts_with(root.join("examples")) {
                // The code around examples knows more than they do.
                let is_doc = |line: &&str| line.trim_start().starts_with("//");
                text = text.lines().filter(is_doc).collect::<Vec<_>>().join("\n");
            }
            pages.push((path.strip_prefix(root).unwrap().to_owned(), text));
        }
    }
    assert!(pages.len() > 300);
    pages
}

/// Lines that ask `is_rejected` before `may_have_applied`, in the same example or function.
fn rejected_first(text: &str) -> Vec<usize> {
    let lines: Vec<&str> = text.lines().collect();
    let (rejected, unknown) = (".is_rejected()", ".may_have_applied()");
    let asks_first = |at: &usize| {
        let line = lines[*at];
        line.contains(rejected)
            && !line.contains(unknown)
            && lines[*at + 1..]
                .iter()
                .take(12)
                .take_while(|line| !line.contains("```") && **line != "}")
                .any(|line| line.contains(unknown))
    };
    (0..lines.len()).filter(asks_first).collect()
}

/// A change that may have applied may have been refused as well: the order decides whether it is sent twice.
#[test]
fn examples_ask_whether_a_change_may_have_applied_before_whether_it_was_rejected() {
    let wrong = "match e {\n  e if e.is_rejected() => {}\n  e if e.may_have_applied() => {}\n}";
    let right = "match e {\n  e if e.may_have_applied() => {}\n  e if e.is_rejected() => {}\n}";
    assert_eq!(
        (rejected_first(wrong), rejected_first(right)),
        (vec![1], vec![])
    );
    for (path, text) in pages() {
        assert_eq!(rejected_first(&text), [0; 0], "{}", path.display());
    }
}

/// Lines of code that are too wide, without those that rustdoc hides.
fn wide(text: &str) -> Vec<&str> {
    let mut is_code = false;
    let mut wide = Vec::new();
    for line in text.lines() {
        let comment = line.trim_start().strip_prefix("//");
        let inside = comment.and_then(|rest| rest.strip_prefix(['/', '!']));
        let line = inside.map_or(line, |rest| rest.strip_prefix(' ').unwrap_or(rest));
        if line.starts_with("```") {
            is_code = !is_code;
        } else if is_code && line.chars().count() > WIDEST && !line.starts_with("# ") {
            wide.push(line);
        }
    }
    wide
}

#[test]
fn code_on_pages_fits_the_page() {
    let long = "a".repeat(WIDEST + 1);
    let page = format!("{long}\n```\n{long}\n# {long}\n```\n/// ```\n/// {long}\n/// ```\n");
    assert_eq!(wide(&page), [&long, &long]);
    let mut found = Vec::new();
    for (path, text) in pages() {
        if path.starts_with("src") || path.starts_with("README.md") {
            let lines = wide(&text).into_iter();
            found.extend(lines.map(|line| format!("{}: {line}", path.display())));
        }
    }
    assert_eq!(found, [""; 0]);
}
