//! Checks rules that cargo does not enforce: the layers of `src`, sizes and names, the packages in a build, and the tests of each promise.
//!
//! A top-level module of `src` uses only modules in lower layers. `planted.txt` has mistakes of each kind.

mod cancel_safety;
mod foreign_types;
mod instants;
mod lengths;
mod named;
mod packages;
mod pages;
mod plain_rust;
mod profile;
mod promises;
mod shown;
mod vocabulary;

use std::fs;
use std::path::Path;

use proc_macro2::{Delimiter, Spacing, TokenStream, TokenTree};

/// The sources of the libraries.
const LIBRARIES: [&str; 4] = [
    "src",
    "crates/envd-codegen/src",
    "crates/envd-postgres/src",
    "crates/envd-sync/src",
];

/// The modules by layer. Modules in the same layer do not use each other.
const LAYERS: [&[&str]; 12] = [
    // Crates and a macro that lib.rs exports.
    &["graphql_client", "operations", "serde"],
    &["locked", "macros", "secret", "tests", "model"],
    &["profile"],
    &["validate", "with_chrono", "with_jiff", "with_time"],
    &["error"],
    // lib.rs re-exports `tls` from transport.
    &["transport", "tls", "graphql"],
    &["auth"],
    &["send", "loopback"],
    &["client"],
    &["ops", "register"],
    &["fake"],
    // Documentation pages, which may link to everything.
    &["guide"],
];

/// Pairs of modules in one layer where the first may use the second.
const ALLOWED: [(&str, &str); 2] = [("model", "secret"), ("transport", "tls")];

/// Pairs that the layers would allow, but that are forbidden, because the fake implements the specification independently.
const FORBIDDEN: [(&str, &str); 2] = [("fake", "validate"), ("fake", "model")];

/// Additional modules that the tests of a module may use: like those in `tests`, they need a server.
const ALLOWED_IN_TESTS: [(&str, &str); 1] = [("auth", "fake")];

/// Names that the validator and the model must not use: `today` is an argument.
const WORLD: [&str; 5] = ["Instant", "fs", "net", "env", "stdin"];

/// Files that parse JSON written by this crate: requests, token records, stored texts of consignments. All other JSON must go
/// through `model/json_text.rs`, which counts the bytes read in unit tests.
const OWN_JSON: &str = "model/consignment_text.rs model/json_text.rs graphql/adapt/overrides.rs graphql/reply.rs \
    graphql/request.rs auth/keyring/keyring_store.rs auth/pending_login.rs auth/store/file/token_file.rs auth/store/record.rs";

/// Names that do not describe the contents.
const VAGUE_NAMES: &str = "util utils helper helpers common misc types";

/// The words of a source file, without comments; literals become `""`.
fn words(text: &str) -> Vec<String> {
    fn add(words: &mut Vec<String>, tokens: TokenStream) {
        let mut is_joint = false;
        for token in tokens {
            let was_joint = std::mem::take(&mut is_joint);
            match token {
                TokenTree::Group(group) => {
                    let (open, close) = match group.delimiter() {
                        Delimiter::Parenthesis => ("(", ")"),
                        Delimiter::Brace => ("{", "}"),
                        Delimiter::Bracket => ("[", "]"),
                        Delimiter::None => continue,
                    };
                    words.push(open.to_owned());
                    add(words, group.stream());
                    words.push(close.to_owned());
                }
                TokenTree::Punct(mark) => {
                    is_joint = mark.as_char() == ':' && mark.spacing() == Spacing::Joint;
                    match words.last_mut().filter(|_| was_joint) {
                        Some(last) if mark.as_char() == ':' => last.push(':'),
                        _ => words.push(mark.to_string()),
                    }
                    is_joint &= !was_joint;
                }
                TokenTree::Ident(name) => words.push(name.to_string()),
                TokenTree::Literal(_) => words.push("\"\"".to_owned()),
            }
        }
    }
    let mut words = Vec::new();
    add(&mut words, text.parse().unwrap());
    words
}

/// The positions after each occurrence of a sequence of words, and the next word.
fn behind<'a>(words: &'a [String], of: &[&str]) -> impl Iterator<Item = (usize, &'a str)> {
    let found = words.windows(of.len() + 1).enumerate();
    let found = found.filter(move |(_, window)| window[..of.len()] == *of);
    found.map(|(at, window)| (at, window[window.len() - 1].as_str()))
}

/// The words before the test module at the end.
fn product(words: &[String]) -> &[String] {
    let tests = behind(words, &["mod", "tests"]).find(|(_, next)| *next == "{");
    &words[..tests.map_or(words.len(), |(at, _)| at)]
}

/// The text before the test module at the end.
fn product_text(text: &str) -> &str {
    text.split("mod tests {").next().unwrap_or_default()
}

/// The product files of the four libraries, without those that contain only tests.
fn product_files() -> Vec<(String, String)> {
    let mut files = Vec::new();
    for folder in LIBRARIES {
        for (path, text) in rust_files(folder) {
            if !is_test(&path) {
                files.push((format!("{folder}/{path}"), text));
            }
        }
    }
    files
}

