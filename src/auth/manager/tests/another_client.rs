//! Two clients on one record: the session belongs to the one that logged in.

use super::bench::{Bench, DAY, KEY, begin_login, log_in, refusal, token};
use crate::auth::{Provider, ProviderBuilder, SessionState, TokenStore};
use crate::error::{Error, ErrorKind};

/// A provider that differs in what decides to whom a refresh token was issued.
fn others(bench: &Bench) -> [ProviderBuilder; 2] {
    let base = "http://127.0.0.1:1";
    [
        bench.provider_of(Provider::builder("another-app")),
        bench.provider().token_url(format!("{base}/other/token")),
    ]
}

fn assert_blames_the_setting(error: &Error) {
    assert!(error.kind() == ErrorKind::Config, "{error:?}");
    assert!(
        !error.is_reauth_required() && error.kind() != ErrorKind::Store && !error.is_retryable()
    );
    let report = error.report();
    for setting in ["client_id", "token_url", "account key"] {
        assert!(report.contains(setting), "{report}");
    }
}

/// Row 59.
#[tokio::test]
async fn the_record_of_another_client_is_refused_before_anything_is_sent_and_stays() {
    for which in 0..2 {
        let bench = Bench::new();
        let owner = bench.manager();
        log_in(&bench, &owner, "sam").await;
        let before = bench.record().await;
        let sent = bench.idp.requests();

        let [first, second] = others(&bench);
        let other = bench.manager_of(if which == 0 { first } else { second });
        bench.clock.advance(DAY);
        assert_blames_the_setting(&refusal(&other).await);
        let session = other.inspect().await;
        assert!(
            matches!(session.state, SessionState::Unknown),
            "{session:?}"
        );
        assert_blames_the_setting(&session.store_error.unwrap());
        let login = begin_login(&bench, &other, "kim").await.unwrap();
        assert_blames_the_setting(&login.unwrap_err());
        let report = other.logout(None).await;
        assert_blames_the_setting(&report.problems[0]);
        let after = bench.record().await;
        assert_eq!(after.version, before.version);
        assert_eq!(bench.idp.requests(), sent);

        // The session of the owner goes on.
        assert_eq!(token(&owner).await, "at-3");
    }
}

/// Row 59. The request for the codes of a device names no account; no poll follows it.
#[tokio::test]
async fn a_device_login_over_the_record_of_another_client_sends_no_poll() {
    let bench = Bench::new();
    log_in(&bench, &bench.manager(), "sam").await;
    let sent = bench.idp.refreshes();
    let [other, _] = others(&bench);
    let login = other.build().unwrap().authorization();
    let login = login.start_device().await.unwrap();
    let [other, _] = others(&bench);
    let outcome = bench.manager_of(other).complete_device_login(login).await;
    assert_blames_the_setting(&outcome.unwrap_err());
    assert_eq!(bench.idp.refreshes(), sent);
}

/// Row 59.
#[tokio::test]
async fn a_record_of_an_earlier_version_is_taken_as_ones_own_and_signed_at_the_next_write() {
    let bench = Bench::expired().await;
    assert!(bench.record().await.record.client.is_none());
    assert_eq!(token(&bench.manager()).await, "at-2");
    let client = bench.record().await.record.client.unwrap();
    assert_eq!(client.id, "app");
    assert!(client.token_url.ends_with("/oauth/token"));
}

/// Row 59. The other client logs in between the read before the exchange and the write after it.
#[tokio::test]
async fn a_login_of_another_client_in_the_meantime_is_not_overwritten() {
    let bench = Bench::new();
    let owner = bench.manager();
    let [_, other] = others(&bench);
    let held = bench.idp.hold();
    let late = begin_login(&bench, &bench.manager_of(other), "kim");
    held.arrived().await;
    log_in(&bench, &owner, "sam").await;
    let before = bench.record().await.version;
    held.open();
    assert_blames_the_setting(&late.await.unwrap().unwrap_err());
    assert_eq!(
        bench.store.load(KEY).await.unwrap().unwrap().version,
        before
    );
}
