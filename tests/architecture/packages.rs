//! Checks the packages that each set of features links (by `cargo tree`), the compiler that they need, and the documentation of features.
//!
//! Counts only normal dependencies, because the crate is its own dev-dependency with more features. The first run downloads
//! packages that no build has needed so far; later runs use no network.

use std::collections::BTreeSet;
use std::env;
use std::process::Command;

use serde_json::Value;
use test_support::script::rows;

/// Packages that only some features link.
const WATCHED: &str = "reqwest tokio hyper oauth2 graphql_client rustls native-tls openssl wiremock apollo-compiler jiff time \
    chacha20poly1305";

const CLIENT: &str = "reqwest tokio hyper oauth2";

#[test]
fn a_feature_links_its_packages_and_no_others() {
    let cases = rows(
        "
        --no-default-features                          |
        --no-default-features --features jiff02        | jiff
        --no-default-features --features time03        | time
        --no-default-features --features client        | CLIENT
        --no-default-features --features graphql_client016 | CLIENT graphql_client
        --no-default-features --features native-tls    | CLIENT native-tls openssl
        --no-default-features --features rustls-aws-lc | CLIENT rustls
        --features loopback                            | CLIENT graphql_client rustls
        --features loopback-https                      | CLIENT graphql_client rustls time
        --features sealed                              | CLIENT graphql_client rustls chacha20poly1305
        --features fake                                | CLIENT graphql_client rustls wiremock apollo-compiler
        ",
    );
    // In parallel, because each `cargo tree` takes a third of a second.
    std::thread::scope(|scope| {
        for case in cases {
            scope.spawn(move || links(case[0], case[1]));
        }
    });
}

fn links(features: &str, more: &str) {
    let tree = cargo(&format!(
        "tree -p envd-sdk --locked -e normal --prefix none {features}"
    ));
    let lines = tree.lines().map(|line| line.trim_end_matches(" (*)"));
    let packages: BTreeSet<_> = lines.filter_map(|line| line.split_once(' ')).collect();
    assert!(packages.iter().any(|(name, _)| *name == "serde"));
    let expected = more.replace("CLIENT", CLIENT);
    for watched in WATCHED.split_whitespace() {
        let versions = packages.iter().filter(|(name, _)| *name == watched);
        let versions: Vec<_> = versions.map(|(_, version)| *version).collect();
        let times = expected.split(' ').filter(|name| *name == watched).count();
        assert_eq!(versions.len(), times, "{features}: {watched} {versions:?}");
    }
}

#[test]
fn no_dependency_needs_a_newer_compiler_than_the_crate() {
    fn version(package: &Value) -> Option<((u32, u32), &str)> {
        // `1.89` or `1.89.0`; null if the package says nothing.
        let mut numbers = package["rust_version"].as_str()?.split('.');
        let mut number = || numbers.next()?.parse().ok();
        Some(((number()?, number()?), package["name"].as_str()?))
    }
    let metadata = metadata("--all-features --filter-platform x86_64-unknown-linux-gnu");
    // Do not use the metadata: it has the entire lock file, including packages of weak features that are never built.
    let built = cargo("tree --locked --workspace --all-features --prefix none");
    let built = built.lines().filter_map(|line| line.split(' ').next());
    let built: BTreeSet<_> = built.collect();
    let packages = metadata["packages"].as_array().unwrap().iter();
    let versions = packages.filter_map(version);
    let versions: BTreeSet<_> = versions.filter(|(_, name)| built.contains(name)).collect();
    let own = versions
        .iter()
        .find(|(_, name)| *name == "envd-sdk")
        .unwrap()
        .0;
    let newer = versions.iter().filter(|(version, _)| *version > own);
    assert_eq!(newer.collect::<Vec<_>>(), [] as [&((u32, u32), &str); 0]);
    assert!(versions.len() > 100, "the packages were read");
}

#[test]
fn the_documentation_command_builds_every_page_that_the_front_page_names() {
    let readme = include_str!("../../README.md");
    let mut command = readme.split("cargo doc --open --no-deps -p envd-sdk --features ");
    let features = command.nth(1).unwrap().split('`').next().unwrap();
    let own = Features::read();
    let built = own.with_implied(features.split(','));
    let stores = include_str!("../../src/guide/token_stores.md");
    let pages = [include_str!("../../src/lib.rs"), stores].into_iter();
    let named = pages.flat_map(|page| page.split("(feature `").skip(1));
    let named: BTreeSet<_> = named.filter_map(|rest| rest.split('`').next()).collect();
    let missing = named.iter().filter(|name| !built.contains(**name));
    assert_eq!(missing.count(), 0, "{features}: of {named:?}");
    assert!(named.len() > 3, "the pages were read");
}

