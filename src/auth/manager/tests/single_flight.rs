//! Many callers and one refresh, which no caller can cancel.

use std::future::poll_fn;
use std::pin::pin;
use std::task::Poll;
use std::time::Duration;

use wiremock::ResponseTemplate;

use super::bench::{Bench, DAY, ScriptedReply, event};
use crate::auth::{Event, TokenSource};
use crate::seeded::seed;

/// Row 1.
#[tokio::test]
async fn many_callers_of_an_expired_token_cause_one_request() {
    let bench = Bench::new().await;
    bench.seed(DAY).await;
    let manager = bench.manager();
    let callers: Vec<_> = (0..10_000)
        .map(|_| {
            let manager = manager.clone();
            tokio::spawn(async move { manager.access_token().await.unwrap() })
        })
        .collect();
    for caller in callers {
        assert_eq!(caller.await.unwrap().expose(), "at-2");
    }
    assert_eq!(bench.idp.refreshes(), 1);
    assert_eq!(bench.stored_refresh_token().await.unwrap(), "rt-2");
}

/// Row 9.
#[tokio::test]
async fn two_managers_of_one_record_refresh_once() {
    let bench = Bench::new().await;
    bench.seed(DAY).await;
    let (one, two) = (bench.manager(), bench.manager());
    let (a, b) = tokio::join!(one.access_token(), two.access_token());
    assert_eq!((a.unwrap().expose(), b.unwrap().expose()), ("at-2", "at-2"));
    assert_eq!(bench.idp.refreshes(), 1);
    assert!(!bench.idp.session_over());
}

/// Row 12.
#[tokio::test]
async fn a_caller_that_is_dropped_in_the_middle_of_a_refresh_loses_nothing() {
    let bench = Bench::new().await;
    bench.seed(DAY).await;
    let manager = bench.manager();
    let mut events = manager.events();
    let held = bench.idp.hold();
    let caller = tokio::spawn({
        let manager = manager.clone();
        async move { manager.access_token().await }
    });
    held.arrived().await;
    caller.abort();
    assert!(caller.await.unwrap_err().is_cancelled());
    held.open();
    event(&mut events, |event| {
        matches!(event, Event::Refreshed { .. })
    })
    .await;
    assert_eq!(bench.stored_refresh_token().await.unwrap(), "rt-2");
    assert_eq!(manager.access_token().await.unwrap().expose(), "at-2");
    assert_eq!(bench.idp.refreshes(), 1);
}

/// Row 11.
#[tokio::test]
async fn a_thousand_callers_dropped_after_any_number_of_steps_lose_nothing() {
    let bench = Bench::new().await;
    let manager = bench.running().await;
    let mut random = fastrand::Rng::with_seed(seed());
    for _ in 0..1_000 {
        // A refresh takes about forty of them.
        let steps = random.u32(0..60);
        bench.clock.advance(DAY);
        {
            let mut caller = pin!(manager.access_token());
            for _ in 0..steps {
                let polled = poll_fn(|context| Poll::Ready(caller.as_mut().poll(context)));
                if polled.await.is_ready() {
                    break;
                }
                tokio::task::yield_now().await;
            }
        }
        manager.access_token().await.unwrap();
    }
    assert_eq!(bench.idp.refreshes(), 1_000);
    assert!(!bench.idp.session_over());
}

/// Row 7.
#[tokio::test]
async fn a_caller_times_out_and_the_refresh_continues() {
    let bench = Bench::new().await;
    bench.seed(DAY).await;
    let manager = bench
        .builder()
        .wait(Duration::from_secs(5))
        .build()
        .unwrap();
    let held = bench.idp.hold();
    let caller = tokio::spawn({
        let manager = manager.clone();
        async move { manager.access_token().await }
    });
    held.arrived().await;
    bench.clock.advance(Duration::from_secs(5));
    assert!(caller.await.unwrap().unwrap_err().is_retryable());
    held.open();
    assert_eq!(manager.access_token().await.unwrap().expose(), "at-2");
    assert_eq!(bench.idp.refreshes(), 1);
}

/// Row 6.
#[tokio::test]
async fn the_old_token_is_served_while_an_early_refresh_hangs() {
    let bench = Bench::new().await;
    let manager = bench.running().await;
    bench.clock.advance(DAY / 100 * 81);
    let held = bench.idp.hold();
    assert!(manager.current().is_none());
    for _ in 0..100 {
        assert_eq!(manager.access_token().await.unwrap().expose(), "at-1");
    }
    held.arrived().await;
    assert_eq!(manager.access_token().await.unwrap().expose(), "at-1");
    // No work is left, so that readers do not lock the state.
    assert_eq!(manager.current().unwrap().expose(), "at-1");
    held.open();
    assert!(manager.flush(DAY).await);
    assert_eq!(manager.current().unwrap().expose(), "at-2");
    assert_eq!(bench.idp.refreshes(), 1);
}

/// Row 6.
#[tokio::test]
async fn a_token_whose_renewal_hangs_is_not_served_past_its_end() {
    let bench = Bench::new().await;
    let manager = bench.running().await;
    bench.clock.advance(DAY / 100 * 81);
    let held = bench.idp.hold();
    manager.access_token().await.unwrap();
    held.arrived().await;
    assert!(manager.current().is_some());
    bench.clock.advance(DAY / 100 * 19);
    assert!(manager.current().is_none());
    held.open();
    assert_eq!(manager.access_token().await.unwrap().expose(), "at-2");
}

