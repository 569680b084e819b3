//! The interface by which a client gets its tokens.

use std::pin::Pin;

use super::AccessToken;
use super::failure::{no_tokens, unavailable};
use crate::error::{Error, Result};

/// A boxed future that can be sent to another thread.
///
/// [`TokenSource::token`] returns it. See [`TokenSource`] for an example.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// A source of access tokens for a client. [`TokenManager`](super::TokenManager) is the one for logged-in users.
///
/// A function that returns a token is a source. It is called for each request, and once more when the server refuses the
/// token:
///
/// ```
/// # equipment::example(async {
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
/// A type can also return a token without waiting, or distinguish a renewal from a first token:
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
pub trait TokenSource: Send + Sync + 'static {
    /// A token that should be accepted now.
    fn token(&self) -> BoxFuture<'_, Result<AccessToken>>;

    /// A token in place of one that the server refused; [`token`](Self::token) unless a source knows better. The client calls this
    /// at most once for each request.
    ///
    /// A source that has no other token returns the refused one: the call then ends with the server's refusal. An error ends the
    /// call in its place; the refusal becomes its [`source`](std::error::Error::source), unless that is a
    /// [`StoreError`](super::StoreError).
    fn renew(&self, _rejected: &AccessToken) -> BoxFuture<'_, Result<AccessToken>> {
        self.token()
    }

    /// A token that is available without waiting. After `None` the client calls [`token`](Self::token).
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

/// One token that is never renewed: for scripts and tests.
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
    /// Makes a source from the text of a token.
    ///
    /// # Errors
    ///
    /// As [`AccessToken::new`].
    pub fn new(text: &str) -> Result<Self> {
        AccessToken::new(text).map(Self)
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
    /// No token is available for now; a later retry may succeed: [`is_retryable`](Self::is_retryable).
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

    #[tokio::test]
    async fn a_static_token_stays_the_same_when_it_is_refused() {
        let source = StaticToken::new("s3cr3t").unwrap();
        let token = source.token().await.unwrap();
        assert!(source.renew(&token).await.unwrap().is_same(&token));
        assert!(!format!("{source:?}").contains("s3cr3t"));
    }
}
