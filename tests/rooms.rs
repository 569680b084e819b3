//! The layers of `src`: a top-level module (room) uses only modules of lower layers. Also sizes and names of files.
//!
//! Each check is a function from the path (below `src`) and the text of one file to its problems. The second half of this
//! file tests the checks with one planted mistake each.

use std::fs;
use std::path::Path;

use proc_macro2::{TokenStream, TokenTree};
use quote::ToTokens;
use syn::{Attribute, Item, ItemUse, UseTree};

/// The rooms and their layers. Rooms of the same layer do not use each other.
const LAYERS: [(&str, u8); 21] = [
    ("secret", 0),
    ("mock", 0),
    ("seeded", 0),
    ("reading_tests", 0),
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
    ("sync", 8),
    // Documentation pages, which may link to everything.
    ("guide", 9),
];

/// Pairs of rooms in one layer where the first may use the second.
const ALLOWED: [(&str, &str); 1] = [("model", "secret")];

/// Pairs that the layers would allow: the fake implements the specification independently.
const FORBIDDEN: [(&str, &str); 2] = [("fake", "validate"), ("fake", "model")];

/// What the tests of a room may use beside: as those in `tests`, they need a server.
const ALLOWED_IN_TESTS: [(&str, &str); 1] = [("sync", "fake")];

/// Names that do not describe the contents.
const VAGUE_NAMES: [&str; 8] = [
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

/// What reads the world outside of a program.
const READERS: [&str; 5] = ["Instant", "fs", "net", "env", "stdin"];

type Check = fn(&str, &str) -> Vec<String>;

/// A room uses only rooms of lower layers, never the crate root.
fn layers(path: &str, text: &str) -> Vec<String> {
    let room = room_of(path);
    let Some(layer) = layer_of(room) else {
        return vec![format!("{path}: {room} has no layer in LAYERS")];
    };
    let tokens = tokens(text);
    let mut found = Vec::new();
    for at in starts(&tokens, &["crate", ":", ":"]) {
        let Some(used) = tokens.get(at + 3) else {
            continue;
        };
        // lib.rs re-exports these modules of rooms.
        let used = match used.as_str() {
            "tls" => "transport",
            used => used,
        };
        let pair = (room, used);
        let fine = match layer_of(used) {
            Some(_) if FORBIDDEN.contains(&pair) => false,
            Some(_) if path.contains("/tests/") && ALLOWED_IN_TESTS.contains(&pair) => true,
            Some(below) => used == room || below < layer || ALLOWED.contains(&pair),
            None => false,
        };
        if !fine {
            found.push(format!("{path}: {room} must not use crate::{used}"));
        }
    }
    found
}

/// `super` does not reach the crate root, where the other rooms are.
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
        // An inline module is one level deeper.
        if climbs > 0 && climbs >= depth + usize::from(at > tests) {
            found.push(format!(
                "{path}: {climbs} times super reaches the crate root"
            ));
        }
        at += 3 * climbs + 1;
    }
    found
}

/// Imports are by name; a test module may use `super::*`.
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

/// A file has at most `LONGEST` lines. Generated files are exempt.
fn size(path: &str, text: &str) -> Vec<String> {
    let lines = text.lines().count();
    if lines > LONGEST && !path.ends_with("/generated.rs") {
        vec![format!("{path}: {lines} lines, more than {LONGEST}")]
    } else {
        Vec::new()
    }
}

/// `cfg(feature)` appears only on a `mod name;` line, or on the re-export from such a module.
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
    let wrong = "cfg(feature) belongs on mod lines and their re-exports only";
    vec![format!("{path}: {wrong}"); features_named(&tokens(text)) - allowed]
}

/// The number of features in the `#[cfg(..)]` attributes.
fn conditions(attributes: &[Attribute]) -> usize {
    let cfgs = attributes.iter().filter(|one| one.path().is_ident("cfg"));
    cfgs.map(|cfg| features_named(&tokens(&cfg.to_token_stream().to_string())))
        .sum()
}

/// The number of `feature = ".."`, each at the start of a condition or after a comma.
fn features_named(tokens: &[String]) -> usize {
    let named = tokens.windows(4).filter(|window| {
        ["(", ","].contains(&window[0].as_str())
            && window[1..3] == ["feature", "="]
            && window[3].starts_with('"')
    });
    named.count()
}

/// Whether the import is `use self::module::..`.
fn is_from(import: &ItemUse, module: &str) -> bool {
    match &import.tree {
        UseTree::Path(own) if own.ident == "self" => {
            matches!(&*own.tree, UseTree::Path(path) if path.ident == module)
        }
        _ => false,
    }
}

/// Names of files and modules describe the contents.
fn names(path: &str, text: &str) -> Vec<String> {
    let tokens = tokens(text);
    let modules = starts(&tokens, &["mod"]).filter_map(|at| tokens.get(at + 1));
    let parts = path.trim_end_matches(".rs").split('/');
    parts
        .chain(modules.map(String::as_str))
        .filter(|name| VAGUE_NAMES.contains(name))
        .map(|name| format!("{path}: {name} does not describe the contents"))
        .collect()
}

