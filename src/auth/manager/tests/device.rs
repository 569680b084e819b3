//! The polls of a login on another device, and their times.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::task::JoinHandle;
use wiremock::ResponseTemplate;

use super::bench::{Bench, DAY, ScriptedReply};
use crate::auth::{TokenManager, TokenSet, TokenSource};
use crate::error::{Error, Result};

/// A login that polls; the codes live for a minute, and the interval is the default of five seconds.
pub(super) struct Polling<'b> {
    pub(super) bench: &'b Bench,
    pub(super) login: JoinHandle<Result<TokenSet>>,
}

impl<'b> Polling<'b> {
    pub(super) async fn start(bench: &'b Bench) -> Self {
        Self::start_in(bench, &bench.manager()).await
    }

    pub(super) async fn start_in(bench: &'b Bench, manager: &TokenManager) -> Self {
        let login = bench.provider().build().unwrap().device_authorization();
        let login = login.start().await.unwrap();
        let manager = manager.clone();
        let login = tokio::spawn(async move { manager.complete_device_login(login).await });
        let polling = Self { bench, login };
        polling.until_idle().await;
        polling
    }

    /// Waits until the login sleeps or has ended.
    pub(super) async fn until_idle(&self) {
        while self.bench.clock.sleepers() == 0 && !self.login.is_finished() {
            tokio::task::yield_now().await;
        }
    }

    /// Moves the clock by seconds until the login stops to sleep. Returns how many.
    pub(super) async fn seconds_to_wake(&self) -> u64 {
        let polls = self.bench.idp.refreshes();
        for seconds in 1..1_000 {
            self.bench.clock.advance(Duration::from_secs(1));
            // What is woken runs before this task does.
            for _ in 0..5 {
                tokio::task::yield_now().await;
            }
            // It may sleep again already.
            if self.bench.clock.sleepers() == 0 || self.bench.idp.refreshes() > polls {
                return seconds;
            }
        }
        panic!("the login does not wake");
    }

    /// As [`seconds_to_wake`](Self::seconds_to_wake), and waits for the reply to the poll.
    pub(super) async fn next_poll(&self) -> u64 {
        let polls = self.bench.idp.refreshes();
        let seconds = self.seconds_to_wake().await;
        self.until_idle().await;
        assert_eq!(self.bench.idp.refreshes(), polls + 1, "no poll");
        seconds
    }

    /// The seconds before each poll until the login ends, and its outcome.
    async fn all_polls(self) -> (Vec<u64>, Result<TokenSet>) {
        let mut seconds = Vec::new();
        while !self.login.is_finished() {
            seconds.push(self.next_poll().await);
        }
        (seconds, self.login.await.unwrap())
    }
}

pub(super) fn error(status: u16, code: &str) -> ResponseTemplate {
    ResponseTemplate::new(status).set_body_json(json!({"error": code}))
}

pub(super) fn pending() -> ResponseTemplate {
    error(403, "authorization_pending")
}

/// The endpoint sends these, then tokens.
pub(super) fn script(bench: &Bench, replies: impl IntoIterator<Item = ResponseTemplate>) {
    bench.idp.log_in_as("sam", "a nonce that no request had");
    for reply in replies {
        bench.idp.next(ScriptedReply::Reply(reply));
    }
}

/// The seconds before each poll of a login that gets these replies, then tokens.
async fn times(replies: impl IntoIterator<Item = ResponseTemplate>) -> Vec<u64> {
    let bench = Bench::new().await;
    script(&bench, replies);
    let (seconds, outcome) = Polling::start(&bench).await.all_polls().await;
    outcome.unwrap();
    seconds
}

#[tokio::test]
async fn a_login_on_another_device_stores_its_tokens_and_serves_them() {
    let bench = Bench::new().await;
    script(&bench, [pending()]);
    let manager = bench.manager();
    let polling = Polling::start_in(&bench, &manager).await;
    let (_, tokens) = polling.all_polls().await;
    assert_eq!(tokens.unwrap().subject(), Some("sam"));
    assert_eq!(bench.stored_refresh_token().await.unwrap(), "rt-2");
    assert_eq!(manager.current().unwrap().expose(), "at-2");
    bench.clock.advance(DAY);
    assert_eq!(manager.access_token().await.unwrap().expose(), "at-3");
}

#[tokio::test]
async fn rfc_8628_3_1_and_3_4_the_requests_have_these_fields() {
    let bench = Bench::new().await;
    script(&bench, []);
    let provider = bench.provider().client_secret("s").build().unwrap();
    let login = provider.device_authorization();
    let login = login.scopes(["openid", "email"]).param("hint", "barn");
    let login = login.start().await.unwrap();
    assert_eq!(login.interval(), Duration::from_secs(5));
    let minute = Duration::from_secs(60);
    assert_eq!(login.expires_at(), bench.clock.now() + minute);
    let manager = TokenManager::builder(provider).build().unwrap();
    bench.clock.advance(login.interval());
    manager.complete_device_login(login).await.unwrap();
    let fields = |at: &str| {
        let form = bench.idp.forms(at).remove(0);
        serde_json::to_value(form).unwrap()
    };
    let expected: Value = json!({
        "client_id": "app", "client_secret": "s", "scope": "openid email", "audience": "https://api.example",
        "hint": "barn",
    });
    assert_eq!(fields("/oauth/device/code"), expected);
    let expected: Value = json!({
        "client_id": "app", "client_secret": "s", "device_code": "d-1",
        "grant_type": "urn:ietf:params:oauth:grant-type:device_code",
    });
    assert_eq!(fields("/oauth/token"), expected);
}

