//! The token endpoint (spec 5.3 to 5.5, RFC 8628), and the authentication of the client (RFC 6749 section 2.3). Errors have
//! Auth0's statuses: 403 where RFC 6749 specifies 400.

use std::time::SystemTime;

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use oauth2::{PkceCodeChallenge, PkceCodeVerifier};
use serde_json::Value;
use url::form_urlencoded;

use super::{CLIENT_ID, FakeProvider, Parameters, error_reply};
use crate::fake::instant::epoch_seconds;
use crate::fake::reply::FakeReply;
use crate::secret::Secret;
use crate::transport::later;

/// Error and description.
pub(super) struct TokenError(pub(super) &'static str, pub(super) &'static str);

impl TokenError {
    pub(super) fn into_reply(self, request: &Parameters) -> FakeReply {
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

impl FakeProvider {
    /// `/oauth/token`.
    pub(in crate::fake) fn token(&mut self, request: &Parameters, now: SystemTime) -> FakeReply {
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
            Ok(tokens) => FakeReply::json(200, &tokens),
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
        let login = refresh.login.clone();
        let generation = refresh.generation;
        let newest = self.used_generations.entry(login.family).or_default();
        match refresh.first_use {
            None => {
                refresh.first_use = Some(now);
                *newest = generation.max(*newest);
            }
            // Auth0's overlap: only for the previous token, and only for a limited time.
            Some(first)
                if generation == *newest && now < later(first, self.lifetimes.refresh_overlap) => {}
            // Two clients have the token, so revoke the entire family.
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

/// Whether a verifier matches its challenge (RFC 7636 section 4.6). The library cannot hash a verifier with an invalid length
/// (section 4.1).
fn matches(verifier: &str, challenge: &str) -> bool {
    let is_valid = (43..=128).contains(&verifier.len());
    is_valid && {
        let verifier = PkceCodeVerifier::new(verifier.to_owned());
        PkceCodeChallenge::from_code_verifier_sha256(&verifier).as_str() == challenge
    }
}

/// In seconds, as at Auth0.
const LONGEST_ASSERTION: u64 = 300;

/// How the provider checks the client.
#[derive(Clone, Debug, Default)]
pub(in crate::fake) enum ClientCheck {
    /// The client id only.
    #[default]
    Id,
    Secret(Secret),
    /// The header, claims and single use of an assertion, but not its signature, because there is no key.
    Assertion,
}

impl ClientCheck {
    /// For `token_endpoint_auth_methods_supported` (RFC 8414 section 2).
    pub(super) fn methods(&self) -> &'static [&'static str] {
        match self {
            Self::Id => &["none"],
            Self::Secret(_) => &["client_secret_post", "client_secret_basic"],
            Self::Assertion => &["private_key_jwt"],
        }
    }
}

const fn invalid_client(description: &'static str) -> TokenError {
    TokenError("invalid_client", description)
}

impl FakeProvider {
    /// Authenticates the sender of a request. The `authorization` header takes precedence.
    pub(super) fn check_client(
        &mut self,
        request: &Parameters,
        now: SystemTime,
    ) -> Result<(), TokenError> {
        let authorization = request.authorization.as_deref();
        let secret = request.get("client_secret");
        let assertion = request.get("client_assertion");
        let methods = [authorization, secret, assertion];
        if methods.iter().flatten().count() > 1 {
            return Err(TokenError(
                "invalid_request",
                "more than one method to authenticate the client",
            ));
        }
        let basic = authorization
            .map(|header| basic(header).ok_or(invalid_client("not a Basic header")))
            .transpose()?;
        let basic_id = basic.as_ref().map(|(id, _)| id.as_str());
        let ids = [basic_id, request.get("client_id")];
        let is_foreign = ids.iter().flatten().any(|id| *id != CLIENT_ID);
        // An assertion identifies the client (RFC 7521 section 4.2).
        let is_nameless = ids.iter().flatten().count() == 0 && assertion.is_none();
        if is_foreign || is_nameless {
            return Err(invalid_client("client_id is not fake-client"));
        }
        match &self.client_check {
            ClientCheck::Id => Ok(()),
            ClientCheck::Secret(expected) => {
                let given = basic.as_ref().map(|(_, secret)| secret.as_str()).or(secret);
                let is_right = given.is_some_and(|given| expected.matches(given));
                is_right
                    .then_some(())
                    .ok_or(invalid_client("client_secret is missing or wrong"))
            }
            ClientCheck::Assertion => self.check_assertion(request, now),
        }
    }

    /// RFC 7523 section 3, with the issuer as the only audience (`draft-ietf-oauth-rfc7523bis`, section 4).
    fn check_assertion(&mut self, request: &Parameters, now: SystemTime) -> Result<(), TokenError> {
        const TYPE: &str = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer";
        if request.get("client_assertion_type") != Some(TYPE) {
            return Err(invalid_client("client_assertion_type is missing or wrong"));
        }
        let assertion = request.get("client_assertion").unwrap_or_default();
        let parts: Vec<_> = assertion.split('.').collect();
        let [header, claims, signature] = parts[..] else {
            return Err(invalid_client("client_assertion is missing or not a JWT"));
        };
        let header = json_of(header);
        let claims = json_of(claims);
        let text =
            |object: &Value, name: &str| object[name].as_str().unwrap_or_default().to_owned();
        let alg = text(&header, "alg");
        if alg.is_empty() || alg.eq_ignore_ascii_case("none") || signature.is_empty() {
            return Err(invalid_client("client_assertion is not signed"));
        }
        if text(&claims, "iss") != CLIENT_ID || text(&claims, "sub") != CLIENT_ID {
            return Err(invalid_client("iss and sub must be fake-client"));
        }
        if claims["aud"] != *self.issuer {
            return Err(invalid_client("aud must be the issuer"));
        }
        let expires = claims["exp"].as_u64().unwrap_or_default();
        let left = expires.saturating_sub(epoch_seconds(now));
        if !(1..=LONGEST_ASSERTION).contains(&left) {
            return Err(invalid_client("exp is over, missing or too far away"));
        }
        let id = text(&claims, "jti");
        if id.is_empty() || !self.assertions.insert(id) {
            return Err(invalid_client("jti is missing or was used before"));
        }
        Ok(())
    }
}

fn json_of(part: &str) -> Value {
    let bytes = URL_SAFE_NO_PAD.decode(part).unwrap_or_default();
    serde_json::from_slice(&bytes).unwrap_or_default()
}

/// Id and secret of the client (RFC 6749 section 2.3.1).
fn basic(header: &str) -> Option<(String, String)> {
    let (scheme, credentials) = header.split_once(' ')?;
    if !scheme.eq_ignore_ascii_case("basic") {
        return None;
    }
    let pair = String::from_utf8(STANDARD.decode(credentials.trim()).ok()?).ok()?;
    let (id, secret) = pair.split_once(':')?;
    Some((form_decoded(id), form_decoded(secret)))
}

fn form_decoded(text: &str) -> String {
    let mut pairs = form_urlencoded::parse(text.as_bytes());
    pairs.next().unwrap_or_default().0.into_owned()
}
