//! A child process that runs one test of the same binary again, with commands on stdin.

use std::env;
use std::io::{self, BufRead, BufReader, Lines, Write};
use std::process::{self, ChildStdout, Command, Stdio};

#[cfg(unix)]
use rustix::process::{Pid, Signal, kill_process};

const TASK: &str = "ENVD_SDK_TEST_TASK";
/// Distinguishes lines of the protocol from those of the test harness.
const PREFIX: &str = "@@";

/// Starts a test of this module as a [`Child`], with the texts of its task.
#[macro_export]
macro_rules! child {
    ($test:ident, $($text:expr),*) => {
        $crate::Child::start($crate::again!($test, $($text),*))
    };
}

/// As [`child!`], a command that is not started yet.
#[macro_export]
macro_rules! again {
    ($test:ident, $($text:expr),*) => {
        $crate::again(concat!(module_path!(), "::", stringify!($test)), &[$($text.as_ref()),*])
    };
}

/// A command that runs a test of this binary, with these texts as its [`task`].
pub fn again(test: &str, task: &[&str]) -> Command {
    let (_binary, test) = test.split_once("::").unwrap();
    let mut command = Command::new(env::current_exe().unwrap());
    command.args(["--exact", test, "--nocapture", "--test-threads=1"]);
    command.env(TASK, task.join("\n"));
    command
}

/// The texts that the parent has set, in a child. A test that is a program for children passes at once without them.
pub fn task() -> Option<Vec<String>> {
    let task = env::var(TASK).ok()?;
    Some(task.split('\n').map(str::to_owned).collect())
}

/// Writes a line that the parent [receives](Child::receive).
pub fn reply(text: &str) {
    println!("\n{PREFIX}{text}");
    io::stdout().flush().unwrap();
}

/// Killed when it is dropped.
#[derive(Debug)]
pub struct Child {
    process: process::Child,
    lines: Lines<BufReader<ChildStdout>>,
}

impl Child {
    pub fn start(mut command: Command) -> Self {
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut process = command.spawn().unwrap();
        let lines = BufReader::new(process.stdout.take().unwrap()).lines();
        Self { process, lines }
    }

    pub fn send(&mut self, line: &str) {
        writeln!(self.process.stdin.as_mut().unwrap(), "{line}").unwrap();
    }

    pub fn receive(&mut self) -> String {
        self.next().expect("the child has ended")
    }

    /// Kills the process (with SIGKILL on Unix) and waits for its end.
    pub fn kill(&mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
    }

    /// Waits for the end of a process that ends by itself.
    pub fn wait(&mut self) {
        assert!(self.process.wait().unwrap().success());
    }

    /// Stops the process, and waits until all of its threads are: a signal reaches them one after the other.
    #[cfg(target_os = "linux")]
    pub fn freeze(&self) {
        signal(self.process.id(), Signal::STOP);
        let folder = format!("/proc/{}/task", self.process.id());
        let is_stopped = |task: std::fs::DirEntry| {
            let stat = std::fs::read_to_string(task.path().join("stat")).unwrap();
            stat.rsplit_once(") ").unwrap().1.starts_with('T')
        };
        while !std::fs::read_dir(&folder)
            .unwrap()
            .all(|task| is_stopped(task.unwrap()))
        {}
    }

    #[cfg(unix)]
    pub fn go_on(&self) {
        signal(self.process.id(), Signal::CONT);
    }
}

/// What the process replies, until it ends.
impl Iterator for Child {
    type Item = String;

    fn next(&mut self) -> Option<String> {
        let lines = self.lines.by_ref().map_while(Result::ok);
        let mut replies = lines.filter_map(|line| Some(line.split_once(PREFIX)?.1.to_owned()));
        replies.next()
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Sends a signal to a process.
#[cfg(unix)]
pub fn signal(process: u32, signal: Signal) {
    let process = Pid::from_raw(process.try_into().unwrap());
    kill_process(process.unwrap(), signal).unwrap();
}
