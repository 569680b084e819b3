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
    expected_subject: Option<String>,
}

impl AuthorizationRequest {
    pub(super) fn new(provider: Provider) -> Self {
        Self {
            provider,
            scopes: None,
            extra: Vec::new(),
            expected_subject: None,
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

    /// Who is to log in: the `sub` claim of the id token, as [`TokenSet::subject`](super::TokenSet::subject) told it
    /// earlier. When somebody else logs in, the login is refused, its tokens are revoked and none are stored.
    ///
    /// ```
    /// # use envd_sdk::auth::TokenManager;
    /// # use envd_sdk::fake::{Fake, User};
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> envd_sdk::Result<()> {
    /// # let fake = Fake::start().await;
    /// # let manager = TokenManager::builder(fake.provider().build()?).build()?;
    /// let login = manager.provider().authorization().expected_subject("auth0|sam").start()?;
    /// # let callback = fake.consent(login.url())?;
    /// let refused = manager.complete_login(login, callback.as_str()).await.unwrap_err();
    /// assert!(refused.is_login_refused());
    /// # Ok(()) }
    /// ```
    pub fn expected_subject(mut self, subject: impl Into<String>) -> Self {
        self.expected_subject = Some(subject.into());
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
    /// [`is_config`](Error::is_config) when a further parameter is one that the login itself sets, or a subject is expected
    /// without the scope `openid`: then no id token would tell who has logged in.
    pub fn start(self) -> Result<PendingLogin> {
        let settings = &self.provider.0;
        if let Some((name, _)) = self
            .extra
            .iter()
            .find(|(name, _)| OURS.contains(&name.as_str()))
        {
            return Err(Error::config(format!("{name} is set by the login itself")));
        }
        let scopes = self.scopes.as_ref().unwrap_or(&settings.scopes);
        let wants_id_token = scopes.iter().any(|scope| scope == "openid");
        if self.expected_subject.is_some() && !wants_id_token {
            return Err(Error::config(
                "expected_subject needs the scope openid, and it is not asked for",
            ));
        }
        let (challenge, verifier) = PkceCodeChallenge::new_random_sha256();
        let nonce = CsrfToken::new_random_len(32);
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
            wants_id_token,
            expected_subject: self.expected_subject,
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
