//! The token endpoint (spec 5.3 to 5.5, RFC 8628). Errors have Auth0's statuses: 403 where RFC 6749 says 400.

use std::time::SystemTime;

use oauth2::{PkceCodeChallenge, PkceCodeVerifier};
use serde_json::Value;

use super::{Parameters, Provider, error_reply};
use crate::fake::reply::Reply;

/// Error and description.
pub(super) struct TokenError(pub(super) &'static str, pub(super) &'static str);

impl TokenError {
    pub(super) fn into_reply(self, request: &Parameters) -> Reply {
        let Self(error, description) = self;
        let status = match error {
            "invalid_grant" | "access_denied" | "authorization_pending" | "expired_token" => 403,
            "slow_down" => 429,
            "invalid_client" => 401,
            _ => 400,
        };
        let reply = error_reply(status, error, description);
        // RFC 6749 section 5.2
        if status == 401 && request.authorization.is_some() {
            return reply.header("www-authenticate", "Basic realm=\"fake\"");
        }
        reply
    }
}

const BAD_CODE: TokenError = TokenError("invalid_grant", "Invalid authorization code");
const BAD_VERIFIER: TokenError = TokenError("invalid_grant", "Failed to verify code verifier");
const BAD_REFRESH: TokenError = TokenError("invalid_grant", "Unknown or invalid refresh token.");

impl Provider {
    /// `/oauth/token`.
    pub(in crate::fake) fn token(&mut self, request: &Parameters, now: SystemTime) -> Reply {
        self.token_requests += 1;
        let result = self.check_client(request, now).and_then(|()| {
            match request.get("grant_type") {
                Some("authorization_code") => self.exchange(request, now),
                Some("refresh_token") => self.refresh(request, now),
                Some("urn:ietf:params:oauth:grant-type:device_code") => self.poll(request, now),
                _ => Err(TokenError(
                    "unsupported_grant_type",
                    "grant_type must be authorization_code, refresh_token or that of a device code",
                )),
            }
        });
        let reply = match result {
            Ok(tokens) => Reply::json(200, &tokens),
            Err(error) => error.into_reply(request),
        };
        // RFC 6749 section 5.1
        reply.header("cache-control", "no-store")
    }

    fn exchange(&mut self, request: &Parameters, now: SystemTime) -> Result<Value, TokenError> {
        let code = request
            .get("code")
            .ok_or(TokenError("invalid_request", "code is missing"))?;
        let code = self.codes.get_mut(code).ok_or(BAD_CODE)?;
        let login = code.login.clone();
        // A code that is used twice was intercepted (RFC 6749 section 4.1.2).
        if std::mem::replace(&mut code.is_used, true) {
            self.revoked_families.insert(login.family);
            return Err(BAD_CODE);
        }
        if now >= code.expires || request.get("redirect_uri") != Some(code.redirect_uri.as_str()) {
            return Err(BAD_CODE);
        }
        if let Some(challenge) = &code.challenge {
            let verifier = request.get("code_verifier");
            if !verifier.is_some_and(|verifier| matches(verifier, challenge)) {
                return Err(BAD_VERIFIER);
            }
        }
        Ok(self.token_response(login, 0, now))
    }

    fn refresh(&mut self, request: &Parameters, now: SystemTime) -> Result<Value, TokenError> {
        let token = request
            .get("refresh_token")
            .ok_or(TokenError("invalid_request", "refresh_token is missing"))?;
        let refresh = self.refresh_tokens.get_mut(token).ok_or(BAD_REFRESH)?;
        let (login, generation) = (refresh.login.clone(), refresh.generation);
        let newest = self.used_generations.entry(login.family).or_default();
        match refresh.first_use {
            None => {
                refresh.first_use = Some(now);
                *newest = generation.max(*newest);
            }
            // Auth0's overlap: only for the token before the current one, and only for a while.
            Some(first)
                if generation == *newest && now < first + self.lifetimes.refresh_overlap => {}
            // Two clients have the token: revoke the whole family.
            Some(_) => {
                self.revoked_families.insert(login.family);
            }
        }
        if now >= refresh.expires || self.revoked_families.contains(&login.family) {
            return Err(BAD_REFRESH);
        }
        Ok(self.token_response(login, generation + 1, now))
    }
}

/// Whether a verifier matches its challenge (RFC 7636 section 4.6). The library cannot hash a verifier of a forbidden length
/// (section 4.1).
fn matches(verifier: &str, challenge: &str) -> bool {
    let is_valid = (43..=128).contains(&verifier.len());
    is_valid && {
        let verifier = PkceCodeVerifier::new(verifier.to_owned());
        PkceCodeChallenge::from_code_verifier_sha256(&verifier).as_str() == challenge
    }
}
