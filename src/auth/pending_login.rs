//! A login in the user's browser, from its settings and address to the check of the callback. Does no I/O.

use std::collections::HashMap;
use std::time::{SystemTime, UNIX_EPOCH};

use oauth2::{CsrfToken, PkceCodeChallenge, Scope};
use serde::{Deserialize, Serialize};
use url::{Url, form_urlencoded};
use zeroize::Zeroizing;

use super::failure::{error_code, login_error, login_refused, no_address};
use super::id_token::ExpectedIdToken;
use super::{Provider, secret_json};
use crate::error::{Error, Result};
use crate::secret::Secret;

/// The settings of one login, from [`Provider::authorization`]. Finish with [`start`](Self::start) for a browser on this
/// machine, or [`start_device`](Self::start_device) for another device.
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
    /// Hidden, because values such as `login_hint` may be personal data.
    extra: Vec<(String, Secret)>,
    expected_subject: Option<Secret>,
}

/// The values that both kinds of login send and expect.
pub(super) struct LoginParts {
    pub(super) provider: Provider,
    pub(super) scopes: Vec<String>,
    pub(super) extra: Vec<(String, Secret)>,
    /// Has no nonce yet.
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
    /// Adds a parameter, such as `prompt` (`login` for a fresh login, `none` for a silent one) or `login_hint` (the user's
    /// name or e-mail address), both from OIDC Core 3.1.2.1, or a provider-specific one.
    pub fn param(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.extra.push((name.into(), Secret::new(value)));
        self
    }

    /// Requires a specific user: the `sub` claim of the id token, as returned by
    /// [`TokenSet::subject`](super::TokenSet::subject) after an earlier login. If another user logs in, the login is
    /// refused, its tokens are revoked, and none are stored.
    ///
    /// ```
    /// # use envd_sdk::auth::TokenManager;
    /// # use envd_sdk::fake::{Fake, User};
    /// # test_support::example(async {
    /// # let fake = Fake::start().await;
    /// # let manager = TokenManager::builder(fake.provider().build()?).build()?;
    /// let login = manager.provider().authorization().expected_subject("auth0|sam").start()?;
    /// # let callback = fake.consent(login.url())?;
    /// let refused = manager.complete_login(login, callback.as_str()).await.unwrap_err();
    /// assert!(refused.kind() == envd_sdk::ErrorKind::LoginRefused);
    /// # Ok(()) });
    /// ```
    pub fn expected_subject(mut self, subject: impl Into<String>) -> Self {
        self.expected_subject = Some(Secret::new(subject));
        self
    }

    /// The scopes of this login, instead of those in the provider's settings.
    pub fn scopes(mut self, scopes: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.scopes = Some(scopes.into_iter().map(Into::into).collect());
        self
    }

    /// Rejects reserved parameters, and an expected subject without an id token to check.
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

/// In seconds. Long enough to find the password, and too short for an attacker who finds the address later.
const LIFETIME: u64 = 600;

/// Parameters that the login sets itself. Each may appear only once (RFC 6749 section 3.1).
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
    /// Starts the login: builds the address to open, with a new `state`, `nonce` and PKCE pair.
    ///
    /// # Errors
    ///
    /// [`Config`](crate::ErrorKind::Config) if no [`redirect_uri`](super::ProviderBuilder::redirect_uri) is set, an added
    /// parameter is reserved for the login itself, or a subject is expected without the scope `openid`, which provides the id
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

/// A login that is in progress in the user's browser. Valid for one callback and for ten minutes.
///
/// A web application with several hosts stores it as text ([`to_secret_json`](Self::to_secret_json)), because the callback may
/// reach another host.
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
/// // On the host that receives the callback.
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
    /// The address to open in the user's browser. It contains this login's `state`, so keep it out of logs.
    pub fn url(&self) -> &Url {
        &self.stored.url
    }

    /// Serializes the login, to be stored under the browser's session and read by any host. The text and the callback together
    /// are enough to take over the login: keep the text on the server, and delete it when the callback arrives, so that it is
    /// used only once.
    pub fn to_secret_json(&self) -> Secret {
        // Never the default: strings, numbers and booleans with string keys always serialize.
        secret_json::to_json(&self.stored).unwrap_or_default()
    }

