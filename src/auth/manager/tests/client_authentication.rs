//! Refreshes of a client that signs assertions, and a signer that fails.

use std::error::Error;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::bench::{
    Bench, DAY, SECOND, advance_until, call_after_loss, error, event, refusal, reply, token,
};
use crate::auth::store::counts_down;
use crate::auth::{AssertionSigner, BoxFuture, Event, TokenManager};

/// Signs, unless one of its next calls fails or panics.
#[derive(Clone, Default)]
struct Key {
    failures: Arc<AtomicUsize>,
    panics: Arc<AtomicUsize>,
}

impl AssertionSigner for Key {
    fn alg(&self) -> &'static str {
        "ES256"
    }

    fn sign<'a>(
        &'a self,
        _: &'a [u8],
    ) -> BoxFuture<'a, Result<Vec<u8>, Box<dyn Error + Send + Sync>>> {
        let (fails, panics) = (counts_down(&self.failures), counts_down(&self.panics));
        Box::pin(async move {
            assert!(!panics, "the signer has a bug");
            if fails {
                return Err("the module is locked".into());
            }
            Ok(vec![7; 64])
        })
    }
}

fn signing(bench: &Bench, key: &Key) -> TokenManager {
    let provider = bench.provider().issuer("https://id.example/");
    bench.manager_of(provider.private_key_jwt(key.clone()))
}

/// RFC 7523 section 3, rule 7: a server may refuse a `jti` that it has seen.
#[tokio::test]
async fn rfc_7523_3_a_refresh_that_is_repeated_has_another_assertion() {
    let bench = Bench::expired().await;
    let manager = signing(&bench, &Key::default());
    bench.idp.reply(reply(502, ""));
    let retried = call_after_loss(&bench, &manager).await;
    assert_eq!(retried.unwrap(), "at-2");
    let forms = bench.idp.forms("/oauth/token");
    let [first, second] = &forms[..] else {
        panic!("{forms:?}")
    };
    assert_eq!(first["refresh_token"], second["refresh_token"]);
    assert_ne!(first["client_assertion"], second["client_assertion"]);
}

/// Row 29.
#[tokio::test]
async fn while_the_signer_fails_a_valid_token_stays_in_use_and_nothing_is_sent() {
    let (bench, _) = Bench::in_use().await;
    let key = Key::default();
    let manager = signing(&bench, &key);
    assert_eq!(token(&manager).await, "at-1");
    bench.clock.advance(DAY / 100 * 81);
    key.failures.store(1, Ordering::SeqCst);
    let mut events = manager.events();
    assert_eq!(token(&manager).await, "at-1");
    let failed = event(&mut events, "RefreshFailed").await;
    let Event::RefreshFailed { error, .. } = failed else {
        unreachable!()
    };
    assert!(error.is_retryable() && error.report().contains("the module is locked"));
    assert!(manager.flush(DAY).await);
    assert_eq!(bench.idp.refreshes(), 0);
    // No mark stays: other processes need not wait.
    assert!(bench.record().await.record.refresh_mark.is_none());
    bench.clock.advance(2 * SECOND);
    token(&manager).await;
    assert!(manager.flush(DAY).await);
    assert_eq!(token(&manager).await, "at-2");
}

/// Row 40.
#[tokio::test]
async fn a_refused_assertion_names_the_clock_if_it_is_off() {
    for (minutes_ahead, named) in [
        (0, None),
        (660, Some("11 h 0 min ahead of")),
        (-3, Some("3 min behind")),
    ] {
        let bench = Bench::expired().await;
        let minutes = u32::try_from(1_440 + minutes_ahead).unwrap();
        let server = bench.clock.now() + DAY - minutes * 60 * SECOND;
        let refused = error(401, "invalid_client");
        let date = httpdate::fmt_http_date(server);
        bench.idp.reply(refused.header("date", &date));
        let report = refusal(&signing(&bench, &Key::default())).await.report();
        assert!(report.contains("invalid_client"), "{report}");
        match named {
            Some(named) => assert!(report.contains(named), "{report}"),
            None => assert!(!report.contains("clock"), "{report}"),
        }
    }
}

/// Row 15.
#[tokio::test]
async fn a_signer_that_panics_ends_one_refresh_and_not_the_manager() {
    let bench = Bench::expired().await;
    let key = Key::default();
    key.panics.store(1, Ordering::SeqCst);
    let manager = signing(&bench, &key);
    refusal(&manager).await;
    advance_until(&bench, async || manager.access_token().await.is_ok()).await;
    assert_eq!(token(&manager).await, "at-2");
}
