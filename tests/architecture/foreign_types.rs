//! Types of other crates in public signatures: each crate is in the table of CONTRIBUTING.md, with the reason.

use std::collections::BTreeSet;
use std::fs;

const OWN: [&str; 7] = [
    "alloc",
    "core",
    "std",
    "envd_sdk",
    "envd_sync",
    "envd_postgres",
    "envd_codegen",
];

/// The crates whose items a list of public items names: the first part of each path.
fn crates(list: &str) -> BTreeSet<&str> {
    let is_name = |it: char| it.is_ascii_alphanumeric() || it == '_';
    let is_of_path = |it: char| is_name(it) || it == ':';
    let paths = list.split(|it: char| !is_of_path(it));
    let roots = paths.filter_map(|path| path.split_once("::").map(|(root, _)| root));
    let starts_low = |root: &&str| root.starts_with(|it: char| it.is_ascii_lowercase());
    roots
        .filter(starts_low)
        .filter(|root| !OWN.contains(root))
        .collect()
}

/// The crates in the first column of the table.
fn explained(page: &str) -> BTreeSet<&str> {
    let table = page
        .split("| crate | why its types may be public |")
        .nth(1)
        .unwrap();
    let rows = table
        .lines()
        .skip(2)
        .take_while(|line| line.starts_with('|'));
    let cells = rows.filter_map(|row| row.split('|').nth(1));
    // Names are between backticks.
    cells
        .flat_map(|cell| cell.split('`').skip(1).step_by(2))
        .collect()
}

#[test]
fn each_crate_in_a_public_signature_is_in_the_table() {
    let planted = "pub fn envd_sdk::a::b(&self, http::Method) -> core::option::Option<T::Item>";
    assert_eq!(crates(planted), BTreeSet::from(["http"]));
    let packages = ["envd-sdk", "envd-sync", "envd-postgres", "envd-codegen"];
    let read = |package| fs::read_to_string(format!(".ci/public_api/{package}.txt")).unwrap();
    let lists = packages.map(read);
    let found: BTreeSet<&str> = lists.iter().flat_map(|list| crates(list)).collect();
    let page = fs::read_to_string("CONTRIBUTING.md").unwrap();
    assert_eq!(found, explained(&page));
}
