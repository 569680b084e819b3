//! Several processes with one token file. The child processes run this test binary, with commands on stdin.

use std::fs;
use std::time::Duration;

use envd_sdk::auth::{Event, FileStore, SessionState, StoreErrorKind, TokenStore};
use envd_sdk::fake::Fake;
use envd_sdk::{Clock, ErrorKind};
use processes::{Folder, Mode, Proxy, until};

use super::faulty_file::{Fault, FaultyFile};
use super::host::{eight_refresh_once_each_time, hold_lock, take_tokens};
use super::sessions::{KEY, LIFETIME, fake, log_in, log_in_at, manager, start};

const FILE: &str = "tokens.json";

/// A fake, and a token file with one of its sessions.
async fn logged_in() -> (Fake, Folder, FileStore) {
    let (fake, folder) = (fake().await, Folder::new());
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

/// Row 26.
#[tokio::test]
async fn while_a_process_hangs_with_the_lock_a_valid_token_is_served_without_a_refresh() {
    let (fake, folder, file) = logged_in().await;
    let clock = Clock::manual(start());
    let manager = manager(fake.token_url().as_str(), file, clock.clone())
        .timing(|it| it.lock_wait = Duration::ZERO)
        .background(true)
        .build()
        .unwrap();
    let before = fake.token_requests();
    let first = manager.access_token().await.unwrap();
    let mut holder = hold_lock(&folder.text(FILE));
    // Due for a refresh, but valid for six more minutes.
    clock.advance(LIFETIME / 10 * 9);
    let second = manager.access_token().await.unwrap();
    assert_eq!(first.expose(), second.expose());
    assert!(manager.flush(LIFETIME).await);
    // Expired.
    clock.advance(LIFETIME);
    let error = manager.access_token().await.unwrap_err();
    assert!(
        error.kind() == ErrorKind::Store && error.is_retryable(),
        "{error:?}"
    );
    assert_eq!(fake.token_requests(), before);
    holder.kill();
    clock.advance(LIFETIME);
    manager.access_token().await.unwrap();
    assert_eq!(fake.token_requests(), before + 1);
}

/// Row 50. The fake ends the session when a refresh token is used twice.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn processes_that_wait_send_nothing_while_the_disk_is_full_for_new_tokens() {
    let (fake, folder, _) = logged_in().await;
    let token_url = fake.token_url();
    let spawn = |path: String| take_tokens(token_url.as_str(), &path);
    let mut owner = spawn(Fault::Full.at(&folder.text(FILE)));
    let mut waiting = [spawn(folder.text(FILE)), spawn(folder.text(FILE))];
    let before = fake.token_requests();
    for round in 1..=20 {
        fake.clock().advance(LIFETIME);
        FaultyFile::fill(&folder.text(FILE));
        owner.send("expire");
        let token = owner.receive();
        assert!(token.starts_with("token "), "{token}");
        // The processes wait for the lock or find it free; the result is the same.
        for child in &mut waiting {
            child.send("expire");
        }
        FaultyFile::clear(&folder.text(FILE));
        owner.send("save");
        assert_eq!(owner.receive(), "saved");
        for child in &mut waiting {
            assert_eq!(child.receive(), token);
        }
        assert_eq!(fake.token_requests() - before, round);
    }
}

/// Row 9.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_managers_of_one_file_in_one_process_refresh_once() {
    let (fake, folder, _) = logged_in().await;
    let clock = Clock::manual(start());
    let manager = || {
        let file = FileStore::new(folder.path(FILE));
        manager(fake.token_url().as_str(), file, clock.clone())
            .build()
            .unwrap()
    };
    let (one, two) = (manager(), manager());
    let before = fake.token_requests();
    for round in 1..=20 {
        clock.advance(LIFETIME);
        fake.clock().advance(LIFETIME);
        let (a, b) = tokio::join!(one.access_token(), two.access_token());
        assert_eq!(a.unwrap().expose(), b.unwrap().expose());
        assert_eq!(fake.token_requests() - before, round);
    }
}

/// Row 52.
#[tokio::test]
async fn a_refresh_and_a_logout_in_another_process_are_reported_as_such() {
    let (fake, folder, file) = logged_in().await;
    let token_url = fake.token_url();
    let clock = Clock::manual(start());
    let manager = manager(token_url.as_str(), file, clock).build().unwrap();
    manager.access_token().await.unwrap();
    let mut events = manager.events();
    let mut other = take_tokens(token_url.as_str(), &folder.text(FILE));
    fake.clock().advance(LIFETIME);
    other.send("expire");
    let token = other.receive();
    assert!(token.starts_with("token "), "{token}");
    assert_eq!(manager.inspect().await.generation, Some(2));
    other.send("logout");
    assert_eq!(other.receive(), "logged out");
    let session = manager.inspect().await;
    assert!(matches!(session.state, SessionState::LoggedOut));
    // The last events of a manager that is gone: nothing is waited for.
    drop(manager);
    let first = events.next().await;
    assert!(
        matches!(first, Some(Event::Adopted { generation: 2 })),
        "{first:?}"
    );
    let second = events.next().await;
    assert!(
        matches!(second, Some(Event::LoggedOut { elsewhere: true })),
        "{second:?}"
    );
    assert!(events.next().await.is_none());
}

/// When a process is killed in a refresh, and whether the provider has its refresh token by then.
const KILLS: [(&str, Fault, bool); 5] = [
    ("before the request", Fault::After(1), false),
    ("before the reply", Fault::None, true),
    ("before the new file", Fault::Before(2), true),
    ("in the new file", Fault::During(2), true),
    ("after the new file", Fault::After(2), true),
];

/// Row 19. Row 18. Row 26. The fake ends the session when a refresh token is used twice.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn after_a_kill_at_any_moment_the_file_is_whole_and_the_next_process_goes_on() {
    for (name, fault, is_rotated) in KILLS.iter().cycle().take(20 * KILLS.len()) {
        let (fake, folder) = (fake().await, Folder::new());
        let file = FileStore::new(folder.path(FILE));
        let (proxy, names) = (Proxy::of(&fake).await, || {
            fs::read_dir(folder.path("")).unwrap()
        });
        let url = proxy.through(fake.token_url());
        log_in_at(&url, &fake, file.clone()).await;
        let mut host = take_tokens(&url, &fault.at(&folder.text(FILE)));
        let (before, files) = (fake.token_requests(), names().count());
        if *fault == Fault::None {
            proxy.set(Mode::HoldReplies);
        }
        host.send("expire");
        match fault {
            Fault::None => proxy.stopped().await,
            _ => assert_eq!(host.receive(), "here", "{name}"),
        }
        // The new file stands beside the old one until it takes its place.
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
        // The lock is free at once.
        drop(file.lock(KEY, Duration::ZERO).await.unwrap());
        // Whole, and either old or new.
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
            // The old refresh token was tried, and the reason is named.
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
