//! Signatures of id tokens (feature `jwks`).
//!
//! The claims of every id token are checked, see [`TokenSet::id_token`](super::TokenSet::id_token). Its signature need not be:
//! the token comes straight from the token endpoint, which TLS authenticates (OIDC Core 3.1.3.7, point 6). Some rules and
//! audits require it all the same; for those there is [`ProviderBuilder::verify_id_tokens`].
//!
//! # What is accepted
//!
//! RS256 with a modulus of 2,048 to 8,192 bits, and ES256. The type of the key decides the algorithm, and the token must name
//! the same one; `none`, HMACs and all others are refused (RFC 8725 sections 3.1 and 3.2), as is a header that must be
//! understood (`crit`, RFC 7515 section 4.1.11). A key must be of the set at
//! [`jwks_uri`](ProviderBuilder::jwks_uri), never of the token; keys for encryption, or for another algorithm, are not used. A
//! token without a key id passes only if the set has one key of its type (OIDC Core 10.1).
//!
//! # A login
//!
//! The keys are fetched before the code is exchanged. If that fails, after three attempts, the login ends with an error that
//! [`is_retryable`](crate::Error::is_retryable), and the code is not used up: an application that keeps the
//! [`PendingLogin`](super::PendingLogin) as text can complete it again. A token that does not pass ends in
//! [`is_login_refused`](crate::Error::is_login_refused): its refresh token is revoked, and nothing is stored. A login on another
//! device asks for its tokens when the keys are there.
//!
//! # A refresh
//!
//! An id token that comes with renewed tokens and does not pass is not kept: the one before stays, a warning is traced, and the
//! new tokens are used. It is optional there (OIDC Core 12.2), and the refresh token that came with it is the only valid one.
//! Keys that are stale are fetched before the refresh is sent, for at most five seconds, and without them the refresh goes on.
//!
//! # Rotation
//!
//! Keys are cached for the `max-age` of the reply (RFC 9111), at least five minutes and at most a day; for an hour without
//! one. A token whose key is not in the cache, or whose signature does not fit the key, has them fetched again: at most once
//! in 60 seconds for all users of a [`Provider`](super::Provider). One request runs at a time, and its callers share the
//! outcome. While the keys cannot be fetched, the cached ones are used until they are a day old.

mod id_token_keys;
mod jwk;
mod jws;

pub(super) use self::id_token_keys::IdTokenKeys;
use super::ProviderBuilder;

impl ProviderBuilder {
    /// Verifies the signature of each id token with the keys at [`jwks_uri`](Self::jwks_uri), which becomes required; not
    /// verified unless set. The module [`jwks`](crate::auth::jwks) says what is accepted.
    ///
    /// Set [`issuer`](Self::issuer) as well: the same keys may sign for several issuers (RFC 8725 section 3.8).
    ///
    /// ```
    /// # use envd_sdk::auth::TokenManager;
    /// # use envd_sdk::fake::Fake;
    /// # equipment::example(async {
    /// # let fake = Fake::start().await;
    /// # let settings = fake.provider();
    /// let provider = settings.jwks_uri(fake.jwks_uri()).verify_id_tokens().build()?;
    /// let manager = TokenManager::builder(provider).build()?;
    /// let login = manager.provider().authorization().start()?;
    /// # let callback = fake.consent(login.url())?;
    /// let tokens = manager.complete_login(login, callback.as_str()).await?;
    /// assert!(tokens.id_token().is_some());
    /// # Ok(()) });
    /// ```
    pub fn verify_id_tokens(mut self) -> Self {
        self.id_token_keys = Some(IdTokenKeys::new);
        self
    }
}

#[cfg(test)]
pub(super) mod tests;
