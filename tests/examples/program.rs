//! Runs an example.

use std::env::{self, consts::EXE_SUFFIX};
use std::ffi::OsStr;
use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

use envd_sdk::fake::Fake;

/// An example without arguments, environment settings and stdin.
pub(crate) struct Program(pub(crate) Command);

/// Exit code and output.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Program {
    pub(crate) fn new(name: &str) -> Self {
        let mut command = Command::new(path(name));
        for (variable, _) in env::vars_os() {
            if variable
                .to_str()
                .is_some_and(|name| name.starts_with("ENVD_"))
            {
                command.env_remove(variable);
            }
        }
        command.env_remove("DATABASE_URL").stdin(Stdio::null());
        Self(command)
    }

    pub(crate) fn arg(mut self, argument: impl AsRef<OsStr>) -> Self {
        self.0.arg(argument);
        self
    }

    pub(crate) fn args<const N: usize>(mut self, arguments: [&str; N]) -> Self {
        self.0.args(arguments);
        self
    }

    /// Sets the addresses and an access token of the fake.
    pub(crate) fn at(mut self, fake: &Fake) -> Self {
        self.0
            .env("ENVD_GRAPHQL_URL", fake.graphql_url().as_str())
            .env("ENVD_REGISTER_URL", fake.register_url().as_str())
            .env("ENVD_ACCESS_TOKEN", fake.access_token().expose());
        self
    }

    pub(crate) fn run(mut self) -> Ended {
        self.0.output().unwrap().into()
    }
}

impl From<Output> for Ended {
    fn from(output: Output) -> Self {
        Self {
            code: output.status.code(),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }
}

/// The path of an example: cargo puts examples beside the folder of the tests.
pub(crate) fn path(name: &str) -> PathBuf {
    let tests = env::current_exe().unwrap();
    let folder = tests.ancestors().nth(2).unwrap().join("examples");
    let program = folder.join(format!("{name}{EXE_SUFFIX}"));
    let sources = fs::read_to_string(folder.join(format!("{name}.d"))).unwrap_or_default();
    let changed = |file: &str| fs::metadata(file).and_then(|data| data.modified()).ok();
    let built = changed(&program.to_string_lossy());
    let stale = sources
        .split_whitespace()
        .skip(1)
        .any(|source| changed(source) > built);
    assert!(
        built.is_some() && !stale,
        "the example {name} is not built from these sources: cargo build --examples"
    );
    program
}
