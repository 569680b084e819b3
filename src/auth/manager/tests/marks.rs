//! Marks of refreshes that another process began, in a store whose locks can be lost.

use std::io::ErrorKind;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use super::bench::{
    Bench, DAY, SECOND, advance_until, call, call_after_loss, event, refusal, reply, token,
};
use super::kept_lock::is_lock_timeout;
use crate::auth::store::{HookedStore, StoreCall, StoredMark, fault};
use crate::auth::{AccessToken, TokenManager};
use crate::error::Result;

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
        let is_up = || Arc::new(AtomicBool::new(true));
        let (loads, writes) = (is_up(), is_up());
        let (can_load, can_write) = (loads.clone(), writes.clone());
        let hooked = HookedStore::new(&bench.store, move |call| {
            let works = match call {
                StoreCall::Load | StoreCall::Lock => can_load.load(Ordering::SeqCst),
                // The mark and the reads succeed; the new tokens cannot be written.
                StoreCall::Swap(new) => {
                    new.tokens().generation() == 1 || can_write.load(Ordering::SeqCst)
                }
                StoreCall::Remove => true,
            };
            works
                .then_some(())
                .ok_or_else(|| fault(ErrorKind::TimedOut))
        });
        let store = hooked.with_fragile_lock();
        Self {
            loads,
            writes,
            store,
        }
    }

    fn manager(&self, bench: &Bench) -> TokenManager {
        let builder = bench.builder().store(self.store.clone());
        builder
            .timing(|it| it.lock_wait = Duration::ZERO)
            .build()
            .unwrap()
    }
}

/// The mark of another process on the stored tokens.
async fn mark(bench: &Bench) {
    let mut record = bench.record().await.record;
    record.refresh_mark = Some(StoredMark {
        generation: 1,
        at: bench.clock.now(),
        owner: Some(7),
    });
    bench.put(&record).await;
}

/// Expired tokens with such a mark, and the manager of a process that can reach the store.
async fn marked() -> (Bench, Network, TokenManager) {
    let bench = Bench::expired().await;
    mark(&bench).await;
    let network = Network::of(&bench);
    let manager = network.manager(&bench);
    (bench, network, manager)
}

async fn is_waiting(manager: &TokenManager) -> bool {
    is_lock_timeout(&refusal(manager).await)
}

async fn pass(bench: &Bench, time: Duration) {
    let end = bench.clock.monotonic() + time;
    advance_until(bench, async || bench.clock.monotonic() >= end).await;
}

/// A call that runs while the clock is advanced.
async fn passing(bench: &Bench, manager: &TokenManager) -> (Result<AccessToken>, Duration) {
    let caller = call(manager);
    let took = advance_until(bench, async || caller.is_finished()).await;
    (caller.await.unwrap(), took)
}

