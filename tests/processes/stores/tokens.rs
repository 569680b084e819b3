//! Several processes with one token file. The child processes run this test binary, with commands on stdin.

use std::fs;
use std::time::Duration;

use envd_sdk::Clock;
use envd_sdk::auth::{FileStore, StoreErrorKind, TokenStore};
use envd_sdk::fake::{Fake, User};
use processes::{Folder, Mode, Proxy, until};

use super::faulty_file::Fault;
use super::host::{eight_refresh_once_each_time, hold_lock, take_tokens, take_tokens_at_once};
use super::sessions::{KEY, LIFETIME, fake, log_in, log_in_at, manager, start};

const FILE: &str = "tokens.json";

/// A fake, and a token file with one of its sessions.
async fn logged_in() -> (Fake, Folder, FileStore) {
    let fake = fake().await;
    let folder = Folder::new();
    let file = FileStore::new(folder.path(FILE));
    log_in(&fake, file.clone()).await;
    (fake, folder, file)
}

/// Row 8.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_eight_processes_one_refreshes_at_each_of_a_hundred_expiries() {
    let (fake, folder, _) = logged_in().await;
    eight_refresh_once_each_time(&fake, &folder.text(FILE));
}

/// Row 26.
#[tokio::test]
async fn the_lock_of_a_process_that_was_killed_is_free_at_once() {
    let (_fake, folder, file) = logged_in().await;
    let mut holder = hold_lock(&folder.text(FILE));
    let error = file.lock(KEY, Duration::ZERO).await.unwrap_err();
    assert!(error.kind() == StoreErrorKind::LockTimeout);
    holder.kill();
    file.lock(KEY, Duration::ZERO).await.unwrap();
}

/// Row 26. The process is alive and has marked the record, but goes no further.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn while_a_process_hangs_with_the_lock_another_one_times_out_and_sends_nothing() {
    let (fake, folder, _) = logged_in().await;
    let url = fake.token_url();
    let path = folder.text(FILE);
    let mut holder = take_tokens(url.as_str(), &Fault::After(1).at(&path));
    let mut waiter = take_tokens_at_once(url.as_str(), &path);
    let before = fake.token_requests();
    assert_eq!(holder.ask("expire"), "here");
    for line in ["expire", "token"] {
        let reply = waiter.ask(line);
        assert!(reply.starts_with("try again: "), "{reply}");
        assert!(reply.contains("lock"), "{reply}");
    }
    assert_eq!(fake.token_requests(), before);
    holder.kill();
    assert!(waiter.ask("token").starts_with("token 2 "));
    assert_eq!(fake.token_requests(), before + 1);
}

/// Row 50. The process that has the new tokens serves them. The provider has used up the token in the file, so any other process
/// that sent it would end the session.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn while_a_process_cannot_store_its_tokens_another_one_sends_nothing() {
    let (fake, folder, file) = logged_in().await;
    let url = fake.token_url();
    let path = folder.text(FILE);
    let mut owner = take_tokens(url.as_str(), &Fault::Full(2).at(&path));
    let mut waiter = take_tokens_at_once(url.as_str(), &path);
    let before = fake.token_requests();
    let token = owner.ask("expire");
    assert!(token.starts_with("token 2 "), "{token}");
    for line in ["expire", "token"] {
        let reply = waiter.ask(line);
        assert!(reply.starts_with("try again: "), "{reply}");
    }
    assert_eq!(owner.ask("token"), token);
    assert_eq!(generation(&file).await, 1);
    assert_eq!(owner.ask("mend"), "stored");
    assert_eq!(waiter.ask("token"), token);
    assert_eq!(fake.token_requests(), before + 1);
}

