//! The packages that a set of features links, read from `cargo tree`.
//!
//! Only normal dependencies count: the crate is its own dev-dependency, with more features. The first run downloads packages
//! that no build has needed so far; later runs use no network.

use std::collections::BTreeSet;
use std::env;
use std::process::Command;

/// Packages that only network code needs.
const ONLINE: [&str; 6] = [
    "reqwest",
    "tokio",
    "hyper",
    "oauth2",
    "graphql_client",
    "wiremock",
];

#[test]
fn the_validator_alone_links_no_network_package() {
    let tree = Tree::of(&["--no-default-features"]);
    for package in ONLINE {
        assert_eq!(tree.versions(package), [""; 0], "{package}");
    }
    // The check can fail.
    assert_eq!(tree.versions("serde").len(), 1);
    let fake = Tree::of(&["--features", "fake"]);
    for package in ONLINE {
        assert_ne!(fake.versions(package), [""; 0], "{package}");
    }
}

#[test]
fn the_default_build_does_not_link_the_fake() {
    let tree = Tree::of(&[]);
    let fake = Tree::of(&["--features", "fake"]);
    for package in ["wiremock", "apollo-compiler"] {
        assert_eq!(tree.versions(package), [""; 0], "{package}");
        assert_ne!(fake.versions(package), [""; 0], "{package}");
    }
}

#[test]
fn date_crates_are_linked_by_their_features_only() {
    let fake = Tree::of(&["--features", "fake"]);
    for package in ["jiff", "time"] {
        assert_eq!(fake.versions(package), [""; 0], "{package}");
        let tree = Tree::of(&["--no-default-features", "--features", package]);
        assert_eq!(tree.versions(package).len(), 1, "{package}");
    }
}

#[test]
fn database_and_encryption_packages_are_linked_by_their_features_only() {
    let tree = Tree::of(&["--features", "fake"]);
    let sealed = Tree::of(&["--features", "sealed"]);
    let postgres = Tree::of(&["--features", "postgres"]);
    for package in ["tokio-postgres", "deadpool-postgres"] {
        assert_eq!(tree.versions(package), [""; 0], "{package}");
        assert_eq!(sealed.versions(package), [""; 0], "{package}");
        assert_eq!(postgres.versions(package).len(), 1, "{package}");
    }
    assert_eq!(tree.versions("chacha20poly1305"), [""; 0]);
    assert_eq!(sealed.versions("chacha20poly1305").len(), 1);
}

#[test]
fn sqlite_is_linked_by_its_feature_only() {
    for (features, versions) in [("fake", 0), ("sync", 0), ("sqlite", 1)] {
        let tree = Tree::of(&["--features", features]);
        assert_eq!(tree.versions("rusqlite").len(), versions, "{features}");
    }
}

#[test]
fn every_set_of_features_links_one_version_of_reqwest() {
    for features in ["rustls", "rustls-aws-lc", "native-tls", "fake"] {
        let tree = Tree::of(&["--no-default-features", "--features", features]);
        let versions = tree.versions("reqwest");
        assert_eq!(versions.len(), 1, "{features}: {versions:?}");
        assert!(versions[0].starts_with("0.13."), "{versions:?}");
    }
}

#[test]
fn without_a_tls_feature_no_tls_package_is_linked() {
    let stacks = ["rustls", "native-tls", "openssl"];
    let none = Tree::of(&["--no-default-features", "--features", "client"]);
    for package in stacks {
        assert_eq!(none.versions(package), [""; 0], "{package}");
    }
    assert_ne!(Tree::of(&[]).versions("rustls"), [""; 0]);
}

#[test]
fn two_versions_of_a_package_are_detected() {
    let tree = Tree::from(
        "a v0.1.0\nreqwest v0.13.4\nb v1.0.0\nreqwest v0.12.9 (*)\nreqwest v0.13.4 (*)\n",
    );
    assert_eq!(tree.versions("reqwest"), ["0.12.9", "0.13.4"]);
}

/// The packages that one choice of features links: name and version.
struct Tree(BTreeSet<(String, String)>);

impl Tree {
    fn of(features: &[&str]) -> Self {
        // Cargo sets the variable at run time for tests; the fallback is the cargo of the build.
        let cargo = env::var_os("CARGO").unwrap_or_else(|| env!("CARGO").into());
        let output = Command::new(cargo)
            .args(["tree", "--locked", "-e", "normal", "--prefix", "none"])
            .args([
                "--manifest-path",
                concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml"),
            ])
            .args(features)
            .output()
            .unwrap();
        let problems = String::from_utf8_lossy(&output.stderr);
        assert!(
            output.status.success(),
            "cargo tree {features:?}: {problems}"
        );
        let tree = Self::from(&String::from_utf8(output.stdout).unwrap());
        // Empty output would satisfy every check.
        assert_eq!(tree.versions("envd-sdk").len(), 1, "{features:?}");
        tree
    }

    fn from(lines: &str) -> Self {
        let packages = lines.lines().filter_map(|line| {
            let mut words = line.split_whitespace();
            let name = words.next()?;
            let version = words.next()?.strip_prefix('v')?;
            Some((name.to_owned(), version.to_owned()))
        });
        Self(packages.collect())
    }

    fn versions(&self, package: &str) -> Vec<&str> {
        let same = self.0.iter().filter(|(name, _)| name == package);
        same.map(|(_, version)| version.as_str()).collect()
    }
}
