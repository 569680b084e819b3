//! Processes that run alongside a test. Every wait has a time limit; a wait that exceeds it fails with its name.

use std::env;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;

#[cfg(unix)]
use rustix::process::{Pid, Signal, kill_process};
use test_support::script::LIMIT;
pub use test_support::script::within;

const TASK: &str = "ENVD_SDK_TEST_TASK";
/// Distinguishes protocol lines from the output of the test harness.
const PREFIX: &str = "@@";

/// Starts a test of this module as a [`Process`] with a [`task`], and with commands on stdin.
#[macro_export]
macro_rules! child {
    ($test:ident, $($text:expr),*) => {
        $crate::Process::start($crate::again!($test, $($text),*))
    };
}

/// Like [`child!`], but returns the command without starting it.
#[macro_export]
macro_rules! again {
    ($test:ident, $($text:expr),*) => {
        $crate::again(concat!(module_path!(), "::", stringify!($test)), &[$($text.as_ref()),*])
    };
}

/// A command that runs a test of this binary with this [`task`].
pub fn again(test: &str, task: &[&str]) -> Command {
    let (_binary, test) = test.split_once("::").unwrap();
    let mut command = Command::new(env::current_exe().unwrap());
    command.args(["--exact", test, "--nocapture", "--test-threads=1"]);
    command.env(TASK, task.join("\n")).stdin(Stdio::piped());
    command
}

/// The task that the parent has set for a child. Without a task, a test that serves as a child program passes immediately.
pub fn task() -> Option<Vec<String>> {
    let task = env::var(TASK).ok()?;
    Some(task.split('\n').map(str::to_owned).collect())
}

/// Writes a line that the parent [receives](Process::receive).
pub fn reply(text: &str) {
    println!("\n{PREFIX}{text}");
    io::stdout().flush().unwrap();
}

/// Waits for a process, and kills it at the time limit.
pub(crate) fn watched<T>(process: u32, what: &str, wait: impl FnOnce() -> T) -> T {
    let (waiting, ended) = channel::<()>();
    thread::scope(|scope| {
        let watch = scope.spawn(move || {
            let hangs = ended.recv_timeout(LIMIT) == Err(RecvTimeoutError::Timeout);
            if hangs {
                kill(process);
            }
            hangs
        });
        let waiting = waiting;
        let waited = wait();
        drop(waiting);
        let hangs = watch.join().unwrap();
        assert!(!hangs, "{what}: it has not ended after {LIMIT:?}");
        waited
    })
}

/// Waits for a condition.
pub async fn until(what: &str, is_so: impl AsyncFn() -> bool) {
    let polled = async {
        while !is_so().await {
            tokio::task::yield_now().await;
        }
    };
    within(what, polled).await;
}

#[cfg(unix)]
fn kill(process: u32) {
    signal(process, Signal::KILL);
}

#[cfg(not(unix))]
fn kill(process: u32) {
    let id = process.to_string();
    let _ = Command::new("taskkill").args(["/F", "/PID", &id]).status();
}

/// Starts a command. On a busy machine Wine sometimes fails to start a process, before any code of the program runs, with an error
/// that Windows does not return for a program that exists.
pub(crate) fn spawn(command: &mut Command) -> Child {
    const ERROR_INTERNAL_ERROR: i32 = 1359;
    let is_of_wine =
        |error: &io::Error| cfg!(windows) && error.raw_os_error() == Some(ERROR_INTERNAL_ERROR);
    match command.spawn() {
        Err(error) if is_of_wine(&error) => command.spawn().unwrap(),
        spawned => spawned.unwrap(),
    }
}

/// A child process; dropping it kills the process.
#[derive(Debug)]
pub struct Process {
    child: Child,
    stdout: BufReader<ChildStdout>,
}

impl Process {
    pub fn start(mut command: Command) -> Self {
        let mut child = spawn(command.stdout(Stdio::piped()));
        let stdout = BufReader::new(child.stdout.take().unwrap());
        Self { child, stdout }
    }

    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// The next line of stdout, including the line end; empty at the end of the output.
    pub fn line(&mut self) -> String {
        let mut line = String::new();
        let read = || self.stdout.read_line(&mut line).unwrap();
        watched(self.child.id(), "a line of a process", read);
        line
    }

    /// The rest of the output.
    pub fn rest(&mut self) -> String {
        let mut rest = String::new();
        let read = || self.stdout.read_to_string(&mut rest).unwrap();
        watched(self.child.id(), "the end of a process", read);
        rest
    }

    pub fn send(&mut self, line: &str) {
        writeln!(self.child.stdin.as_mut().unwrap(), "{line}").unwrap();
    }

    pub fn receive(&mut self) -> String {
        self.next().expect("the child has ended")
    }

    /// Sends a line, and returns the next line of stdout.
    pub fn ask(&mut self, line: &str) -> String {
        self.send(line);
        self.receive()
    }

    /// Kills the process (with SIGKILL on Unix) and waits for its end.
    pub fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Waits for the process to end, and returns its exit code.
    pub fn wait(&mut self) -> Option<i32> {
        let id = self.id();
        watched(id, "the end of a process", || self.child.wait().unwrap()).code()
    }

    pub fn has_ended(&mut self) -> bool {
        self.child.try_wait().unwrap().is_some()
    }

    /// Waits for a condition, or the end of the process.
    pub fn until(&mut self, what: &str, mut is_so: impl FnMut() -> bool) {
        watched(self.id(), what, || {
            while !is_so() && !self.has_ended() {
                thread::yield_now();
            }
        });
    }

    /// Suspends the process, and waits until all of its threads are stopped: the signal reaches them one by one.
    #[cfg(target_os = "linux")]
    pub fn freeze(&self) {
        signal(self.id(), Signal::STOP);
        let folder = format!("/proc/{}/task", self.id());
        let is_stopped = |task: std::fs::DirEntry| {
            let stat = std::fs::read_to_string(task.path().join("stat")).unwrap();
            stat.rsplit_once(") ").unwrap().1.starts_with('T')
        };
        let all_stopped = || {
            let mut tasks = std::fs::read_dir(&folder).unwrap();
            tasks.all(|task| is_stopped(task.unwrap()))
        };
        watched(
            self.id(),
            "a stop of all threads",
            || while !all_stopped() {},
        );
    }

    #[cfg(unix)]
    pub fn go_on(&self) {
        signal(self.id(), Signal::CONT);
    }
}

/// Iterates over the [replies](reply) of the process, until it ends.
impl Iterator for Process {
    type Item = String;

    fn next(&mut self) -> Option<String> {
        loop {
            let line = self.line();
            let reply = line.split_once(PREFIX).map(|(_, reply)| reply);
            if reply.is_some() || line.is_empty() {
                return reply.map(|reply| reply.trim_end().to_owned());
            }
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Sends a signal to a process.
#[cfg(unix)]
pub fn signal(process: u32, signal: Signal) {
    let process = Pid::from_raw(process.try_into().unwrap());
    kill_process(process.unwrap(), signal).unwrap();
}
