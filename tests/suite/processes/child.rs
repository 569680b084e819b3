//! A child process and the protocol between parent and child. It is this test binary again, with its tasks on stdin.
//!
//! Two test binaries have this file: `super` has the store that is shared, and opens it at a path.

use std::env;
use std::io::{BufRead, BufReader, Lines, Write};
use std::process::{self, ChildStdout, Command, Stdio};
use std::time::Duration;

use envd_sdk::Clock;
use envd_sdk::auth::TokenStore;

use super::open;
use super::sessions::{KEY, LIFETIME, manager, mark, start};

const TASK: &str = "ENVD_SDK_TEST_TASK";
const PLACE: &str = "ENVD_SDK_TEST_PLACE";
const TOKEN_URL: &str = "ENVD_SDK_TEST_TOKEN_URL";
/// Distinguishes lines of the protocol from those of the test harness.
const MARK: &str = "@@";

/// Killed when it is dropped.
pub(super) struct Child {
    process: process::Child,
    lines: Lines<BufReader<ChildStdout>>,
}

impl Child {
    /// Responds to each "expire" with a token, after advancing its clock by the lifetime of a token, and to each "save" when
    /// its tokens are stored.
    pub(super) fn take_tokens(token_url: &str, place: &str) -> Self {
        Self::spawn("tokens", place, token_url)
    }

    /// Holds the account's lock forever.
    pub(super) fn hold_lock(place: &str) -> Self {
        let mut child = Self::spawn("lock", place, "");
        assert_eq!(child.answer(), "locked");
        child
    }

    fn spawn(task: &str, place: &str, token_url: &str) -> Self {
        let (_binary, module) = module_path!().split_once("::").unwrap();
        let mut process = Command::new(env::current_exe().unwrap())
            .args(["--exact", &format!("{module}::child_process")])
            .args(["--nocapture", "--test-threads=1"])
            .env(TASK, task)
            .env(PLACE, place)
            .env(TOKEN_URL, token_url)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let lines = BufReader::new(process.stdout.take().unwrap()).lines();
        Self { process, lines }
    }

    pub(super) fn tell(&mut self, line: &str) {
        writeln!(self.process.stdin.as_mut().unwrap(), "{line}").unwrap();
    }

    pub(super) fn answer(&mut self) -> String {
        loop {
            let line = self.lines.next().expect("the child has ended").unwrap();
            if let Some((_, answer)) = line.split_once(MARK) {
                return answer.to_owned();
            }
        }
    }

    /// Of the process, for signals; one of the two test binaries sends some.
    #[allow(dead_code)]
    pub(super) fn id(&self) -> u32 {
        self.process.id()
    }

    /// SIGKILL, where there are signals; the process is gone when this returns.
    pub(super) fn kill(&mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Passes at once unless a parent has set a task.
#[test]
fn child_process() {
    let Ok(task) = env::var(TASK) else { return };
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .unwrap();
    match task.as_str() {
        "tokens" => runtime.block_on(take_tokens()),
        "lock" => runtime.block_on(hold_lock()),
        _ => panic!("no task of ours"),
    }
}

async fn take_tokens() {
    let clock = Clock::manual(start());
    let token_url = env::var(TOKEN_URL).unwrap();
    let store = open(&env::var(PLACE).unwrap());
    let manager = manager(&token_url, store, clock.clone()).build().unwrap();
    for line in std::io::stdin().lines() {
        if line.unwrap() == "save" {
            // In steps: the saver may not have begun its pause yet.
            while !manager.flush(Duration::ZERO).await {
                clock.advance(Duration::from_millis(100));
                tokio::task::yield_now().await;
            }
            say("saved");
            continue;
        }
        clock.advance(LIFETIME);
        match manager.access_token().await {
            Ok(token) => say(&mark(&token)),
            Err(error) => say(&format!("error {error:?}")),
        }
    }
}

async fn hold_lock() {
    let store = open(&env::var(PLACE).unwrap());
    let _held = store.lock(KEY, Duration::from_secs(10)).await.unwrap();
    say("locked");
    // Until the parent kills this process, or exits.
    for _ in std::io::stdin().lines() {}
}

fn say(answer: &str) {
    println!("\n{MARK}{answer}");
}
