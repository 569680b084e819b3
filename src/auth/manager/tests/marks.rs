//! Marks of refreshes that another process began, in a store whose locks can be lost.

use std::error::Error as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use wiremock::ResponseTemplate;

use super::bench::{Bench, DAY, KEY, ScriptedReply, advance_until, event, tokens};
use crate::auth::store::{HookedStore, Intent, StoreCall};
use crate::auth::{AccessToken, Event, Record, StoreError, TokenManager, TokenStore, Version};
use crate::error::{Error, Result};

const SECOND: Duration = Duration::from_secs(1);
/// The default, two minutes, without the 30 seconds of the claim.
const OWNER_PERIOD: Duration = Duration::from_secs(90);
const CLAIM_PERIOD: Duration = Duration::from_secs(30);

/// A store behind a network, and whether this process can reach it.
#[derive(Clone)]
struct Network {
    loads: Arc<AtomicBool>,
    writes: Arc<AtomicBool>,
    store: HookedStore,
}

impl Network {
    fn of(bench: &Bench) -> Self {
        let (loads, writes) = (
            Arc::new(AtomicBool::new(true)),
            Arc::new(AtomicBool::new(true)),
        );
        let (can_load, can_write) = (loads.clone(), writes.clone());
        let hooked = HookedStore::new(bench.store.clone(), move |call| {
            let works = match call {
                StoreCall::Load | StoreCall::Lock => can_load.load(Ordering::SeqCst),
                // The mark and the reads succeed; the new tokens cannot be written.
                StoreCall::Swap(new) => {
                    let first = new.tokens().generation() == 1;
                    first || can_write.load(Ordering::SeqCst)
                }
                StoreCall::Remove => true,
            };
            let down = || {
                StoreError::io(
                    "the database does not answer",
                    std::io::ErrorKind::TimedOut.into(),
                )
            };
            works.then_some(()).ok_or_else(down)
        });
        Self {
            loads,
            writes,
            store: hooked.with_fragile_lock(),
        }
    }

    fn manager(&self, bench: &Bench) -> TokenManager {
        let builder = bench.builder().store(self.store.clone());
        builder.lock_wait(Duration::ZERO).build().unwrap()
    }
}

/// Expired tokens, with the mark of an unknown process.
async fn marked(bench: &Bench) -> Version {
    let mut record = Record::new(tokens(bench.clock.now() - DAY));
    record.intent = Some(Intent {
        generation: 1,
        at: bench.clock.now(),
        owner: Some(7),
    });
    bench.store.swap(KEY, None, &record).await.unwrap().unwrap()
}

fn is_lock_timeout(result: Result<AccessToken>) -> bool {
    let error: Error = result.unwrap_err();
    let below = error
        .source()
        .and_then(|source| source.downcast_ref::<StoreError>());
    error.is_retryable() && below.is_some_and(StoreError::is_lock_timeout)
}

async fn pass(bench: &Bench, time: Duration) {
    let end = bench.clock.boot() + time;
    advance_until(bench, async || bench.clock.boot() >= end).await;
}

/// A call that runs while the clock is advanced.
async fn passing(bench: &Bench, manager: &TokenManager) -> (Result<AccessToken>, Duration) {
    let manager = manager.clone();
    let caller = tokio::spawn(async move { manager.access_token().await });
    let took = advance_until(bench, async || caller.is_finished()).await;
    (caller.await.unwrap(), took)
}

/// Row 51.
#[tokio::test]
async fn the_mark_of_another_process_stands_for_two_minutes() {
    let bench = Bench::new().await;
    marked(&bench).await;
    let manager = Network::of(&bench).manager(&bench);
    // Each call ends after its lock wait, and the wait for the mark continues.
    assert!(is_lock_timeout(manager.access_token().await));
    bench.clock.advance(OWNER_PERIOD.saturating_sub(SECOND));
    assert!(is_lock_timeout(manager.access_token().await));
    assert_eq!(bench.idp.refreshes(), 0);
    bench.clock.advance(SECOND);
    let (token, took) = passing(&bench, &manager).await;
    assert_eq!(token.unwrap().expose(), "at-2");
    assert!(took >= CLAIM_PERIOD, "{took:?}");
    assert_eq!(bench.idp.refreshes(), 1);
    assert_eq!(bench.stored_refresh_token().await.unwrap(), "rt-2");
}

