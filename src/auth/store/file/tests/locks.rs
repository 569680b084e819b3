//! How long a store waits for a lock; `fake::tests::stores` checks the requirements of locks.

use std::sync::{Arc, Mutex, mpsc};
use std::time::{Duration, SystemTime};

use tokio::sync::Semaphore;

use super::super::token_file::{WriteFaults, WriteStep};
use super::folder::{Folder, put, record};
use crate::auth::store::generation;
use crate::auth::{StoreErrorKind, TokenStore};
use crate::transport::Clock;

const WAIT: Duration = Duration::from_secs(5);

/// Row 26.
#[tokio::test]
async fn a_wait_for_a_lock_ends_at_the_deadline_and_not_before() {
    let folder = Folder::new();
    let _held = folder.store().lock("sam", WAIT).await.unwrap();
    let clock = Clock::manual(SystemTime::UNIX_EPOCH);
    let store = folder.store().clock(clock.clone());
    let begun = clock.monotonic();
    let waiting = tokio::spawn(async move { store.lock("sam", WAIT).await });
    while !waiting.is_finished() {
        clock.advance(Duration::from_millis(1));
        tokio::task::yield_now().await;
    }
    assert!(waiting.await.unwrap().unwrap_err().kind() == StoreErrorKind::LockTimeout);
    assert!(clock.monotonic() >= begun + WAIT);
}

#[tokio::test]
async fn a_swap_that_has_begun_completes_when_its_caller_is_cancelled() {
    let folder = Folder::new();
    let version = put(&folder.store(), "sam", 1).await.version;
    let begun = Arc::new(Semaphore::new(0));
    let (go, gone) = mpsc::channel::<()>();
    let gone = Mutex::new(gone);
    let signal = begun.clone();
    let mut store = folder.store();
    store.faults = WriteFaults::new(move |point| {
        if point == WriteStep::Begin {
            signal.add_permits(1);
            // Returns an error when the other end is dropped, which is the signal to continue.
            let _ = gone.lock().unwrap().recv();
        }
        Ok(())
    });
    let caller = tokio::spawn(async move { store.swap("sam", Some(version), &record(2)).await });
    begun.acquire().await.unwrap().forget();
    caller.abort();
    assert!(caller.await.unwrap_err().is_cancelled());
    drop(go);
    // Has to wait for the write lock.
    put(&folder.store(), "kim", 1).await;
    assert_eq!(generation(&folder.store(), "sam").await, Some(2));
}

#[test]
fn outside_of_a_runtime_there_is_an_error_and_no_panic() {
    let folder = Folder::new();
    let store = folder.store();
    let mut load = store.load("sam");
    let mut context = std::task::Context::from_waker(std::task::Waker::noop());
    assert!(matches!(
        load.as_mut().poll(&mut context),
        std::task::Poll::Ready(Err(_))
    ));
}
