//! A login in the user's browser, from the address to open to the callback.

use std::time::{SystemTime, UNIX_EPOCH};

use oauth2::{CsrfToken, PkceCodeChallenge, Scope};
use serde::{Deserialize, Serialize};
use url::Url;

use super::callback::{self, CheckedCallback, ExpectedIssuer};
use super::claims::ExpectedIdToken;
use super::failure::login_refused;
use super::login_request::LoginParts;
use super::{LoginRequest, Provider, secret_json};
use crate::error::{Error, Result};
use crate::secret::Secret;

/// In seconds: long enough to find the password, and too short for an attacker who finds the address later.
const LIFETIME: u64 = 600;

/// Parameters that the login itself sets. Each may stand once (RFC 6749 section 3.1).
const RESERVED: [&str; 10] = [
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

impl LoginRequest {
    /// Starts the login: makes the address to open, with a new `state`, `nonce` and PKCE pair.
    ///
    /// # Errors
    ///
    /// [`Config`](crate::ErrorKind::Config) when no [`redirect_uri`](super::ProviderBuilder::redirect_uri) is set, an added
    /// parameter is one that the login itself sets, or a subject is expected without the scope `openid`: then there is no id
    /// token to check.
    pub fn start(self) -> Result<PendingLogin> {
        let nonce = CsrfToken::new_random_len(32);
        let LoginParts {
            provider,
            scopes,
            extra,
            expected,
        } = self.check(&RESERVED)?;
        let settings = &provider.0;
        let (challenge, verifier) = PkceCodeChallenge::new_random_sha256();
        let mut request = settings
            .browser()?
            .authorize_url(|| CsrfToken::new_random_len(32))
            .add_scopes(scopes.into_iter().map(Scope::new))
            .set_pkce_challenge(challenge)
            .add_extra_param("nonce", nonce.secret().as_str());
        if let Some(audience) = &settings.audience {
            request = request.add_extra_param("audience", audience.as_str());
        }
        for (name, value) in &extra {
            request = request.add_extra_param(name.as_str(), value.expose());
        }
        let (url, state) = request.url();
        let stored = StoredLogin {
            client_id: settings.client_id.clone(),
            state: Secret::new(state.into_secret()),
            nonce: Secret::new(nonce.into_secret()),
            verifier: Secret::new(verifier.into_secret()),
            wants_id_token: expected.is_required,
            expected_subject: expected.subject,
            started_at: seconds(settings.clock.now()),
            url,
        };
        Ok(PendingLogin { provider, stored })
    }
}

/// A login that is open in the user's browser; valid for one callback and for ten minutes.
///
/// A web application whose callback may reach another host stores it as text: [`to_secret_json`](Self::to_secret_json).
///
/// ```
/// use envd_sdk::auth::PendingLogin;
/// # use envd_sdk::auth::Provider;
/// # let provider = Provider::builder("my-client-id").authorize_url("https://login.example.com/authorize")
/// #     .token_url("https://login.example.com/oauth/token").audience("https://api.example.com")
/// #     .redirect_uri("https://app.example.com/callback").build()?;
///
/// let login = provider.authorization().start()?;
/// println!("open {}", login.url());
/// let stored = login.to_secret_json();
///
/// // On the host that gets the callback.
/// let login = PendingLogin::from_secret_json(&provider, &stored)?;
/// assert!(!login.expects("https://app.example.com/callback?code=1&state=forged"));
/// # Ok::<(), envd_sdk::Error>(())
/// ```
pub struct PendingLogin {
    provider: Provider,
    stored: StoredLogin,
}

#[derive(Serialize, Deserialize)]
struct StoredLogin {
    client_id: String,
    url: Url,
    #[serde(with = "secret_json")]
    state: Secret,
    #[serde(with = "secret_json")]
    nonce: Secret,
    #[serde(with = "secret_json")]
    verifier: Secret,
    wants_id_token: bool,
    #[serde(default, with = "secret_json::option")]
    #[serde(skip_serializing_if = "Option::is_none")]
    expected_subject: Option<Secret>,
    /// In seconds since 1970.
    started_at: u64,
}

impl PendingLogin {
    /// The address to open in the user's browser. It holds this login's `state`: keep it out of logs.
    pub fn url(&self) -> &Url {
        &self.stored.url
    }

    /// The login as text, to be stored under the browser's session and read by any host. The text and the callback
    /// together are enough to take over the login: keep the text on the server, and delete it when the callback comes, so
    /// that it is used once.
    pub fn to_secret_json(&self) -> Secret {
        // Never the default: strings, numbers and bools under text keys always serialize.
        secret_json::to_json(&self.stored).unwrap_or_default()
    }

    /// Reads a login from its text.
    ///
    /// # Errors
    ///
    /// [`Config`](crate::ErrorKind::Config) when the text is not one of [`to_secret_json`](Self::to_secret_json), or has
    /// another client id.
    pub fn from_secret_json(provider: &Provider, json: &Secret) -> Result<Self> {
        // Neither the text nor serde's reason is shown: both may repeat a secret.
        let stored: Option<StoredLogin> = serde_json::from_str(json.expose()).ok();
        // RFC 7636 section 4.1: another verifier would only fail in the exchange.
        let is_valid = |stored: &StoredLogin| {
            !stored.state.is_empty() && (43..=128).contains(&stored.verifier.expose().len())
        };
        let Some(stored) = stored.filter(is_valid) else {
            return Err(Error::config("the text is not a pending login"));
        };
        if stored.client_id != provider.0.client_id {
            return Err(Error::config("the pending login has another client id"));
        }
        Ok(Self {
            provider: provider.clone(),
            stored,
        })
    }

    /// Whether a callback has the `state` of this login. A listener that other programs can reach checks this first:
    /// their requests must not end the login.
    #[must_use]
    pub fn expects(&self, callback: &str) -> bool {
        callback::parameters(callback)
            .is_ok_and(|parameters| callback::has_state(&parameters, &self.stored.state))
    }

    /// Checks the callback of this login and consumes the login. Sends nothing.
    ///
    /// `callback` is the whole address that the browser was redirected to, its path and query, or the query alone. What pasting and
    /// mail programs add is left out: blanks, quotes, angle brackets, line ends, `&amp;`, characters without a width.
    /// [`TokenManager::complete_login`](super::TokenManager::complete_login) does this and the exchange in one.
    ///
    /// # Errors
    ///
    /// [`LoginRefused`](crate::ErrorKind::LoginRefused) when the callback is of another login, is late, or the user refused;
    /// [`is_reauth_required`](Error::is_reauth_required) when a silent login (`prompt=none`) needs the user after all;
    /// [`is_retryable`](Error::is_retryable) when the provider has a temporary problem.
    pub fn check(self, callback: &str) -> Result<CheckedCallback> {
        let Self { provider, stored } = self;
        let parameters = callback::parameters(callback)?;
        let issuer = ExpectedIssuer {
            name: provider.0.issuer.as_deref(),
            is_required: provider.0.require_iss,
        };
        let code = callback::code(&parameters, &stored.state, issuer)?;
        // Zero if the clock was set back.
        let age = seconds(provider.clock().now()).saturating_sub(stored.started_at);
        if age > LIFETIME {
            return Err(login_refused("login_expired"));
        }
        Ok(CheckedCallback {
            provider,
            code,
            verifier: stored.verifier,
            expected: ExpectedIdToken {
                is_required: stored.wants_id_token,
                nonce: Some(stored.nonce),
                subject: stored.expected_subject,
            },
        })
    }
}

fn seconds(time: SystemTime) -> u64 {
    time.duration_since(UNIX_EPOCH)
        .unwrap_or_default()
        .as_secs()
}

debug_shows!(PendingLogin, |it| host: it.stored.url.host_str(), started_at: it.stored.started_at);

#[cfg(test)]
mod tests;