/// Row 51. From when it is first read.
#[tokio::test]
async fn the_mark_of_another_process_stands_for_two_minutes() {
    let (bench, network, manager) = marked().await;
    network.loads.store(false, Ordering::SeqCst);
    for _ in 0..10 {
        assert!(refusal(&manager).await.is_retryable());
        bench.clock.advance(DAY / 24);
    }
    network.loads.store(true, Ordering::SeqCst);
    // Each call ends after its lock wait, and the wait for the mark continues.
    assert!(is_waiting(&manager).await);
    bench.clock.advance(OWNER_PERIOD.saturating_sub(SECOND));
    assert!(is_waiting(&manager).await);
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
async fn tokens_that_the_owner_of_a_mark_stores_are_adopted_without_a_request() {
    let (bench, network, _) = marked().await;
    let builder = bench
        .builder()
        .store(network.store)
        .timing(|it| it.lock_wait = DAY);
    let manager = builder.build().unwrap();
    let caller = call(&manager);
    pass(&bench, 10 * SECOND).await;
    assert!(!caller.is_finished());
    bench.put_tokens(7).await;
    let took = advance_until(&bench, async || caller.is_finished()).await;
    assert_eq!(caller.await.unwrap().unwrap().expose(), "at-7");
    assert!(took <= SECOND, "{took:?}");
    assert_eq!(bench.idp.refreshes(), 0);
}

/// Row 51. Row 50.
#[tokio::test]
async fn a_process_that_could_not_write_for_minutes_stores_its_tokens_during_a_claim() {
    let bench = Bench::expired().await;
    let cut = Network::of(&bench);
    let (owner, other) = (cut.manager(&bench), Network::of(&bench).manager(&bench));
    cut.writes.store(false, Ordering::SeqCst);
    assert_eq!(token(&owner).await, "at-2");
    assert!(is_waiting(&other).await);
    bench.clock.advance(OWNER_PERIOD);
    let caller = call(&other);
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
    let bench = Bench::expired().await;
    let cut = Network::of(&bench);
    let owner = cut.manager(&bench);
    cut.writes.store(false, Ordering::SeqCst);
    assert_eq!(token(&owner).await, "at-2");
    bench.clock.advance(DAY);
    let held = bench.idp.hold();
    let caller = call(&owner);
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
    let (bench, network, manager) = marked().await;
    assert!(is_waiting(&manager).await);
    bench.clock.advance(OWNER_PERIOD);
    let caller = call(&manager);
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
async fn a_process_does_not_wait_for_its_own_mark() {
    let bench = Bench::expired().await;
    let manager = Network::of(&bench).manager(&bench);
    for _ in 0..2 {
        bench.idp.reply(reply(502, ""));
    }
    let (failed, _) = passing(&bench, &manager).await;
    assert!(failed.unwrap_err().is_retryable());
    assert!(bench.record().await.record.refresh_mark.is_some());
    bench.clock.advance(2 * SECOND);
    assert_eq!(token(&manager).await, "at-2");
    assert_eq!(bench.idp.refreshes(), 3);
}

/// The second reply proves nothing about the first, which may have used the token up.
#[tokio::test]
async fn a_refusal_removes_the_mark_unless_a_reply_was_lost_before_it() {
    for was_lost in [false, true] {
        let bench = Bench::expired().await;
        let manager = bench.manager();
        if was_lost {
            bench.idp.reply(reply(502, ""));
        }
        bench.idp.reply(reply(429, ""));
        let failed = if was_lost {
            call_after_loss(&bench, &manager).await.unwrap_err()
        } else {
            refusal(&manager).await
        };
        assert!(failed.is_retryable());
        assert_eq!(bench.record().await.record.refresh_mark.is_some(), was_lost);
    }
}

/// Row 51. The lock of the first process is lost during a slow request.
#[tokio::test]
async fn a_lock_that_is_lost_during_a_request_does_not_let_another_process_send_the_token() {
    let bench = Bench::expired().await;
    let process = || Network::of(&bench).manager(&bench);
    let (owner, other) = (process(), process());
    let held = bench.idp.hold();
    let caller = call(&owner);
    held.arrived().await;
    for _ in 0..9 {
        assert!(is_waiting(&other).await);
        bench.clock.advance(SECOND);
    }
    held.open();
    assert_eq!(caller.await.unwrap().unwrap().expose(), "at-2");
    assert_eq!(token(&other).await, "at-2");
    assert_eq!(bench.idp.refreshes(), 1);
}

/// Row 51. Another process may have replaced the mark meanwhile.
#[tokio::test]
async fn a_process_that_was_suspended_before_sending_reads_again() {
    let bench = Bench::expired().await;
    let (clock, stops) = (bench.clock.clone(), AtomicBool::new(true));
    let store = HookedStore::new(&bench.store, move |call| {
        if matches!(call, StoreCall::Swap(_)) && stops.swap(false, Ordering::SeqCst) {
            clock.advance(DAY);
        }
        Ok(())
    });
    let builder = bench.builder().store(store.with_fragile_lock());
    let manager = builder.build().unwrap();
    assert!(is_waiting(&manager).await);
    assert_eq!(bench.idp.refreshes(), 0);
    assert_eq!(token(&manager).await, "at-2");
}

/// Row 51.
#[tokio::test]
async fn a_token_that_another_process_has_marked_since_is_not_sent_a_second_time() {
    let bench = Bench::expired().await;
    let manager = Network::of(&bench).manager(&bench);
    let mut events = manager.events();
    bench.idp.reply(reply(502, ""));
    let caller = call(&manager);
    event(&mut events, "RotationAmbiguous").await;
    mark(&bench).await;
    bench.clock.advance(2 * SECOND);
    assert!(is_lock_timeout(&caller.await.unwrap().unwrap_err()));
    assert_eq!(bench.idp.refreshes(), 1);
}
