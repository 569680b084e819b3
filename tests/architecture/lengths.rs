//! Checks the lengths of files, the names of types, the dependencies among the files of a module, and
//! that decisions change nothing.

use std::collections::{BTreeMap, BTreeSet};

use super::{behind, is_test, product, rust_files, words};

/// The most lines in a file.
const LONGEST: usize = 700;

/// The number of type names that are declared in several files. Only ever lower it.
const REPEATED_NAMES: usize = 1;

/// The names of the types that a file declares, including private types.
fn declared(words: &[String]) -> BTreeSet<&str> {
    let mut depth = 0;
    let mut names = BTreeSet::new();
    for pair in words.windows(2) {
        depth += i32::from(pair[0] == "{") - i32::from(pair[0] == "}");
        let is_kind = ["struct", "enum", "trait", "union", "type"].contains(&&*pair[0]);
        if is_kind && depth == 0 && pair[1].starts_with(char::is_uppercase) {
            names.insert(&*pair[1]);
        }
    }
    names
}

#[test]
fn files_are_short_and_names_stand_once() {
    let mut long = Vec::new();
    let mut declarations: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let files = rust_files("src").into_iter();
    for (path, text) in files.filter(|(path, _)| !path.ends_with("/generated.rs")) {
        if text.lines().count() > LONGEST {
            long.push(path.clone());
        }
        if is_test(&path) || path == "lib.rs" {
            continue;
        }
        for name in declared(product(&words(&text))) {
            let paths = declarations.entry(name.to_owned()).or_default();
            paths.push(path.clone());
        }
    }
    assert!(long.is_empty(), "more than {LONGEST} lines: {long:#?}");
    declarations.retain(|_, paths| paths.len() > 1);
    let count = declarations.len();
    assert!(
        count <= REPEATED_NAMES,
        "{count} names stand in several files: {declarations:#?}"
    );
}

/// The files of these modules have no cyclic dependencies, so they can be read in sequence.
#[test]
fn no_file_of_the_outbox_or_of_the_token_manager_needs_one_that_needs_it() {
    for folder in ["crates/envd-sync/src/outbox", "src/auth/manager"] {
        let files = rust_files(folder);
        let mut needs: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        let files = files
            .iter()
            .filter(|(path, _)| !is_test(path) && path != "mod.rs");
        for (path, text) in files {
            let words = words(text);
            let used = behind(product(&words), &["super", "::"]).map(|(_, used)| used.to_owned());
            needs.insert(path.trim_end_matches(".rs").to_owned(), used.collect());
        }
        assert!(needs.len() > 5, "{folder}: {needs:#?}");
        // Repeatedly remove the files that depend on no remaining file.
        loop {
            let left: BTreeSet<String> = needs.keys().cloned().collect();
            needs.retain(|_, used| !used.is_disjoint(&left));
            if needs.len() == left.len() {
                break;
            }
        }
        assert!(needs.is_empty(), "a circle in {folder}: {needs:#?}");
    }
}

/// The words of a decision that changes its arguments, waits, or depends on chance.
fn impure(words: &[String]) -> Vec<&str> {
    let changed = behind(words, &[":", "&", "mut"]).map(|(_, of)| of);
    let forbidden = ["async", "await", "fastrand"];
    let used = words.iter().map(String::as_str);
    let used = used.filter(|word| forbidden.contains(word));
    changed.chain(used).collect()
}

#[test]
fn decisions_are_pure() {
    let planted = "async fn next(state: &mut State) { fastrand::f64() }";
    assert_eq!(impure(&words(planted)), ["State", "async", "fastrand"]);
    for folder in ["crates/envd-sync/src/outbox", "src/auth/manager"] {
        let files = rust_files(folder);
        let (path, text) = files.iter().find(|(path, _)| path == "decide.rs").unwrap();
        assert_eq!(impure(product(&words(text))), [""; 0], "{folder}/{path}");
    }
}
