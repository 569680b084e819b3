//! The house rules that a text can show: layers of `src`, sizes, names, features; what a build links; who tests which failure.
//!
//! A top-level module (room) of `src` uses only rooms of lower layers. Each check is a function from the path (below `src`) and
//! the code of one file to its problems; `planted.rs` tests each check with mistakes.

mod code;
mod failure_modes;
mod packages;
mod pages;
mod planted;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use crate::code::{behind, code, name};

/// The rooms by layers. Rooms of one layer do not use each other.
const LAYERS: [&[&str]; 11] = [
    &["locked", "macros", "secret", "tests", "model"],
    &["profile"],
    &["validate", "with_chrono", "with_jiff", "with_time"],
    &["error"],
    &["transport", "graphql"],
    &["auth"],
    &["send", "loopback"],
    &["client"],
    &["ops", "register"],
    &["fake"],
    // Documentation pages, which may link to everything.
    &["guide"],
];

/// Pairs of rooms in one layer where the first may use the second.
const ALLOWED: [(&str, &str); 1] = [("model", "secret")];

/// Pairs that the layers would allow: the fake implements the specification independently.
const FORBIDDEN: [(&str, &str); 2] = [("fake", "validate"), ("fake", "model")];

/// What the tests of a room may use beside: as those in `tests`, they need a server.
const ALLOWED_IN_TESTS: [(&str, &str); 1] = [("auth", "fake")];

/// Names that do not describe the contents.
const VAGUE_NAMES: [&str; 7] = [
    "util", "utils", "helper", "helpers", "common", "misc", "types",
];

/// A file is as long as what one reads together, and no longer.
const LONGEST: usize = 700;

/// A file with less code than this stands beside what it belongs to.
const SHORTEST: usize = 30;

/// How many files are too short (`mod.rs` apart), and how many names of types are declared in several files. Both only fall:
/// whoever makes one smaller lowers it here.
const TOO_SHORT: usize = 6;
const REPEATED_NAMES: usize = 39;

/// What reads the world outside of a program.
const READERS: [&str; 6] = ["Instant", "fs::", "net::", "env::", "stdin", "now("];

type Check = fn(&str, &str) -> Vec<String>;

const CHECKS: [Check; 7] = [
    layers,
    supers,
    globs,
    features,
    names,
    reqwest_users,
    readers,
];

/// A room uses only rooms of lower layers, never the crate root.
fn layers(path: &str, code: &str) -> Vec<String> {
    let room = room_of(path);
    let Some(layer) = layer_of(room) else {
        return vec![format!("{path}: {room} has no layer in LAYERS")];
    };
    let used = behind(code, "crate::").map(|(_, rest)| name(rest));
    // lib.rs has these crates and macros, and this module of a room.
    let used = used.filter(|used| !["graphql_client", "operations", "serde"].contains(used));
    let used = used.map(|used| if used == "tls" { "transport" } else { used });
    let wrong = used.filter(|&used| match layer_of(used) {
        Some(_) if is_test(path) && ALLOWED_IN_TESTS.contains(&(room, used)) => false,
        Some(_) if FORBIDDEN.contains(&(room, used)) => true,
        Some(below) => used != room && below >= layer && !ALLOWED.contains(&(room, used)),
        None => true,
    });
    let wrong = wrong.map(|used| format!("{path}: {room} must not use crate::{used}"));
    wrong.collect()
}

/// `super` does not reach the crate root, where the other rooms are.
fn supers(path: &str, code: &str) -> Vec<String> {
    let module = path.trim_end_matches(".rs").trim_end_matches("/mod");
    let depth = module.split('/').count();
    let wrong = behind(code, "super::").filter(|(at, rest)| {
        let climbs = 1 + rest.split("::").take_while(|part| *part == "super").count();
        // An inline module is one level deeper.
        climbs >= depth + usize::from(*at > inline_tests(code))
    });
    let wrong = wrong.map(|_| format!("{path}: super reaches the crate root"));
    wrong.collect()
}

