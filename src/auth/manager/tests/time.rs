//! Clocks that jump, machines that sleep, tokens with short lifetimes.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde_json::json;

use super::bench::{Bench, DAY, SECOND, callback, error, id_token, refusal, renewed, reply, token};
use super::device::Polling;
use crate::auth::TokenSet;
use crate::error::Result;
use crate::fake::InProcessReply;

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
    let manager = builder
        .timing(|it| it.expiry_margin = 360 * SECOND)
        .build()
        .unwrap();
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

/// Tokens with an id token that expires an hour after `issued`, sent at `date` by the provider's clock.
fn tokens_of(issued: SystemTime, date: Option<SystemTime>, nonce: &str) -> InProcessReply {
    let expiry = issued.duration_since(UNIX_EPOCH).unwrap() + HOUR;
    let claims = json!({"sub": "sam", "aud": "app", "exp": expiry.as_secs(), "nonce": nonce});
    let mut body = renewed(2);
    body["id_token"] = json!(id_token(&claims));
    let tokens = reply(200, body);
    match date {
        Some(date) => tokens.header("date", &httpdate::fmt_http_date(date)),
        None => tokens,
    }
}

async fn logged_in(
    bench: &Bench,
    tokens: impl FnOnce(&str) -> InProcessReply,
    on_a_device: bool,
) -> Result<TokenSet> {
    if on_a_device {
        let polling = Polling::start(bench).await;
        bench.idp.rotate_and_reply(tokens(""));
        polling.next_poll().await;
        return polling.login.await.unwrap();
    }
    let manager = bench.manager();
    let (login, callback) = callback(bench, &manager, "sam");
    let nonce = login.url().query_pairs().find(|(name, _)| name == "nonce");
    bench.idp.rotate_and_reply(tokens(&nonce.unwrap().1));
    manager.complete_login(login, &callback).await
}

/// Row 40.
#[tokio::test]
async fn an_id_token_is_compared_with_the_clock_of_the_provider() {
    let (ahead, behind) = (11 * HOUR, 11 * HOUR);
    for on_a_device in [false, true] {
        // How far our clock is ahead, how far behind, how old the token is, whether the reply has a date.
        for (ahead, behind, age, dated, fine) in [
            (Duration::ZERO, Duration::ZERO, Duration::ZERO, true, true),
            (ahead, Duration::ZERO, Duration::ZERO, true, true),
            (Duration::ZERO, behind, Duration::ZERO, true, true),
            (Duration::ZERO, behind, 2 * HOUR, true, false),
            (ahead, Duration::ZERO, Duration::ZERO, false, false),
        ] {
            let bench = Bench::new();
            let server = bench.clock.now() + behind - ahead;
            let date = dated.then_some(server);
            let tokens = |nonce: &str| tokens_of(server - age, date, nonce);
            let outcome = logged_in(&bench, tokens, on_a_device).await;
            match outcome {
                Ok(tokens) => assert!(fine && tokens.subject() == Some("sam"), "{ahead:?} {age:?}"),
                Err(error) => {
                    assert!(!fine, "{error}");
                    assert!(error.to_string().contains("id_token_expired"), "{error}");
                }
            }
        }
    }
    // That of a refresh is kept.
    let bench = Bench::expired().await;
    let server = bench.clock.now() - 11 * HOUR;
    bench
        .idp
        .rotate_and_reply(tokens_of(server, Some(server), ""));
    assert_eq!(token(&bench.manager()).await, "at-2");
    assert!(bench.stored().await.unwrap().id_token.is_some());
}

/// Row 32.
#[tokio::test]
async fn a_wait_of_any_length_ends_and_does_not_follow_the_calendar() {
    for (asked, waits) in [("5", 5), ("172800", 3_600), ("99999999999999999999", 3_600)] {
        let bench = Bench::expired().await;
        let manager = bench.manager();
        let busy = error(429, "too_many_requests");
        bench.idp.reply(busy.header("retry-after", asked));
        let waits = waits * SECOND;
        let failed = refusal(&manager).await;
        assert_eq!(failed.retry_after(), Some(waits), "{asked}");
        // The clock is set back by a day, and ahead: the wait is as long as before.
        for wall in [bench.clock.now() - DAY, bench.clock.now() + DAY] {
            bench.clock.set_wall(wall);
            let failed = refusal(&manager).await;
            assert_eq!(failed.retry_after(), Some(waits), "{asked}");
        }
        assert_eq!(bench.idp.refreshes(), 1);
        bench.clock.advance(waits);
        assert_eq!(token(&manager).await, "at-2", "{asked}");
    }
}
