//! Cargo, as a stranger runs it in a package of their own.

use std::path::Path;
use std::process::Command;
use std::{env, fs};

/// The repository.
pub const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

/// Makes a package with the versions of the repository, so that a release of another crate changes nothing.
pub fn new_package(folder: &Path, name: &str, dependencies: &str) {
    // OK to ignore: the first run has none.
    let _ = fs::remove_dir_all(folder);
    fs::create_dir_all(folder.join("src")).unwrap();
    fs::copy(
        Path::new(ROOT).join("Cargo.lock"),
        folder.join("Cargo.lock"),
    )
    .unwrap();
    let manifest = format!(
        "[package]\nname = \"{name}\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n{dependencies}\n\
         [lints.rust]\nwarnings = \"deny\"\n\n[workspace]\n"
    );
    fs::write(folder.join("Cargo.toml"), manifest).unwrap();
}

/// What cargo says, and whether the package builds.
pub fn check(folder: &Path, targets: &[&str]) -> (bool, String) {
    let cargo = env::var_os("CARGO").unwrap_or_else(|| env!("CARGO").into());
    let mut command = Command::new(cargo);
    // Some build scripts run again when what cargo sets for a test differs.
    for (name, _) in env::vars_os() {
        let text = name.to_string_lossy();
        if text.starts_with("CARGO_PKG_") || text.starts_with("CARGO_MANIFEST_") {
            command.env_remove(&name);
        }
    }
    command.args(["check", "--quiet"]).args(targets);
    // One folder for all packages and for this test.
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().unwrap();
    command.env("CARGO_TARGET_DIR", target).current_dir(folder);
    let built = command.output().unwrap();
    let said = String::from_utf8_lossy(&built.stderr).into_owned();
    (built.status.success(), said)
}