/// Each feature is in the table of the front page, and docs.rs enables all except the alternative TLS stacks.
#[test]
fn the_documentation_shows_all_features() {
    let features = Features::read();
    let of_docs_rs = features.0["metadata"]["docs"]["rs"]["features"].as_array();
    let of_docs_rs = of_docs_rs.unwrap().iter().filter_map(Value::as_str);
    let shown = features.with_implied(of_docs_rs);
    let names = features.0["features"].as_object().unwrap().keys();
    let hidden = names.filter(|name| !shown.contains(name.as_str()));
    assert_eq!(hidden.collect::<Vec<_>>(), ["native-tls", "rustls-aws-lc"]);

    let page = include_str!("../../src/lib.rs");
    let (_, table) = page.split_once("# Features\n").unwrap();
    let (table, _) = table.split_once("\n//! # ").unwrap();
    let cells = table
        .lines()
        .filter_map(|line| line.strip_prefix("//! | `"));
    let cells = cells.filter_map(|line| line.split(" | ").next());
    let listed = cells.flat_map(|cell| cell.split(", "));
    let listed: BTreeSet<_> = listed.map(|name| name.trim_matches('`')).collect();
    let names = features.0["features"].as_object().unwrap().keys();
    let names = names.map(|name| &**name).filter(|name| *name != "default");
    assert_eq!(listed, names.collect());
}

/// Cargo unifies features over all default members, including dev-dependencies. If one member used other features, `cargo run
/// --example quickstart` would build what only that member needs.
#[test]
fn the_default_members_test_the_crate_with_the_same_features() {
    let metadata = metadata("--no-deps");
    let members = metadata["workspace_default_members"].as_array().unwrap();
    let packages = metadata["packages"].as_array().unwrap().iter();
    let packages = packages.filter(|package| members.contains(&package["id"]));
    let features = packages.map(|package| {
        let dependencies = package["dependencies"].as_array().unwrap().iter();
        let of_tests = dependencies
            .filter(|one| one["name"] == "envd-sdk" && one["kind"] == "dev")
            .flat_map(|one| {
                let defaults = one["uses_default_features"].as_bool().unwrap();
                let named = one["features"].as_array().unwrap().iter();
                let named = named.map(|name| name.as_str().unwrap().to_owned());
                named.chain(defaults.then(|| "default".to_owned()))
            });
        (&package["name"], of_tests.collect::<BTreeSet<_>>())
    });
    let features: Vec<_> = features.collect();
    assert_eq!(features.len(), 5, "{features:?}");
    // The generator does not depend on the crate, and the decisions of the outbox need its types alone.
    let mut users = features.iter().filter(|(_, of)| !of.is_empty());
    let (_, first) = users.next().unwrap();
    assert!(first.contains("fake") && users.all(|(_, of)| of == first));
}

/// The companions use only what every user can use: no item is hidden from the documentation.
#[test]
fn no_crate_has_a_hidden_door() {
    let hidden = |text: &str| {
        let door = |line: &&str| line.contains("doc(hidden)") || line.contains("pub mod internal");
        text.lines().filter(door).count()
    };
    assert_eq!(hidden("#[doc(hidden)]\npub mod internal {"), 2);
    for folder in super::LIBRARIES {
        for (path, text) in super::rust_files(folder) {
            assert_eq!(hidden(&text), 0, "{folder}/{path}");
        }
    }
}

pub(super) fn metadata(of: &str) -> Value {
    let metadata = cargo(&format!("metadata --format-version 1 --locked {of}"));
    serde_json::from_str(&metadata).unwrap()
}

/// The features of this package, from the metadata.
struct Features(Value);

impl Features {
    fn read() -> Self {
        let metadata = metadata("--no-deps");
        let mut packages = metadata["packages"].as_array().unwrap().iter();
        let own = packages.find(|package| package["name"] == "envd-sdk");
        Self(own.unwrap().clone())
    }

    /// These features, the default features, and all features that they enable.
    fn with_implied<'a>(&'a self, names: impl IntoIterator<Item = &'a str>) -> BTreeSet<&'a str> {
        let mut open: Vec<_> = names.into_iter().chain(["default"]).collect();
        let mut all = BTreeSet::new();
        while let Some(feature) = open.pop() {
            let brought = self.0["features"][feature].as_array();
            let brought = brought.unwrap_or_else(|| panic!("no feature {feature}"));
            let brought = brought.iter().filter_map(Value::as_str);
            all.insert(feature);
            open.extend(brought.filter(|name| !name.contains([':', '/'])));
        }
        all
    }
}

fn cargo(arguments: &str) -> String {
    // Cargo sets the variable at run time for tests; the fallback is the cargo of the build.
    let cargo = env::var_os("CARGO").unwrap_or_else(|| env!("CARGO").into());
    let mut command = Command::new(cargo);
    command.current_dir(env!("CARGO_MANIFEST_DIR"));
    let output = command.args(arguments.split_whitespace()).output().unwrap();
    let problems = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "cargo {arguments}: {problems}");
    String::from_utf8(output.stdout).unwrap()
}
