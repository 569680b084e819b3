//! Checks the requests to the provider field by field.

use std::error::Error as _;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, SystemTime};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::{Value, json};
use test_support::script::rows;

use super::*;
use crate::auth::id_token::ExpectedIdToken;
use crate::auth::{AssertionSigner, BoxFuture, ProviderBuilder, provider};
use crate::error::tests::assert_fails;
use crate::transport::Clock;

fn settings() -> ProviderBuilder {
    provider::tests::settings()
        .revoke_url("http://127.0.0.1:1/oauth/revoke")
        .issuer("https://id.example/")
        .redirect_uri("https://app.example/cb")
}

fn callback(provider: Provider) -> CheckedCallback {
    CheckedCallback {
        provider,
        code: "c/1".into(),
        verifier: "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk".into(),
        expected: ExpectedIdToken {
            is_required: true,
            nonce: Some("n".into()),
            subject: None,
        },
    }
}

/// A login, a refresh and a revocation.
async fn requests(provider: &Provider) -> [Request; 3] {
    let url = provider.0.revoke_url.as_ref().unwrap();
    let token = "rt".into();
    [
        exchange_request(&callback(provider.clone())).await.unwrap(),
        refresh_request(provider, &token).await.unwrap(),
        revoke_request(provider, url, &token).await.unwrap(),
    ]
}

fn form(request: &Request) -> Vec<(String, String)> {
    let mut pairs: Vec<_> = url::form_urlencoded::parse(&request.body)
        .into_owned()
        .collect();
    pairs.sort();
    pairs
}

fn field(request: &Request, name: &str) -> Option<String> {
    let mut found = form(request).into_iter().filter(|(known, _)| known == name);
    let value = found.next();
    assert!(found.next().is_none(), "{name} is repeated");
    value.map(|(_, value)| value)
}

#[tokio::test]
async fn a_public_client_sends_the_fields_of_the_spec() {
    let expected = rows(
        "
        /oauth/token  | client_id=app code=c/1 code_verifier=dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk grant_type=authorization_code redirect_uri=https://app.example/cb
        /oauth/token  | client_id=app grant_type=refresh_token refresh_token=rt
        /oauth/revoke | client_id=app token=rt token_type_hint=refresh_token
        ",
    );
    let requests = requests(&settings().build().unwrap()).await;
    for (request, row) in requests.iter().zip(expected) {
        let fields = form(request).into_iter();
        let fields: Vec<_> = fields.map(|(name, value)| name + "=" + &value).collect();
        assert_eq!([request.url.path(), &fields.join(" ")], row[..]);
        assert!(!request.headers.contains_key(AUTHORIZATION));
    }
}

/// Spec 5.5.
#[tokio::test]
async fn a_secret_is_in_the_body_of_every_request_by_default() {
    let provider = settings().client_secret("s&1").build().unwrap();
    for request in requests(&provider).await {
        assert_eq!(field(&request, "client_id").unwrap(), "app");
        assert_eq!(field(&request, "client_secret").unwrap(), "s&1");
        assert!(!request.headers.contains_key(AUTHORIZATION));
    }
}

#[tokio::test]
async fn rfc_6749_2_3_1_basic_is_in_the_header_of_every_request_and_nothing_of_it_in_the_body() {
    let provider = settings().client_secret_basic("s3cr3t").build().unwrap();
    for request in requests(&provider).await {
        let header = &request.headers[AUTHORIZATION];
        // printf 'app:s3cr3t' | base64
        assert_eq!(header.to_str().unwrap(), "Basic YXBwOnMzY3IzdA==");
        assert!(header.is_sensitive());
        let mut fields = form(&request).into_iter();
        assert!(fields.all(|(name, _)| !name.contains("client")));
    }
}

