//! Clocks that jump, machines that sleep, tokens with short lifetimes.

use std::time::Duration;

use serde_json::json;

use super::bench::{Bench, DAY, SECOND, reply, token};

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
        let (bench, manager) = Bench::in_use().await;
        let now = bench.clock.now();
        // And back again.
        for wall in [if ahead { now + by } else { now - by }, now] {
            bench.clock.set_wall(wall);
            for _ in 0..100 {
                token(&manager).await;
            }
            assert!(manager.flush(DAY).await);
            assert_eq!(bench.idp.refreshes(), refreshes, "{ahead} {by:?}");
        }
    }
}

/// Row 39.
#[tokio::test]
async fn a_token_that_expired_while_the_machine_slept_is_not_served() {
    let (bench, manager) = Bench::in_use().await;
    bench.clock.advance(10 * HOUR);
    assert_eq!(token(&manager).await, "at-1");
    // The wall clock is set back meanwhile: the monotonic clock decides.
    let wall = bench.clock.now();
    bench.clock.advance(14 * HOUR);
    bench.clock.set_wall(wall);
    assert_eq!(token(&manager).await, "at-2");
}

/// Row 40.
#[tokio::test]
async fn a_margin_covers_a_service_whose_clock_is_ahead() {
    let bench = Bench::new();
    bench.seed(Duration::ZERO).await;
    let builder = bench.builder().background(false);
    let manager = builder.expiry_margin(360 * SECOND).build().unwrap();
    bench.clock.advance(DAY.saturating_sub(361 * SECOND));
    assert_eq!(token(&manager).await, "at-1");
    bench.clock.advance(SECOND);
    assert_eq!(token(&manager).await, "at-2");
}

/// Row 42.
#[tokio::test]
async fn tokens_of_ten_seconds_are_served_and_renewed_once_each() {
    let bench = Bench::expired().await;
    let manager = bench.manager();
    for n in 1..=20 {
        // A reply without a refresh token: the old one stays valid.
        let body = json!({"access_token": format!("short-{n}"), "expires_in": 10});
        bench.idp.reply(reply(200, body));
    }
    for _ in 0..60 {
        for _ in 0..10 {
            token(&manager).await;
        }
        assert!(manager.flush(DAY).await);
        bench.clock.advance(SECOND);
    }
    // Half a lifetime each.
    let refreshes = bench.idp.refreshes();
    assert!((10..=13).contains(&refreshes), "{refreshes}");
}
