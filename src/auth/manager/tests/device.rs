//! A login on another device: its polls with their times, and how it ends.

use std::error::Error as _;
use std::iter::repeat_with;

use serde_json::json;
use tokio::task::{JoinHandle, yield_now};

use super::bench::{Bench, DAY, SECOND, error, id_token, renewed, reply, token, yields};
use crate::auth::{Provider, TokenManager, TokenSet, TokenSource};
use crate::error::{Error, ErrorKind, Result};
use crate::fake::InProcessReply;

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
        let login = bench.provider().build().unwrap().authorization();
        let login = login.start_device().await.unwrap();
        let manager = manager.clone();
        let login = tokio::spawn(async move { manager.complete_device_login(login).await });
        let polling = Self { bench, login };
        polling.until_idle().await;
        polling
    }

    /// Waits until the login sleeps or has ended.
    pub(super) async fn until_idle(&self) {
        while self.bench.clock.sleepers() == 0 && !self.login.is_finished() {
            yield_now().await;
        }
    }

    /// Moves the clock by seconds until the login stops to sleep. Returns how many.
    pub(super) async fn seconds_to_wake(&self) -> u64 {
        let polls = self.bench.idp.refreshes();
        for seconds in 1..1_000 {
            self.bench.clock.advance(SECOND);
            // What is woken runs before this task does.
            yields(5).await;
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

const BUSY: &str = "temporarily_unavailable";

fn pending() -> InProcessReply {
    error(403, "authorization_pending")
}

/// The endpoint sends these, then tokens of Sam.
fn scripted(replies: impl IntoIterator<Item = InProcessReply>) -> Bench {
    let bench = Bench::new();
    bench.idp.log_in_as("sam", "a nonce that no request had");
    for reply in replies {
        bench.idp.reply(reply);
    }
    bench
}

/// The seconds before each poll of a login that gets these replies, then tokens.
async fn times(replies: impl IntoIterator<Item = InProcessReply>) -> Vec<u64> {
    let bench = scripted(replies);
    let (seconds, outcome) = Polling::start(&bench).await.all_polls().await;
    outcome.unwrap();
    seconds
}

#[tokio::test]
async fn a_login_on_another_device_stores_its_tokens_and_serves_them() {
    let bench = scripted([pending()]);
    let manager = bench.manager();
    let polling = Polling::start_in(&bench, &manager).await;
    let (_, tokens) = polling.all_polls().await;
    assert_eq!(tokens.unwrap().subject(), Some("sam"));
    assert_eq!(bench.stored_refresh_token().await.unwrap(), "rt-2");
    assert_eq!(manager.current().unwrap().expose(), "at-2");
    bench.clock.advance(DAY);
    assert_eq!(token(&manager).await, "at-3");
}

#[tokio::test]
async fn rfc_8628_3_1_and_3_4_the_requests_have_these_fields() {
    let bench = scripted([]);
    let provider = bench.provider().client_secret("s").build().unwrap();
    let login = provider.authorization();
    let login = login.scopes(["openid", "email"]).param("hint", "barn");
    let login = login.start_device().await.unwrap();
    assert_eq!(login.interval(), 5 * SECOND);
    assert_eq!(login.expires_at(), bench.clock.now() + 60 * SECOND);
    assert_eq!(login.user_code(), "WDJB-MJHT");
    assert_eq!(login.verification_url().path(), "/activate");
    assert_eq!(login.verification_url_complete(), None);
    let manager = TokenManager::builder(provider).build().unwrap();
    bench.clock.advance(login.interval());
    manager.complete_device_login(login).await.unwrap();
    let fields = |at: &str| json!(bench.idp.forms(at)[0]);
    let expected = json!({
        "client_id": "app", "client_secret": "s", "scope": "openid email", "audience": "https://api.example",
        "hint": "barn",
    });
    assert_eq!(fields("/oauth/device/code"), expected);
    let expected = json!({
        "client_id": "app", "client_secret": "s", "device_code": "d-1",
        "grant_type": "urn:ietf:params:oauth:grant-type:device_code",
    });
    assert_eq!(fields("/oauth/token"), expected);
}

/// Row 55. Row 56. RFC 8628 section 3.5.
#[tokio::test]
async fn polls_come_at_the_interval_and_later_when_the_server_says_so_or_fails() {
    let slow_down = || error(429, "slow_down");
    let (down, busy) = (|| reply(503, ""), || reply(429, ""));
    let later = |reply: InProcessReply, seconds| reply.header("retry-after", seconds);
    // Auth0 sends it with every reply: the limit is not reached.
    let reset = pending().header("x-ratelimit-reset", "1700000500");
    for (replies, expected) in [
        (vec![pending(), pending()], &[5, 5, 5][..]),
        // For all later requests, too.
        (vec![slow_down(), pending(), slow_down()], &[5, 10, 10, 15]),
        (vec![later(pending(), "7"), reset], &[5, 7, 5]),
        // A busy server doubles the interval, which is longer.
        (vec![later(busy(), "7")], &[5, 10]),
        (vec![later(busy(), "30")], &[5, 30]),
        // Each failure in a row doubles the wait, and a reply ends the series.
        (
            vec![down(), down(), pending(), down(), pending()],
            &[5, 10, 20, 5, 10, 5],
        ),
    ] {
        assert_eq!(times(replies).await, expected);
    }
}

/// Row 56. It may still arrive, and use up the code.
#[tokio::test]
async fn after_a_poll_that_timed_out_the_next_one_waits_for_the_request_in_flight() {
    let bench = Bench::new();
    bench.idp.time_out();
    let polling = Polling::start(&bench).await;
    assert_eq!(polling.next_poll().await, 5);
    assert_eq!(polling.seconds_to_wake().await, 30);
}

fn assert_expired(error: &Error) {
    assert!(error.kind() == ErrorKind::LoginRefused);
    assert!(error.to_string().contains("login_expired"), "{error}");
}

/// Row 55.
#[tokio::test]
async fn rfc_8628_3_5_no_poll_is_sent_after_the_codes_have_expired() {
    let bench = scripted(repeat_with(pending).take(100));
    let (seconds, outcome) = Polling::start(&bench).await.all_polls().await;
    // Not at 60 seconds, when they expire.
    assert_eq!(seconds, [5; 11]);
    assert_expired(&outcome.unwrap_err());

    // A machine that sleeps in between.
    let bench = Bench::new();
    let polling = Polling::start(&bench).await;
    bench.clock.advance(DAY);
    assert_expired(&polling.login.await.unwrap().unwrap_err());
    assert_eq!(bench.idp.refreshes(), 0);
}

/// Row 56.
#[tokio::test]
async fn codes_that_expire_during_an_outage_are_reported_with_its_reason() {
    let bench = scripted(repeat_with(|| reply(503, "")).take(100));
    let (seconds, outcome) = Polling::start(&bench).await.all_polls().await;
    assert_eq!(seconds, [5, 10, 20]);
    let error = outcome.unwrap_err();
    assert_expired(&error);
    let reason = error.source().unwrap().to_string();
    assert!(reason.contains("transient failure"), "{reason}");
}

/// Row 57.
#[tokio::test]
async fn a_caller_that_is_dropped_while_it_waits_stops_the_polls() {
    let bench = scripted([pending()]);
    let polling = Polling::start(&bench).await;
    polling.next_poll().await;
    polling.login.abort();
    assert!(polling.login.await.unwrap_err().is_cancelled());
    assert_eq!(bench.clock.sleepers(), 0);
    assert_eq!(bench.idp.refreshes(), 1);
}

/// Row 57. A poll that was sent completes in any case.
#[tokio::test]
async fn a_caller_that_is_dropped_during_a_poll_does_not_lose_its_tokens() {
    for logs_out in [false, true] {
        let bench = scripted([]);
        let manager = bench.manager();
        let held = bench.idp.hold();
        let polling = Polling::start_in(&bench, &manager).await;
        polling.seconds_to_wake().await;
        held.arrived().await;
        if logs_out {
            manager.logout(None).await;
            held.open();
            let error = polling.login.await.unwrap().unwrap_err();
            assert!(error.kind() == ErrorKind::LoginRefused);
            assert!(bench.stored().await.is_none() && manager.current().is_none());
            assert_eq!(bench.idp.revoked(), ["rt-2"]);
        } else {
            polling.login.abort();
            assert!(polling.login.await.unwrap_err().is_cancelled());
            held.open();
            assert!(manager.flush(DAY).await);
            assert!(manager.current().is_some());
            assert_eq!(bench.stored_refresh_token().await.unwrap(), "rt-2");
        }
    }
}

/// Row 57.
#[tokio::test]
async fn a_logout_ends_a_device_login_before_its_next_poll() {
    let bench = scripted([pending()]);
    let manager = bench.manager();
    let polling = Polling::start_in(&bench, &manager).await;
    polling.next_poll().await;
    manager.logout(None).await;
    polling.seconds_to_wake().await;
    let error = polling.login.await.unwrap().unwrap_err();
    assert!(error.kind() == ErrorKind::LoginRefused);
    assert!(error.to_string().contains("overtaken"), "{error}");
    assert_eq!(bench.idp.refreshes(), 1);
}

/// Row 55. Row 45. No second poll is sent. The claims but `nonce` are checked as in any login (OIDC Core 3.1.3.7).
#[tokio::test]
async fn rfc_8628_3_5_any_other_error_ends_the_polls() {
    let foreign = json!({"sub": "sam", "aud": "other", "exp": 4_000_000_000_u64});
    let mut foreign_tokens = renewed(9);
    foreign_tokens["id_token"] = id_token(&foreign).into();
    let refused = Some(ErrorKind::LoginRefused);
    let config = Some(ErrorKind::Config);
    for (kind, reply, text) in [
        (refused, reply(200, foreign_tokens), "id_token_audience"),
        (refused, reply(200, renewed(9)), "id_token_missing"),
        (refused, error(403, "access_denied"), "access_denied"),
        (refused, error(400, "expired_token"), "login_expired"),
        (refused, error(403, "invalid_grant"), "invalid_grant"),
        (refused, error(403, "never_heard_of"), ""),
        (config, error(401, "invalid_client"), ""),
        (config, reply(307, ""), ""),
        (
            Some(ErrorKind::ReauthRequired),
            error(403, "mfa_required"),
            "",
        ),
        // Later.
        (None, error(400, BUSY), ""),
    ] {
        let bench = scripted([reply]);
        let polling = Polling::start(&bench).await;
        polling.next_poll().await;
        assert!(polling.login.is_finished(), "a second poll would come");
        let error = polling.login.await.unwrap().unwrap_err();
        assert!(error.to_string().contains(text), "{error}");
        match kind {
            Some(kind) => assert_eq!(error.kind(), kind, "{error}"),
            None => assert!(error.is_retryable(), "{error}"),
        }
        assert!(bench.stored().await.is_none());
    }
}

/// Row 56. Where it is pending after that, it was not used up.
#[tokio::test]
async fn a_code_that_is_used_up_after_a_lost_reply_names_the_loss() {
    let refused = || error(403, "invalid_grant");
    for (replies, reason) in [
        (vec![refused()], "tokens_lost"),
        (vec![pending(), refused()], "invalid_grant"),
    ] {
        let bench = Bench::new();
        bench.idp.log_in_as("sam", "");
        bench.idp.lose_reply();
        for next in replies {
            bench.idp.reply(next);
        }
        let polling = Polling::start(&bench).await;
        let (_, outcome) = polling.all_polls().await;
        let error = outcome.unwrap_err();
        assert!(error.kind() == ErrorKind::LoginRefused);
        assert!(error.to_string().contains(reason), "{error}");
        assert_eq!(error.source().is_some(), reason == "tokens_lost");
    }
}

/// Row 56.
#[tokio::test]
async fn tokens_that_cannot_be_used_are_revoked_and_not_asked_for_again() {
    let cut = r#"{"refresh_token":"rt-9","access_tok"#;
    let foreign = r#"{"access_token":"a","token_type":"DPoP","refresh_token":"rt-9"}"#;
    for (body, is_lost) in [(cut, true), (foreign, false)] {
        let bench = scripted([reply(200, body)]);
        let polling = Polling::start(&bench).await;
        polling.next_poll().await;
        let error = polling.login.await.unwrap().unwrap_err();
        assert_eq!(error.kind() == ErrorKind::LoginRefused, is_lost, "{error}");
        assert_eq!(error.kind() == ErrorKind::Protocol, !is_lost, "{error}");
        assert_eq!(bench.idp.revoked(), ["rt-9"]);
        assert!(bench.stored().await.is_none());
    }
}

/// Row 45. The user code may have been typed by another user.
#[tokio::test]
async fn a_device_login_of_an_unexpected_user_is_refused_and_its_tokens_are_revoked() {
    for (user, refused) in [("kim", true), ("sam", false)] {
        let bench = Bench::new();
        let manager = bench.manager();
        bench.idp.log_in_as(user, "");
        let login = manager.provider().authorization();
        let login = login.expected_subject("sam").start_device().await.unwrap();
        bench.clock.advance(login.interval());
        let outcome = manager.complete_device_login(login).await;
        assert_eq!(
            outcome.is_err_and(|e| e.kind() == ErrorKind::LoginRefused),
            refused
        );
        assert_eq!(bench.stored().await.is_none(), refused);
        assert_eq!(bench.idp.revoked().len(), usize::from(refused));
    }
}

#[tokio::test]
async fn settings_that_cannot_start_a_device_login_are_named_and_not_shown() {
    let bench = Bench::new();
    let provider = bench.provider().build().unwrap();
    let login = || provider.authorization();
    let without = Provider::builder("app").token_url("http://127.0.0.1:9/token");
    let without = without.build().unwrap();
    for (request, named) in [
        (login().param("client_secret", "s3cr3t"), "client_secret"),
        (login().param("scope", "s3cr3t"), "scope"),
        (
            login().scopes(["email"]).expected_subject("s3cr3t"),
            "expected_subject",
        ),
        (without.authorization(), "device_authorization_url"),
    ] {
        assert!(!format!("{request:?}").contains("s3cr3t"));
        let error = request.start_device().await.unwrap_err();
        assert!(error.kind() == ErrorKind::Config && error.to_string().contains(named));
    }
    assert!(bench.idp.forms("/oauth/device/code").is_empty());
    let shown = format!("{:?}", login().start_device().await.unwrap());
    assert!(!shown.contains("WDJB") && !shown.contains("d-1"), "{shown}");
    assert!(shown.contains("id.example"), "{shown}");
}
