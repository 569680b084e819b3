//! The stairs of the design: a room uses only rooms on lower steps. Also the sizes and names of files.
//!
//! Each check is a function from the path (below `src`) and the text of one file to what is wrong with it, so the second
//! half of this file can plant every mistake once and see it caught.

use std::fs;
use std::path::Path;

use proc_macro2::{TokenStream, TokenTree};
use quote::ToTokens;
use syn::{Attribute, Item, ItemUse, UseTree};

/// The rooms and their steps. The same step does not mean that one may use the other.
const STAIRS: [(&str, u8); 19] = [
    ("secret", 0),
    ("mock", 0),
    ("seeded", 0),
    ("model", 0),
    ("validate", 1),
    ("with_chrono", 1),
    ("with_jiff", 1),
    ("with_time", 1),
    ("error", 2),
    ("transport", 3),
    ("graphql", 3),
    ("auth", 4),
    ("send", 5),
    ("loopback", 5),
    ("client", 6),
    ("ops", 7),
    ("register", 7),
    ("fake", 8),
    // Pages of documentation, which may link to everything.
    ("guide", 9),
];

/// Pairs on one step of which the first may use the second.
const ALLOWED: [(&str, &str); 1] = [("model", "secret")];

/// Pairs that the steps would allow: the fake reads the specification by itself.
const FORBIDDEN: [(&str, &str); 1] = [("fake", "validate")];

/// Names that say nothing about what is inside.
const EMPTY_NAMES: [&str; 8] = [
    "util",
    "utils",
    "helper",
    "helpers",
    "common",
    "misc",
    "shared_types",
    "types",
];

const LONGEST: usize = 400;

type Check = fn(&str, &str) -> Vec<String>;

/// Uses only rooms below, never the crate root.
fn stairs(path: &str, text: &str) -> Vec<String> {
    let room = room_of(path);
    let Some(step) = step_of(room) else {
        return vec![format!("{path}: {room} is not a room of the stairs")];
    };
    let tokens = tokens(text);
    let mut found = Vec::new();
    for at in starts(&tokens, &["crate", ":", ":"]) {
        let Some(used) = tokens.get(at + 3) else {
            continue;
        };
        // lib.rs mounts files of rooms under these names.
        let used = match used.as_str() {
            "tls" => "transport",
            used => used,
        };
        let pair = (room, used);
        let fine = match step_of(used) {
            Some(_) if FORBIDDEN.contains(&pair) => false,
            Some(below) => used == room || below < step || ALLOWED.contains(&pair),
            None => false,
        };
        if !fine {
            found.push(format!("{path}: {room} must not use crate::{used}"));
        }
    }
    found
}

/// Does not climb with `super` to the crate root, where the other rooms are.
fn supers(path: &str, text: &str) -> Vec<String> {
    let module = path.trim_end_matches(".rs").trim_end_matches("/mod");
    let depth = module.split('/').count();
    let tokens = tokens(text);
    let tests = inline_tests(&tokens);
    let mut found = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        let climbs = tokens[at..]
            .chunks(3)
            .take_while(|link| *link == ["super", ":", ":"])
            .count();
        // An inline module is one deeper.
        if climbs > 0 && climbs >= depth + usize::from(at > tests) {
            found.push(format!("{path}: {climbs} times super leaves the room"));
        }
        at += 3 * climbs + 1;
    }
    found
}

/// Imports by name; a test module may take all of its parent.
fn globs(path: &str, text: &str) -> Vec<String> {
    let tokens = tokens(text);
    let tests = inline_tests(&tokens);
    let of_tests = |at| at > tests || path.contains("/tests/") || path.ends_with("/tests.rs");
    starts(&tokens, &["use"])
        .filter_map(|at| Some((at, tokens[at + 1..].split(|token| token == ";").next()?)))
        .filter(|(_, import)| import.iter().any(|token| token == "*"))
        .map(|(at, import)| (at, import.concat()))
        .filter(|(at, import)| import != "super::*" || !of_tests(*at))
        .filter(|(_, import)| (path, import.as_str()) != ("model/mod.rs", "self::generated::*"))
        .map(|(_, import)| format!("{path}: use {import}"))
        .collect()
}

