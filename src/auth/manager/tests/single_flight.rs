//! Many callers and one refresh, which no caller can cancel.

use std::future::poll_fn;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

use super::bench::{Bench, DAY, SECOND, call, event, renewed, reply, token, yields};
use crate::auth::TokenSource;
use crate::error::ErrorKind;
use equipment::seeded::seed;

/// Row 1.
#[tokio::test]
async fn many_callers_of_an_expired_token_cause_one_request() {
    let bench = Bench::expired().await;
    let manager = bench.manager();
    let callers: Vec<_> = (0..10_000).map(|_| call(&manager)).collect();
    for caller in callers {
        assert_eq!(caller.await.unwrap().unwrap().expose(), "at-2");
    }
    assert_eq!(bench.idp.refreshes(), 1);
    assert_eq!(bench.stored_refresh_token().await.unwrap(), "rt-2");
}

/// Row 9.
#[tokio::test]
async fn two_managers_of_one_record_refresh_once() {
    let bench = Bench::expired().await;
    let (one, two) = (bench.manager(), bench.manager());
    let (a, b) = tokio::join!(token(&one), token(&two));
    assert_eq!((a.as_str(), b.as_str()), ("at-2", "at-2"));
    assert_eq!(bench.idp.refreshes(), 1);
    assert!(!bench.idp.session_over());
}

/// Row 12.
#[tokio::test]
async fn a_caller_that_is_dropped_in_the_middle_of_a_refresh_loses_nothing() {
    let bench = Bench::expired().await;
    let manager = bench.manager();
    let mut events = manager.events();
    let held = bench.idp.hold();
    let caller = call(&manager);
    held.arrived().await;
    caller.abort();
    assert!(caller.await.unwrap_err().is_cancelled());
    held.open();
    event(&mut events, "Refreshed").await;
    assert_eq!(bench.stored_refresh_token().await.unwrap(), "rt-2");
    assert_eq!(token(&manager).await, "at-2");
    assert_eq!(bench.idp.refreshes(), 1);
}

/// Row 11.
#[tokio::test]
async fn a_thousand_callers_dropped_after_any_number_of_steps_lose_nothing() {
    let (bench, manager) = Bench::in_use().await;
    let mut random = fastrand::Rng::with_seed(seed());
    for _ in 0..1_000 {
        // A refresh takes about ten of them.
        let steps = random.u32(0..20);
        bench.clock.advance(DAY);
        {
            let mut caller = pin!(manager.access_token());
            for _ in 0..steps {
                let polled = poll_fn(|context| Poll::Ready(caller.as_mut().poll(context)));
                if polled.await.is_ready() {
                    break;
                }
                yields(1).await;
            }
        }
        token(&manager).await;
    }
    assert_eq!(bench.idp.refreshes(), 1_000);
    assert!(!bench.idp.session_over());
}

/// Row 7.
#[tokio::test]
async fn a_caller_times_out_and_the_refresh_continues() {
    let bench = Bench::expired().await;
    let manager = bench.builder().wait(5 * SECOND).build().unwrap();
    let held = bench.idp.hold();
    let caller = call(&manager);
    held.arrived().await;
    bench.clock.advance(5 * SECOND);
    assert!(caller.await.unwrap().unwrap_err().is_retryable());
    held.open();
    assert_eq!(token(&manager).await, "at-2");
    assert_eq!(bench.idp.refreshes(), 1);
}

/// Row 6.
#[tokio::test]
async fn the_old_token_is_served_while_an_early_refresh_hangs_and_not_past_its_end() {
    for expires in [false, true] {
        let (bench, manager) = Bench::in_use().await;
        bench.clock.advance(DAY / 100 * 81);
        let held = bench.idp.hold();
        assert!(manager.current().is_none());
        for _ in 0..100 {
            assert_eq!(token(&manager).await, "at-1");
        }
        held.arrived().await;
        assert_eq!(token(&manager).await, "at-1");
        // No work is left, so that readers do not lock the state.
        assert_eq!(manager.current().unwrap().expose(), "at-1");
        if expires {
            bench.clock.advance(DAY / 100 * 19);
            assert!(manager.current().is_none());
        }
        held.open();
        if !expires {
            assert!(manager.flush(DAY).await);
            assert_eq!(manager.current().unwrap().expose(), "at-2");
        }
        assert_eq!(token(&manager).await, "at-2");
        assert_eq!(bench.idp.refreshes(), 1);
    }
}

/// Row 14.
#[tokio::test]
async fn without_background_refreshes_a_token_is_used_up_first() {
    let bench = Bench::new();
    bench.seed(DAY / 100 * 90).await;
    let manager = bench.builder().background(false).build().unwrap();
    for _ in 0..2 {
        assert_eq!(token(&manager).await, "at-1");
    }
    assert!(manager.flush(DAY).await);
    assert_eq!(bench.idp.refreshes(), 0);
    bench.clock.advance(DAY / 10);
    assert_eq!(token(&manager).await, "at-2");
}

/// Row 2. Row 3.
#[tokio::test]
async fn many_rejections_of_one_token_cause_one_refresh() {
    let (bench, manager) = Bench::in_use().await;
    let rejected = manager.access_token().await.unwrap();
    let renew = || {
        let (manager, rejected) = (manager.clone(), rejected.clone());
        tokio::spawn(async move { manager.renew(&rejected).await.unwrap() })
    };
    let callers: Vec<_> = (0..200).map(|_| renew()).collect();
    for caller in callers {
        assert_eq!(caller.await.unwrap().expose(), "at-2");
    }
    // Late ones.
    for _ in 0..20 {
        bench.clock.advance(SECOND / 10);
        assert_eq!(renew().await.unwrap().expose(), "at-2");
    }
    assert_eq!(bench.idp.refreshes(), 1);
}

/// Row 4.
#[tokio::test]
async fn a_token_that_was_just_renewed_is_not_renewed_again_for_a_rejection() {
    let (bench, manager) = Bench::in_use().await;
    let second = manager.obtain(Some(1)).await.unwrap();
    assert_eq!(manager.renew(&second).await.unwrap().expose(), "at-2");
    assert_eq!(bench.idp.refreshes(), 1);
    bench.clock.advance(31 * SECOND);
    assert_eq!(manager.renew(&second).await.unwrap().expose(), "at-3");
}

/// The provider issues the same access token again, and rotates the refresh token.
#[tokio::test]
async fn the_same_access_token_with_a_new_lifetime_is_adopted() {
    let (bench, manager) = Bench::in_use().await;
    bench.clock.advance(DAY);
    for n in 2..=5 {
        let mut body = renewed(n);
        body["access_token"] = "at-1".into();
        bench.idp.reply(reply(200, body));
    }
    for _ in 0..4 {
        let token = manager.access_token().await.unwrap();
        assert_eq!((token.expose(), token.generation()), ("at-1", 2));
    }
    assert_eq!(bench.idp.refreshes(), 1);
    // Another process that had the old ones adopts the new ones.
    let other = bench.manager();
    bench.clock.advance(DAY);
    for process in [&other, &manager] {
        assert_eq!(process.access_token().await.unwrap().generation(), 3);
    }
    assert_eq!(bench.idp.refreshes(), 2);
}

#[test]
fn outside_of_a_runtime_there_is_an_error_and_no_panic() {
    let manager = Bench::new().manager();
    let future = pin!(manager.access_token());
    let mut context = Context::from_waker(Waker::noop());
    let Poll::Ready(result) = future.poll(&mut context) else {
        panic!("it waits")
    };
    assert!(result.unwrap_err().kind() == ErrorKind::Config);
}
