//! The discovery document, and what it names beside the endpoints of the login (`OpenID` Connect Discovery 1.0, Core 5.3).

use std::time::SystemTime;

use serde_json::json;

use super::Provider;
use crate::fake::reply::Reply;

/// Answers a GET of `/.well-known/openid-configuration`.
pub(in crate::fake) fn discovery(provider: &Provider) -> Reply {
    let at = |path: &str| format!("{}{path}", provider.issuer);
    let document = json!({
        "issuer": provider.issuer,
        "authorization_endpoint": at("authorize"),
        "token_endpoint": at("oauth/token"),
        "revocation_endpoint": at("oauth/revoke"),
        "userinfo_endpoint": at("userinfo"),
        "jwks_uri": at(".well-known/jwks.json"),
        "response_types_supported": ["code"],
        "grant_types_supported": ["authorization_code", "refresh_token"],
        "code_challenge_methods_supported": ["S256"],
        "token_endpoint_auth_methods_supported": ["none"],
        "scopes_supported": ["openid", "profile", "email", "offline_access"],
        "subject_types_supported": ["public"],
        "id_token_signing_alg_values_supported": ["none"],
    });
    Reply::json(200, &document)
}

/// Answers `/userinfo`. A token without an audience will do.
pub(in crate::fake) fn user_info(
    provider: &Provider,
    bearer: Option<&str>,
    now: SystemTime,
) -> Reply {
    let Some(login) = bearer.and_then(|token| provider.login_of(token, now)) else {
        return Reply::empty(401).header("www-authenticate", "Bearer error=\"invalid_token\"");
    };
    let person = provider.person(login.user);
    let claims = json!({
        "sub": person["auth0Id"],
        "email": person["email"],
        "given_name": person["firstName"],
        "family_name": person["lastName"],
    });
    Reply::json(200, &claims)
}