/// Only transport uses reqwest.
fn reqwest_users(path: &str, text: &str) -> Vec<String> {
    if room_of(path) != "transport" && tokens(text).iter().any(|token| token == "reqwest") {
        vec![format!("{path}: only transport may use reqwest")]
    } else {
        Vec::new()
    }
}

/// The validator and the model read no clock, file, socket or variable: `today` is an argument.
fn readers(path: &str, text: &str) -> Vec<String> {
    let tokens = tokens(text);
    let product = &tokens[..inline_tests(&tokens)];
    let is_judge = ["model", "validate"].contains(&room_of(path)) && !path.contains("/tests");
    let words = product
        .iter()
        .filter(|token| READERS.contains(&token.as_str()));
    let clocks = starts(product, &[":", ":", "now"]).map(|at| &product[at + 2]);
    words
        .chain(clocks)
        .filter(|_| is_judge)
        .map(|word| format!("{path}: {word} reads what is not given"))
        .collect()
}

const CHECKS: [Check; 8] = [
    layers,
    supers,
    globs,
    size,
    features,
    names,
    reqwest_users,
    readers,
];

#[test]
fn every_file_passes_all_checks() {
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
fn every_room_exists() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    for (room, _) in LAYERS {
        let there = source.join(room).is_dir() || source.join(format!("{room}.rs")).is_file();
        assert!(there, "src has no {room}");
    }
}

#[test]
fn a_use_of_a_higher_layer_is_reported() {
    for (path, text) in [
        ("model/pic.rs", "use crate::validate::Report;"),
        ("secret.rs", "use crate::model::Pic;"),
        ("error/mod.rs", "fn f(_: crate::transport::Reply) {}"),
        ("graphql/body.rs", "use crate::transport::{Body, Http};"),
        ("graphql/body.rs", "use crate::tls::connector;"),
        ("ops/user.rs", "use crate::register::Register;"),
        ("fake/world.rs", "use crate::validate::Report;"),
        // Neither the crate root nor an unlisted module is a room.
        ("auth/token.rs", "use crate::Error;"),
        (
            "auth/token.rs",
            "use crate::{error::Error, secret::Secret};",
        ),
        ("auth/token.rs", "use crate::*;"),
        ("auth/token.rs", "use crate::clock::Clock;"),
        ("clock.rs", ""),
    ] {
        assert_eq!(layers(path, text).len(), 1, "{path}: {text}");
    }
}

#[test]
fn uses_of_lower_layers_comments_and_strings_are_allowed() {
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
        assert_eq!(layers(path, text), [""; 0], "{path}: {text}");
    }
}

#[test]
fn super_to_the_crate_root_is_reported() {
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
fn a_glob_import_is_reported() {
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
fn a_long_file_is_reported() {
    let long = "\n".repeat(LONGEST + 1);
    assert_eq!(size("auth/token.rs", &long).len(), 1);
    assert_eq!(size("auth/token.rs", &long[1..]), [""; 0]);
    assert_eq!(size("model/generated.rs", &long), [""; 0]);
}

#[test]
fn a_misplaced_cfg_feature_is_reported() {
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
fn a_use_of_reqwest_outside_transport_is_reported() {
    let planted = "use reqwest::header::HeaderValue;";
    assert_eq!(reqwest_users("auth/token.rs", planted).len(), 1);
    assert_eq!(reqwest_users("transport/http.rs", planted), [""; 0]);
}

#[test]
fn a_clock_in_the_validator_is_reported() {
    let planted = "fn today() -> SystemTime { SystemTime::now() }";
    assert_eq!(readers("validate/year.rs", planted).len(), 1);
    assert_eq!(readers("auth/token.rs", planted), [""; 0]);
    let tests = "mod tests { use std::fs; }";
    assert_eq!(readers("validate/year.rs", tests), [""; 0]);
}

#[test]
fn a_vague_name_is_reported() {
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

fn layer_of(room: &str) -> Option<u8> {
    let (_, layer) = LAYERS.iter().find(|(name, _)| *name == room)?;
    Some(*layer)
}

/// The index of the test module at the end of a file; the length of the file if there is none.
fn inline_tests(tokens: &[String]) -> usize {
    let mut modules = starts(tokens, &["mod", "tests", "{"]);
    modules.next().unwrap_or(tokens.len())
}

/// The indices at which a sequence of tokens begins.
fn starts<'a>(tokens: &'a [String], run: &'a [&str]) -> impl Iterator<Item = usize> + 'a {
    let windows = tokens.windows(run.len()).enumerate();
    windows.filter_map(move |(at, window)| (window == run).then_some(at))
}

/// The tokens of a file, without comments; a string is one token with its quotes.
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

/// All Rust files below a folder except lib.rs, with their paths below `src`.
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