/// RFC 6749 appendix B has the encoding, and its example.
#[tokio::test]
async fn rfc_6749_2_3_1_id_and_secret_are_form_encoded_before_they_are_base64() {
    let secret = " %&+\u{a3}\u{20ac}";
    let provider = Provider::builder("a:b").token_url("http://127.0.0.1:1/oauth/token");
    let provider = provider.client_secret_basic(secret).build().unwrap();
    let request = refresh_request(&provider, &"rt".into()).await.unwrap();
    let header = request.headers[AUTHORIZATION].to_str().unwrap();
    // printf 'a%%3Ab:+%%25%%26%%2B%%C2%%A3%%E2%%82%%AC' | base64
    assert_eq!(header, "Basic YSUzQWI6KyUyNSUyNiUyQiVDMiVBMyVFMiU4MiVBQw==");
}

/// A signer that returns the number of the call as the signature, unless `instead` is set.
#[derive(Default)]
struct Key {
    calls: AtomicUsize,
    alg: &'static str,
    instead: Instead,
}

#[derive(Default)]
enum Instead {
    #[default]
    Nothing,
    Fail,
    Hang,
    SignNothing,
    /// Takes four seconds.
    Dawdle(Clock),
}

impl AssertionSigner for Key {
    fn alg(&self) -> &str {
        self.alg
    }

    fn kid(&self) -> Option<&str> {
        Some("k\"1")
    }

    fn sign<'a>(
        &'a self,
        input: &'a [u8],
    ) -> BoxFuture<'a, Result<Vec<u8>, Box<dyn std::error::Error + Send + Sync>>> {
        let call = self.calls.fetch_add(1, Ordering::SeqCst);
        Box::pin(async move {
            match &self.instead {
                Instead::Nothing => {}
                Instead::Fail => return Err("the module is locked".into()),
                Instead::Hang => std::future::pending().await,
                Instead::SignNothing => return Ok(Vec::new()),
                Instead::Dawdle(clock) => clock.advance(Duration::from_secs(4)),
            }
            Ok(format!("{call} signed {} bytes", input.len()).into_bytes())
        })
    }
}

fn key() -> Key {
    signer(Instead::Nothing)
}

fn signer(instead: Instead) -> Key {
    Key {
        alg: "ES256",
        instead,
        ..Key::default()
    }
}

fn json_of(part: &str) -> Value {
    serde_json::from_slice(&URL_SAFE_NO_PAD.decode(part).unwrap()).unwrap()
}

fn clock() -> Clock {
    Clock::manual(SystemTime::UNIX_EPOCH + Duration::from_millis(1_795_176_000_900))
}

#[tokio::test]
async fn rfc_7523_2_2_every_request_carries_an_assertion_of_its_own() {
    let provider = settings().clock(clock()).private_key_jwt(key());
    let provider = provider.build().unwrap();
    let mut ids = Vec::new();
    for (call, request) in requests(&provider).await.iter().enumerate() {
        assert_eq!(
            field(request, "client_assertion_type").unwrap(),
            "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
        );
        // RFC 7521 section 4.2: optional, and the same client.
        assert_eq!(field(request, "client_id").unwrap(), "app");
        assert!(field(request, "client_secret").is_none());
        assert!(!request.headers.contains_key(AUTHORIZATION));
        let assertion = field(request, "client_assertion").unwrap();
        let parts: Vec<_> = assertion.split('.').collect();
        let [header, payload, signature] = parts[..] else {
            panic!("{assertion}")
        };
        let expected = json!({"alg": "ES256", "kid": "k\"1", "typ": "client-authentication+jwt"});
        assert_eq!(json_of(header), expected);
        let mut claims = json_of(payload);
        let id = claims["jti"].take().as_str().unwrap().to_owned();
        // 128 bits, and no longer than Auth0's limit.
        assert!((22..=64).contains(&id.len()), "{id}");
        ids.push(id);
        let expected = json!({"iss": "app", "sub": "app", "aud": "https://id.example/", "jti": null,
            "iat": 1_795_176_000, "exp": 1_795_176_120});
        assert_eq!(claims, expected);
        let signed = format!("{call} signed {} bytes", header.len() + 1 + payload.len());
        assert_eq!(signature, URL_SAFE_NO_PAD.encode(signed));
    }
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), 3);
}

