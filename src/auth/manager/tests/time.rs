//! Clocks that jump, machines that sleep, tokens with short lifetimes.

use std::time::Duration;

use wiremock::ResponseTemplate;

use super::bench::{Bench, DAY, KEY, ScriptedReply};
use crate::auth::TokenManager;

const HOUR: Duration = Duration::from_secs(3_600);

/// Row 39.
#[tokio::test]
async fn a_calendar_that_jumps_causes_one_refresh_at_most() {
    for (ahead, by, refreshes) in [
        (true, HOUR, 0),
        (false, HOUR, 0),
        // A token with a lifetime of a day is not distinguishable from an expired one.
        (true, DAY, 1),
        (false, DAY, 0),
    ] {
        let bench = Bench::new().await;
        let manager = bench.running().await;
        let now = bench.clock.now();
        bench
            .clock
            .set_wall(if ahead { now + by } else { now - by });
        for _ in 0..100 {
            manager.access_token().await.unwrap();
        }
        assert!(manager.flush(DAY).await);
        assert_eq!(bench.idp.refreshes(), refreshes, "{ahead} {by:?}");
        // And back again.
        bench.clock.set_wall(now);
        for _ in 0..100 {
            manager.access_token().await.unwrap();
        }
        assert!(manager.flush(DAY).await);
        assert_eq!(bench.idp.refreshes(), refreshes, "{ahead} {by:?}");
    }
}

/// Row 39.
#[tokio::test]
async fn a_token_that_expired_while_the_machine_slept_is_not_served() {
    let bench = Bench::new().await;
    let manager = bench.running().await;
    bench.clock.advance(10 * HOUR);
    assert_eq!(manager.access_token().await.unwrap().expose(), "at-1");
    // The wall clock is set back meanwhile: the boot clock decides.
    let wall = bench.clock.now();
    bench.clock.advance(14 * HOUR);
    bench.clock.set_wall(wall);
    assert_eq!(manager.access_token().await.unwrap().expose(), "at-2");
}

/// Row 40.
#[tokio::test]
async fn a_margin_covers_a_service_whose_clock_is_ahead() {
    let bench = Bench::new().await;
    bench.seed(Duration::ZERO).await;
    let manager = bench
        .builder()
        .background(false)
        .expiry_margin(Duration::from_secs(360))
        .build()
        .unwrap();
    bench
        .clock
        .advance(DAY.saturating_sub(Duration::from_secs(361)));
    assert_eq!(manager.access_token().await.unwrap().expose(), "at-1");
    bench.clock.advance(Duration::from_secs(1));
    assert_eq!(manager.access_token().await.unwrap().expose(), "at-2");
}

/// Row 42.
#[tokio::test]
async fn tokens_of_ten_seconds_are_served_and_renewed_once_each() {
    let bench = Bench::new().await;
    bench.seed(DAY).await;
    let provider = bench.provider().build().unwrap();
    let builder = TokenManager::builder(provider).store(bench.store.clone());
    let manager = builder.account(KEY).wait(DAY).build().unwrap();
    for n in 1..=20 {
        let body = serde_json::json!({"access_token": format!("short-{n}"), "expires_in": 10});
        // A reply without a refresh token: the old one stays valid.
        let short = ResponseTemplate::new(200).set_body_json(body);
        bench.idp.next(ScriptedReply::Reply(short));
    }
    for _ in 0..60 {
        for _ in 0..10 {
            manager.access_token().await.unwrap();
        }
        assert!(manager.flush(DAY).await);
        bench.clock.advance(Duration::from_secs(1));
    }
    // Half a lifetime each.
    let refreshes = bench.idp.refreshes();
    assert!((10..=13).contains(&refreshes), "{refreshes}");
}
