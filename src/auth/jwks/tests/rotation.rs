//! Fetching, caching, and new keys; on a clock that is moved by hand.

use std::sync::{Arc, Mutex};
use std::time::{Duration, UNIX_EPOCH};

use futures_util::future::join_all;
use serde_json::{Value, json};
use wiremock::matchers::any;
use wiremock::{Mock, MockServer, Request, Respond, ResponseTemplate};

use super::signer::{Signer, set};
use crate::auth::jwks::IdTokenKeys;
use crate::error::Error;
use crate::mock;
use crate::secret::Secret;
use crate::transport::{Clock, Http, HttpOptions, parse_endpoint};

const SECOND: Duration = Duration::from_secs(1);
const MINUTE: Duration = Duration::from_secs(60);
const HOUR: Duration = Duration::from_secs(3_600);

/// A keys address, and the keys that are fetched from it.
struct Provider {
    server: mock::Mock,
    reply: Arc<Mutex<ResponseTemplate>>,
    clock: Clock,
    keys: IdTokenKeys,
}

struct Current(Arc<Mutex<ResponseTemplate>>);

impl Respond for Current {
    fn respond(&self, _: &Request) -> ResponseTemplate {
        self.0.lock().unwrap().clone()
    }
}

fn serving(keys: &[Value]) -> ResponseTemplate {
    ResponseTemplate::new(200).set_body_raw(set(keys), "application/jwk-set+json")
}

impl Provider {
    async fn new(reply: ResponseTemplate) -> Self {
        let server = MockServer::builder().start().await;
        let reply = Arc::new(Mutex::new(reply));
        let responder = Mock::given(any()).respond_with(Current(reply.clone()));
        responder.mount(&server).await;
        let clock = Clock::manual(UNIX_EPOCH + Duration::from_secs(1_700_000_000));
        let uri = parse_endpoint("jwks_uri", &format!("{}/jwks.json", server.uri())).unwrap();
        let http = Http::new(&HttpOptions::default(), &[&uri]).unwrap();
        Self {
            server: server.into(),
            reply,
            keys: IdTokenKeys::new(Some(&uri), &http, &clock).unwrap(),
            clock,
        }
    }

    /// A provider whose keys are fetched.
    async fn prepared(keys: &[Value]) -> Self {
        let provider = Self::new(serving(keys)).await;
        provider.keys.prepare().await.unwrap();
        provider
    }

    fn serve(&self, reply: ResponseTemplate) {
        *self.reply.lock().unwrap() = reply;
    }

    async fn requests(&self) -> usize {
        self.server.received_requests().await.unwrap().len()
    }

    /// Fetches the keys; the pauses between attempts pass at once.
    async fn prepare(&self) -> Result<(), Error> {
        let mut prepare = Box::pin(self.keys.prepare());
        loop {
            tokio::select! {
                biased;
                outcome = &mut prepare => return outcome,
                () = tokio::task::yield_now() => {
                    if self.clock.sleepers() > 0 {
                        self.clock.advance(SECOND / 2);
                    }
                }
            }
        }
    }
}

fn token(signer: &Signer) -> Secret {
    Secret::new(signer.sign(&json!({"sub": "sam"})))
}

fn code(outcome: Result<(), Error>) -> String {
    let error = outcome.unwrap_err();
    assert!(error.is_login_refused(), "{error:?}");
    error.to_string()
}

#[tokio::test]
async fn keys_are_fetched_once_for_all_callers() {
    let signer = Signer::es256("1");
    let provider = Provider::new(serving(&[signer.jwk()])).await;
    let outcomes = join_all((0..100).map(|_| provider.keys.prepare())).await;
    assert!(outcomes.iter().all(Result::is_ok));
    let token = token(&signer);
    join_all((0..100).map(|_| provider.keys.verify(&token))).await;
    provider.keys.verify(&token).await.unwrap();
    let requests = provider.server.received_requests().await.unwrap();
    assert_eq!(requests.len(), 1);
    assert!(
        requests[0].headers["accept"]
            .to_str()
            .unwrap()
            .contains("application/jwk-set+json")
    );
}