/// Row 55.
#[tokio::test]
async fn rfc_8628_3_5_polls_come_at_the_interval() {
    assert_eq!(times([pending(), pending(), pending()]).await, [5; 4]);
}

/// Row 55.
#[tokio::test]
async fn rfc_8628_3_5_slow_down_adds_five_seconds() {
    let slow_down = || error(429, "slow_down");
    let replies = [slow_down(), pending(), slow_down()];
    // For all later requests, too.
    assert_eq!(times(replies).await, [5, 10, 10, 15]);
}

/// Row 55.
#[tokio::test]
async fn a_poll_waits_for_retry_after_and_not_for_the_reset_of_a_rate_limit_that_is_not_reached() {
    let later = |reply: ResponseTemplate| reply.insert_header("retry-after", "7");
    // Auth0 sends it with every reply.
    let reset = || pending().insert_header("x-ratelimit-reset", "1700000500");
    let busy = later(ResponseTemplate::new(429));
    assert_eq!(times([later(pending()), reset()]).await, [5, 7, 5]);
    // A busy server doubles the interval, which is longer.
    assert_eq!(times([busy]).await, [5, 10]);
    let busy = ResponseTemplate::new(429).insert_header("retry-after", "30");
    assert_eq!(times([busy]).await, [5, 30]);
}

/// Row 56. A reply ends the series.
#[tokio::test]
async fn rfc_8628_3_5_each_failure_in_a_row_doubles_the_wait() {
    let down = || ResponseTemplate::new(503);
    let replies = [down(), down(), pending(), down(), pending()];
    assert_eq!(times(replies).await, [5, 10, 20, 5, 10, 5]);
}

/// Row 56. It may still arrive, and use up the code.
#[tokio::test]
async fn after_a_poll_that_timed_out_the_next_one_waits_for_the_request_in_flight() {
    let bench = Bench::new().await;
    let held = bench.idp.hold();
    let quick = bench.provider().timeout(Duration::from_millis(20));
    let manager = TokenManager::builder(quick.build().unwrap());
    let polling = Polling::start_in(&bench, &manager.build().unwrap()).await;
    assert_eq!(polling.seconds_to_wake().await, 5);
    polling.until_idle().await;
    assert_eq!(polling.seconds_to_wake().await, 30);
    held.open();
}

/// Row 55.
#[tokio::test]
async fn rfc_8628_3_5_no_poll_is_sent_after_the_codes_have_expired() {
    let bench = Bench::new().await;
    script(&bench, std::iter::repeat_with(pending).take(100));
    let (seconds, outcome) = Polling::start(&bench).await.all_polls().await;
    // Not at 60 seconds, when they expire.
    assert_eq!(seconds, [5; 11]);
    assert_expired(&outcome.unwrap_err());

    // A machine that sleeps in between.
    let bench = Bench::new().await;
    let polling = Polling::start(&bench).await;
    bench.clock.advance(DAY);
    assert_expired(&polling.login.await.unwrap().unwrap_err());
    assert_eq!(bench.idp.refreshes(), 0);
}

fn assert_expired(error: &Error) {
    assert!(error.is_login_refused());
    assert!(error.to_string().contains("login_expired"), "{error}");
}

/// Row 56.
#[tokio::test]
async fn codes_that_expire_during_an_outage_are_reported_with_its_reason() {
    let bench = Bench::new().await;
    script(
        &bench,
        std::iter::repeat_with(|| ResponseTemplate::new(503)).take(100),
    );
    let (seconds, outcome) = Polling::start(&bench).await.all_polls().await;
    assert_eq!(seconds, [5, 10, 20]);
    let error = outcome.unwrap_err();
    assert_expired(&error);
    let reason = std::error::Error::source(&error).unwrap().to_string();
    assert!(reason.contains("transient failure"), "{reason}");
}

/// Row 57.
#[tokio::test]
async fn a_caller_that_is_dropped_while_it_waits_stops_the_polls() {
    let bench = Bench::new().await;
    script(&bench, [pending()]);
    let polling = Polling::start(&bench).await;
    polling.next_poll().await;
    polling.login.abort();
    assert!(polling.login.await.unwrap_err().is_cancelled());
    assert_eq!(bench.clock.sleepers(), 0);
    assert_eq!(bench.idp.refreshes(), 1);
}

/// Row 57.
#[tokio::test]
async fn a_caller_that_is_dropped_during_a_poll_does_not_lose_its_tokens() {
    let bench = Bench::new().await;
    script(&bench, []);
    let manager = bench.manager();
    let held = bench.idp.hold();
    let polling = Polling::start_in(&bench, &manager).await;
    polling.seconds_to_wake().await;
    held.arrived().await;
    polling.login.abort();
    assert!(polling.login.await.unwrap_err().is_cancelled());
    held.open();
    assert!(manager.flush(DAY).await);
    assert!(manager.current().is_some());
    assert_eq!(bench.stored_refresh_token().await.unwrap(), "rt-2");
}
