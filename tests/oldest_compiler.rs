//! The minimum supported Rust version (`rust-version`): no dependency requires a newer compiler. The lint
//! `incompatible_msrv` checks the crate's own code.

use std::process::Command;

use serde_json::Value;

#[test]
fn no_dependency_requires_a_newer_compiler_than_the_crate() {
    let packages = packages();
    let ours = packages
        .iter()
        .find(|package| package["name"] == "envd-sdk");
    let ours = version(ours.unwrap()).unwrap();
    let newer = too_new(&packages, ours);
    assert!(newer.is_empty(), "newer than {ours:?}: {newer:?}");
    // The check can fail.
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

/// Parses `1.89` or `1.89.0`; `None` if the package has no `rust-version`.
fn version(package: &Value) -> Option<(u32, u32)> {
    let mut numbers = package["rust_version"].as_str()?.split('.');
    let mut next = || numbers.next().unwrap_or("0").parse().ok();
    Some((next()?, next()?))
}

/// The dependencies with all features, for x86-64 Linux.
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
