//! The endpoints of the identity provider, except the token endpoint. `/authorize` redirects immediately; only a refused logout
//! shows a page.

use std::time::SystemTime;

use serde_json::json;
use url::Url;

use super::{
    ALGORITHM, AUDIENCE, CLIENT_ID, ClientCheck, Code, FakeProvider, Parameters, TokenFamily,
    error_reply,
};
use crate::fake::reply::FakeReply;
use crate::fake::world::User;
use crate::transport::{is_loopback, later};

impl FakeProvider {
    /// `/authorize`: redirects the browser.
    pub(in crate::fake) fn authorization(&mut self, query: &str, now: SystemTime) -> FakeReply {
        match self.authorize(query, self.denies_logins, now) {
            Ok(back) => FakeReply::redirect(back.as_str()),
            Err(reason) => error_reply(400, "invalid_request", reason),
        }
    }

    /// The address to which the browser is redirected. A request without a valid redirect address fails, with the reason (RFC
    /// 6749 section 4.1.2.1).
    pub(in crate::fake) fn authorize(
        &mut self,
        query: &str,
        is_denied: bool,
        now: SystemTime,
    ) -> Result<Url, &'static str> {
        let request = Parameters::of_query(query);
        if request.get("client_id") != Some(CLIENT_ID) {
            return Err("client_id is not fake-client");
        }
        let redirect_uri = request
            .get("redirect_uri")
            .ok_or("redirect_uri is missing")?;
        let mut back = Url::parse(redirect_uri).map_err(|_| "redirect_uri is not an address")?;
        let is_local = back.scheme() == "http" && is_loopback(&back);
        if back.scheme() != "https" && !is_local {
            return Err("redirect_uri is neither https nor http on a loopback address");
        }
        // A request without a page requires a logged-in user (OpenID Connect Core 3.1.2.1).
        let is_silent = request.get("prompt") == Some("none");
        let outcome = check_authorization(&request).and(match self.user_of_login(&request) {
            _ if is_silent && !self.has_session => Err(("login_required", "Login required")),
            _ if is_denied => Err(("access_denied", "User did not authorize the request")),
            None => Err((
                "access_denied",
                "login_hint is not the email address of a user of the fake's world",
            )),
            Some(user) => Ok(user),
        });
        let mut pairs = back.query_pairs_mut();
        match outcome {
            Ok(user) => {
                self.has_session = true;
                let login = self.begin_login(user, &request);
                pairs.append_pair("code", &self.issue_code(login, &request, redirect_uri, now));
            }
            Err((error, description)) => {
                pairs.append_pair("error", error);
                pairs.append_pair("error_description", description);
            }
        }
        if let Some(state) = request.get("state") {
            pairs.append_pair("state", state);
        }
        // RFC 9207 section 2, which `discovery` announces.
        if !self.omits_iss {
            pairs.append_pair("iss", &self.issuer);
        }
        drop(pairs);
        Ok(back)
    }

    /// The user who logs in: the one with the email address in `login_hint`, or the user at the browser.
    fn user_of_login(&self, request: &Parameters) -> Option<User> {
        match request.get("login_hint") {
            Some(email) => self.world.user_with_email(email),
            None => Some(self.user),
        }
    }

    fn issue_code(
        &mut self,
        login: TokenFamily,
        request: &Parameters,
        redirect_uri: &str,
        now: SystemTime,
    ) -> String {
        let text = self.random_text("code");
        let code = Code {
            login,
            redirect_uri: redirect_uri.to_owned(),
            challenge: request.get("code_challenge").map(str::to_owned),
            expires: later(now, self.lifetimes.code),
            is_used: false,
        };
        self.codes.insert(text.clone(), code);
        text
    }

    /// `/oauth/revoke` (RFC 7009): always returns 200 and an empty body, even for an unknown token.
    pub(in crate::fake) fn revocation(
        &mut self,
        request: &Parameters,
        now: SystemTime,
    ) -> FakeReply {
        // RFC 7009 section 2.1
        let is_confidential = !matches!(self.client_check, ClientCheck::Id);
        if is_confidential && let Err(error) = self.check_client(request, now) {
            return error.into_reply(request);
        }
        let Some(token) = request.get("token") else {
            return error_reply(400, "invalid_request", "token is missing");
        };
        self.revoke(token);
        FakeReply::empty(200)
    }

    /// `/v2/logout` (spec 5.8): ends the browser session, but revokes no token. Like Auth0, redirects to `returnTo` if allowed,
    /// to the first allowed address if there is no `returnTo`, and otherwise shows an error page.
    pub(in crate::fake) fn logout(&mut self, query: &str) -> FakeReply {
        let request = Parameters::of_query(query);
        self.has_session = false;
        let mut allowed = self.return_to.iter();
        let found = match request.get("returnTo") {
            Some(to) => allowed.find(|allowed| *allowed == to),
            None => allowed.next(),
        };
        if let Some(to) = found {
            return FakeReply::redirect(to);
        }
        let text = "Logged out, but returnTo is not on the list of allowed addresses.";
        let page = format!("<!doctype html><title>Fake</title><p>{text}</p>");
        FakeReply::raw(400, "text/html", page)
    }

    /// The metadata (OIDC Discovery 1.0 section 4, RFC 8414 section 3).
    pub(in crate::fake) fn discovery(&self) -> FakeReply {
        let at = |path: &str| format!("{}{path}", self.issuer);
        let mut document = json!({
            "issuer": self.issuer,
            "authorization_endpoint": at("authorize"),
            "token_endpoint": at("oauth/token"),
            "revocation_endpoint": at("oauth/revoke"),
            "device_authorization_endpoint": at("oauth/device/code"),
            "jwks_uri": at(".well-known/jwks.json"),
            "response_types_supported": ["code"],
            "grant_types_supported": ["authorization_code", "refresh_token", "urn:ietf:params:oauth:grant-type:device_code"],
            "code_challenge_methods_supported": ["S256"],
            "authorization_response_iss_parameter_supported": true,
            "token_endpoint_auth_methods_supported": self.client_check.methods(),
            "scopes_supported": ["openid", "profile", "email", "offline_access"],
            "subject_types_supported": ["public"],
            "id_token_signing_alg_values_supported": [ALGORITHM],
        });
        if matches!(self.client_check, ClientCheck::Assertion) {
            // RFC 8414 section 2: required together with `private_key_jwt`.
            document["token_endpoint_auth_signing_alg_values_supported"] =
                json!(["RS256", "PS256", "ES256", "EdDSA"]);
        }
        FakeReply::json(200, &document)
    }

    /// `/.well-known/jwks.json` (RFC 7517 section 5).
    pub(in crate::fake) fn keys(&self) -> FakeReply {
        FakeReply::json(200, &self.signing.public_keys())
    }
}

fn check_authorization(request: &Parameters) -> Result<(), (&'static str, &'static str)> {
    if request.get("response_type") != Some("code") {
        return Err(("unsupported_response_type", "response_type must be code"));
    }
    let challenge = request.get("code_challenge");
    match request.get("code_challenge_method") {
        Some("S256") if challenge.is_some_and(|c| c.len() == 43) => {}
        None if challenge.is_none() => {}
        _ => {
            return Err((
                "invalid_request",
                "code_challenge must be present, with the method S256",
            ));
        }
    }
    match request.get("audience") {
        // Without an audience, the token is valid only for the provider's own endpoints.
        None | Some(AUDIENCE) => Ok(()),
        Some(_) => Err(("access_denied", "Service not found")),
    }
}