/// Imports are by name; a test module may use `super::*`.
fn globs(path: &str, code: &str) -> Vec<String> {
    let globs = behind(code, "use ").filter_map(|(at, rest)| {
        let import = rest.split(';').next()?;
        let of_tests = at > inline_tests(code) || is_test(path);
        let fine = import == "super::*" && of_tests
            || (path, import) == ("model/mod.rs", "self::generated::*");
        (import.contains('*') && !fine).then(|| format!("{path}: use {import}"))
    });
    globs.collect()
}

/// `cfg(feature)` stands on a `mod name;` line (a page is `mod name {}`), on the re-export from such a module, or on a function; a
/// `cfg_attr` adds documentation.
fn features(path: &str, code: &str) -> Vec<String> {
    let mut switched = Vec::new();
    let mut wrong = Vec::new();
    // An attribute of several lines as one.
    let mut lines: Vec<String> = Vec::new();
    for line in code.lines().map(str::trim).filter(|line| !line.is_empty()) {
        match lines.last_mut() {
            Some(last) if last.starts_with('#') && !last.ends_with(']') => last.push_str(line),
            _ => lines.push(line.to_owned()),
        }
    }
    for (nth, line) in lines.iter().enumerate() {
        if behind(line, "feature = ").next().is_none() {
            continue;
        }
        if line.contains("cfg_attr(") && line.ends_with("doc = \"\")]") {
            continue;
        }
        let mut items = lines[nth + 1..]
            .iter()
            .filter(|line| !line.starts_with("#["));
        let item = items.next().map_or("", |item| without_visibility(item));
        let module = item
            .strip_prefix("mod ")
            .and_then(|rest| rest.strip_suffix(';').or(rest.strip_suffix(" {}")));
        switched.extend(module);
        let from = item.strip_prefix("use self::").map(name);
        let is_right = module.is_some()
            || from.is_some_and(|module| switched.contains(&module))
            || item.trim_start_matches("async ").starts_with("fn ");
        if !is_right || !line.starts_with("#[cfg(") || !line.ends_with(")]") {
            wrong.push(format!("{path}: cfg(feature) belongs on mod lines, their re-exports and functions only: {line}"));
        }
    }
    wrong
}

fn without_visibility(item: &str) -> &str {
    let Some(rest) = item.strip_prefix("pub") else {
        return item;
    };
    let inside = rest.strip_prefix('(').and_then(|rest| rest.split_once(')'));
    inside.map_or(rest, |(_, rest)| rest).trim_start()
}

/// Names of files and modules describe the contents.
fn names(path: &str, code: &str) -> Vec<String> {
    let modules = behind(code, "mod ").map(|(_, rest)| name(rest));
    let parts = path.trim_end_matches(".rs").split('/').chain(modules);
    let vague = parts.filter(|name| VAGUE_NAMES.contains(name));
    let vague = vague.map(|name| format!("{path}: {name} does not describe the contents"));
    vague.collect()
}

/// Only transport uses reqwest.
fn reqwest_users(path: &str, code: &str) -> Vec<String> {
    let uses = behind(code, "reqwest")
        .next()
        .filter(|_| room_of(path) != "transport");
    let uses = uses.map(|_| format!("{path}: only transport may use reqwest"));
    uses.into_iter().collect()
}

/// The validator and the model read no clock, file, socket or variable: `today` is an argument.
fn readers(path: &str, code: &str) -> Vec<String> {
    let is_judge = ["model", "validate"].contains(&room_of(path)) && !path.contains("/tests");
    let product = &code[..inline_tests(code)];
    let found = READERS
        .iter()
        .filter(|word| is_judge && behind(product, word).next().is_some());
    found
        .map(|word| format!("{path}: {word} reads what is not given"))
        .collect()
}

/// Generated files may be longer.
fn is_too_long(path: &str, text: &str) -> bool {
    text.lines().count() > LONGEST && !path.ends_with("/generated.rs")
}

/// Whether a file has so little code, before its tests, that it belongs into another one.
fn is_too_short(path: &str, code: &str) -> bool {
    let lines = code[..inline_tests(code)].lines();
    let lines = lines.filter(|line| !line.trim().is_empty()).count();
    lines < SHORTEST && !path.ends_with("mod.rs") && !is_test(path)
}

