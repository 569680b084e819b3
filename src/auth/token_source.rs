//! An access token as a header value, and the trait that supplies tokens to a client.

use std::fmt;
use std::pin::Pin;

use bytes::Bytes;
use zeroize::Zeroizing;

use super::failure::{no_tokens, unavailable};
use crate::error::{Error, Result};
use crate::transport::header::HeaderValue;

const SCHEME: &str = "Bearer ";

/// An access token. Cheap to clone, hidden in `Debug`, and wiped from memory when the last clone is dropped.
///
/// ```
/// use envd_sdk::auth::AccessToken;
///
/// let token = AccessToken::new("eyJhbGciOi.eyJzdWIi.c2ln")?;
/// assert_eq!(token.expose(), "eyJhbGciOi.eyJzdWIi.c2ln");
/// assert!(AccessToken::new("two words").unwrap_err().kind() == envd_sdk::ErrorKind::Config);
/// # Ok::<(), envd_sdk::Error>(())
/// ```
#[derive(Clone)]
pub struct AccessToken {
    header: HeaderValue,
    generation: u64,
}

impl AccessToken {
    /// Creates a token from its text, without the word `Bearer` (RFC 6750 section 2.1).
    ///
    /// # Errors
    ///
    /// [`Config`](crate::ErrorKind::Config) if the text is empty or has characters other than visible ASCII, which cannot be
    /// sent in a header.
    pub fn new(text: &str) -> Result<Self> {
        if text.is_empty() || !text.bytes().all(|b| b.is_ascii_graphic()) {
            return Err(Error::config(
                "an access token must be visible ASCII characters without spaces",
            ));
        }
        let header = authorization_header(SCHEME, text)
            .ok_or_else(|| Error::config("the access token cannot be sent in a header"))?;
        Ok(Self {
            header,
            generation: 0,
        })
    }

    /// Sets the generation. A [`TokenSource`](super::TokenSource) compares it to see whether the token that the server refused
    /// is still the current one.
    #[must_use]
    pub fn numbered(mut self, generation: u64) -> Self {
        self.generation = generation;
        self
    }

    /// The generation of the token; 0 unless [set](Self::numbered).
    pub fn generation(&self) -> u64 {
        self.generation
    }

    /// The text of the token. Keep it out of logs and messages.
    pub fn expose(&self) -> &str {
        let text = self.header.to_str().unwrap_or_default();
        text.strip_prefix(SCHEME).unwrap_or_default()
    }

    /// Whether both are the same token to the service.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        self.header == other.header
    }

    /// The value of the `authorization` header. Cloning it copies no bytes.
    pub(crate) fn header(&self) -> HeaderValue {
        self.header.clone()
    }
}

impl fmt::Debug for AccessToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "AccessToken([redacted], generation {})", self.generation)
    }
}

/// The value of an `authorization` header, hidden in `Debug`; `None` if the text cannot be sent in a header.
pub(super) fn authorization_header(scheme: &str, credentials: &str) -> Option<HeaderValue> {
    let mut bytes = Zeroizing::new(Vec::with_capacity(scheme.len() + credentials.len()));
    bytes.extend_from_slice(scheme.as_bytes());
    bytes.extend_from_slice(credentials.as_bytes());
    // Owned bytes, so that all clones share one buffer. It is wiped when the last clone is dropped.
    let mut header = HeaderValue::from_maybe_shared(Bytes::from_owner(bytes)).ok()?;
    header.set_sensitive(true);
    Some(header)
}

