//! Checks what `Debug` shows: `shown.txt` lists the public types of all crates. A type with texts is either tested or listed
//! with the texts that it shows.

use std::collections::{BTreeMap, BTreeSet};

use super::{behind, is_test, product, rust_files, words};

const SHOWN: &str = include_str!("shown.txt");

/// The crates, with their sources and the tests that plant texts in their types.
const CRATES: [(&str, &str, &[&str]); 4] = [
    ("envd-sdk", "src", &["src", "tests/suite"]),
    ("envd-sync", "crates/envd-sync/src", &["crates/envd-sync"]),
    (
        "envd-postgres",
        "crates/envd-postgres/src",
        &["crates/envd-postgres/src"],
    ),
    (
        "envd-codegen",
        "crates/envd-codegen/src",
        &["crates/envd-codegen/src"],
    ),
];

/// The types that can hold user input.
const TEXTS: &str = "String EcoString Value RawValue str Bytes PathBuf Map OsString u8";

/// The position after the group that starts at `open`.
fn group_end(words: &[String], open: usize) -> usize {
    let mut depth = 0_usize;
    for (at, word) in words.iter().enumerate().skip(open) {
        match word.as_str() {
            "(" | "[" | "{" => depth += 1,
            ")" | "]" | "}" => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return at + 1;
        }
    }
    words.len()
}

/// True if the attributes before a position derive `Debug`.
fn derives_debug(words: &[String], end: usize) -> bool {
    let mut end = end;
    while end > 0 && words[end - 1] == "]" {
        let mut depth = 0_usize;
        let mut start = end;
        loop {
            start -= 1;
            match words[start].as_str() {
                "]" => depth += 1,
                "[" => depth -= 1,
                _ => {}
            }
            if depth == 0 {
                break;
            }
        }
        let attribute = &words[start..end];
        if attribute[1] == "derive" && attribute.iter().any(|word| word == "Debug") {
            return true;
        }
        // The `#` before the bracket.
        end = start.saturating_sub(1);
    }
    false
}

/// The names of the fields and variants that hold texts.
fn text_fields(body: &[String]) -> BTreeSet<&str> {
    let mut found = BTreeSet::new();
    let mut name = "0";
    for (at, word) in body.iter().enumerate().skip(1) {
        let before = body[at - 1].as_str();
        let is_variant = before.starts_with(|it: char| it.is_ascii_uppercase());
        if word == ":" || word == "(" && is_variant {
            name = before;
        } else if TEXTS.split(' ').any(|text| text == word) {
            found.insert(name);
        }
    }
    found
}

/// The public types of a source file, with the texts that `Debug` shows; `None` if `Debug` is written by hand.
fn types(words: &[String]) -> Vec<(&str, Option<String>)> {
    let mut found = Vec::new();
    for kind in ["struct", "enum"] {
        // In a macro, the name of a type begins with `$`.
        for (at, name) in behind(words, &["pub", kind]).filter(|(_, name)| *name != "$") {
            let open = (at..words.len()).find(|it| ["{", "(", ";"].contains(&words[*it].as_str()));
            let open = open.unwrap_or(at);
            let body = &words[open..group_end(words, open)];
            let fields: Vec<&str> = text_fields(body).into_iter().collect();
            let shown = derives_debug(words, at).then(|| fields.join(" "));
            found.push((name, shown));
        }
    }
    found
}

/// The types that the tests of a crate plant texts in: `hides::<Client>(..)`.
fn planted(folders: &[&str]) -> BTreeSet<String> {
    let sources = folders.iter().flat_map(|folder| rust_files(folder));
    let mut found = BTreeSet::new();
    for (_, text) in sources {
        // Skip files without such a call: most have none.
        if !text.contains("::<") {
            continue;
        }
        let words = words(&text);
        for assertion in ["hides", "hides_text", "shows"] {
            for (at, _) in behind(&words, &[assertion, "::", "<"]) {
                let of_type = words[at + 3..]
                    .iter()
                    .take_while(|it| ![">", "<"].contains(&it.as_str()));
                found.extend(of_type.last().cloned());
            }
        }
    }
    found
}

/// One line for each public type, and the problems found.
fn found_lines() -> (BTreeSet<String>, Vec<String>) {
    let mut lines = BTreeMap::<(String, String), BTreeSet<String>>::new();
    let mut untested = Vec::new();
    for (package, sources, tests) in CRATES {
        let tested = planted(tests);
        for (path, text) in rust_files(sources) {
            if is_test(&path) {
                continue;
            }
            let words = words(&text);
            for (name, shown) in types(product(&words)) {
                let how = match shown.as_deref() {
                    Some("") => "no text".to_owned(),
                    Some(fields) => format!("shows {fields}"),
                    // Problems in a developer's documents should be shown.
                    None if package == "envd-codegen" => "documents".to_owned(),
                    None if tested.contains(name) => "tested".to_owned(),
                    None => {
                        untested.push(format!("{package} | {name}"));
                        "tested".to_owned()
                    }
                };
                let key = (package.to_owned(), name.to_owned());
                lines.entry(key).or_default().insert(how);
            }
        }
    }
    let lines = lines.into_iter().map(|((package, name), how)| {
        let how: Vec<String> = how.into_iter().collect();
        format!("{package} | {name} | {}", how.join(", "))
    });
    (lines.collect(), untested)
}

#[test]
fn each_public_type_is_listed_and_shows_no_text_that_is_not() {
    let (found, untested) = found_lines();
    assert_eq!(untested, [""; 0], "no test plants a text in these types");
    let listed: BTreeSet<String> = SHOWN
        .lines()
        .filter(|line| !line.starts_with('#'))
        .map(str::to_owned)
        .collect();
    let new: Vec<_> = found.difference(&listed).collect();
    let gone: Vec<_> = listed.difference(&found).collect();
    assert!(
        new.is_empty() && gone.is_empty(),
        "new: {new:#?}\ngone: {gone:#?}"
    );
    assert!(found.len() > 200, "{}", found.len());
}

#[test]
fn planted_types_are_reported() {
    let source = words(
        "#[derive(Clone, Debug)] #[non_exhaustive] pub struct Row { pub id: u64, pub payload: Option<String> }
         #[derive(Debug)] pub enum Kind { One, Two(Vec<u8>), Three { name: &'static str } }
         #[derive(Debug)] pub struct Ids<T>(T, u64);
         #[derive(Clone)] pub struct Hidden { text: String }
         pub struct Unit;",
    );
    let found: Vec<String> = types(&source)
        .into_iter()
        .map(|(name, shown)| format!("{name}: {}", shown.as_deref().unwrap_or("by hand")))
        .collect();
    let expected = [
        "Row: payload",
        "Ids: ",
        "Hidden: by hand",
        "Unit: by hand",
        "Kind: Two name",
    ];
    assert_eq!(found, expected);
}
