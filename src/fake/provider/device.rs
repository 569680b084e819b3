//! The device flow (RFC 8628). Error statuses are Auth0's, as at the token endpoint.

use std::time::{Duration, SystemTime};

use serde_json::{Value, json};

use super::token_endpoint::TokenError;
use super::{AUDIENCE, FakeProvider, Parameters, TokenFamily, error_reply};
use crate::fake::reply::FakeReply;
use crate::transport::later;

/// No vowels, so that codes do not spell words (section 6.1).
const LETTERS: &[u8; 20] = b"BCDFGHJKLMNPQRSTVWXZ";

/// Auth0's defaults.
const LIFETIME: Duration = Duration::from_secs(900);
const INTERVAL: Duration = Duration::from_secs(5);

/// Section 3.5.
const SLOWER: Duration = Duration::from_secs(5);

/// The login of one device.
pub(super) struct DeviceGrant {
    login: TokenFamily,
    user_code: String,
    expires: SystemTime,
    /// The minimum time between two polls.
    interval: Duration,
    last_poll: Option<SystemTime>,
    /// Whether the user has approved it; `None` before a decision.
    is_approved: Option<bool>,
}

impl FakeProvider {
    /// `/oauth/device/code` (sections 3.1 and 3.2).
    pub(in crate::fake) fn authorize_device(
        &mut self,
        request: &Parameters,
        now: SystemTime,
    ) -> FakeReply {
        if let Err(error) = self.check_client(request, now) {
            return error.into_reply(request);
        }
        // Without an audience, the token is valid only for the provider's own endpoints.
        if request.get("audience").is_some_and(|to| to != AUDIENCE) {
            return error_reply(403, "access_denied", "Service not found");
        }
        let login = self.begin_login(self.user, request);
        let device_code = self.random_text("device");
        let user_code = user_code();
        let page = format!("{}activate", self.issuer);
        let body = json!({
            "device_code": device_code,
            "user_code": user_code,
            "verification_uri": page,
            "verification_uri_complete": format!("{page}?user_code={user_code}"),
            "expires_in": LIFETIME.as_secs(),
            "interval": INTERVAL.as_secs(),
        });
        let grant = DeviceGrant {
            login,
            user_code,
            expires: later(now, LIFETIME),
            interval: INTERVAL,
            last_poll: None,
            is_approved: None,
        };
        self.device_grants.insert(device_code, grant);
        FakeReply::json(200, &body).header("cache-control", "no-store")
    }

    /// `/activate`: shows a form for the code. With a code, the user immediately approves, or denies.
    pub(in crate::fake) fn activate(&mut self, query: &str, now: SystemTime) -> FakeReply {
        let request = Parameters::of_query(query);
        let (status, text) = match request.get("user_code") {
            None => (200, ""),
            Some(code) => match self.answer_device(code, !self.denies_logins, now) {
                Ok(()) if self.denies_logins => (200, "The login was denied."),
                Ok(()) => (200, "The device is logged in. You can close this window."),
                Err(reason) => (400, reason),
            },
        };
        let page = format!(
            "<!doctype html><title>Fake</title><p>{text}</p>\
             <form><label>Enter the code your device shows: <input name=\"user_code\"></label> <button>Log in</button></form>"
        );
        FakeReply::raw(status, "text/html; charset=utf-8", page)
    }

    /// Approves or denies the login with this code. An error states why there is no such login.
    pub(in crate::fake) fn answer_device(
        &mut self,
        user_code: &str,
        is_approved: bool,
        now: SystemTime,
    ) -> Result<(), &'static str> {
        // Section 6.1: case and dash are ignored.
        let letters = |code: &str| -> String {
            let letters = code.chars().filter(char::is_ascii_alphanumeric);
            letters.map(|letter| letter.to_ascii_uppercase()).collect()
        };
        let wanted = letters(user_code);
        let user = self.user;
        let mut grants = self.device_grants.values_mut();
        let grant = grants
            .find(|grant| letters(&grant.user_code) == wanted)
            .ok_or("no device has this user code")?;
        if now >= grant.expires {
            return Err("the user code has expired");
        }
        if grant.is_approved.is_some() {
            return Err("the user code was answered already");
        }
        (grant.is_approved, grant.login.user) = (Some(is_approved), user);
        Ok(())
    }

    /// Handles the device code grant at the token endpoint (sections 3.4 and 3.5).
    pub(super) fn poll(
        &mut self,
        request: &Parameters,
        now: SystemTime,
    ) -> Result<Value, TokenError> {
        let code = request
            .get("device_code")
            .ok_or(TokenError("invalid_request", "device_code is missing"))?;
        let grant = self.device_grants.get_mut(code).ok_or(BAD_CODE)?;
        if now >= grant.expires {
            return Err(TokenError("expired_token", "The device code has expired"));
        }
        let last = grant.last_poll.replace(now);
        if last.is_some_and(|last| now < later(last, grant.interval)) {
            grant.interval += SLOWER;
            return Err(TokenError("slow_down", "You are polling too quickly"));
        }
        match grant.is_approved {
            None => Err(TokenError(
                "authorization_pending",
                "User has yet to authorize device code",
            )),
            Some(false) => Err(TokenError("access_denied", "User cancelled the login")),
            Some(true) => {
                let login = grant.login.clone();
                self.device_grants.remove(code);
                Ok(self.token_response(login, 0, now))
            }
        }
    }
}

const BAD_CODE: TokenError = TokenError("invalid_grant", "Invalid or expired device code");

/// Eight letters in two groups, as in the RFC's example.
fn user_code() -> String {
    let letter = |_| char::from(LETTERS[fastrand::usize(..LETTERS.len())]);
    let mut code: String = (0..8).map(letter).collect();
    code.insert(4, '-');
    code
}
