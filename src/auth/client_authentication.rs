//! How the client authenticates to the provider (RFC 6749 section 2.3).

use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use oauth2::CsrfToken;
use serde_json::{Map, Value, json};
use url::form_urlencoded::byte_serialize;
use zeroize::Zeroizing;

use super::BoxFuture;
use super::failure::unavailable;
use super::token_source::authorization_header;
use crate::error::{Error, Result};
use crate::secret::Secret;
use crate::transport::Clock;
use crate::transport::header::HeaderValue;

/// The lifetime of an assertion: below Auth0's maximum of five minutes, and enough for a clock that is a minute slow.
const ASSERTION_LIFETIME: Duration = Duration::from_secs(120);

/// A signer that takes longer is probably down. Limited to half of the request's time limit.
const SIGNING_LIMIT: Duration = Duration::from_secs(10);

/// RFC 7523 section 2.2.
const ASSERTION_TYPE: &str = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer";

/// The configured methods. At most one may be set.
#[derive(Clone, Default)]
pub(super) struct AuthenticationSettings {
    pub(super) secret_post: Option<Secret>,
    pub(super) secret_basic: Option<Secret>,
    pub(super) signer: Option<Arc<dyn AssertionSigner>>,
    pub(super) audience: Option<String>,
}

impl AuthenticationSettings {
    /// RFC 6749 section 2.3: a client must not use more than one method per request. `timeout` is the time limit of one
    /// request.
    pub(super) fn check(
        self,
        client_id: &str,
        issuer: Option<&str>,
        timeout: Duration,
    ) -> Result<ClientAuthentication> {
        let is_empty = |secret: &Option<Secret>| secret.as_ref().is_some_and(Secret::is_empty);
        if is_empty(&self.secret_post) || is_empty(&self.secret_basic) {
            return Err(Error::config("client_secret is empty: leave it out"));
        }
        match (self.secret_post, self.secret_basic, self.signer) {
            (None, None, None) => Ok(ClientAuthentication::None),
            (Some(secret), None, None) => Ok(ClientAuthentication::SecretPost(secret)),
            (None, Some(secret), None) => ClientAuthentication::secret_basic(client_id, &secret),
            (None, None, Some(signer)) => {
                let audience = self.audience.as_deref().or(issuer).unwrap_or_default();
                if audience.trim().is_empty() {
                    return Err(Error::config(
                        "private_key_jwt needs the issuer, or an assertion_audience",
                    ));
                }
                let limit = SIGNING_LIMIT.min(timeout / 2);
                ClientAssertions::new(signer, audience.to_owned(), limit)
                    .map(ClientAuthentication::PrivateKeyJwt)
            }
            _ => Err(Error::config(
                "only one of client_secret, client_secret_basic and private_key_jwt may be set",
            )),
        }
    }
}

/// The method by which a client authenticates.
pub(super) enum ClientAuthentication {
    /// The client id only: a public client, or a client with a certificate (RFC 8705 section 2).
    None,
    SecretPost(Secret),
    /// The `authorization` header.
    SecretBasic(HeaderValue),
    PrivateKeyJwt(ClientAssertions),
}

/// The parts of a request that authenticate the client.
pub(super) struct Credentials<'a> {
    pub(super) header: Option<HeaderValue>,
    client_id: Option<&'a str>,
    secret: Option<&'a Secret>,
    assertion: Option<Secret>,
}

/// Describes the clock difference if it may be why the server refuses assertions, which are valid for two minutes.
pub(super) fn clock_problem(ours: SystemTime, server: SystemTime) -> Option<String> {
    let (difference, direction) = match ours.duration_since(server) {
        Ok(ahead) => (ahead, "ahead of"),
        Err(behind) => (behind.duration(), "behind"),
    };
    // The provider's tolerance is unknown, but a difference below one minute is not the cause.
    let minutes = difference.as_secs() / 60;
    (minutes > 0).then(|| {
        let off = match (minutes / 60, minutes % 60) {
            (0, minutes) => format!("{minutes} min"),
            (hours, minutes) => format!("{hours} h {minutes} min"),
        };
        format!("the clock of this computer is {off} {direction} the identity provider's; set it, since signed assertions hold its time")
    })
}

