//! The promise of `rust-version`, as far as one compiler can hold it: no dependency asks for a newer one. Clippy's
//! `incompatible_msrv` holds the same of the crate's own code.

use std::process::Command;

use serde_json::Value;

#[test]
fn no_dependency_asks_for_a_newer_compiler_than_the_crate_does() {
    let packages = packages();
    let ours = packages
        .iter()
        .find(|package| package["name"] == "envd-sdk");
    let ours = version(ours.unwrap()).unwrap();
    let newer = too_new(&packages, ours);
    assert!(newer.is_empty(), "newer than {ours:?}: {newer:?}");
    // The question can be answered with yes.
    assert!(!too_new(&packages, (1, 60)).is_empty());
}

fn too_new(packages: &[Value], oldest: (u32, u32)) -> Vec<&str> {
    let newer = packages
        .iter()
        .filter(|package| version(package).is_some_and(|version| version > oldest));
    newer
        .filter_map(|package| package["name"].as_str())
        .collect()
}

/// `1.89` or `1.89.0`; none where a package names none.
fn version(package: &Value) -> Option<(u32, u32)> {
    let mut numbers = package["rust_version"].as_str()?.split('.');
    let mut next = || numbers.next().unwrap_or("0").parse().ok();
    Some((next()?, next()?))
}

/// With all features, on the platform that most servers run.
fn packages() -> Vec<Value> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| env!("CARGO").into());
    let output = Command::new(cargo)
        .args(["metadata", "--format-version", "1", "--locked"])
        .args(["--all-features", "--filter-platform"])
        .arg("x86_64-unknown-linux-gnu")
        .args([
            "--manifest-path",
            concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml"),
        ])
        .output()
        .unwrap();
    let problems = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "cargo metadata: {problems}");
    let mut metadata: Value = serde_json::from_slice(&output.stdout).unwrap();
    serde_json::from_value(metadata["packages"].take()).unwrap()
}