/// RFC 9111 section 5.2.2.
#[tokio::test]
async fn keys_are_cached_for_their_max_age_within_bounds() {
    let signer = Signer::es256("1");
    for (header, seconds) in [
        (None, 3_600),
        (Some("public"), 3_600),
        (Some("max-age=600"), 600),
        (Some("public, Max-Age=\"900\" , must-revalidate"), 900),
        (Some("public, max-age=15, stale-while-revalidate=15"), 300),
        (Some("max-age=31536000"), 86_400),
        (Some("max-age=600, no-cache"), 300),
        (Some("no-store"), 300),
        (Some("max-age=soon"), 300),
    ] {
        let mut reply = serving(&[signer.jwk()]);
        if let Some(value) = header {
            reply = reply.insert_header("cache-control", value);
        }
        let provider = Provider::new(reply).await;
        provider.keys.prepare().await.unwrap();
        provider.clock.advance(Duration::from_secs(seconds - 1));
        provider.keys.prepare().await.unwrap();
        assert_eq!(provider.requests().await, 1, "{header:?}");
        provider.clock.advance(SECOND);
        provider.keys.prepare().await.unwrap();
        assert_eq!(provider.requests().await, 2, "{header:?}");
    }
}

#[tokio::test]
async fn a_new_key_is_fetched_once_for_all_callers() {
    let (old, new) = (Signer::es256("1"), Signer::other_es256("2"));
    let provider = Provider::prepared(&[old.jwk()]).await;
    provider.serve(serving(&[old.jwk(), new.jwk()]));
    let token = token(&new);
    let outcomes = join_all((0..100).map(|_| provider.keys.verify(&token))).await;
    assert!(outcomes.iter().all(Result::is_ok), "{outcomes:?}");
    assert_eq!(provider.requests().await, 2);
}

/// RFC 7517 section 4.5: an id should be of one key, but providers without ids, or with a fixed one, rotate too.
#[tokio::test]
async fn a_new_key_under_an_old_id_or_without_one_is_fetched() {
    for header in [json!({"alg": "ES256", "kid": "1"}), json!({"alg": "ES256"})] {
        let (old, new) = (Signer::es256("1"), Signer::other_es256("1"));
        let provider = Provider::prepared(&[old.jwk()]).await;
        provider.serve(serving(&[new.jwk()]));
        let token = Secret::new(new.sign_with(&header, &json!({"sub": "sam"})));
        provider.keys.verify(&token).await.unwrap();
        assert_eq!(provider.requests().await, 2);
    }
}

#[tokio::test]
async fn unknown_keys_cause_one_request_a_minute_at_most() {
    let (known, unknown) = (Signer::es256("1"), Signer::other_es256("2"));
    let provider = Provider::prepared(&[known.jwk()]).await;
    let tokens = [token(&unknown), token(&Signer::other_es256("1"))];
    for (passed, requests) in [
        (Duration::ZERO, 2),
        (59 * SECOND, 2),
        (SECOND, 3),
        (MINUTE, 4),
    ] {
        provider.clock.advance(passed);
        let tries = (0..50).map(|n| provider.keys.verify(&tokens[n % 2]));
        for outcome in join_all(tries).await {
            let refused = code(outcome);
            assert!(
                refused.contains("id_token_unknown_key") || refused.contains("id_token_signature"),
                "{refused}"
            );
        }
        assert_eq!(provider.requests().await, requests);
        provider.keys.verify(&token(&known)).await.unwrap();
    }
}

#[tokio::test]
async fn tokens_that_no_key_can_verify_cause_no_request() {
    let signer = Signer::es256("1");
    let provider = Provider::prepared(&[signer.jwk()]).await;
    let claims = json!({"sub": "sam"});
    for (header, refused) in [
        (json!({"alg": "none", "kid": "2"}), "id_token_algorithm"),
        (json!({"alg": "HS256", "kid": "2"}), "id_token_algorithm"),
        (
            json!({"alg": "ES256", "kid": "2", "crit": ["b64"]}),
            "id_token_critical_header",
        ),
        (json!({"kid": "2"}), "id_token_unreadable"),
    ] {
        let token = Secret::new(signer.sign_with(&header, &claims));
        let error = code(provider.keys.verify(&token).await);
        assert_eq!(error, format!("the login was refused ({refused})"));
    }
    assert_eq!(provider.requests().await, 1);
}

#[tokio::test]
async fn a_failed_request_is_tried_three_times_and_the_error_is_retryable() {
    let signer = Signer::es256("1");
    let provider = Provider::new(ResponseTemplate::new(503)).await;
    let error = provider.prepare().await.unwrap_err();
    assert!(
        error.is_retryable() && !error.is_login_refused(),
        "{error:?}"
    );
    assert!(error.to_string().contains("jwks_uri"), "{error}");
    assert_eq!(provider.requests().await, 3);
    // Without keys the next caller tries again.
    provider.serve(serving(&[signer.jwk()]));
    provider.keys.prepare().await.unwrap();
    assert_eq!(provider.requests().await, 4);
}

