//! What the crate offers, listed in `tests/public_api/listing.txt`, so that a change of it is always on purpose.
//!
//! `cargo test --test public_api` compares; `UPDATE_PUBLIC_API=1 cargo test --test public_api` writes. The listing is
//! read from the source: the lint `unreachable_pub` holds that whatever is `pub` can be reached, so nothing has to be
//! resolved, and no nightly compiler is needed. Left out are the values of constants; of the automatic traits the last test
//! takes the compiler's word.

#[path = "public_api/areas.rs"]
mod areas;
#[path = "public_api/attributes.rs"]
mod attributes;
#[path = "public_api/items.rs"]
mod items;
#[path = "public_api/macros.rs"]
mod macros;
#[path = "public_api/print.rs"]
mod print;

use std::fs;
use std::path::Path;

use crate::areas::Areas;

const LISTING: &str = "tests/public_api/listing.txt";

#[test]
fn the_public_api_is_the_one_that_is_listed() {
    let found = Areas::of_crate(Path::new("src/lib.rs")).to_string();
    if std::env::var_os("UPDATE_PUBLIC_API").is_some() {
        fs::write(LISTING, &found).unwrap();
    }
    let listed = fs::read_to_string(LISTING).unwrap_or_default();
    let changes = changes(&listed, &found);
    assert!(
        changes.is_empty(),
        "the public API has changed:\n\n{}\n\nIf that is meant, say it in CHANGELOG.md and run\n    \
         UPDATE_PUBLIC_API=1 cargo test --test public_api\n",
        changes.join("\n")
    );
}

/// The lines that went and came, each with the area and the type that it belongs to.
fn changes(listed: &str, found: &str) -> Vec<String> {
    let (listed, found) = (with_owners(listed), with_owners(found));
    let gone = listed.iter().filter(|line| !found.contains(line));
    let come = found.iter().filter(|line| !listed.contains(line));
    let gone = gone.map(|line| format!("- {line}"));
    gone.chain(come.map(|line| format!("+ {line}"))).collect()
}

fn with_owners(listing: &str) -> Vec<String> {
    let (mut area, mut owner, mut lines) = ("", "", Vec::new());
    for line in listing.lines() {
        if let Some(name) = line.strip_prefix("# ") {
            area = name;
        } else if let Some(member) = line.strip_prefix("    ") {
            lines.push(format!("[{area}] {owner} :: {member}"));
        } else if !line.is_empty() {
            owner = line.split([':', '(']).next().unwrap_or(line);
            lines.push(format!("[{area}] {line}"));
        }
    }
    lines
}

/// The listing of a crate of one file.
fn listing_of(text: &str) -> String {
    let mut areas = Areas::default();
    areas.read(&syn::parse_file(text).unwrap().items, "", Path::new(""));
    areas.to_string()
}

const BEFORE: &str = "
    pub struct Yard { pub name: String, gate: u8 }
    impl Yard { pub fn open(&self, day: u8) -> bool { day > self.gate } fn close(&self) {} }
    pub(crate) struct Hidden;
    impl Clone for Hidden { fn clone(&self) -> Self { Hidden } }
    #[cfg(test)] mod tests { pub fn helper() {} }
";

#[test]
fn only_what_is_public_is_listed() {
    let wanted =
        "# envd_sdk\n\nstruct Yard\n    fn open(&self, day: u8) -> bool\n    name: String\n";
    assert_eq!(listing_of(BEFORE), wanted);
}

#[test]
fn every_accidental_change_is_seen() {
    for (from, to, seen) in [
        (
            "pub fn open",
            "pub(crate) fn open",
            "- [envd_sdk] struct Yard :: fn open(&self, day: u8) -> bool",
        ),
        (
            "day: u8) -> bool",
            "day: u8) -> u8",
            "+ [envd_sdk] struct Yard :: fn open(&self, day: u8) -> u8",
        ),
        (
            "fn open(",
            "async fn open(",
            "+ [envd_sdk] struct Yard :: async fn open(&self, day: u8) -> bool",
        ),
        (
            "pub name",
            "pub title",
            "+ [envd_sdk] struct Yard :: title: String",
        ),
        (
            "gate: u8",
            "pub gate: u8",
            "+ [envd_sdk] struct Yard :: gate: u8",
        ),
        (
            "pub struct Yard",
            "#[derive(Clone)] pub struct Yard",
            "+ [envd_sdk] struct Yard: Clone",
        ),
        (
            "pub struct Yard",
            "#[non_exhaustive] pub struct Yard",
            "+ [envd_sdk] struct Yard: #[non_exhaustive]",
        ),
        (
            "pub(crate) struct",
            "pub struct",
            "+ [envd_sdk] struct Hidden :: impl Clone for Hidden",
        ),
        (
            "pub(crate) struct",
            "pub use a::{b as c, d}; struct",
            "+ [envd_sdk] use c",
        ),
    ] {
        let after = BEFORE.replace(from, to);
        let changes = changes(&listing_of(BEFORE), &listing_of(&after));
        assert!(changes.contains(&seen.to_owned()), "{seen}: {changes:#?}");
    }
}

#[test]
fn handles_are_shared_between_threads() {
    fn shared<T: Clone + Send + Sync + 'static>() {}
    shared::<envd_sdk::Client>();
    shared::<envd_sdk::Account>();
    shared::<envd_sdk::Error>();
    shared::<envd_sdk::auth::TokenManager>();
    shared::<envd_sdk::register::Register>();
    shared::<envd_sdk::validate::Questionnaire>();
    shared::<envd_sdk::validate::Session>();
}
