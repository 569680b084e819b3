//! A login whose user is at the identity provider.

use std::fmt;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};
use url::Url;

use super::Provider;
use super::callback::{self, CheckedCallback};
use super::failure::login_refused;
use super::plain;
use crate::error::{Error, Result};
use crate::secret::Secret;

/// Long enough to find the password, too short to be of use to who finds the address later.
const LIFETIME: Duration = Duration::from_secs(600);

/// A login that waits for the user's browser to come back; it is good for one callback and for ten minutes.
///
/// A web application whose callback may reach another host keeps it as text: [`to_secret_json`](Self::to_secret_json).
pub struct PendingLogin {
    provider: Provider,
    parts: Parts,
}

pub(super) struct Parts {
    pub(super) client_id: String,
    pub(super) url: Url,
    pub(super) state: Secret,
    pub(super) nonce: Secret,
    pub(super) verifier: Secret,
    pub(super) wants_id_token: bool,
    pub(super) expected_subject: Option<String>,
    pub(super) started_at: SystemTime,
}

#[derive(Serialize)]
struct Saved<'a> {
    client_id: &'a str,
    url: &'a str,
    state: &'a str,
    nonce: &'a str,
    verifier: &'a str,
    wants_id_token: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    expected_subject: Option<&'a str>,
    started_at: u64,
}

#[derive(Deserialize)]
struct Loaded {
    client_id: String,
    url: String,
    #[serde(with = "plain")]
    state: Secret,
    #[serde(with = "plain")]
    nonce: Secret,
    #[serde(with = "plain")]
    verifier: Secret,
    wants_id_token: bool,
    expected_subject: Option<String>,
    started_at: u64,
}

impl PendingLogin {
    pub(super) fn new(provider: Provider, parts: Parts) -> Self {
        Self { provider, parts }
    }

    /// The address to open in the user's browser. It holds this login's `state`: keep it out of logs.
    #[must_use]
    pub fn url(&self) -> &Url {
        &self.parts.url
    }

    /// The login as a text, to be found again by its browser session on any host. Who can read it and the callback can
    /// take over the login: keep it on the server's side, and delete it when the callback comes, so that it is used once.
    #[must_use]
    pub fn to_secret_json(&self) -> Secret {
        let parts = &self.parts;
        let since_epoch = parts.started_at.duration_since(UNIX_EPOCH);
        let saved = Saved {
            client_id: &parts.client_id,
            url: parts.url.as_str(),
            state: parts.state.expose(),
            nonce: parts.nonce.expose(),
            verifier: parts.verifier.expose(),
            wants_id_token: parts.wants_id_token,
            expected_subject: parts.expected_subject.as_deref(),
            started_at: since_epoch.unwrap_or_default().as_secs(),
        };
        // Never the default: strings, numbers and bools under text keys always serialize.
        plain::json(&saved).unwrap_or_default()
    }

    /// Reads a login from its text.
    ///
    /// # Errors
    ///
    /// [`is_config`](Error::is_config) when the text is not one of [`to_secret_json`](Self::to_secret_json), or of
    /// another client id.
    pub fn from_secret_json(provider: &Provider, json: &Secret) -> Result<Self> {
        // Neither the text nor the reason is shown: both may repeat a secret.
        let unreadable = || Error::config("the text is not a pending login");
        let value: Loaded = serde_json::from_str(json.expose()).map_err(|_| unreadable())?;
        if value.client_id != provider.0.client_id {
            return Err(Error::config("the pending login is of another client id"));
        }
        let parts = Parts {
            client_id: value.client_id,
            url: Url::parse(&value.url).map_err(|_| unreadable())?,
            state: value.state,
            nonce: value.nonce,
            verifier: value.verifier,
            wants_id_token: value.wants_id_token,
            expected_subject: value.expected_subject,
            started_at: UNIX_EPOCH
                .checked_add(Duration::from_secs(value.started_at))
                .ok_or_else(unreadable)?,
        };
        // RFC 7636 section 4.1; also what keeps the exchange from failing later.
        let verifier = 43..=128;
        if parts.state.is_empty() || !verifier.contains(&parts.verifier.expose().len()) {
            return Err(unreadable());
        }
        Ok(Self::new(provider.clone(), parts))
    }

    /// Whether a callback carries the `state` of this login; uses nothing up. For whoever listens where others may call as
    /// well: what they send must not end the login.
    #[must_use]
    pub fn expects(&self, callback: &str) -> bool {
        callback::read(callback).is_ok_and(|read| callback::is_of(&read, &self.parts.state))
    }

    /// Checks the callback of this login and uses the login up. Pure: nothing is sent.
    ///
    /// `callback` is the whole address that the browser came back with, its path and query, or the query alone.
    /// [`TokenManager::complete_login`](super::TokenManager::complete_login) does this and the exchange in one.
    ///
    /// # Errors
    ///
    /// [`is_login_refused`](Error::is_login_refused) when the callback is not of this login, is late, or says no;
    /// [`is_reauth_required`](Error::is_reauth_required) when a silent login (`prompt=none`) needs the user after all;
    /// [`is_retryable`](Error::is_retryable) when the provider has a passing problem.
    pub fn check(self, callback: &str) -> Result<CheckedCallback> {
        let parameters = callback::read(callback)?;
        let issuer = self.provider.0.issuer.as_deref();
        let code = callback::code(&parameters, &self.parts.state, issuer)?;
        let age = self
            .provider
            .clock()
            .now()
            .duration_since(self.parts.started_at);
        // A clock that was set back makes the age negative: not a reason to refuse.
        if age.unwrap_or_default() > LIFETIME {
            return Err(login_refused("login_expired"));
        }
        Ok(CheckedCallback {
            provider: self.provider,
            code,
            verifier: self.parts.verifier,
            nonce: self.parts.nonce,
            wants_id_token: self.parts.wants_id_token,
            expected_subject: self.parts.expected_subject,
        })
    }
}