#[tokio::test]
async fn a_provider_that_says_when_to_retry_is_asked_once() {
    let busy = ResponseTemplate::new(429).insert_header("retry-after", "7");
    let provider = Provider::new(busy).await;
    let error = provider.keys.prepare().await.unwrap_err();
    assert!(error.is_retryable());
    assert_eq!(error.retry_after(), Some(7 * SECOND));
    assert_eq!(provider.requests().await, 1);
}

#[tokio::test]
async fn an_address_that_does_not_serve_keys_is_a_protocol_error_for_all_callers() {
    let elsewhere = Provider::new(serving(&[Signer::es256("1").jwk()])).await;
    let location = format!("{}/jwks.json", elsewhere.server.uri());
    let encryption = json!({"kty": "EC", "crv": "P-256", "use": "enc", "x": "AA", "y": "AA"});
    for reply in [
        ResponseTemplate::new(404),
        ResponseTemplate::new(401),
        ResponseTemplate::new(302).insert_header("location", location.as_str()),
        ResponseTemplate::new(204),
        ResponseTemplate::new(200).set_body_raw("<html>", "text/html"),
        serving(&[]),
        serving(&[encryption]),
    ] {
        let provider = Provider::new(reply).await;
        for outcome in join_all((0..20).map(|_| provider.keys.prepare())).await {
            let error = outcome.unwrap_err();
            assert!(error.is_protocol() && !error.is_retryable(), "{error:?}");
            assert!(!error.is_unauthorized() && error.to_string().contains("jwks_uri"));
        }
        assert_eq!(provider.requests().await, 1);
    }
    assert_eq!(elsewhere.requests().await, 0);
}

#[tokio::test]
async fn while_keys_cannot_be_fetched_cached_ones_are_used_for_a_day() {
    let signer = Signer::es256("1");
    let provider = Provider::prepared(&[signer.jwk()]).await;
    provider.serve(ResponseTemplate::new(404));
    let token = token(&signer);
    provider.clock.advance(HOUR);
    for (passed, requests) in [(Duration::ZERO, 2), (59 * SECOND, 2), (SECOND, 3)] {
        provider.clock.advance(passed);
        provider.keys.prepare().await.unwrap();
        provider.keys.verify(&token).await.unwrap();
        assert_eq!(provider.requests().await, requests);
    }
    provider.clock.advance(23 * HOUR);
    assert!(provider.keys.prepare().await.unwrap_err().is_protocol());
    assert!(
        provider
            .keys
            .verify(&token)
            .await
            .unwrap_err()
            .is_protocol()
    );
    assert!(
        provider
            .keys
            .verify_with_cached(&token)
            .unwrap_err()
            .is_protocol()
    );
}

#[tokio::test]
async fn a_check_with_cached_keys_sends_nothing_and_makes_them_stale_once_a_minute() {
    let (old, new) = (Signer::es256("1"), Signer::other_es256("2"));
    let provider = Provider::new(serving(&[old.jwk()])).await;
    assert!(
        provider
            .keys
            .verify_with_cached(&token(&old))
            .unwrap_err()
            .is_retryable()
    );
    provider.keys.prepare().await.unwrap();
    provider.keys.verify_with_cached(&token(&old)).unwrap();
    for (passed, requests) in [(Duration::ZERO, 2), (59 * SECOND, 2), (SECOND, 3)] {
        provider.clock.advance(passed);
        code(provider.keys.verify_with_cached(&token(&new)));
        provider.keys.prepare().await.unwrap();
        assert_eq!(provider.requests().await, requests);
    }
    provider.serve(serving(&[new.jwk()]));
    provider.clock.advance(MINUTE);
    code(provider.keys.verify_with_cached(&token(&new)));
    provider.keys.prepare().await.unwrap();
    provider.keys.verify_with_cached(&token(&new)).unwrap();
}

#[tokio::test]
async fn errors_show_neither_the_token_nor_its_claims() {
    let signer = Signer::other_es256("s3cr3t");
    let provider = Provider::prepared(&[Signer::es256("1").jwk()]).await;
    let text = signer.sign(&json!({"sub": "s3cr3t"}));
    let error = provider
        .keys
        .verify(&Secret::new(&*text))
        .await
        .unwrap_err();
    let shown = format!("{error} {error:?} {}", error.report());
    for part in text.split('.').chain(["s3cr3t"]) {
        assert!(!shown.contains(part), "{shown}");
    }
}
