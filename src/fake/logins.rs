//! What a test does at the identity provider.

use super::Fake;
use super::provider::Consent;
use crate::secret::Secret;

impl Fake {
    /// Whoever logs in from now on cancels, or consents again: the browser comes back with `access_denied`.
    /// [`consent`](Self::consent) consents all the same.
    pub fn deny_logins(&self, deny: bool) {
        let consent = if deny {
            Consent::Refused
        } else {
            Consent::Given
        };
        self.state().parts().provider.consent = consent;
    }

    /// Makes an access token invalid; of a refresh token, all tokens of the same login.
    pub fn revoke(&self, token: &Secret) {
        self.state().parts().provider.revoke(token.expose());
    }

    /// Ends every login, as an administrator could: no token that was issued works any longer, and no code either.
    pub fn revoke_logins(&self) {
        self.state().parts().provider.revoke_all();
    }
}