/// Row 51.
#[tokio::test]
async fn the_wait_begins_when_the_mark_is_first_read() {
    let bench = Bench::new().await;
    marked(&bench).await;
    let network = Network::of(&bench);
    let manager = network.manager(&bench);
    network.loads.store(false, Ordering::SeqCst);
    for _ in 0..10 {
        assert!(manager.access_token().await.unwrap_err().is_retryable());
        bench.clock.advance(DAY / 24);
    }
    network.loads.store(true, Ordering::SeqCst);
    assert!(is_lock_timeout(manager.access_token().await));
    bench.clock.advance(OWNER_PERIOD.saturating_sub(SECOND));
    assert!(is_lock_timeout(manager.access_token().await));
    assert_eq!(bench.idp.refreshes(), 0);
}

/// Row 51.
#[tokio::test]
async fn tokens_that_the_owner_of_a_mark_stores_are_adopted_without_a_request() {
    let bench = Bench::new().await;
    let version = marked(&bench).await;
    let network = Network::of(&bench);
    let builder = bench.builder().store(network.store).lock_wait(DAY);
    let manager = builder.build().unwrap();
    let caller = tokio::spawn(async move { manager.access_token().await });
    pass(&bench, 10 * SECOND).await;
    assert!(!caller.is_finished());
    let mut newer = tokens(bench.clock.now());
    newer.access_token = "at-7".into();
    newer.generation = 2;
    let newer = Record::new(newer);
    let swapped = bench.store.swap(KEY, Some(version), &newer);
    assert!(swapped.await.unwrap().is_some());
    let took = advance_until(&bench, async || caller.is_finished()).await;
    assert_eq!(caller.await.unwrap().unwrap().expose(), "at-7");
    assert!(took <= SECOND, "{took:?}");
    assert_eq!(bench.idp.refreshes(), 0);
}

/// Row 51. Row 50.
#[tokio::test]
async fn a_process_that_could_not_write_for_minutes_stores_its_tokens_during_a_claim() {
    let bench = Bench::new().await;
    bench.seed(DAY).await;
    let cut = Network::of(&bench);
    let (owner, other) = (cut.manager(&bench), Network::of(&bench).manager(&bench));
    cut.writes.store(false, Ordering::SeqCst);
    assert_eq!(owner.access_token().await.unwrap().expose(), "at-2");
    assert!(is_lock_timeout(other.access_token().await));
    bench.clock.advance(OWNER_PERIOD);
    let caller = tokio::spawn({
        let other = other.clone();
        async move { other.access_token().await }
    });
    pass(&bench, 10 * SECOND).await;
    assert!(!caller.is_finished());
    cut.writes.store(true, Ordering::SeqCst);
    let took = advance_until(&bench, async || caller.is_finished()).await;
    assert!(took <= 12 * SECOND, "{took:?}");
    assert_eq!(caller.await.unwrap().unwrap().expose(), "at-2");
    assert_eq!(bench.stored_refresh_token().await.unwrap(), "rt-2");
    assert_eq!(bench.idp.refreshes(), 1);
    assert!(!bench.idp.session_over());
}

/// Row 51. Row 50.
#[tokio::test]
async fn tokens_are_stored_while_a_slow_request_sends_them() {
    let bench = Bench::new().await;
    bench.seed(DAY).await;
    let cut = Network::of(&bench);
    let owner = cut.manager(&bench);
    cut.writes.store(false, Ordering::SeqCst);
    assert_eq!(owner.access_token().await.unwrap().expose(), "at-2");
    bench.clock.advance(DAY);
    let held = bench.idp.hold();
    let caller = tokio::spawn(async move { owner.access_token().await });
    held.arrived().await;
    cut.writes.store(true, Ordering::SeqCst);
    let stored = async || bench.stored_refresh_token().await.unwrap();
    let took = advance_until(&bench, async || stored().await == "rt-2").await;
    assert!(took < CLAIM_PERIOD, "{took:?}");
    held.open();
    assert_eq!(caller.await.unwrap().unwrap().expose(), "at-3");
    assert_eq!(stored().await, "rt-3");
    assert!(!bench.idp.session_over());
}

/// Row 51.
#[tokio::test]
async fn a_store_failure_during_a_claim_postpones_the_request() {
    let bench = Bench::new().await;
    marked(&bench).await;
    let network = Network::of(&bench);
    let manager = network.manager(&bench);
    assert!(is_lock_timeout(manager.access_token().await));
    bench.clock.advance(OWNER_PERIOD);
    let caller = tokio::spawn({
        let manager = manager.clone();
        async move { manager.access_token().await }
    });
    pass(&bench, 29 * SECOND).await;
    network.loads.store(false, Ordering::SeqCst);
    advance_until(&bench, async || caller.is_finished()).await;
    assert!(caller.await.unwrap().unwrap_err().is_retryable());
    assert_eq!(bench.idp.refreshes(), 0);
    // The whole claim once more, and only the claim.
    network.loads.store(true, Ordering::SeqCst);
    bench.clock.advance(5 * SECOND);
    let (token, took) = passing(&bench, &manager).await;
    assert_eq!(token.unwrap().expose(), "at-2");
    assert!(took >= CLAIM_PERIOD, "{took:?}");
}

