//! A child process: both ends of the conversation.

use std::env;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{BufRead, BufReader, Lines, Write};
use std::path::{Path, PathBuf};
use std::process::{self, ChildStdout, Command, Stdio};
use std::time::Duration;

use envd_sdk::Clock;
use envd_sdk::auth::{FileStore, TokenStore};

use super::{KEY, LIFETIME, builder, start};

const TASK: &str = "ENVD_SDK_TEST_TASK";
const FILE: &str = "ENVD_SDK_TEST_FILE";
const TOKEN_URL: &str = "ENVD_SDK_TEST_TOKEN_URL";
/// Tells our lines from those of the test harness.
const MARK: &str = "@@";

/// Is killed when it is dropped.
pub(super) struct Child {
    process: process::Child,
    lines: Lines<BufReader<ChildStdout>>,
}

impl Child {
    /// Answers each "expire" with a token, after its own clock has moved by a token's life.
    pub(super) fn take_tokens(token_url: &str, file: &Path) -> Self {
        Self::spawn("tokens", file, token_url)
    }

    /// Holds the account's lock for ever.
    pub(super) fn hold_lock(file: &Path) -> Self {
        let mut child = Self::spawn("lock", file, "");
        assert_eq!(child.answer(), "locked");
        child
    }

    fn spawn(task: &str, file: &Path, token_url: &str) -> Self {
        let mut process = Command::new(env::current_exe().unwrap())
            .args(["--exact", "processes::child::what_a_child_does"])
            .args(["--nocapture", "--test-threads=1"])
            .env(TASK, task)
            .env(FILE, file)
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

/// Passes at once unless a parent has set it a task.
#[test]
fn what_a_child_does() {
    let Ok(task) = env::var(TASK) else { return };
    let file = FileStore::new(PathBuf::from(env::var_os(FILE).unwrap()));
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .unwrap();
    match task.as_str() {
        "tokens" => runtime.block_on(take_tokens(&file)),
        "lock" => runtime.block_on(hold_lock(&file)),
        _ => panic!("no task of ours"),
    }
}

async fn take_tokens(file: &FileStore) {
    let clock = Clock::manual(start());
    let token_url = env::var(TOKEN_URL).unwrap();
    let manager = builder(&token_url, file, clock.clone()).build().unwrap();
    for line in std::io::stdin().lines() {
        assert_eq!(line.unwrap(), "expire");
        clock.advance(LIFETIME);
        match manager.access_token().await {
            Ok(token) => {
                let mut hash = DefaultHasher::new();
                token.expose().hash(&mut hash);
                say(&format!("token {} {:x}", token.generation(), hash.finish()));
            }
            Err(error) => say(&format!("error {error:?}")),
        }
    }
}

async fn hold_lock(file: &FileStore) {
    let _held = file.lock(KEY, Duration::from_secs(10)).await.unwrap();
    say("locked");
    // Until the parent kills us, or is gone itself.
    for _ in std::io::stdin().lines() {}
}

fn say(answer: &str) {
    println!("\n{MARK}{answer}");
}
