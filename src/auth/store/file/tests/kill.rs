//! A process is killed in the middle of a refresh, at each of its steps, and the next one goes on from what it finds.
//!
//! The children are this test binary again: the steps are inside of the crate. The identity provider rotates, and lives in the parent.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use std::{env, thread};

use equipment::{Reply, Request, Server};
use serde_json::json;

use super::super::token_file::{Faults, Step};
use super::folder::{Folder, put};
use crate::auth::store::Gate;
use crate::auth::{FileStore, Provider, TokenManager, TokenStore};

const KEY: &str = "sam";
const FOLDER: &str = "ENVD_SDK_TEST_KILL_FILE";
const SERVER: &str = "ENVD_SDK_TEST_KILL_SERVER";
const MOMENT: &str = "ENVD_SDK_TEST_KILL_MOMENT";

/// When the child dies, and whether the server has taken its refresh token by then.
const MOMENTS: [(&str, bool); 6] = [
    ("before send", false),
    ("after send", true),
    ("after response", true),
    ("in the new file", true),
    ("after the new file", true),
    ("after rename", true),
];

/// Rotates at once, and holds its first reply if the gate is closed.
fn start_idp(gate: &Gate) -> Server {
    let (gate, current) = (gate.clone(), Arc::new(AtomicUsize::new(1)));
    Server::start(move |request: Request| {
        let n = current.load(Ordering::SeqCst);
        let reply = if request.body.contains(&format!("refresh_token=rt-{n}")) {
            let n = current.fetch_add(1, Ordering::SeqCst) + 1;
            let (access, refresh) = (format!("at-{n}"), format!("rt-{n}"));
            Reply::json(
                200,
                json!({"access_token": access, "refresh_token": refresh}),
            )
        } else {
            Reply::json(403, json!({"error": "invalid_grant"}))
        };
        let gate = gate.clone();
        async move {
            gate.pass().await;
            reply
        }
    })
}

fn manager(server: &str, store: FileStore) -> TokenManager {
    let provider = Provider::builder("app").token_url(format!("{server}/oauth/token"));
    let builder = TokenManager::builder(provider.build().unwrap());
    let builder = builder.store(store).account(KEY).background(false);
    builder.build().unwrap()
}

fn spawn(folder: &Folder, server: &str, moment: usize) -> Child {
    Command::new(env::current_exe().unwrap())
        .args([
            "--exact",
            "auth::store::file::tests::kill::what_a_child_does",
        ])
        .args(["--nocapture", "--test-threads=1"])
        .env(FOLDER, folder.file())
        .env(SERVER, server)
        .env(MOMENT, moment.to_string())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap()
}

/// Passes at once unless a parent has set it a task.
#[test]
fn what_a_child_does() {
    let Some(file) = env::var_os(FOLDER) else {
        return;
    };
    let moment: usize = env::var(MOMENT).unwrap().parse().unwrap();
    // The first write is that of the intent, the second that of the new tokens.
    let stop = match MOMENTS[moment].0 {
        "before send" => Some((1, Step::Renamed)),
        "after response" => Some((2, Step::Begin)),
        "in the new file" => Some((2, Step::Made)),
        "after the new file" => Some((2, Step::Written)),
        "after rename" => Some((2, Step::Renamed)),
        _ => None,
    };
    let writes = AtomicUsize::new(0);
    let mut store = FileStore::new(file);
    store.faults = Faults::new(move |point| {
        if point == Step::Begin {
            writes.fetch_add(1, Ordering::SeqCst);
        }
        if stop == Some((writes.load(Ordering::SeqCst), point)) {
            println!("\n@@here");
            loop {
                thread::park();
            }
        }
        Ok(())
    });
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let server = env::var(SERVER).unwrap();
    let _ = runtime.block_on(manager(&server, store).access_token());
    panic!("the child should not live as long");
}

/// Kills a child at one of its moments, and tells what its successor finds.
async fn round(moment: usize) {
    let (name, rotated) = MOMENTS[moment];
    let folder = Folder::new();
    let gate = Gate::new(name == "after send");
    let server = start_idp(&gate);
    // Tokens that have expired long ago.
    put(&folder.store(), KEY, 1).await;
    let mut child = spawn(&folder, &server.url(), moment);
    if name == "after send" {
        gate.arrived().await;
    } else {
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let is_there = lines.any(|line| line.unwrap().contains("@@here"));
        assert!(is_there, "{name}: the child has ended");
    }
    child.kill().unwrap();
    child.wait().unwrap();
    gate.open();
    assert_eq!(server.count(), usize::from(rotated), "{name}");
    let store = folder.store();
    // Row 26: the lock is free at once.
    drop(store.lock(KEY, Duration::ZERO).await.unwrap());
    // Whole, and either old or new.
    let stored = store.load(KEY).await.unwrap().unwrap();
    let new = name == "after rename";
    assert_eq!(stored.record.tokens().generation(), 1 + u64::from(new));
    assert_eq!(stored.record.intent.is_some(), !new, "{name}");
    let next = manager(&server.url(), store.clone()).access_token().await;
    if rotated && !new {
        // Row 18: the old refresh token was tried, and the reason is named.
        let error = next.unwrap_err();
        assert!(error.is_reauth_required(), "{name}: {error:?}");
        assert!(error.to_string().contains("lost"), "{name}: {error}");
        let stored = store.load(KEY).await.unwrap().unwrap();
        assert!(stored.record.tokens().refresh_token().is_none());
    } else {
        assert_eq!(next.unwrap().expose(), "at-2", "{name}");
        assert!(folder.text().contains("rt-2"));
    }
}

/// Row 19. Row 18. Once for each: a child that has come to a step stays there.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn after_a_kill_at_any_moment_the_file_is_whole_and_the_next_process_goes_on() {
    for moment in 0..MOMENTS.len() {
        round(moment).await;
    }
}