impl ClientAuthentication {
    /// RFC 6749 section 2.3.1: id and secret are form-encoded, then used as user name and password.
    fn secret_basic(client_id: &str, secret: &Secret) -> Result<Self> {
        let size = 3 * (client_id.len() + secret.expose().len()) + 1;
        let mut pair = Zeroizing::new(String::with_capacity(size));
        pair.extend(byte_serialize(client_id.as_bytes()));
        pair.push(':');
        pair.extend(byte_serialize(secret.expose().as_bytes()));
        let mut encoded = Zeroizing::new(String::with_capacity(4 * pair.len().div_ceil(3)));
        STANDARD.encode_string(pair.as_bytes(), &mut encoded);
        authorization_header("Basic ", &encoded)
            .map(Self::SecretBasic)
            .ok_or_else(|| Error::config("client id and secret cannot be sent in a header"))
    }

    /// The credentials for one request. Each gets its own assertion, because a provider accepts an assertion only once.
    pub(super) async fn credentials<'a>(
        &'a self,
        client_id: &'a str,
        clock: &Clock,
    ) -> Result<Credentials<'a>> {
        let mut credentials = Credentials {
            header: None,
            client_id: Some(client_id),
            secret: None,
            assertion: None,
        };
        match self {
            Self::None => {}
            Self::SecretPost(secret) => credentials.secret = Some(secret),
            Self::SecretBasic(header) => {
                credentials.header = Some(header.clone());
                // The header identifies the client (RFC 6749 section 4.1.3).
                credentials.client_id = None;
            }
            Self::PrivateKeyJwt(assertions) => {
                credentials.assertion = Some(assertions.issue(client_id, clock).await?);
            }
        }
        Ok(credentials)
    }

    /// Whether requests contain the time of this computer.
    pub(super) fn signs(&self) -> bool {
        matches!(self, Self::PrivateKeyJwt(_))
    }

    /// The maximum delay of a request by signing.
    pub(super) fn signing_limit(&self) -> Duration {
        match self {
            Self::PrivateKeyJwt(assertions) => assertions.limit,
            _ => Duration::ZERO,
        }
    }
}

impl Credentials<'_> {
    /// The form fields.
    pub(super) fn fields(&self) -> impl Iterator<Item = (&str, &str)> + Clone {
        let client_id = self.client_id.map(|id| ("client_id", id));
        let secret = self.secret.map(|secret| ("client_secret", secret.expose()));
        let assertion = self.assertion.as_ref().map(|assertion| {
            let assertion = ("client_assertion", assertion.expose());
            [("client_assertion_type", ASSERTION_TYPE), assertion]
        });
        client_id
            .into_iter()
            .chain(secret)
            .chain(assertion.into_iter().flatten())
    }
}

/// Signs the assertions that authenticate a client with `private_key_jwt` (RFC 7523 section 2.2), so that only the signer needs
/// the key. Pass it to [`ProviderBuilder::private_key_jwt`](super::ProviderBuilder::private_key_jwt).
///
/// This crate builds the header and claims of each assertion, and calls [`sign`](Self::sign) once per request to the provider.
/// A signer needs only its key, which may be in a file, a hardware module or a key management service.
/// ```
/// # mod kms {
/// #     pub async fn sign(_key: &str, message: &[u8]) -> Result<Vec<u8>, std::io::Error> {
/// #         Ok(vec![u8::try_from(message.len() % 256).unwrap(); 64])
/// #     }
/// # }
/// # test_support::example(async {
/// use std::error::Error;
///
/// use envd_sdk::auth::{AssertionSigner, BoxFuture};
///
/// /// A key that never leaves its key management service.
/// struct KmsKey {
///     id: String,
/// }
///
/// impl AssertionSigner for KmsKey {
///     fn alg(&self) -> &str {
///         "ES256"
///     }
///
///     fn kid(&self) -> Option<&str> {
///         Some(&self.id)
///     }
///
///     fn sign<'a>(
///         &'a self,
///         signing_input: &'a [u8],
///     ) -> BoxFuture<'a, Result<Vec<u8>, Box<dyn Error + Send + Sync>>> {
///         Box::pin(async { Ok(kms::sign(&self.id, signing_input).await?) })
///     }
/// }
///
/// # let fake = envd_sdk::fake::Fake::builder().client_assertions().start().await?;
/// let provider = fake.provider().private_key_jwt(KmsKey { id: "key-1".into() }).build()?;
/// # let manager = envd_sdk::auth::TokenManager::builder(provider).build()?;
/// # let login = manager.provider().authorization().start()?;
/// # let callback = fake.consent(login.url())?;
/// # manager.complete_login(login, callback.as_str()).await?;
/// # Ok(()) });
/// ```
pub trait AssertionSigner: Send + Sync + 'static {
    /// The algorithm of the key, by its JSON Web Signature name (RFC 7518 section 3.1), such as `RS256` or `ES256`. Like
    /// [`kid`](Self::kid) and [`typ`](Self::typ), it is read once, when the provider is built.
    fn alg(&self) -> &str;

    /// The provider's id for the key (RFC 7515 section 4.1.4); defaults to none.
    fn kid(&self) -> Option<&str> {
        None
    }

    /// The type of the assertion (RFC 7515 section 4.1.9). Defaults to `client-authentication+jwt`, as registered by the update
    /// of RFC 7523 (`draft-ietf-oauth-rfc7523bis`). Providers that do not know this type yet may accept only `JWT`.
    #[allow(clippy::unnecessary_literal_bound)] // Other signers may have it from their settings.
    fn typ(&self) -> &str {
        "client-authentication+jwt"
    }

    /// Signs these bytes and returns the signature in JSON Web Signature format (RFC 7515 section 3). For `ES256`, that is the
    /// 64 bytes of RFC 7518 section 3.4, not the DER structure that many libraries return.
    ///
    /// The time limit is ten seconds. After a time-out or an error, nothing is sent, a valid token stays in use, and the
    /// request is retried later, as with an unreachable provider. The error becomes the [`source`](std::error::Error::source)
    /// of this crate's error, so it must not reveal the key.
    ///
    /// # Cancel safety
    ///
    /// The future may be dropped before it completes, at the latest at the time limit. Its signature is then not used.
    fn sign<'a>(
        &'a self,
        signing_input: &'a [u8],
    ) -> BoxFuture<'a, std::result::Result<Vec<u8>, Box<dyn std::error::Error + Send + Sync>>>;
}