impl fmt::Debug for PendingLogin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PendingLogin")
            .field("host", &self.parts.url.host_str())
            .field("started_at", &self.parts.started_at)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transport::Clock;
    use std::collections::HashMap;

    fn provider(clock: &Clock) -> Provider {
        Provider::builder("app")
            .authorize_url("http://127.0.0.1:1/authorize")
            .token_url("http://127.0.0.1:1/oauth/token")
            .audience("https://api.example/graphql")
            .redirect_uri("https://app.example/cb")
            .clock(clock.clone())
            .build()
            .unwrap()
    }

    fn query(url: &Url) -> HashMap<String, String> {
        url.query_pairs().into_owned().collect()
    }

    /// Row 44.
    #[test]
    fn the_address_has_the_parameters_of_the_spec_and_pkce() {
        let provider = provider(&Clock::system());
        let login = provider.authorization().prompt("login").start().unwrap();
        let query = query(login.url());
        for (name, value) in [
            ("response_type", "code"),
            ("scope", "openid profile email offline_access"),
            ("client_id", "app"),
            ("redirect_uri", "https://app.example/cb"),
            ("audience", "https://api.example/graphql"),
            ("code_challenge_method", "S256"),
            ("prompt", "login"),
        ] {
            assert_eq!(query[name], value);
        }
        assert_eq!(query["code_challenge"].len(), 43);
        assert!(query["state"].len() >= 32 && query["nonce"].len() >= 32);
        let other = provider.authorization().start().unwrap();
        assert_ne!(self::query(other.url())["state"], query["state"]);
        let bare = provider.authorization().scopes(["offline_access"]);
        let unknowable = bare.expected_subject("auth0|sam").start();
        assert!(unknowable.unwrap_err().is_config());
        let clash = provider.authorization().param("state", "mine").start();
        assert!(clash.unwrap_err().is_config());
    }

    #[test]
    fn the_challenge_of_rfc_7636_appendix_b_comes_out() {
        let verifier = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk".to_owned();
        let verifier = oauth2::PkceCodeVerifier::new(verifier);
        let challenge = oauth2::PkceCodeChallenge::from_code_verifier_sha256(&verifier);
        assert_eq!(
            challenge.as_str(),
            "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"
        );
    }

    /// Row 43.
    #[test]
    fn a_login_expires_after_ten_minutes() {
        let clock = Clock::manual(UNIX_EPOCH + Duration::from_secs(1_000_000));
        let provider = provider(&clock);
        let login = provider.authorization().start().unwrap();
        let late = provider.authorization().start().unwrap();
        let callback =
            |login: &PendingLogin| format!("code=c&state={}", query(&login.parts.url)["state"]);
        clock.advance(Duration::from_secs(600));
        let callback_in_time = callback(&login);
        assert_eq!(login.check(&callback_in_time).unwrap().code.expose(), "c");
        clock.advance(Duration::from_secs(1));
        let callback_late = callback(&late);
        let error = late.check(&callback_late).unwrap_err();
        assert!(error.is_login_refused() && error.to_string().contains("login_expired"));
    }

    /// Row 43.
    #[test]
    fn two_logins_at_once_take_their_own_callbacks_only() {
        let provider = provider(&Clock::system());
        let one = provider.authorization().start().unwrap();
        let two = provider.authorization().start().unwrap();
        let callback =
            |login: &PendingLogin| format!("code=c&state={}", query(login.url())["state"]);
        let (of_one, of_two) = (callback(&one), callback(&two));
        assert!(one.expects(&of_one) && !one.expects(&of_two));
        assert!(two.check(&of_one).unwrap_err().is_login_refused());
        // A login is used up by its callback: `check` takes it, so that none can be replayed.
        one.check(&of_one).unwrap();
    }

    #[test]
    fn a_login_goes_through_text_to_another_host() {
        let clock = Clock::manual(UNIX_EPOCH + Duration::from_secs(1_000_000));
        let provider = provider(&clock);
        let login = provider.authorization().start().unwrap();
        let back = PendingLogin::from_secret_json(&provider, &login.to_secret_json()).unwrap();
        assert_eq!(back.url(), login.url());
        let state = query(login.url())["state"].clone();
        let checked = back.check(&format!("?code=c&state={state}")).unwrap();
        assert!(checked.verifier.matches(login.parts.verifier.expose()));
        for bad in ["", "{}", "[1]", "{\"client_id\":\"app\"}"] {
            let error = PendingLogin::from_secret_json(&provider, &bad.into()).unwrap_err();
            assert!(error.is_config(), "{bad}");
        }
    }

    #[test]
    fn debug_hides_state_nonce_verifier_and_code() {
        let login = provider(&Clock::system()).authorization().start().unwrap();
        let state = query(login.url())["state"].clone();
        let secrets = [
            &login.parts.state,
            &login.parts.nonce,
            &login.parts.verifier,
        ]
        .map(|secret| secret.expose().to_owned());
        let pending = format!("{login:?}");
        let checked = login.check(&format!("code=c0d3&state={state}")).unwrap();
        let shown = format!("{pending} {checked:?}");
        for secret in secrets.iter().map(String::as_str).chain(["c0d3"]) {
            assert!(!shown.contains(secret));
        }
    }
}
