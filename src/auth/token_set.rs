//! The tokens of one login at one step of their rotation.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

use super::secret_json;
use crate::secret::Secret;
use crate::transport::later;

/// An access token with the refresh token that renews it. `Debug` hides it. Stores keep it inside a [`Record`](super::Record).
///
/// Returned by [`TokenManager::complete_login`](super::TokenManager::complete_login). Clients are served an
/// [`AccessToken`](super::AccessToken) instead.
///
/// ```
/// # use envd_sdk::fake::Fake;
/// # test_support::example(async {
/// # let fake = Fake::start().await;
/// # let manager = envd_sdk::auth::TokenManager::builder(fake.provider().build()?).build()?;
/// # let login = manager.provider().authorization().start()?;
/// # let callback = fake.consent(login.url())?;
/// let tokens = manager.complete_login(login, callback.as_str()).await?;
/// println!("user {:?}, until {:?}", tokens.subject(), tokens.expires_at());
/// assert!(tokens.refresh_token().is_some());
/// # Ok(())
/// # });
/// ```
#[derive(Clone)]
#[non_exhaustive]
pub struct TokenSet {
    pub(super) access_token: Secret,
    pub(super) refresh_token: Option<Secret>,
    pub(super) id_token: Option<Secret>,
    pub(super) subject: Option<String>,
    pub(super) scopes: Vec<String>,
    pub(super) issued_at: SystemTime,
    pub(super) lifetime: Duration,
    pub(super) generation: u64,
    /// In whole milliseconds, as stored.
    pub(super) logged_in_at: Option<SystemTime>,
    pub(super) session_ends_at: Option<SystemTime>,
}

impl TokenSet {
    /// The access token, for APIs that this crate does not support.
    pub fn access_token(&self) -> &Secret {
        &self.access_token
    }

    /// The refresh token. It may be used only once, so leave its use to the [`TokenManager`](super::TokenManager).
    pub fn refresh_token(&self) -> Option<&Secret> {
        self.refresh_token.as_ref()
    }

    /// The id token, which states who logged in (OIDC Core 2). `None` without the scope `openid`.
    ///
    /// It was checked at the login (OIDC Core 3.1.3.7): `iss`, if [`issuer`](super::ProviderBuilder::issuer) is set; `aud`
    /// contains the client id; `azp` is the client id, and required with several audiences; `exp`, on the provider's clock,
    /// with five minutes of leeway; `nonce` matches the login; `sub` is not empty, and matches the
    /// [expected](super::LoginRequest::expected_subject) one. If a check fails, the login fails, and its refresh token is
    /// revoked.
    ///
    /// An id token issued in a refresh (OIDC Core 12.2) is checked the same way, without a nonce, and replaces the earlier one
    /// only if it passes. A different `sub` ends the session.
    ///
    /// These checks do not need the signature. The signature proves that the provider issued the token, and so does TLS: the
    /// token is in the reply of the token endpoint, from a configured `https` address, and never passes through the browser
    /// (OIDC Core 3.1.3.7, point 6). This holds for the token here, straight from the provider, but not for anyone who receives
    /// it from you: an API that you send it to must verify the signature. If regulations require you to verify it anyway, add a
    /// [check of your own](super::ProviderBuilder::id_token_check).
    pub fn id_token(&self) -> Option<&Secret> {
        self.id_token.as_ref()
    }

    /// The user who logged in: the `sub` claim of the id token.
    pub fn subject(&self) -> Option<&str> {
        self.subject.as_deref()
    }

    /// The granted scopes, if the provider returned them (RFC 6749 section 5.1).
    pub fn scopes(&self) -> &[String] {
        &self.scopes
    }

    /// When the access token was requested.
    pub fn issued_at(&self) -> SystemTime {
        self.issued_at
    }

    /// When the access token expires.
    pub fn expires_at(&self) -> SystemTime {
        later(self.issued_at, self.lifetime)
    }

    /// When the user logged in, to the millisecond. Refreshes preserve it. `None` for tokens stored by an earlier version of
    /// this crate.
    pub fn logged_in_at(&self) -> Option<SystemTime> {
        self.logged_in_at
    }

    /// The number of refreshes of this account.
    pub fn generation(&self) -> u64 {
        self.generation
    }
}

// Hides the subject, which is personal data.
debug_shows!(TokenSet, |it|
    generation: it.generation,
    issued_at: it.issued_at,
    lifetime: it.lifetime,
    refresh_token: it.refresh_token,
    logged_in_at: it.logged_in_at,
    session_ends_at: it.session_ends_at,
);

/// The cap on the lifetime of an access token (Auth0's limit of 2,592,000 s), whatever a reply says.
pub(super) const LONGEST: Duration = Duration::from_secs(30 * 24 * 3_600);

/// The stored format. Private, so that a token set is never serialized by accident.
#[derive(Serialize, Deserialize)]
pub(super) struct StoredTokens {
    #[serde(with = "secret_json")]
    access_token: Secret,
    #[serde(default, with = "secret_json::option")]
    #[serde(skip_serializing_if = "Option::is_none")]
    refresh_token: Option<Secret>,
    #[serde(default, with = "secret_json::option")]
    #[serde(skip_serializing_if = "Option::is_none")]
    id_token: Option<Secret>,
    #[serde(skip_serializing_if = "Option::is_none")]
    subject: Option<String>,
    #[serde(default)]
    scopes: Vec<String>,
    issued_at_ms: u64,
    lifetime_ms: u64,
    generation: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    logged_in_at_ms: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    session_ends_at_ms: Option<u64>,
}

impl From<&TokenSet> for StoredTokens {
    fn from(set: &TokenSet) -> Self {
        Self {
            access_token: set.access_token.clone(),
            refresh_token: set.refresh_token.clone(),
            id_token: set.id_token.clone(),
            subject: set.subject.clone(),
            scopes: set.scopes.clone(),
            issued_at_ms: to_ms(set.issued_at),
            lifetime_ms: u64::try_from(set.lifetime.as_millis()).unwrap_or(u64::MAX),
            generation: set.generation,
            logged_in_at_ms: set.logged_in_at.map(to_ms),
            session_ends_at_ms: set.session_ends_at.map(to_ms),
        }
    }
}

impl StoredTokens {
    /// `None` if a time is out of range.
    pub(super) fn into_set(self) -> Option<TokenSet> {
        let time = |ms: Option<u64>| ms.map(|ms| from_ms(ms).ok_or(())).transpose().ok();
        Some(TokenSet {
            access_token: self.access_token,
            refresh_token: self.refresh_token,
            id_token: self.id_token,
            subject: self.subject,
            scopes: self.scopes,
            issued_at: from_ms(self.issued_at_ms)?,
            lifetime: Duration::from_millis(self.lifetime_ms).min(LONGEST),
            generation: self.generation,
            logged_in_at: time(self.logged_in_at_ms)?,
            session_ends_at: time(self.session_ends_at_ms)?,
        })
    }
}

pub(super) fn to_ms(time: SystemTime) -> u64 {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

pub(super) fn from_ms(ms: u64) -> Option<SystemTime> {
    // Leaves room to add a lifetime, so that sums of stored values cannot overflow.
    let time = UNIX_EPOCH.checked_add(Duration::from_millis(ms))?;
    time.checked_add(LONGEST).map(|_| time)
}
