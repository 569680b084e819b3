//! Runs cargo in a new package, like a user of the crates.

use std::path::Path;
use std::process::Command;
use std::{env, fs};

/// The repository.
pub const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

/// Creates a package with the dependency versions of the repository, so that new releases of other crates have no effect.
pub fn new_package(folder: &Path, name: &str, dependencies: &str) {
    // OK to ignore: on the first run the folder does not exist.
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

/// Returns whether the package builds, and the output of cargo.
pub fn check(folder: &Path, targets: &[&str]) -> (bool, String) {
    let cargo = env::var_os("CARGO").unwrap_or_else(|| env!("CARGO").into());
    let mut command = Command::new(cargo);
    // Remove the variables that cargo sets for a test: some build scripts would run again.
    for (name, _) in env::vars_os() {
        let text = name.to_string_lossy();
        if text.starts_with("CARGO_PKG_") || text.starts_with("CARGO_MANIFEST_") {
            command.env_remove(&name);
        }
    }
    command.args(["check", "--quiet"]).args(targets);
    // Share one target folder among all packages and this test.
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().unwrap();
    command.env("CARGO_TARGET_DIR", target).current_dir(folder);
    let built = command.output().unwrap();
    let said = String::from_utf8_lossy(&built.stderr).into_owned();
    (built.status.success(), said)
}
