//! Checks id tokens: first the claims, then the application's own check.
//!
//! Signatures are not verified here. In the code flow, the TLS connection to the token endpoint authenticates the id token
//! (OIDC Core 3.1.3.7, point 6). Claims of an access token are used only to schedule its renewal, never to decide what it
//! permits.

use std::error::Error;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use base64::Engine;
use base64::alphabet::URL_SAFE;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use zeroize::Zeroizing;

use super::failure::login_refused;
use super::secret_json::from_json;
use super::{Provider, ProviderBuilder, secret_json};
use crate::error::Result;
use crate::model::reply_memory;
use crate::secret::Secret;

/// The id token passed to a [check of the application](ProviderBuilder::id_token_check). `Debug` hides it.
///
/// See [`ProviderBuilder::id_token_check`] for an example.
#[derive(Debug)]
pub struct IdToken<'a>(&'a Secret);

pub(super) type IdTokenCheck =
    Arc<dyn Fn(&IdToken<'_>) -> Result<(), Box<dyn Error + Send + Sync>> + Send + Sync>;

impl IdToken<'_> {
    /// The token as the provider sent it: header, claims and signature (RFC 7515 section 3.1).
    pub fn token(&self) -> &Secret {
        self.0
    }

    /// Deserializes the claims, into your own type or a `serde_json::Value`.
    ///
    /// # Errors
    ///
    /// [`LoginRefused`](crate::ErrorKind::LoginRefused) if the claims do not fit the type. The error does not quote them.
    pub fn claims<T: DeserializeOwned>(&self) -> Result<T> {
        payload(self.0.expose())
            .and_then(|json| secret_json::from_json(&json))
            .ok_or_else(|| login_refused("id_token_unreadable"))
    }
}

