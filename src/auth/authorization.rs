//! Where a login starts.

use std::fmt;

use oauth2::{CsrfToken, PkceCodeChallenge, Scope};

use super::Provider;
use super::pending::{Parts, PendingLogin};
use crate::error::{Error, Result};
use crate::secret::Secret;

/// Parameters that the login itself sets; a second one would leave open which counts (RFC 6749 section 3.1).
const OURS: [&str; 10] = [
    "response_type",
    "client_id",
    "redirect_uri",
    "scope",
    "state",
    "nonce",
    "audience",
    "code_challenge",
    "code_challenge_method",
    "response_mode",
];

/// What a login asks for; made by [`Provider::authorization`]. PKCE with S256, a random `state` and a `nonce` are
/// always part of it.
///
/// ```
/// # use envd_sdk::auth::Provider;
/// # let provider = Provider::builder("app").authorize_url("https://sso.example.com/authorize")
/// #     .token_url("https://sso.example.com/oauth/token").audience("https://api.example.com")
/// #     .redirect_uri("https://app.example.com/callback").build()?;
/// let login = provider.authorization().login_hint("sam@example.com").start()?;
/// assert!(login.url().as_str().starts_with("https://sso.example.com/authorize?response_type=code"));
/// # Ok::<(), envd_sdk::Error>(())
/// ```
#[must_use]
pub struct AuthorizationRequest {
    provider: Provider,
    scopes: Option<Vec<String>>,
    extra: Vec<(String, String)>,
}

impl AuthorizationRequest {
    pub(super) fn new(provider: Provider) -> Self {
        Self {
            provider,
            scopes: None,
            extra: Vec::new(),
        }
    }

    /// What to show the user: `login` for a fresh login, `none` for a silent one (OIDC Core 3.1.2.1).
    pub fn prompt(self, prompt: impl Into<String>) -> Self {
        self.param("prompt", prompt)
    }

    /// The user's name or e-mail address, to fill in the form.
    pub fn login_hint(self, hint: impl Into<String>) -> Self {
        self.param("login_hint", hint)
    }

    /// A further parameter of the provider's.
    pub fn param(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.extra.push((name.into(), value.into()));
        self
    }

    /// Other scopes than the provider's settings name, for this login.
    pub fn scopes(mut self, scopes: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.scopes = Some(scopes.into_iter().map(Into::into).collect());
        self
    }

    /// Makes the address to open, with a `state`, a `nonce` and a PKCE pair of its own.
    ///
    /// # Errors
    ///
    /// [`is_config`](Error::is_config) when a further parameter is one that the login itself sets.
    pub fn start(self) -> Result<PendingLogin> {
        let settings = &self.provider.0;
        if let Some((name, _)) = self
            .extra
            .iter()
            .find(|(name, _)| OURS.contains(&name.as_str()))
        {
            return Err(Error::config(format!("{name} is set by the login itself")));
        }
        let (challenge, verifier) = PkceCodeChallenge::new_random_sha256();
        let nonce = CsrfToken::new_random_len(32);
        let scopes = self.scopes.as_ref().unwrap_or(&settings.scopes);
        let mut request = settings
            .oauth
            .authorize_url(|| CsrfToken::new_random_len(32))
            .add_scopes(scopes.iter().cloned().map(Scope::new))
            .set_pkce_challenge(challenge)
            .add_extra_param("audience", settings.audience.as_str())
            .add_extra_param("nonce", nonce.secret().as_str());
        for (name, value) in &self.extra {
            request = request.add_extra_param(name.as_str(), value.as_str());
        }
        let (url, state) = request.url();
        let parts = Parts {
            client_id: settings.client_id.clone(),
            state: Secret::new(state.into_secret()),
            nonce: Secret::new(nonce.into_secret()),
            verifier: Secret::new(verifier.into_secret()),
            wants_id_token: scopes.iter().any(|scope| scope == "openid"),
            started_at: settings.clock.now(),
            url,
        };
        Ok(PendingLogin::new(self.provider, parts))
    }
}

impl fmt::Debug for AuthorizationRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The hint is the user's address.
        f.debug_struct("AuthorizationRequest")
            .field("scopes", &self.scopes)
            .finish_non_exhaustive()
    }
}