/// Fits on a few screens. What is generated is not read.
fn size(path: &str, text: &str) -> Vec<String> {
    let lines = text.lines().count();
    if lines > LONGEST && !path.ends_with("/generated.rs") {
        vec![format!("{path}: {lines} lines, more than {LONGEST}")]
    } else {
        Vec::new()
    }
}

/// Names a feature only in `#[cfg(..)]` on a `mod name;` line, or on the re-export from such a module.
fn features(path: &str, text: &str) -> Vec<String> {
    let file = syn::parse_file(text).unwrap();
    let mut switched = Vec::new();
    let mut allowed = 0;
    for item in &file.items {
        let attributes = match item {
            Item::Mod(module) if module.content.is_none() => {
                let named = conditions(&module.attrs);
                if named > 0 {
                    switched.push(module.ident.to_string());
                }
                &module.attrs
            }
            Item::Use(import) if switched.iter().any(|name| is_from(import, name)) => &import.attrs,
            _ => continue,
        };
        allowed += conditions(attributes);
    }
    let wrong = "cfg(feature) stands on mod lines and their re-exports only";
    vec![format!("{path}: {wrong}"); features_named(&tokens(text)) - allowed]
}

/// How often `#[cfg(..)]` among the attributes names a feature.
fn conditions(attributes: &[Attribute]) -> usize {
    let cfgs = attributes.iter().filter(|one| one.path().is_ident("cfg"));
    cfgs.map(|cfg| features_named(&tokens(&cfg.to_token_stream().to_string())))
        .sum()
}

/// Within a condition, `feature` opens it or follows a comma; then comes a text.
fn features_named(tokens: &[String]) -> usize {
    let named = tokens.windows(4).filter(|window| {
        ["(", ","].contains(&window[0].as_str())
            && window[1..3] == ["feature", "="]
            && window[3].starts_with('"')
    });
    named.count()
}

/// Whether it is `use self::module::..`.
fn is_from(import: &ItemUse, module: &str) -> bool {
    match &import.tree {
        UseTree::Path(own) if own.ident == "self" => {
            matches!(&*own.tree, UseTree::Path(path) if path.ident == module)
        }
        _ => false,
    }
}

/// Is named after what it knows.
fn names(path: &str, text: &str) -> Vec<String> {
    let tokens = tokens(text);
    let modules = starts(&tokens, &["mod"]).filter_map(|at| tokens.get(at + 1));
    let parts = path.trim_end_matches(".rs").split('/');
    parts
        .chain(modules.map(String::as_str))
        .filter(|name| EMPTY_NAMES.contains(name))
        .map(|name| format!("{path}: {name} says nothing"))
        .collect()
}

/// Leaves reqwest to the room that sends.
fn senders(path: &str, text: &str) -> Vec<String> {
    if room_of(path) != "transport" && tokens(text).iter().any(|token| token == "reqwest") {
        vec![format!("{path}: only transport knows reqwest")]
    } else {
        Vec::new()
    }
}

const CHECKS: [Check; 7] = [stairs, supers, globs, size, features, names, senders];

#[test]
fn every_file_keeps_to_the_stairs() {
    let mut files = Vec::new();
    read(
        &Path::new(env!("CARGO_MANIFEST_DIR")).join("src"),
        "",
        &mut files,
    );
    assert!(files.len() > 50, "only {} files were read", files.len());
    let found: Vec<String> = files
        .iter()
        .flat_map(|(path, text)| CHECKS.iter().flat_map(move |check| check(path, text)))
        .collect();
    assert!(found.is_empty(), "{found:#?}");
}

#[test]
fn every_room_of_the_stairs_exists() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    for (room, _) in STAIRS {
        let there = source.join(room).is_dir() || source.join(format!("{room}.rs")).is_file();
        assert!(there, "src has no {room}");
    }
}