#[tokio::test]
async fn a_failed_early_renewal_is_started_again() {
    let bench = Bench::new().await;
    let manager = bench.running().await;
    bench.clock.advance(DAY / 100 * 81);
    for _ in 0..3 {
        bench
            .idp
            .next(ScriptedReply::Reply(ResponseTemplate::new(429)));
        assert_eq!(manager.access_token().await.unwrap().expose(), "at-1");
        assert!(manager.flush(DAY).await);
        assert!(manager.current().is_none());
        bench.clock.advance(Duration::from_secs(30));
    }
    assert_eq!(bench.idp.refreshes(), 3);
}

/// Row 14.
#[tokio::test]
async fn without_background_refreshes_a_token_is_used_up_first() {
    let bench = Bench::new().await;
    bench.seed(DAY / 100 * 90).await;
    let manager = bench.builder().background(false).build().unwrap();
    assert_eq!(manager.access_token().await.unwrap().expose(), "at-1");
    assert_eq!(manager.access_token().await.unwrap().expose(), "at-1");
    assert!(manager.flush(DAY).await);
    assert_eq!(bench.idp.refreshes(), 0);
    bench.clock.advance(DAY / 10);
    assert_eq!(manager.access_token().await.unwrap().expose(), "at-2");
}

/// Row 2.
#[tokio::test]
async fn many_rejections_of_one_token_cause_one_refresh() {
    let bench = Bench::new().await;
    let manager = bench.running().await;
    let rejected = manager.access_token().await.unwrap();
    let callers: Vec<_> = (0..200)
        .map(|_| {
            let (manager, rejected) = (manager.clone(), rejected.clone());
            tokio::spawn(async move { manager.renew(&rejected).await.unwrap() })
        })
        .collect();
    for caller in callers {
        assert_eq!(caller.await.unwrap().expose(), "at-2");
    }
    assert_eq!(bench.idp.refreshes(), 1);
}

/// Row 3.
#[tokio::test]
async fn late_rejections_get_the_new_token_and_cause_no_refresh() {
    let bench = Bench::new().await;
    let manager = bench.running().await;
    let rejected = manager.access_token().await.unwrap();
    manager.renew(&rejected).await.unwrap();
    for _ in 0..20 {
        bench.clock.advance(Duration::from_millis(100));
        assert_eq!(manager.renew(&rejected).await.unwrap().expose(), "at-2");
    }
    assert_eq!(bench.idp.refreshes(), 1);
}

/// Row 4.
#[tokio::test]
async fn a_token_that_was_just_renewed_is_not_renewed_again_for_a_rejection() {
    let bench = Bench::new().await;
    let manager = bench.running().await;
    let second = manager.obtain(Some(1)).await.unwrap();
    let error = manager.renew(&second).await.unwrap_err();
    assert!(error.is_retryable() && !error.is_reauth_required());
    assert_eq!(bench.idp.refreshes(), 1);
    bench.clock.advance(Duration::from_secs(31));
    assert_eq!(manager.renew(&second).await.unwrap().expose(), "at-3");
}

/// The provider issues the same access token again, and rotates the refresh token.
#[tokio::test]
async fn the_same_access_token_with_a_new_lifetime_is_adopted() {
    let bench = Bench::new().await;
    let manager = bench.running().await;
    bench.clock.advance(DAY);
    for n in 2..=5 {
        let refresh_token = format!("rt-{n}");
        let body = serde_json::json!({"access_token": "at-1", "refresh_token": refresh_token, "expires_in": 86_400});
        let response = ResponseTemplate::new(200).set_body_json(body);
        bench.idp.next(ScriptedReply::Reply(response));
    }
    for _ in 0..4 {
        let token = manager.access_token().await.unwrap();
        assert_eq!((token.expose(), token.generation()), ("at-1", 2));
    }
    assert_eq!(bench.idp.refreshes(), 1);
    // Another process that had the old ones adopts the new ones.
    let other = bench.manager();
    bench.clock.advance(DAY);
    assert_eq!(other.access_token().await.unwrap().generation(), 3);
    assert_eq!(manager.access_token().await.unwrap().generation(), 3);
    assert_eq!(bench.idp.refreshes(), 2);
}

/// Row 10.
#[tokio::test]
async fn accounts_do_not_share_tokens_or_waits() {
    let bench = Bench::new().await;
    let manager = bench.running().await;
    let other = bench.builder().account("kim").build().unwrap();
    assert!(other.access_token().await.unwrap_err().is_reauth_required());
    assert_eq!(manager.access_token().await.unwrap().expose(), "at-1");
    assert_eq!(bench.idp.refreshes(), 0);
}

#[test]
fn outside_of_a_runtime_there_is_an_error_and_no_panic() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let (bench, manager) = runtime.block_on(async {
        let bench = Bench::new().await;
        let manager = bench.manager();
        (bench, manager)
    });
    let future = std::pin::pin!(manager.access_token());
    let mut context = std::task::Context::from_waker(std::task::Waker::noop());
    let std::task::Poll::Ready(result) = future.poll(&mut context) else {
        panic!("it waits")
    };
    assert!(result.unwrap_err().is_config());
    drop(bench);
}