/// Issues client assertions: JWTs signed with the client's own key (RFC 7523 section 2.2).
pub(super) struct ClientAssertions {
    signer: Arc<dyn AssertionSigner>,
    /// Encoded as base64url.
    header: String,
    audience: String,
    limit: Duration,
}

impl ClientAssertions {
    /// # Errors
    ///
    /// [`Config`](crate::ErrorKind::Config) if the signer's algorithm is empty, or that of an unsigned token.
    fn new(signer: Arc<dyn AssertionSigner>, audience: String, limit: Duration) -> Result<Self> {
        let alg = signer.alg();
        if alg.is_empty() || alg.eq_ignore_ascii_case("none") {
            // RFC 7523 section 3, rule 9.
            return Err(Error::config(
                "private_key_jwt: alg of the signer is empty or none, and must be that of its key, such as ES256",
            ));
        }
        let mut header = Map::new();
        header.insert("alg".into(), alg.into());
        header.insert("typ".into(), signer.typ().into());
        if let Some(kid) = signer.kid() {
            header.insert("kid".into(), kid.into());
        }
        Ok(Self {
            header: URL_SAFE_NO_PAD.encode(Value::from(header).to_string()),
            signer,
            audience,
            limit,
        })
    }

    /// RFC 7523 section 3.
    async fn issue(&self, client_id: &str, clock: &Clock) -> Result<Secret> {
        let began = clock.monotonic();
        let payload = URL_SAFE_NO_PAD.encode(self.claims(client_id, clock.now()));
        let input = format!("{}.{payload}", self.header);
        let signature = clock
            .within(self.limit, self.signer.sign(input.as_bytes()))
            .await
            // If the machine slept, the assertion is outdated.
            .filter(|_| clock.monotonic().saturating_sub(began) <= self.limit)
            .ok_or_else(|| unavailable("the client assertion was not signed in time"))?
            .map_err(|source| {
                unavailable("the client assertion could not be signed").with_source(source)
            })?;
        let signature = Zeroizing::new(signature);
        if signature.is_empty() {
            return Err(Error::config(
                "private_key_jwt: the signer returned an empty signature",
            ));
        }
        // Allocated once, because a growing string leaves copies in memory.
        let size = input.len() + 1 + 4 * signature.len().div_ceil(3);
        let mut assertion = String::with_capacity(size);
        assertion.push_str(&input);
        assertion.push('.');
        URL_SAFE_NO_PAD.encode_string(&*signature, &mut assertion);
        Ok(Secret::new(assertion))
    }

    fn claims(&self, client_id: &str, now: SystemTime) -> String {
        let now = now.duration_since(UNIX_EPOCH).unwrap_or_default();
        let claims = json!({
            "iss": client_id,
            "sub": client_id,
            "aud": self.audience,
            // 128 random bits.
            "jti": CsrfToken::new_random().secret(),
            "iat": now.as_secs(),
            "exp": now.saturating_add(ASSERTION_LIFETIME).as_secs(),
        });
        claims.to_string()
    }
}