    /// Restores a login from its text.
    ///
    /// # Errors
    ///
    /// [`Config`](crate::ErrorKind::Config) if the text is not from [`to_secret_json`](Self::to_secret_json), or has another
    /// client id.
    pub fn from_secret_json(provider: &Provider, json: &Secret) -> Result<Self> {
        // Neither the text nor serde's error is shown: both may contain a secret.
        let stored: Option<StoredLogin> = serde_json::from_str(json.expose()).ok();
        // RFC 7636 section 4.1: any other verifier would fail in the exchange anyway.
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

    /// Whether a callback has the `state` of this login. A listener that other programs can reach checks this first, so that
    /// their requests do not end the login.
    #[must_use]
    pub fn expects(&self, callback: &str) -> bool {
        parameters(callback).is_ok_and(|parameters| has_state(&parameters, &self.stored.state))
    }

    /// Checks and consumes the login's callback. Sends nothing.
    pub(crate) fn check(self, callback: &str) -> Result<CheckedCallback> {
        let Self { provider, stored } = self;
        let parameters = parameters(callback)?;
        let issuer = ExpectedIssuer {
            name: provider.0.issuer.as_deref(),
            is_required: provider.0.require_iss,
        };
        let code = code(&parameters, &stored.state, issuer)?;
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

/// A callback that matches its login and contains a code. Ready to be exchanged once.
#[derive(Debug)]
pub(crate) struct CheckedCallback {
    pub(super) provider: Provider,
    pub(super) code: Secret,
    pub(super) verifier: Secret,
    pub(super) expected: ExpectedIdToken,
}

pub(super) type CallbackParameters = HashMap<String, Secret>;

/// Characters that surround an address copied from an e-mail or a chat, in addition to white space.
const AROUND: &str = "\"'<>`\u{201c}\u{201d}\u{2018}\u{2019}\u{ab}\u{bb}";

/// Removes the additions of mail programs and people: zero-width characters, line breaks, quotes, `&amp;`. A browser's address
/// bar encodes these, so they cannot be part of the address.
fn as_in_the_browser(pasted: &str) -> String {
    let is_invisible = |c: char| {
        matches!(
            c,
            '\t' | '\n' | '\r' | '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{2060}' | '\u{feff}'
        )
    };
    let visible = Zeroizing::new(pasted.replace(is_invisible, ""));
    let is_around = |c: char| c.is_whitespace() || AROUND.contains(c);
    visible.trim_matches(is_around).replace("&amp;", "&")
}

/// The parameters of an address, or of a bare query.
pub(super) fn parameters(callback: &str) -> Result<CallbackParameters> {
    let callback = Zeroizing::new(as_in_the_browser(callback));
    let callback = callback.split('#').next().unwrap_or_default();
    let query = match callback.split_once('?') {
        // The part before the question mark is an address, unless it contains a parameter.
        Some((before, query)) if !before.contains('=') => query,
        _ => callback,
    };
    if !is_address(callback, query) {
        return Err(no_address());
    }
    let mut parameters = CallbackParameters::new();
    for (name, value) in form_urlencoded::parse(query.as_bytes()) {
        // RFC 6749 section 3.1: a parameter must not be repeated.
        let value = Secret::new(value);
        if parameters.insert(name.into_owned(), value).is_some() {
            return Err(login_refused("repeated_parameter"));
        }
    }
    Ok(parameters)
}

/// Whether this may be a callback: an address, or a query with a callback parameter.
fn is_address(text: &str, query: &str) -> bool {
    let has_parameter = form_urlencoded::parse(query.as_bytes())
        .any(|(name, _)| matches!(&*name, "state" | "code" | "error"));
    let is_url = || Url::parse(text).is_ok_and(|url| !url.cannot_be_a_base());
    has_parameter || text.starts_with(['/', '?']) || is_url()
}

/// Whether the callback has the state of this login. Compares in constant time.
pub(super) fn has_state(parameters: &CallbackParameters, state: &Secret) -> bool {
    state.matches(parameters.get("state").map_or("", Secret::expose))
}

/// The expected parameter `iss` (RFC 9207 section 2.4).
#[derive(Clone, Copy)]
pub(super) struct ExpectedIssuer<'a> {
    pub(super) name: Option<&'a str>,
    /// Whether it is required.
    pub(super) is_required: bool,
}

impl ExpectedIssuer<'_> {
    /// Also checks error callbacks, which otherwise could come from another provider.
    fn check(self, parameters: &CallbackParameters) -> Result<()> {
        match (parameters.get("iss"), self.name) {
            (Some(iss), Some(name)) if iss.expose() != name => {
                Err(login_refused("issuer_mismatch"))
            }
            (None, _) if self.is_required => Err(login_refused("missing_issuer")),
            _ => Ok(()),
        }
    }
}

/// Returns the code if the callback matches this login and issuer.
pub(super) fn code(
    parameters: &CallbackParameters,
    state: &Secret,
    issuer: ExpectedIssuer<'_>,
) -> Result<Secret> {
    // The state is checked first: an error without it may come from anywhere, and must not end the login.
    if !has_state(parameters, state) {
        return Err(login_refused("state_mismatch"));
    }
    issuer.check(parameters)?;
    if let Some(error) = parameters.get("error") {
        let description = parameters.get("error_description").map(Secret::expose);
        return Err(login_error(&error_code(error.expose())).with_error_description(description));
    }
    match parameters.get("code") {
        Some(code) if !code.is_empty() => Ok(code.clone()),
        _ => Err(login_refused("missing_code")),
    }
}

#[cfg(test)]
mod callback_tests;
#[cfg(test)]
mod tests;