#[test]
fn a_planted_step_upwards_is_caught() {
    for (path, text) in [
        ("model/pic.rs", "use crate::validate::Report;"),
        ("secret.rs", "use crate::model::Pic;"),
        ("error/mod.rs", "fn f(_: crate::transport::Reply) {}"),
        ("graphql/body.rs", "use crate::transport::{Body, Http};"),
        ("graphql/body.rs", "use crate::tls::connector;"),
        ("ops/user.rs", "use crate::register::Register;"),
        ("fake/world.rs", "use crate::validate::Report;"),
        // The crate root is no room, and neither is what is not listed.
        ("auth/token.rs", "use crate::Error;"),
        (
            "auth/token.rs",
            "use crate::{error::Error, secret::Secret};",
        ),
        ("auth/token.rs", "use crate::*;"),
        ("auth/token.rs", "use crate::clock::Clock;"),
        ("clock.rs", ""),
    ] {
        assert_eq!(stairs(path, text).len(), 1, "{path}: {text}");
    }
}

#[test]
fn steps_downwards_comments_and_texts_are_fine() {
    for (path, text) in [
        ("model/pdf_url.rs", "use crate::secret::Secret;"),
        ("transport/http.rs", "use crate::tls::connector;"),
        ("auth/store/record.rs", "pub(in crate::auth) struct Intent;"),
        (
            "auth/token.rs",
            "pub(crate) use crate::error::{Error, Result};",
        ),
        (
            "fake/mod.rs",
            "//! Apart from [`validate`](mod@crate::validate).",
        ),
        (
            "secret.rs",
            "// Not crate::model.\nconst A: &str = \"crate::model\";",
        ),
    ] {
        assert_eq!(stairs(path, text), [""; 0], "{path}: {text}");
    }
}

#[test]
fn a_planted_climb_to_the_root_is_caught() {
    for (path, text) in [
        ("auth/mod.rs", "use super::validate::Report;"),
        ("auth/token.rs", "use super::super::client::Client;"),
        ("secret.rs", "mod tests { use super::super::model::Pic; }"),
    ] {
        assert_eq!(supers(path, text).len(), 1, "{path}: {text}");
    }
    for (path, text) in [
        ("auth/token.rs", "use super::token_set::TokenSet;"),
        (
            "auth/store/record.rs",
            "use super::super::token_set::TokenSet;",
        ),
        ("secret.rs", "mod tests { use super::*; }"),
    ] {
        assert_eq!(supers(path, text), [""; 0], "{path}: {text}");
    }
}

#[test]
fn a_planted_glob_is_caught() {
    for (path, text) in [
        ("auth/token.rs", "use crate::error::*;"),
        ("auth/token.rs", "use crate::model::{Pic, codes::*};"),
        ("auth/mod.rs", "pub use self::token::*;"),
        ("auth/token.rs", "use super::*; mod tests { use super::*; }"),
        ("graphql/mod.rs", "pub use self::generated::*;"),
    ] {
        assert_eq!(globs(path, text).len(), 1, "{path}: {text}");
    }
    for (path, text) in [
        ("model/mod.rs", "pub use self::generated::*;"),
        ("model/pic.rs", "#[cfg(test)] mod tests { use super::*; }"),
        ("auth/manager/tests/mod.rs", "use super::*;"),
        ("model/pic.rs", "use std::fmt; const A: u8 = 2 * 3;"),
    ] {
        assert_eq!(globs(path, text), [""; 0], "{path}: {text}");
    }
}

#[test]
fn a_planted_long_file_is_caught() {
    let long = "\n".repeat(LONGEST + 1);
    assert_eq!(size("auth/token.rs", &long).len(), 1);
    assert_eq!(size("auth/token.rs", &long[1..]), [""; 0]);
    assert_eq!(size("model/generated.rs", &long), [""; 0]);
}

