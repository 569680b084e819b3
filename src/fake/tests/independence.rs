//! The fake shares no code with the validator.

use std::fs;
use std::path::Path;

/// Lines of code below a folder that mention one of the words.
fn mentions(folder: &Path, words: &[&str], found: &mut Vec<String>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            mentions(&path, words, found);
        } else if path.extension().is_some_and(|kind| kind == "rs") {
            let text = fs::read_to_string(&path).unwrap();
            let code = text
                .lines()
                .filter(|line| !line.trim_start().starts_with("//"));
            let hits = code.filter(|line| words.iter().any(|word| line.contains(word)));
            found.extend(hits.map(|line| format!("{}: {line}", path.display())));
        }
    }
}

#[test]
fn the_fake_uses_neither_validator_nor_model() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/fake");
    let mut found = Vec::new();
    // Composed, since this file is searched as well.
    let words = ["validate", "model"].map(|room| format!("crate::{room}"));
    mentions(&folder, &words.each_ref().map(String::as_str), &mut found);
    assert!(found.is_empty(), "{found:#?}");
    // The search finds words that are there.
    mentions(&folder, &["crate::transport"], &mut found);
    assert!(!found.is_empty());
}