impl ProviderBuilder {
    /// Sets an additional check for each id token; defaults to none. It runs after [the checks of this
    /// crate](super::TokenSet::id_token) and before anything is stored.
    ///
    /// If the check fails, the login fails with [`LoginRefused`](crate::ErrorKind::LoginRefused) and the check's error as its
    /// source: the refresh token is revoked, and nothing is stored. An id token issued in a refresh is checked too. If that
    /// fails, it is dropped, the id token of the login is kept, and the new access token is used. The check's error must not
    /// contain the token or its claims. A panic counts as an error.
    ///
    /// Use this for your own policies, such as a verified e-mail address, and for the signature if regulations require it. The
    /// check is synchronous, so the provider's keys have to be fetched before a login is completed, and again once they are a
    /// few minutes old. The application `verify_id_token` (`cargo run -p apps --bin verify_id_token`) does this with the crate
    /// `jsonwebtoken`.
    ///
    /// ```
    /// # use envd_sdk::auth::TokenManager;
    /// # use envd_sdk::fake::Fake;
    /// # test_support::example(async {
    /// # let fake = Fake::start().await;
    /// # let settings = fake.provider();
    /// #[derive(serde::Deserialize)]
    /// struct Person {
    ///     email: String,
    /// }
    ///
    /// let provider = settings
    ///     .id_token_check(|id_token| {
    ///         let person: Person = id_token.claims()?;
    ///         if !person.email.ends_with("@farm.example") {
    ///             return Err("not an address of the farm".into());
    ///         }
    ///         Ok(())
    ///     })
    ///     .build()?;
    /// let manager = TokenManager::builder(provider).build()?;
    /// let login = manager.provider().authorization().start()?;
    /// # let callback = fake.consent(login.url())?;
    /// let refused = manager.complete_login(login, callback.as_str()).await.unwrap_err();
    /// assert!(refused.kind() == envd_sdk::ErrorKind::LoginRefused);
    /// # Ok(()) });
    /// ```
    #[doc(alias("JWKS", "jwks_uri", "signature", "JWT"))]
    pub fn id_token_check(
        mut self,
        check: impl Fn(&IdToken<'_>) -> Result<(), Box<dyn Error + Send + Sync>> + Send + Sync + 'static,
    ) -> Self {
        self.id_token_check = Some(Arc::new(check));
        self
    }
}

impl Provider {
    /// Runs the checks of OIDC Core 3.1.3.7 that need no key, then the application's check. `now` is the time of the reply on
    /// the provider's clock, if known, because the clock of this computer may be hours off.
    pub(super) fn check_id_token(
        &self,
        id_token: &Secret,
        expected: &ExpectedIdToken,
        now: SystemTime,
    ) -> Result<()> {
        let settings = &self.0;
        let issuer = settings.issuer.as_deref();
        Claims::read(id_token.expose())
            .ok_or_else(|| login_refused("id_token_unreadable"))?
            .check(issuer, &settings.client_id, expected, now)?;
        let Some(check) = &settings.id_token_check else {
            return Ok(());
        };
        // A panic here would lose a new refresh token that is not stored yet, or leave the session of a login open.
        catch_unwind(AssertUnwindSafe(|| check(&IdToken(id_token))))
            .unwrap_or_else(|_| Err("the check of the id token panicked".into()))
            .map_err(|source| login_refused("id_token_check").with_source(source))
    }
}

/// RFC 4648 section 5, with or without padding. Ignores the unused bits of the last character.
const BASE64URL: GeneralPurpose = GeneralPurpose::new(
    &URL_SAFE,
    GeneralPurposeConfig::new()
        .with_decode_padding_mode(DecodePaddingMode::Indifferent)
        .with_decode_allow_trailing_bits(true),
);

/// Clocks of farm computers are often minutes off.
const LEEWAY: Duration = Duration::from_secs(300);

#[derive(Deserialize, Default)]
#[serde(default)]
pub(super) struct Claims {
    iss: Option<String>,
    pub(super) sub: Option<String>,
    /// A string or a list of strings.
    #[serde(deserialize_with = "reply_memory::any_value")]
    aud: Value,
    azp: Option<String>,
    exp: Option<f64>,
    iat: Option<f64>,
    nonce: Option<String>,
}

/// The id token that a login expects.
#[derive(Clone, Debug, Default)]
pub(super) struct ExpectedIdToken {
    /// Whether an id token is required, because the scope `openid` was requested.
    pub(super) is_required: bool,
    /// `None` if the tokens did not result from an authorization request: in the device flow, and in a refresh.
    pub(super) nonce: Option<Secret>,
    /// The only user who may log in, if restricted. Hidden, because it is personal data.
    pub(super) subject: Option<Secret>,
}

/// Decodes the claims of a token as JSON.
pub(super) fn payload(token: &str) -> Option<Zeroizing<Vec<u8>>> {
    let mut parts = token.split('.');
    let payload = parts.nth(1)?;
    // The signature must follow, even if it is empty. Five parts would be an encrypted token.
    parts.next()?;
    if parts.next().is_some() {
        return None;
    }
    BASE64URL.decode(payload).ok().map(Zeroizing::new)
}

impl Claims {
    pub(super) fn read(token: &str) -> Option<Self> {
        from_json(&payload(token)?)
    }

    /// The checks of OIDC Core 3.1.3.7 that need no key.
    pub(super) fn check(
        &self,
        issuer: Option<&str>,
        client_id: &str,
        expected: &ExpectedIdToken,
        now: SystemTime,
    ) -> Result<()> {
        let audiences = match &self.aud {
            Value::Array(many) => many.as_slice(),
            one => std::slice::from_ref(one),
        };
        let azp_matches = self.azp.as_ref().map(|azp| azp == client_id);
        let expiry = self
            .exp
            .and_then(since_1970)
            .map(|expiry| expiry.saturating_add(LEEWAY));
        let now = now.duration_since(UNIX_EPOCH).unwrap_or_default();
        let nonce = self.nonce.as_deref().unwrap_or_default();
        let subject = self.sub.as_deref().filter(|subject| !subject.is_empty());
        let wanted = expected.subject.as_ref().map(Secret::expose);
        let code = if issuer.is_some() && issuer != self.iss.as_deref() {
            "id_token_issuer"
        } else if !audiences.iter().any(|aud| aud == client_id) {
            "id_token_audience"
        } else if !azp_matches.unwrap_or(audiences.len() == 1) {
            "id_token_authorized_party"
        } else if expiry <= Some(now) {
            "id_token_expired"
        // If the request had no nonce, there is nothing to compare (OIDC Core 3.1.3.7, point 11).
        } else if expected
            .nonce
            .as_ref()
            .is_some_and(|sent| !sent.matches(nonce))
        {
            "id_token_nonce"
        } else if subject.is_none() {
            "id_token_subject"
        } else if wanted.is_some() && wanted != subject {
            "unexpected_subject"
        } else {
            return Ok(());
        };
        Err(login_refused(code))
    }