/// Row 52. The host serves its token once more, while it reads the store.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_process_notices_a_logout_and_another_user_in_another_process() {
    let (fake, folder, file) = logged_in().await;
    let url = fake.token_url();
    let mut host = take_tokens(url.as_str(), &folder.text(FILE));
    let token = host.ask("token");
    assert!(token.starts_with("token 1 "), "{token}");
    // Another user logs in.
    fake.log_in_as(User::New).unwrap();
    log_in(&fake, file.clone()).await;
    assert_eq!(host.ask("check"), token);
    assert_eq!(host.ask("event"), "UserReplaced { generation: 2 }");
    let reply = host.ask("token");
    assert!(reply.starts_with("error "), "{reply}");
    assert!(reply.contains("another user"), "{reply}");
    assert!(host.ask("event").starts_with("ReauthRequired "));
    // The first user logs in again, and then out.
    fake.log_in_as(User::Producer).unwrap();
    log_in(&fake, file.clone()).await;
    let token = host.ask("token");
    assert!(token.starts_with("token 3 "), "{token}");
    assert!(host.ask("event").starts_with("LoggedIn "));
    let elsewhere = manager(url.as_str(), file.clone(), Clock::manual(start()));
    let report = elsewhere.build().unwrap().logout(None).await;
    assert!(report.problems.is_empty(), "{report:?}");
    assert_eq!(host.ask("check"), token);
    assert_eq!(host.ask("event"), "LoggedOut { elsewhere: true }");
    let reply = host.ask("token");
    assert!(reply.starts_with("error "), "{reply}");
    assert!(file.load(KEY).await.unwrap().is_none());
}

/// The moments to kill a process in a refresh, and whether the provider has received the refresh token by then.
const KILLS: [(&str, Fault, bool); 5] = [
    ("before the request", Fault::After(1), false),
    ("before the reply", Fault::None, true),
    ("before the new file", Fault::Before(2), true),
    ("in the new file", Fault::During(2), true),
    ("after the new file", Fault::After(2), true),
];

/// Row 19. Row 18. Row 26. The fake ends the session if a refresh token is used twice.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn after_a_kill_at_any_moment_the_file_is_whole_and_the_next_process_goes_on() {
    for (name, fault, is_rotated) in KILLS.iter().cycle().take(20 * KILLS.len()) {
        let fake = fake().await;
        let folder = Folder::new();
        let file = FileStore::new(folder.path(FILE));
        let proxy = Proxy::of(&fake).await;
        let names = || fs::read_dir(folder.path("")).unwrap();
        let url = proxy.through(fake.token_url());
        log_in_at(&url, &fake, file.clone()).await;
        let mut host = take_tokens(&url, &fault.at(&folder.text(FILE)));
        let before = fake.token_requests();
        let files = names().count();
        if *fault == Fault::None {
            proxy.set(Mode::HoldReplies);
        }
        host.send("expire");
        match fault {
            Fault::None => proxy.stopped().await,
            _ => assert_eq!(host.receive(), "here", "{name}"),
        }
        // The new file is next to the old file until it replaces it.
        if let Fault::During(_) = fault {
            let has_begun = async || names().count() > files || generation(&file).await > 1;
            until("a new file", has_begun).await;
        }
        host.kill();
        assert_eq!(
            fake.token_requests() - before,
            usize::from(*is_rotated),
            "{name}"
        );
        // The lock is free immediately.
        drop(file.lock(KEY, Duration::ZERO).await.unwrap());
        // The record is complete, and either old or new.
        let stored = file.load(KEY).await.unwrap().unwrap().record;
        let is_new = stored.refresh_began_at().is_none();
        assert_eq!(
            stored.tokens().generation(),
            1 + u64::from(is_new),
            "{name}"
        );
        match fault {
            Fault::During(_) => {}
            _ => assert_eq!(is_new, *name == "after the new file", "{name}"),
        }
        let clock = Clock::manual(start());
        proxy.set(Mode::Pass);
        let next = manager(&url, file.clone(), clock.clone());
        clock.advance(LIFETIME);
        let next = next.build().unwrap().access_token().await;
        if *is_rotated && !is_new {
            // The host tried the old refresh token, and the error gives the reason.
            let error = next.unwrap_err();
            assert!(error.is_reauth_required(), "{name}: {error:?}");
            assert!(error.to_string().contains("lost"), "{name}: {error}");
            let stored = file.load(KEY).await.unwrap().unwrap().record;
            assert!(stored.tokens().refresh_token().is_none());
        } else {
            assert_eq!(next.unwrap().generation(), 2, "{name}");
            assert_eq!(generation(&file).await, 2, "{name}");
        }
    }
}

async fn generation(file: &FileStore) -> u64 {
    let stored = file.load(KEY).await.unwrap().unwrap();
    stored.record.tokens().generation()
}
