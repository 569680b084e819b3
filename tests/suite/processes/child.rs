//! A child process and the protocol between parent and child. The child runs this test binary, with commands on stdin.
//!
//! Two test binaries include this file; `super::open` opens the shared store of each.

use std::env;
use std::io::{BufRead, BufReader, Lines, Write};
use std::process::{self, ChildStdout, Command, Stdio};
use std::time::Duration;

use envd_sdk::Clock;
use envd_sdk::auth::TokenStore;

use super::open;
use super::sessions::{KEY, LIFETIME, fingerprint, manager, start};

const TASK: &str = "ENVD_SDK_TEST_TASK";
const STORE_PATH: &str = "ENVD_SDK_TEST_STORE";
const TOKEN_URL: &str = "ENVD_SDK_TEST_TOKEN_URL";
/// Distinguishes lines of the protocol from those of the test harness.
const PREFIX: &str = "@@";

/// Killed when it is dropped.
pub(super) struct Child {
    process: process::Child,
    lines: Lines<BufReader<ChildStdout>>,
}

impl Child {
    /// Starts a child that replies to each "expire" with a token, after it has advanced its clock by the lifetime of a token,
    /// to each "save" when its tokens are stored, and to each "logout" when the user is logged out.
    pub(super) fn take_tokens(token_url: &str, path: &str) -> Self {
        Self::spawn("tokens", path, token_url)
    }

    /// Starts a child that holds the lock of the account until it ends.
    pub(super) fn hold_lock(path: &str) -> Self {
        let mut child = Self::spawn("lock", path, "");
        assert_eq!(child.receive(), "locked");
        child
    }

    fn spawn(task: &str, path: &str, token_url: &str) -> Self {
        let (_binary, module) = module_path!().split_once("::").unwrap();
        let mut process = Command::new(env::current_exe().unwrap())
            .args(["--exact", &format!("{module}::child_process")])
            .args(["--nocapture", "--test-threads=1"])
            .env(TASK, task)
            .env(STORE_PATH, path)
            .env(TOKEN_URL, token_url)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let lines = BufReader::new(process.stdout.take().unwrap()).lines();
        Self { process, lines }
    }

    pub(super) fn send(&mut self, line: &str) {
        writeln!(self.process.stdin.as_mut().unwrap(), "{line}").unwrap();
    }

    pub(super) fn receive(&mut self) -> String {
        loop {
            let line = self.lines.next().expect("the child has ended").unwrap();
            if let Some((_, reply)) = line.split_once(PREFIX) {
                return reply.to_owned();
            }
        }
    }

    /// The process id, for signals; only one of the two test binaries uses it.
    #[allow(dead_code)]
    pub(super) fn id(&self) -> u32 {
        self.process.id()
    }

    /// Kills the process (with SIGKILL on Unix) and waits for its end.
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
        task => panic!("unknown task {task}"),
    }
}

async fn take_tokens() {
    let clock = Clock::manual(start());
    let token_url = env::var(TOKEN_URL).unwrap();
    let store = open(&env::var(STORE_PATH).unwrap());
    let manager = manager(&token_url, store, clock.clone()).build().unwrap();
    for line in std::io::stdin().lines() {
        match line.unwrap().as_str() {
            "save" => {
                // In steps: the task that stores may not wait on the clock yet.
                while !manager.flush(Duration::ZERO).await {
                    clock.advance(Duration::from_millis(100));
                    tokio::task::yield_now().await;
                }
                reply("saved");
            }
            "logout" => {
                manager.logout(None).await;
                reply("logged out");
            }
            _ => {
                clock.advance(LIFETIME);
                match manager.access_token().await {
                    Ok(token) => reply(&fingerprint(&token)),
                    Err(error) => reply(&format!("error {error:?}")),
                }
            }
        }
    }
}

async fn hold_lock() {
    let store = open(&env::var(STORE_PATH).unwrap());
    let _guard = store.lock(KEY, Duration::from_secs(10)).await.unwrap();
    reply("locked");
    // Runs until the parent kills this process or exits.
    for _ in std::io::stdin().lines() {}
}

fn reply(text: &str) {
    println!("\n{PREFIX}{text}");
}
