//! Revocation (RFC 7009).

use serde_json::json;

use super::Provider;
use super::parameters::Parameters;
use crate::fake::reply::Reply;

/// Answers a POST to `/oauth/revoke`: 200 and an empty body, also for a token that nobody knows.
pub(in crate::fake) fn revoke(provider: &mut Provider, media_type: &str, body: &[u8]) -> Reply {
    let request = Parameters::of_body(media_type, body);
    let Some(token) = request.get("token") else {
        let body = json!({"error": "invalid_request", "error_description": "token is missing"});
        return Reply::json(400, &body);
    };
    provider.revoke(token);
    Reply::empty(200)
}

impl Provider {
    /// Makes a token invalid. The tokens of the same login go with a refresh token (section 2.1).
    pub(in crate::fake) fn revoke(&mut self, token: &str) {
        if let Some(refresh) = self.refresh.get(token) {
            self.revoked.insert(refresh.login.family);
        }
        self.access.remove(token);
    }
}