    /// The lifetime of the token, for scheduling. Uses the server's clock if the token has both `iat` and `exp`.
    pub(super) fn lifetime(&self, now: SystemTime) -> Option<Duration> {
        let now = now.duration_since(UNIX_EPOCH).unwrap_or_default();
        let start = self.iat.and_then(since_1970).unwrap_or(now);
        let life = since_1970(self.exp?)?.checked_sub(start)?;
        (!life.is_zero()).then_some(life)
    }
}

/// Not as a `SystemTime`, which ends earlier on Windows than on Linux.
fn since_1970(seconds: f64) -> Option<Duration> {
    Duration::try_from_secs_f64(seconds).ok()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::error::tests::assert_fails;

    fn now() -> SystemTime {
        UNIX_EPOCH + Duration::from_secs(1_000_000)
    }

    fn check(claims: Value) -> Result<()> {
        let claims: Claims = serde_json::from_value(claims).unwrap();
        let expected = ExpectedIdToken {
            is_required: true,
            nonce: Some(Secret::new("n-1")),
            subject: Some(Secret::new("user")),
        };
        claims.check(Some("https://id.example/"), "app", &expected, now())
    }

    fn good() -> Value {
        json!({"iss": "https://id.example/", "sub": "user", "aud": "app", "exp": 1_000_100, "nonce": "n-1"})
    }

    #[test]
    fn claims_are_read_from_the_middle_part() {
        // {"sub":"1234567890","exp":1516239022}
        let claims = Claims::read("e30.eyJzdWIiOiIxMjM0NTY3ODkwIiwiZXhwIjoxNTE2MjM5MDIyfQ.sig");
        assert_eq!(claims.unwrap().sub.as_deref(), Some("1234567890"));
        for bad in "|a.b|e30.!!.sig|e30.e30.a.b.c|e30.eyJ.sig|opaque".split('|') {
            assert!(Claims::read(bad).is_none(), "{bad}");
        }
    }

    #[test]
    fn the_claims_of_a_valid_token_pass() {
        check(good()).unwrap();
        let mut many = good();
        many["aud"] = json!(["app", "other"]);
        many["azp"] = json!("app");
        check(many).unwrap();
    }

    /// Row 45.
    #[test]
    fn each_invalid_claim_is_refused() {
        for (claim, wrong) in [
            ("iss", json!("https://id.example")),
            ("aud", json!("other")),
            ("aud", json!(["app", "other"])),
            ("azp", json!("other")),
            ("exp", json!(999_000)),
            ("exp", Value::Null),
            ("nonce", json!("n-2")),
            ("nonce", Value::Null),
            ("sub", json!("")),
            ("sub", json!("another")),
            ("sub", Value::Null),
        ] {
            let mut claims = good();
            claims[claim] = wrong.clone();
            let outcome = check(claims);
            assert!(outcome.is_err(), "{claim}: {wrong}");
            assert_fails(outcome, "LoginRefused");
        }
    }

    #[test]
    fn the_lifetime_uses_iat_if_present_and_the_local_clock_otherwise() {
        for (claims, seconds) in [
            (json!({"iat": 5_000, "exp": 5_060}), Some(60)),
            (json!({"exp": 1_000_030}), Some(30)),
            (json!({}), None),
            (json!({"exp": 10}), None),
            (json!({"exp": -1}), None),
            (json!({"exp": 1e300}), None),
        ] {
            let claims: Claims = serde_json::from_value(claims).unwrap();
            assert_eq!(claims.lifetime(now()), seconds.map(Duration::from_secs));
        }
    }
}
