//! The words of our own: few, explained in CONTRIBUTING, and no others.

use super::rust_files;

/// The most words of ours that a newcomer has to learn.
const MOST_WORDS: usize = 12;

/// Words that the code once used for what has a common name, and that name.
const RETIRED: [(&str, &str); 8] = [
    ("wish", "desired state, intent"),
    ("wished", "requested"),
    ("wishes", "requests"),
    ("levers", "controls"),
    ("lever", "control"),
    ("laws", "invariants, requirements"),
    ("epochs", "sessions"),
    ("told", "reported, delivered"),
];

/// The parts of the identifiers in a line of code, without comments and texts.
fn identifiers(line: &str) -> Vec<&str> {
    // Every second part is a text. A quote within a text only hides words from this test.
    let mut words = Vec::new();
    for code in line.split('"').step_by(2) {
        let (code, comment) = code
            .split_once("//")
            .map_or((code, None), |(code, rest)| (code, Some(rest)));
        words.extend(code.split(|it: char| !it.is_ascii_alphanumeric()));
        if comment.is_some() {
            break;
        }
    }
    words
}

fn retired(line: &str) -> Vec<&'static str> {
    let names = identifiers(line);
    let found = RETIRED.iter().filter(|(word, _)| names.contains(word));
    found.map(|(word, _)| *word).collect()
}

#[test]
fn the_words_of_ours_are_few_and_explained() {
    let page = std::fs::read_to_string("CONTRIBUTING.md").unwrap();
    let section = page.split("\n## ").find(|part| part.starts_with("Words"));
    let rows = section
        .unwrap()
        .lines()
        .filter(|line| line.starts_with("| "));
    // Without the head of the table and the line below it.
    let words = rows.count() - 2;
    assert!(words <= MOST_WORDS, "{words} words");
}

#[test]
fn no_name_uses_a_retired_word() {
    assert_eq!(retired("    let next_wish = row.wish; // laws"), ["wish"]);
    assert_eq!(retired("    // The laws."), [""; 0]);
    assert_eq!(retired("    println!(\"told\");"), [""; 0]);
    let mut found = Vec::new();
    for (path, text) in rust_files(".") {
        if path.ends_with("vocabulary.rs") {
            continue;
        }
        for (number, line) in text.lines().enumerate() {
            for word in retired(line) {
                found.push(format!("{path}:{}: {word}", number + 1));
            }
        }
    }
    assert!(found.is_empty(), "{found:#?}");
}
