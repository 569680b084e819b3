//! Refreshes of clients that authenticate: with assertions, a signer that fails, and settings that are refused.

use std::error::Error;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use serde_json::json;
use wiremock::ResponseTemplate;

use super::bench::{Bench, DAY, KEY, ScriptedReply, advance_until, event};
use crate::auth::{AssertionSigner, BoxFuture, Event, ProviderBuilder, TokenManager, TokenStore};

/// Signs, unless one of its next calls fails or panics.
#[derive(Clone, Default)]
struct Key {
    failures: Arc<AtomicU32>,
    panics: Arc<AtomicU32>,
}

impl AssertionSigner for Key {
    fn alg(&self) -> &'static str {
        "ES256"
    }

    fn sign<'a>(
        &'a self,
        _: &'a [u8],
    ) -> BoxFuture<'a, Result<Vec<u8>, Box<dyn Error + Send + Sync>>> {
        let take = |left: &AtomicU32| {
            let taken = left.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |n| n.checked_sub(1));
            taken.is_ok()
        };
        let (fails, panics) = (take(&self.failures), take(&self.panics));
        Box::pin(async move {
            assert!(!panics, "the signer has a bug");
            if fails {
                return Err("the module is locked".into());
            }
            Ok(vec![7; 64])
        })
    }
}

fn manager_of(bench: &Bench, provider: ProviderBuilder) -> TokenManager {
    let builder = TokenManager::builder(provider.build().unwrap());
    let builder = builder.store(bench.store.clone()).account(KEY);
    builder.wait(30 * DAY).build().unwrap()
}

fn signing(bench: &Bench, key: Key) -> TokenManager {
    let provider = bench.provider().issuer("https://id.example/");
    manager_of(bench, provider.private_key_jwt(key))
}

/// RFC 7523 section 3, rule 7: a server may refuse a `jti` that it has seen.
#[tokio::test]
async fn rfc_7523_3_a_refresh_that_is_repeated_has_another_assertion() {
    let bench = Bench::new().await;
    bench.seed(DAY).await;
    let manager = signing(&bench, Key::default());
    bench
        .idp
        .next(ScriptedReply::Reply(ResponseTemplate::new(502)));
    let mut events = manager.events();
    let caller = tokio::spawn(async move { manager.access_token().await });
    event(&mut events, |event| {
        matches!(event, Event::RotationAmbiguous)
    })
    .await;
    bench.clock.advance(Duration::from_secs(2));
    assert_eq!(caller.await.unwrap().unwrap().expose(), "at-2");
    let forms = bench.idp.forms("/oauth/token");
    let assertion = |form: usize| &forms[form]["client_assertion"];
    assert_eq!(forms.len(), 2);
    assert_eq!(forms[0]["refresh_token"], forms[1]["refresh_token"]);
    assert_ne!(assertion(0), assertion(1));
}

/// Row 29.
#[tokio::test]
async fn while_the_signer_fails_a_valid_token_stays_in_use_and_nothing_is_sent() {
    let bench = Bench::new().await;
    bench.seed(Duration::ZERO).await;
    let key = Key::default();
    let manager = signing(&bench, key.clone());
    assert_eq!(manager.access_token().await.unwrap().expose(), "at-1");
    bench.clock.advance(DAY / 100 * 81);
    key.failures.store(1, Ordering::SeqCst);
    let mut events = manager.events();
    assert_eq!(manager.access_token().await.unwrap().expose(), "at-1");
    let failed = event(&mut events, |event| {
        matches!(event, Event::RefreshFailed { .. })
    })
    .await;
    let Event::RefreshFailed { error, .. } = failed else {
        unreachable!()
    };
    assert!(error.is_retryable() && error.report().contains("the module is locked"));
    assert!(manager.flush(DAY).await);
    assert_eq!(bench.idp.refreshes(), 0);
    // No mark stays: other processes need not wait.
    let stored = bench.store.load(KEY).await.unwrap().unwrap();
    assert!(stored.record.intent.is_none());
    bench.clock.advance(Duration::from_secs(2));
    manager.access_token().await.unwrap();
    assert!(manager.flush(DAY).await);
    assert_eq!(manager.access_token().await.unwrap().expose(), "at-2");
}

/// Row 15.
#[tokio::test]
async fn a_signer_that_panics_ends_one_refresh_and_not_the_manager() {
    let bench = Bench::new().await;
    bench.seed(DAY).await;
    let key = Key::default();
    key.panics.store(1, Ordering::SeqCst);
    let manager = signing(&bench, key);
    manager.access_token().await.unwrap_err();
    let renewed = async || manager.read_current(|_| ()).is_some();
    let again = manager.clone();
    let caller = tokio::spawn(async move {
        while again.access_token().await.is_err() {
            tokio::task::yield_now().await;
        }
    });
    advance_until(&bench, renewed).await;
    caller.await.unwrap();
    assert_eq!(manager.access_token().await.unwrap().expose(), "at-2");
}

/// Row 35. The client was not accepted, which says nothing about the grant.
#[tokio::test]
async fn rfc_6749_5_2_invalid_client_blames_the_settings_and_ends_no_session() {
    let bench = Bench::new().await;
    bench.seed(DAY).await;
    let manager = manager_of(&bench, bench.provider().client_secret_basic("wr0ng-s3cr3t"));
    let refusal = ResponseTemplate::new(401)
        .insert_header("www-authenticate", "Basic realm=\"id\"")
        .set_body_json(json!({"error": "invalid_client"}));
    bench.idp.next(ScriptedReply::Reply(refusal));
    let error = manager.access_token().await.unwrap_err();
    assert!(error.is_config() && !error.is_reauth_required() && !error.is_retryable());
    assert!(error.to_string().contains("invalid_client"));
    assert_eq!(bench.stored_refresh_token().await.unwrap(), "rt-1");
    // The right settings continue the session.
    let manager = manager_of(&bench, bench.provider().client_secret_basic("s3cr3t"));
    assert_eq!(manager.access_token().await.unwrap().expose(), "at-2");
}