/// The names of the types that a file declares, private ones too.
fn declared(path: &str, code: &str) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for kind in ["struct ", "enum ", "trait ", "union ", "type "] {
        for (at, rest) in behind(code, kind) {
            // An indented `type` belongs to an impl.
            let start = code[..at].rfind('\n').map_or(0, |end| end + 1);
            if kind != "type " || !code[start..].starts_with(' ') {
                names.insert(name(rest).to_owned());
            }
        }
    }
    names.retain(|name| name.starts_with(char::is_uppercase));
    if is_test(path) || path.ends_with("/generated.rs") {
        BTreeSet::new()
    } else {
        names
    }
}

#[test]
fn every_file_passes_all_checks() {
    let mut found = Vec::new();
    for (path, text) in rust_files("src")
        .iter()
        .filter(|(path, _)| path != "lib.rs")
    {
        let code = code(text);
        found.extend(CHECKS.iter().flat_map(|check| check(path, &code)));
        if is_too_long(path, text) {
            found.push(format!("{path}: more than {LONGEST} lines"));
        }
    }
    assert!(found.is_empty(), "{found:#?}");
}

#[test]
fn short_files_and_repeated_names_do_not_become_more() {
    let mut files = rust_files("src");
    for (_, text) in &mut files {
        *text = code(text);
    }
    let short = files.iter().filter(|(path, code)| is_too_short(path, code));
    let short: Vec<&str> = short.map(|(path, _)| path.as_str()).collect();
    assert!(
        short.len() <= TOO_SHORT,
        "{} files are too short: {short:#?}",
        short.len()
    );
    let mut declarations: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for (path, code) in &files {
        for name in declared(path, code) {
            declarations.entry(name).or_default().push(path);
        }
    }
    declarations.retain(|_, paths| paths.len() > 1);
    let count = declarations.len();
    assert!(
        count <= REPEATED_NAMES,
        "{count} names stand in several files: {declarations:#?}"
    );
}

/// In the outbox, a file needs only files that do not need it: one can be read after the other.
#[test]
fn no_file_of_the_outbox_needs_one_that_needs_it() {
    let files = rust_files("crates/envd-sync/src/outbox");
    let files = files
        .iter()
        .filter(|(path, _)| !is_test(path) && path != "mod.rs");
    let mut needs: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
    for (path, text) in files {
        let code = code(text);
        let used = behind(&code[..inline_tests(&code)], "super::").map(|(_, rest)| name(rest));
        needs.insert(
            path.trim_end_matches(".rs"),
            used.map(str::to_owned).collect(),
        );
    }
    // What needs nothing that is left is taken away, until nothing is.
    loop {
        let left: BTreeSet<String> = needs.keys().map(|name| (*name).to_owned()).collect();
        needs.retain(|_, used| !used.is_disjoint(&left));
        if needs.len() == left.len() {
            break;
        }
    }
    assert!(needs.is_empty(), "a circle: {needs:#?}");
}

/// The first part of a path below `src`.
fn room_of(path: &str) -> &str {
    path.split('/')
        .next()
        .unwrap_or(path)
        .trim_end_matches(".rs")
}

fn layer_of(room: &str) -> Option<usize> {
    LAYERS.iter().position(|rooms| rooms.contains(&room))
}

/// Whether a file holds tests only.
fn is_test(path: &str) -> bool {
    path.starts_with("tests/")
        || path.contains("/tests/")
        || path.ends_with("/tests.rs")
        || path.ends_with("_tests.rs")
}

/// Where the test module at the end of a file begins; the length of the file if there is none.
fn inline_tests(code: &str) -> usize {
    code.find("mod tests {").unwrap_or(code.len())
}

/// All Rust files below a folder of the package, with their paths below it.
fn rust_files(folder: &str) -> Vec<(String, String)> {
    let top = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
    let (mut folders, mut files) = (vec![top.clone()], Vec::new());
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension() == Some("rs".as_ref()) {
                let short = path.strip_prefix(&top).unwrap().to_str().unwrap();
                files.push((short.to_owned(), fs::read_to_string(&path).unwrap()));
            }
        }
    }
    assert!(files.len() > 10, "only {} files were read", files.len());
    files
}
