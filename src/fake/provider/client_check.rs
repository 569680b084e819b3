//! How the client must authenticate at the provider (RFC 6749 section 2.3).

use std::time::SystemTime;

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use serde_json::Value;
use url::form_urlencoded;

use super::token_endpoint::TokenError;
use super::{CLIENT_ID, Parameters, Provider};
use crate::fake::instant::epoch_seconds;
use crate::secret::Secret;

/// In seconds, as at Auth0.
const LONGEST_ASSERTION: u64 = 300;

/// What the provider checks.
#[derive(Clone, Debug, Default)]
pub(in crate::fake) enum ClientCheck {
    /// The id alone.
    #[default]
    Id,
    Secret(Secret),
    /// Header, claims and single use of an assertion. Not its signature, as there is no key.
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

impl Provider {
    /// Checks who sent a request. The value of its `authorization` header comes first.
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
        // An assertion names the client (RFC 7521 section 4.2).
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
        let (header, claims) = (json_of(header), json_of(claims));
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