/// Row 51.
#[tokio::test]
async fn take_over_refresh_sends_a_marked_token_at_once() {
    let bench = Bench::new().await;
    marked(&bench).await;
    let manager = Network::of(&bench).manager(&bench);
    assert!(is_lock_timeout(manager.access_token().await));
    let token = manager.take_over_refresh().await.unwrap();
    assert_eq!(token.expose(), "at-2");
    assert_eq!(bench.idp.refreshes(), 1);
}

/// Row 51.
#[tokio::test]
async fn a_process_does_not_wait_for_its_own_mark() {
    let bench = Bench::new().await;
    bench.seed(DAY).await;
    let manager = Network::of(&bench).manager(&bench);
    for _ in 0..2 {
        bench
            .idp
            .next(ScriptedReply::Reply(ResponseTemplate::new(502)));
    }
    let (failed, _) = passing(&bench, &manager).await;
    assert!(failed.unwrap_err().is_retryable());
    let stored = bench.store.load(KEY).await.unwrap().unwrap();
    assert!(stored.record.intent.is_some());
    bench.clock.advance(2 * SECOND);
    assert_eq!(manager.access_token().await.unwrap().expose(), "at-2");
    assert_eq!(bench.idp.refreshes(), 3);
}

/// Row 51. The lock of the first process is lost during a slow request.
#[tokio::test]
async fn a_lock_that_is_lost_during_a_request_does_not_let_another_process_send_the_token() {
    let bench = Bench::new().await;
    bench.seed(DAY).await;
    let (owner, other) = (
        Network::of(&bench).manager(&bench),
        Network::of(&bench).manager(&bench),
    );
    let held = bench.idp.hold();
    let caller = tokio::spawn(async move { owner.access_token().await });
    held.arrived().await;
    for _ in 0..9 {
        assert!(is_lock_timeout(other.access_token().await));
        bench.clock.advance(SECOND);
    }
    held.open();
    assert_eq!(caller.await.unwrap().unwrap().expose(), "at-2");
    assert_eq!(other.access_token().await.unwrap().expose(), "at-2");
    assert_eq!(bench.idp.refreshes(), 1);
}

/// Row 51. Another process may have replaced the mark meanwhile.
#[tokio::test]
async fn a_process_that_was_suspended_before_sending_reads_again() {
    let bench = Bench::new().await;
    bench.seed(DAY).await;
    let (clock, stops) = (bench.clock.clone(), AtomicBool::new(true));
    let store = HookedStore::new(bench.store.clone(), move |call| {
        if let StoreCall::Swap(_) = call
            && stops.swap(false, Ordering::SeqCst)
        {
            clock.advance(DAY);
        }
        Ok(())
    });
    let builder = bench.builder().store(store.with_fragile_lock());
    let manager = builder.build().unwrap();
    assert!(is_lock_timeout(manager.access_token().await));
    assert_eq!(bench.idp.refreshes(), 0);
    assert_eq!(manager.access_token().await.unwrap().expose(), "at-2");
}

/// Row 51.
#[tokio::test]
async fn a_token_that_another_process_has_marked_since_is_not_sent_a_second_time() {
    let bench = Bench::new().await;
    bench.seed(DAY).await;
    let manager = Network::of(&bench).manager(&bench);
    let mut events = manager.events();
    bench
        .idp
        .next(ScriptedReply::Reply(ResponseTemplate::new(502)));
    let caller = tokio::spawn(async move { manager.access_token().await });
    let is_lost = |event: &Event| matches!(event, Event::RotationAmbiguous);
    event(&mut events, is_lost).await;
    let stored = bench.store.load(KEY).await.unwrap().unwrap();
    let mut record = stored.record;
    record.intent.as_mut().unwrap().owner = Some(7);
    let swapped = bench.store.swap(KEY, Some(stored.version), &record).await;
    assert!(swapped.unwrap().is_some());
    bench.clock.advance(2 * SECOND);
    assert!(is_lock_timeout(caller.await.unwrap()));
    assert_eq!(bench.idp.refreshes(), 1);
}