/// A boxed future that is `Send`.
///
/// [`TokenSource::token`] returns it. See [`TokenSource`] for an example.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Supplies access tokens to a client. Use [`TokenManager`](super::TokenManager) for logged-in users.
///
/// A function that returns a token is a source. It is called for each request, and again if the server refuses the token:
///
/// ```
/// # test_support::example(async {
/// use envd_sdk::auth::AccessToken;
/// use envd_sdk::{Client, Error};
///
/// let fake = envd_sdk::fake::Fake::start().await;
/// let path = std::env::temp_dir().join(format!("token-{}", std::process::id()));
/// // Another program writes the token.
/// std::fs::write(&path, fake.access_token().expose())?;
///
/// let file = path.clone();
/// let source = move || {
///     let text = std::fs::read_to_string(&file).map_err(Error::token_unavailable);
///     async move { AccessToken::new(text?.trim()) }
/// };
/// let client = Client::builder(fake.graphql_url()).token_source(source).build()?;
/// assert!(client.user_details().await.is_ok());
/// # std::fs::remove_file(path)?;
/// # Ok(()) });
/// ```
///
/// A type can also return a token without waiting, or treat a renewal differently from a first token:
///
/// ```
/// use envd_sdk::Result;
/// use envd_sdk::auth::{AccessToken, BoxFuture, TokenSource};
///
/// struct Fixed(AccessToken);
///
/// impl TokenSource for Fixed {
///     fn token(&self) -> BoxFuture<'_, Result<AccessToken>> {
///         Box::pin(async { Ok(self.0.clone()) })
///     }
///
///     fn renew(&self, _rejected: &AccessToken) -> BoxFuture<'_, Result<AccessToken>> {
///         Box::pin(async { Err(envd_sdk::Error::login_needed()) })
///     }
///
///     fn current(&self) -> Option<AccessToken> {
///         Some(self.0.clone())
///     }
/// }
/// ```
///
/// # Cancel safety
///
/// The future of either method may be dropped before it completes, for example at the [deadline](crate::Call::deadline) of a
/// call. Run a renewal in its own task if it must not be interrupted, for example because a refresh token is valid only once.
pub trait TokenSource: Send + Sync + 'static {
    /// Returns a token that should currently be accepted.
    fn token(&self) -> BoxFuture<'_, Result<AccessToken>>;

    /// Returns a replacement for a token that the server refused; defaults to [`token`](Self::token). The client calls this at
    /// most once per request.
    ///
    /// A source without another token returns the refused one: the call then fails with the server's refusal. If this returns
    /// an error, the call fails with it instead. The refusal becomes the error's [`source`](std::error::Error::source), unless
    /// that is a [`StoreError`](super::StoreError).
    fn renew(&self, _rejected: &AccessToken) -> BoxFuture<'_, Result<AccessToken>> {
        self.token()
    }

    /// Returns a token if one is available without waiting. After `None`, the client calls [`token`](Self::token).
    fn current(&self) -> Option<AccessToken> {
        None
    }
}

impl<F, R> TokenSource for F
where
    F: Fn() -> R + Send + Sync + 'static,
    R: Future<Output = Result<AccessToken>> + Send + 'static,
{
    fn token(&self) -> BoxFuture<'_, Result<AccessToken>> {
        Box::pin(self())
    }
}

/// A single token that is never renewed, for scripts and tests.
///
/// ```
/// use envd_sdk::auth::{StaticToken, TokenSource};
///
/// let source = StaticToken::new("eyJhbGciOi.eyJzdWIi.c2ln")?;
/// assert!(source.current().is_some());
/// # Ok::<(), envd_sdk::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct StaticToken(AccessToken);

impl StaticToken {
    /// Creates a source from the text of a token.
    ///
    /// # Errors
    ///
    /// As [`AccessToken::new`].
    pub fn new(text: impl Into<String>) -> Result<Self> {
        let text = Zeroizing::new(text.into());
        AccessToken::new(&text).map(Self)
    }
}

impl TokenSource for StaticToken {
    fn token(&self) -> BoxFuture<'_, Result<AccessToken>> {
        Box::pin(std::future::ready(Ok(self.0.clone())))
    }

    fn current(&self) -> Option<AccessToken> {
        Some(self.0.clone())
    }
}

/// For implementations of [`TokenSource`].
impl Error {
    /// Currently no token is available. A later attempt may succeed: [`is_retryable`](Self::is_retryable).
    pub fn token_unavailable(source: impl std::error::Error + Send + Sync + 'static) -> Self {
        unavailable("the token source has no token").with_source(source)
    }

    /// No token is available until the user logs in: [`is_reauth_required`](Self::is_reauth_required).
    pub fn login_needed() -> Self {
        no_tokens()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::tests::assert_fails;

    #[test]
    fn the_header_is_bearer_and_marked_sensitive() {
        let header = AccessToken::new("abc.def").unwrap().header();
        assert_eq!(header.to_str().unwrap(), "Bearer abc.def");
        assert!(header.is_sensitive());
    }

    #[test]
    fn texts_that_cannot_be_a_header_are_refused() {
        for bad in ["", " ", "a b", "a\r\nx: y", "tok\u{e9}n", "a\0"] {
            assert_fails(AccessToken::new(bad), "Config");
        }
    }

    #[test]
    fn debug_hides_the_token() {
        let token = AccessToken::new("s3cr3t-token").unwrap().numbered(3);
        assert!(!format!("{token:?}").contains("s3cr3t"));
    }

    #[tokio::test]
    async fn a_static_token_stays_the_same_when_it_is_refused() {
        let source = StaticToken::new("s3cr3t").unwrap();
        let token = source.token().await.unwrap();
        assert!(source.renew(&token).await.unwrap().is_same(&token));
        assert!(!format!("{source:?}").contains("s3cr3t"));
    }
}
