//! A process is killed in the middle of a refresh, at each of its steps, and the next one goes on from what it finds.
//!
//! The children are this test binary again. The identity provider here rotates, ends the session at a reuse, and lives
//! in the parent.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::time::Duration;
use std::{env, fs, thread};

use serde_json::json;
use wiremock::matchers::any;
use wiremock::{Mock, MockServer, Request, Respond, ResponseTemplate};

use super::super::token_file::{Faults, Step};
use super::folder::{Folder, put};
use crate::auth::{FileStore, Provider, TokenManager, TokenStore};

const KEY: &str = "sam";
const FOLDER: &str = "ENVD_SDK_TEST_KILL_FILE";
const SERVER: &str = "ENVD_SDK_TEST_KILL_SERVER";
const MOMENT: &str = "ENVD_SDK_TEST_KILL_MOMENT";
const ROUNDS: usize = 200;

/// When the child dies, and whether the server has taken its refresh token by then.
const MOMENTS: [(&str, bool); 6] = [
    ("before send", false),
    ("after send", true),
    ("after response", true),
    ("in the new file", true),
    ("after the new file", true),
    ("after rename", true),
];

/// Shared with the server.
#[derive(Clone, Default)]
struct Idp(Arc<IdpState>);

#[derive(Default)]
struct IdpState {
    current: Mutex<u64>,
    /// Signals that a request has arrived; the reply waits until the other end is dropped.
    hold: Mutex<Option<(mpsc::Sender<()>, mpsc::Receiver<()>)>>,
}

impl Respond for Idp {
    fn respond(&self, request: &Request) -> ResponseTemplate {
        if let Some((arrived, go)) = self.0.hold.lock().unwrap().take() {
            arrived.send(()).unwrap();
            let _ = go.recv();
        }
        let form = String::from_utf8_lossy(&request.body).into_owned();
        let mut current = self.0.current.lock().unwrap();
        if !form.contains(&format!("refresh_token=rt-{current}")) {
            let refused = json!({"error": "invalid_grant"});
            return ResponseTemplate::new(403).set_body_json(refused);
        }
        *current += 1;
        let (access, refresh) = (format!("at-{current}"), format!("rt-{current}"));
        let tokens =
            json!({"access_token": access, "refresh_token": refresh, "expires_in": 86_400});
        ResponseTemplate::new(200).set_body_json(tokens)
    }
}

fn manager(server: &str, store: FileStore) -> TokenManager {
    let provider = Provider::builder("app")
        .authorize_url(format!("{server}/authorize"))
        .token_url(format!("{server}/oauth/token"))
        .audience("https://api.example")
        .redirect_uri("https://app.example/cb");
    let builder = TokenManager::builder(provider.build().unwrap());
    builder
        .store(store)
        .account(KEY)
        .background(false)
        .build()
        .unwrap()
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
async fn round(idp: &Idp, server: &str, moment: usize) {
    let (name, rotated) = MOMENTS[moment];
    let folder = Folder::new();
    *idp.0.current.lock().unwrap() = 1;
    let (arrive, arrived) = mpsc::channel();
    let (go, gone) = mpsc::channel();
    if name == "after send" {
        *idp.0.hold.lock().unwrap() = Some((arrive, gone));
    }
    // Tokens that have expired long ago.
    put(&folder.store(), KEY, 1).await;
    let mut child = spawn(&folder, server, moment);
    if name == "after send" {
        arrived.recv().unwrap();
    } else {
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        assert!(
            lines.any(|line| line.unwrap().contains("@@here")),
            "{name}: the child has ended"
        );
    }
    child.kill().unwrap();
    child.wait().unwrap();
    drop(go);
    while rotated && *idp.0.current.lock().unwrap() == 1 {
        tokio::task::yield_now().await;
    }
    let store = folder.store();
    // Row 26: the lock is free at once.
    drop(store.lock(KEY, Duration::ZERO).await.unwrap());
    // Whole, and either old or new.
    let stored = store.load(KEY).await.unwrap().unwrap();
    let new = name == "after rename";
    assert_eq!(stored.record.tokens().generation(), 1 + u64::from(new));
    assert_eq!(stored.record.intent.is_some(), !new, "{name}");
    let next = manager(server, store.clone()).access_token().await;
    if rotated && !new {
        // Row 18: the old refresh token was tried, and the reason is named.
        let error = next.unwrap_err();
        assert!(error.is_reauth_required(), "{name}: {error:?}");
        assert!(error.to_string().contains("lost"), "{name}: {error}");
        let stored = store.load(KEY).await.unwrap().unwrap();
        assert!(stored.record.tokens().refresh_token().is_none());
    } else {
        assert_eq!(next.unwrap().expose(), "at-2", "{name}");
        assert!(fs::read_to_string(folder.file()).unwrap().contains("rt-2"));
    }
}

/// Row 19. Row 18.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn after_a_kill_at_any_moment_the_file_is_whole_and_the_next_process_goes_on() {
    let idp = Idp::default();
    let server = MockServer::builder().start().await;
    let endpoint = Mock::given(any()).respond_with(idp.clone());
    endpoint.mount(&server).await;
    for number in 0..ROUNDS {
        round(&idp, &server.uri(), number % MOMENTS.len()).await;
    }
}