#[test]
fn a_planted_feature_is_caught() {
    for text in [
        "#[cfg(feature = \"fake\")] struct A;",
        "#[cfg(all(unix, feature = \"fake\"))] impl A {}",
        "#[cfg(any(not(unix), feature = \"fake\"))] fn f() {}",
        "#[cfg(feature = \"fake\")] mod fake { fn f() {} }",
        "#[cfg(feature = \"fake\")] pub fn f() {} mod fake;",
        "#[cfg(feature = \"fake\")] pub fn f() {} use self::fake::A;",
        "#[cfg(feature = \"fake\")] pub use self::always::A; mod always;",
        "#[cfg(feature = \"fake\")] use crate::fake::A;",
        "#[cfg_attr(feature = \"fake\", path = \"a.rs\")] mod fake;",
        "#[cfg_attr(feature = \"fake\", derive(Debug))] struct A;",
        "fn f() -> bool { cfg!(feature = \"fake\") }",
    ] {
        assert_eq!(features("auth/mod.rs", text).len(), 1, "{text}");
    }
    for fine in [
        "#[cfg(test)] mod tests; #[cfg(target_os = \"linux\")] fn feature() {}",
        "#[cfg(feature = \"sealed\")] pub mod sealed;",
        "#[cfg(all(unix, feature = \"sealed\"))] pub(crate) mod sealed;",
        "#[cfg(feature = \"sealed\")] mod sealed; #[cfg(feature = \"sealed\")] pub use self::sealed::A;",
    ] {
        assert_eq!(features("auth/mod.rs", fine), [""; 0], "{fine}");
    }
}

#[test]
fn a_planted_http_client_is_caught() {
    let planted = "use reqwest::header::HeaderValue;";
    assert_eq!(senders("auth/token.rs", planted).len(), 1);
    assert_eq!(senders("transport/http.rs", planted), [""; 0]);
}

#[test]
fn a_planted_empty_name_is_caught() {
    assert_eq!(names("auth/util.rs", "").len(), 1);
    assert_eq!(names("client/helpers/mod.rs", "").len(), 1);
    assert_eq!(names("client/mod.rs", "mod common { }").len(), 1);
    assert_eq!(names("auth/token.rs", "mod tests {}"), [""; 0]);
}

/// The first part of a path below `src`.
fn room_of(path: &str) -> &str {
    let first = path.split('/').next().unwrap_or(path);
    first.trim_end_matches(".rs")
}

fn step_of(room: &str) -> Option<u8> {
    let (_, step) = STAIRS.iter().find(|(name, _)| *name == room)?;
    Some(*step)
}

/// Where the test module at the end of a file begins; behind the file if there is none.
fn inline_tests(tokens: &[String]) -> usize {
    let mut modules = starts(tokens, &["mod", "tests", "{"]);
    modules.next().unwrap_or(tokens.len())
}

/// Where a run of tokens begins.
fn starts<'a>(tokens: &'a [String], run: &'a [&str]) -> impl Iterator<Item = usize> + 'a {
    let windows = tokens.windows(run.len()).enumerate();
    windows.filter_map(move |(at, window)| (window == run).then_some(at))
}

/// The code of a file. Comments are not in it, and a text is one token with its quotes.
fn tokens(text: &str) -> Vec<String> {
    let stream: TokenStream = text.parse().unwrap();
    let mut tokens = Vec::new();
    flatten(stream, &mut tokens);
    tokens
}

fn flatten(stream: TokenStream, tokens: &mut Vec<String>) {
    for tree in stream {
        let TokenTree::Group(group) = tree else {
            tokens.push(tree.to_string());
            continue;
        };
        let (open, close) = match group.delimiter() {
            proc_macro2::Delimiter::Brace => ("{", "}"),
            proc_macro2::Delimiter::Bracket => ("[", "]"),
            proc_macro2::Delimiter::Parenthesis => ("(", ")"),
            proc_macro2::Delimiter::None => ("", ""),
        };
        tokens.push(open.to_owned());
        flatten(group.stream(), tokens);
        tokens.push(close.to_owned());
    }
}

/// All files of Rust below a folder but lib.rs, with their paths below `src`.
fn read(folder: &Path, prefix: &str, files: &mut Vec<(String, String)>) {
    for entry in fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        let path = format!("{prefix}{}", entry.file_name().to_str().unwrap());
        if entry.file_type().unwrap().is_dir() {
            read(&entry.path(), &format!("{path}/"), files);
        } else if Path::new(&path).extension() == Some("rs".as_ref()) && path != "lib.rs" {
            files.push((path, fs::read_to_string(entry.path()).unwrap()));
        }
    }
}