#[tokio::test]
async fn the_audience_of_assertions_can_be_the_token_endpoint() {
    let provider = settings()
        .private_key_jwt(key())
        .assertion_audience("https://id.example/oauth/token")
        .build()
        .unwrap();
    let request = refresh_request(&provider, &"rt".into()).await.unwrap();
    let assertion = field(&request, "client_assertion").unwrap();
    let claims = json_of(assertion.split('.').nth(1).unwrap());
    assert_eq!(claims["aud"], "https://id.example/oauth/token");
}

/// The result of a refresh by a client with this signer.
async fn refused_by(instead: Instead, clock: &Clock) -> Refusal {
    let provider = settings().clock(clock.clone());
    let provider = provider.private_key_jwt(signer(instead)).build().unwrap();
    refresh(&provider, &"rt".into()).await.err().unwrap()
}

#[tokio::test]
async fn a_signer_that_fails_leaves_nothing_to_send_and_its_reason() {
    let refusal = refused_by(Instead::Fail, &clock()).await;
    assert_eq!(refusal.class, Class::NotSent);
    assert!(refusal.salvaged.is_none());
    let source = refusal.error.source().unwrap();
    assert_eq!(source.to_string(), "the module is locked");
    let said = "TokenUnavailable retryable: no token is available for now: the client assertion could not be signed";
    assert_fails(Err::<(), _>(refusal.error), said);
}

#[tokio::test]
async fn a_signer_that_hangs_is_given_up_after_ten_seconds() {
    let clock = clock();
    let wait = async {
        while clock.sleepers() == 0 {
            tokio::task::yield_now().await;
        }
        clock.advance(Duration::from_secs(10));
    };
    let (refusal, ()) = tokio::join!(refused_by(Instead::Hang, &clock), wait);
    assert_eq!(refusal.class, Class::NotSent);
    assert!(refusal.error.to_string().contains("signed in time"));
}

/// RFC 7523 section 3, rule 9: an unsigned assertion is refused.
#[tokio::test]
async fn rfc_7523_3_nothing_is_sent_without_a_signature() {
    let refusal = refused_by(Instead::SignNothing, &clock()).await;
    assert_eq!(refusal.class, Class::Refused);
    assert_fails(Err::<(), _>(refusal.error), "Config: empty signature");
}

/// Signing and sending share one time limit: other processes do not wait longer for a refresh.
#[tokio::test]
async fn the_time_for_signing_is_taken_from_that_for_the_request() {
    let clock = clock();
    let slow = |seconds| {
        let settings = settings().clock(clock.clone());
        let slow = signer(Instead::Dawdle(clock.clone()));
        let settings = settings.timeout(Duration::from_secs(seconds));
        settings.private_key_jwt(slow).build().unwrap()
    };
    let request = refresh_request(&slow(30), &"rt".into()).await.unwrap();
    assert_eq!(request.timeout, Some(Duration::from_secs(26)));
    // At most half of it is for signing.
    let error = refresh_request(&slow(7), &"rt".into()).await.err().unwrap();
    assert!(error.is_retryable());
}

/// RFC 6749 section 2.3, RFC 7523 section 3.
#[test]
fn settings_that_do_not_authenticate_the_client_are_refused_at_build() {
    let both = settings().client_secret("s3cr3t");
    let aimless = settings().assertion_audience("");
    let unsigned = |alg| settings().private_key_jwt(Key { alg, ..key() });
    let signed = |settings: ProviderBuilder| settings.private_key_jwt(key());
    for (builder, text) in [
        (both.clone().client_secret_basic("s3cr3t"), "only one of"),
        (signed(both), "only one of"),
        (signed(settings().client_secret_basic("s")), "only one of"),
        (settings().client_secret(""), "client_secret is empty"),
        (settings().client_secret_basic(""), "client_secret is empty"),
        (signed(settings().issuer(" ")), "issuer"),
        (signed(aimless), "assertion_audience"),
        (unsigned(""), "alg of the signer"),
        (unsigned("none"), "alg of the signer"),
        (unsigned("NONE"), "alg of the signer"),
        (unsigned("None"), "alg of the signer"),
    ] {
        assert_fails(builder.build(), &format!("Config: {text} & !s3cr3t"));
    }
}
