//! The settings of one login.

use super::Provider;
use super::claims::ExpectedIdToken;
use crate::error::{Error, Result};
use crate::secret::Secret;

/// The settings of one login; made by [`Provider::authorization`], and ended by [`start`](Self::start) for a browser on this
/// machine or [`start_device`](Self::start_device) for one on another device.
///
/// ```
/// # use envd_sdk::auth::Provider;
/// # let provider = Provider::builder("app").authorize_url("https://sso.example.com/authorize")
/// #     .token_url("https://sso.example.com/oauth/token").audience("https://api.example.com")
/// #     .redirect_uri("https://app.example.com/callback").build()?;
/// let login = provider.authorization().param("login_hint", "sam@example.com").start()?;
/// assert!(login.url().as_str().starts_with("https://sso.example.com/authorize?response_type=code"));
/// # Ok::<(), envd_sdk::Error>(())
/// ```
#[derive(Debug)]
#[must_use]
pub struct LoginRequest {
    provider: Provider,
    scopes: Option<Vec<String>>,
    /// Hidden: values may be personal data, such as `login_hint`.
    extra: Vec<(String, Secret)>,
    expected_subject: Option<Secret>,
}

/// What a login of either kind sends and expects.
pub(super) struct LoginParts {
    pub(super) provider: Provider,
    pub(super) scopes: Vec<String>,
    pub(super) extra: Vec<(String, Secret)>,
    /// Without a nonce.
    pub(super) expected: ExpectedIdToken,
}

impl Provider {
    /// Starts the settings of a login.
    #[doc(alias("login", "sign in", "PKCE", "SSO", "OIDC", "device flow"))]
    pub fn authorization(&self) -> LoginRequest {
        LoginRequest {
            provider: self.clone(),
            scopes: None,
            extra: Vec::new(),
            expected_subject: None,
        }
    }
}

impl LoginRequest {
    setters! {
        /// Adds a parameter, such as `prompt` (`login` for a fresh login, `none` for a silent one) or `login_hint` (the user's
        /// name or e-mail address), both of OIDC Core 3.1.2.1, or one of the provider's own.
        pub fn param(name: impl Into<String>, value: impl Into<String>)
            |it| it.extra.push((name.into(), Secret::new(value)));

        /// The user who must log in: the `sub` claim of the id token, as in an earlier
        /// [`TokenSet::subject`](super::TokenSet::subject). If another user logs in, the login is refused, its tokens are
        /// revoked and none are stored.
        ///
        /// ```
        /// # use envd_sdk::auth::TokenManager;
        /// # use envd_sdk::fake::{Fake, User};
        /// # equipment::example(async {
        /// # let fake = Fake::start().await;
        /// # let manager = TokenManager::builder(fake.provider().build()?).build()?;
        /// let login = manager.provider().authorization().expected_subject("auth0|sam").start()?;
        /// # let callback = fake.consent(login.url())?;
        /// let refused = manager.complete_login(login, callback.as_str()).await.unwrap_err();
        /// assert!(refused.kind() == envd_sdk::ErrorKind::LoginRefused);
        /// # Ok(()) });
        /// ```
        pub fn expected_subject(subject: impl Into<String>)
            |it| it.expected_subject = Some(Secret::new(subject));

        /// The scopes of this login, in place of those of the provider's settings.
        pub fn scopes(scopes: impl IntoIterator<Item = impl Into<String>>)
            |it| it.scopes = Some(scopes.into_iter().map(Into::into).collect());
    }

    /// Refuses parameters that the login itself sets, and a subject without an id token to check.
    pub(super) fn check(self, reserved: &[&str]) -> Result<LoginParts> {
        let is_reserved = |(name, _): &&(String, Secret)| reserved.contains(&name.as_str());
        if let Some((name, _)) = self.extra.iter().find(is_reserved) {
            return Err(Error::config(format!("{name} is set by the login itself")));
        }
        let scopes = self
            .scopes
            .unwrap_or_else(|| self.provider.0.scopes.clone());
        let expected = ExpectedIdToken {
            is_required: scopes.iter().any(|scope| scope == "openid"),
            nonce: None,
            subject: self.expected_subject,
        };
        if expected.subject.is_some() && !expected.is_required {
            return Err(Error::config("expected_subject needs the scope openid"));
        }
        Ok(LoginParts {
            provider: self.provider,
            scopes,
            extra: self.extra,
            expected,
        })
    }
}