/// True if a file contains only tests.
fn is_test(path: &str) -> bool {
    path.split('/')
        .any(|part| part.trim_end_matches(".rs").ends_with("tests"))
}

/// The problems of a file in `src`.
fn problems(path: &str, words: &[String]) -> Vec<String> {
    let mut found = Vec::new();
    let module = path.trim_end_matches(".rs").trim_end_matches("/mod");
    let parts: Vec<&str> = module.split('/').collect();
    let module = parts[0];
    let code = product(words);
    let layer_of = |module: &str| LAYERS.iter().position(|modules| modules.contains(&module));
    let Some(layer) = layer_of(module) else {
        return vec![format!("{module} has no layer")];
    };
    for (_, used) in behind(words, &["crate", "::"]) {
        let pair = (module, used);
        let is_allowed =
            ALLOWED.contains(&pair) || is_test(path) && ALLOWED_IN_TESTS.contains(&pair);
        let is_below = layer_of(used).is_some_and(|below| used == module || below < layer);
        if !is_allowed && (!is_below || FORBIDDEN.contains(&pair)) {
            found.push(format!("{module} must not use crate::{used}"));
        }
    }
    for (at, _) in behind(words, &["super", "::"]) {
        let climbs = words[at..].chunks(2).take_while(|pair| pair[0] == "super");
        let climbs = climbs.count();
        let is_first = at == 0 || words[at - 1] != "::";
        if is_first && climbs >= parts.len() + usize::from(at > code.len()) {
            found.push("super reaches the crate root".to_owned());
        }
    }
    let is_pure = ["model", "validate"].contains(&module) && !is_test(path);
    let is_not_read = |word: &&String| is_pure && WORLD.contains(&word.as_str());
    let is_reqwest = |word: &&String| *word == "reqwest" && module != "transport";
    let reqwest = words.iter().filter(is_reqwest);
    let clocks = behind(code, &["::", "now"]).map(|(at, _)| &code[at + 1]);
    let clocks = clocks.filter(|_| is_pure);
    let used = code.iter().filter(is_not_read).chain(clocks).chain(reqwest);
    found.extend(used.map(|used| format!("{module} must not use {used}")));
    let is_own_json = OWN_JSON.split_whitespace().any(|own| own == path);
    if !is_own_json && !is_test(path) && module != "fake" {
        let readers = ["from_str", "from_slice", "from_reader", "Deserializer"];
        let read = behind(code, &["serde_json", "::"]).map(|(_, name)| name);
        let read = read.filter(|name| readers.contains(name));
        found.extend(
            read.map(|name| format!("{module} must read by json_text, not serde_json::{name}")),
        );
    }
    let modules = behind(words, &["mod"]).map(|(_, name)| name);
    let names = parts.iter().copied().chain(modules);
    let vague = names.filter(|name| VAGUE_NAMES.split(' ').any(|vague| vague == *name));
    found.extend(vague.map(|name| format!("{name} does not describe the contents")));
    found
}

#[test]
fn every_module_uses_those_below_it_alone() {
    let mut found = Vec::new();
    let files = rust_files("src").into_iter();
    for (path, text) in files.filter(|(path, _)| path != "lib.rs") {
        let problems = problems(&path, &words(&text)).into_iter();
        found.extend(problems.map(|what| format!("{path}: {what}")));
    }
    assert!(found.is_empty(), "{found:#?}");
}

#[test]
fn planted_mistakes_are_reported() {
    let lines = include_str!("planted.txt").lines();
    for line in lines.filter(|line| !line.starts_with('#')) {
        let [path, code, expected] = line.split(" | ").collect::<Vec<_>>()[..] else {
            panic!("{line}")
        };
        let found = problems(path, &words(code));
        let first = found.first().map_or("-", String::as_str);
        assert_eq!(first, expected, "{line}: {found:?}");
    }
}

/// All files below a folder of the repository, with their relative paths. Binary files, such as pictures, have an empty text.
fn files(folder: &str) -> Vec<(String, String)> {
    let top = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
    let mut folders = vec![top.clone()];
    let mut files = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
            let path = entry.path();
            if ["target", ".git", "Cargo.lock"].contains(&entry.file_name().to_str().unwrap()) {
                continue;
            }
            if path.is_dir() {
                folders.push(path);
            } else {
                let short = path.strip_prefix(&top).unwrap().to_str().unwrap();
                let text = fs::read_to_string(&path).unwrap_or_default();
                files.push((short.to_owned(), text));
            }
        }
    }
    assert!(files.len() > 9, "only {} files were read", files.len());
    files
}

/// True if a path has this extension.
fn ends(path: &str, ending: &str) -> bool {
    Path::new(path).extension().is_some_and(|it| it == ending)
}

fn rust_files(folder: &str) -> Vec<(String, String)> {
    let mut files = files(folder);
    files.retain(|(path, _)| ends(path, "rs"));
    files
}
