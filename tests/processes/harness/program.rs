//! Runs an example.

use std::env::{self, consts::EXE_SUFFIX};
use std::ffi::OsStr;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

use envd_sdk::fake::Fake;
use serde_json::Value;
use url::Url;

use super::process::{Process, spawn, watched};

/// A call of an example. Initially it has no arguments, settings or stdin.
#[derive(Debug)]
pub struct Program(pub Command);

/// Exit code and output.
#[derive(Debug, Default)]
pub struct Ended {
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

impl Program {
    pub fn new(name: &str) -> Self {
        let mut command = Command::new(Self::path(name));
        let settings = env::vars_os().filter_map(|(variable, _)| variable.into_string().ok());
        for setting in settings.filter(|name| name.starts_with("ENVD_")) {
            command.env_remove(setting);
        }
        command.env_remove("DATABASE_URL").stdin(Stdio::null());
        Self(command)
    }

    /// The path of an example: cargo puts examples next to the folder of the tests.
    pub fn path(name: &str) -> PathBuf {
        let tests = env::current_exe().unwrap();
        let folder = tests.ancestors().nth(2).unwrap().join("examples");
        let program = folder.join(format!("{name}{EXE_SUFFIX}"));
        let sources = fs::read_to_string(folder.join(format!("{name}.d"))).unwrap_or_default();
        let changed = |file: &Path| fs::metadata(file).and_then(|data| data.modified()).ok();
        let built = changed(&program);
        // Cargo escapes a blank in a path with a backslash.
        let sources = sources.replace("\\ ", "\0");
        let mut sources = sources.split_whitespace().skip(1);
        let is_newer = |source: &str| changed(Path::new(&source.replace('\0', " "))) > built;
        assert!(
            built.is_some() && !sources.any(is_newer),
            "the example {name} is not built, or older than its sources: run `cargo build --examples` first"
        );
        program
    }

    pub fn arg(mut self, argument: impl AsRef<OsStr>) -> Self {
        self.0.arg(argument);
        self
    }

    pub fn args<A: AsRef<OsStr>>(mut self, arguments: impl IntoIterator<Item = A>) -> Self {
        self.0.args(arguments);
        self
    }

    pub fn env(mut self, name: &str, value: impl AsRef<OsStr>) -> Self {
        self.0.env(name, value);
        self
    }

    /// Runs within a folder.
    pub fn within(mut self, folder: &Path) -> Self {
        self.0.current_dir(folder);
        self
    }

    /// Sets a terminal with colours, unless `no_color`.
    pub fn on_xterm(mut self, no_color: bool) -> Self {
        self.0.env("TERM", "xterm").env_remove("CLICOLOR");
        self.0.env_remove("NO_COLOR");
        if no_color {
            self.0.env("NO_COLOR", "1");
        }
        self
    }

    /// Sets the addresses and an access token of the fake.
    pub fn at(self, fake: &Fake) -> Self {
        self.env("ENVD_GRAPHQL_URL", fake.graphql_url().as_str())
            .env("ENVD_REGISTER_URL", fake.register_url().as_str())
            .env("ENVD_ACCESS_TOKEN", fake.access_token().expose())
    }

    pub fn run(self) -> Ended {
        Ended::of(self.piped())
    }

    /// Runs with this text on stdin.
    pub fn run_with_input(mut self, text: &str) -> Ended {
        self.0.stdin(Stdio::piped());
        let mut child = self.piped();
        let mut stdin = child.stdin.take().unwrap();
        stdin.write_all(text.as_bytes()).unwrap();
        drop(stdin);
        Ended::of(child)
    }

    /// Starts it with pipes for the output.
    pub fn piped(mut self) -> Child {
        spawn(self.0.stdout(Stdio::piped()).stderr(Stdio::piped()))
    }

    /// Starts it, to read its output line by line.
    pub fn start(mut self) -> Process {
        self.0.stderr(Stdio::null());
        Process::start(self.0)
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

impl Ended {
    /// Waits for a program that a test has started.
    pub fn of(child: Child) -> Self {
        let what = "the end of a program";
        watched(child.id(), what, || child.wait_with_output().unwrap()).into()
    }

    /// Asserts exit code 0 and an empty stderr.
    #[track_caller]
    pub fn well(self) -> Self {
        assert_eq!(self.stderr, "", "{self:?}");
        self.with(0)
    }

    /// Asserts this exit code.
    #[track_caller]
    pub fn with(self, code: i32) -> Self {
        assert_eq!(self.code, Some(code), "{self:?}");
        self
    }

    /// Asserts this exit code and an empty stdout.
    #[track_caller]
    pub fn mute(self, code: i32) -> Self {
        assert_eq!(self.stdout, "", "{self:?}");
        self.with(code)
    }

    /// Asserts that stdout contains this text.
    #[track_caller]
    pub fn shows(self, text: &str) -> Self {
        assert!(self.stdout.contains(text), "{text}: {self:?}");
        self
    }

    /// Asserts that stderr contains this text.
    #[track_caller]
    pub fn says(self, text: &str) -> Self {
        assert!(self.stderr.contains(text), "{text}: {self:?}");
        self
    }

    /// Asserts that the first line of stderr is an error.
    #[track_caller]
    pub fn fails(self) -> Self {
        assert!(self.stderr.starts_with("error: "), "{self:?}");
        self
    }

    /// The lines of stdout, parsed as JSON.
    pub fn lines(&self) -> Vec<Value> {
        json_lines(&self.stdout)
    }
}

/// Parses lines of JSON.
pub fn json_lines(text: &str) -> Vec<Value> {
    let parse = |line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"));
    text.lines().map(parse).collect()
}

/// An example that serves, and the first line of its output.
#[derive(Debug)]
pub struct Running {
    pub process: Process,
    pub line: Value,
}

impl Running {
    pub fn start(program: Program) -> Self {
        let mut process = program.start();
        let line = serde_json::from_str(&process.line()).unwrap();
        Self { process, line }
    }

    pub fn text(&self, name: &str) -> &str {
        self.line[name].as_str().unwrap()
    }

    pub fn url(&self, name: &str) -> Url {
        Url::parse(self.text(name)).unwrap()
    }

    /// The exit code, and the output after the first line.
    pub fn wait(&mut self) -> (Option<i32>, String) {
        let rest = self.process.rest();
        (self.process.wait(), rest)
    }
}
