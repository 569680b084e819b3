//! The id token that may come with renewed tokens (OIDC Core 12.2). Nothing about it may cost the new refresh token.

use std::time::Duration;

use super::shared::Shared;
use crate::auth::claims::{Claims, Expected};
use crate::auth::endpoint::Issued;
use crate::auth::failure::login_refused;
use crate::error::{AuthProblem, Kind, Result};
use crate::secret::Secret;

/// How long a refresh waits for keys: a provider that does not serve them must not hold up tokens.
const KEYS_WAIT: Duration = Duration::from_secs(5);

impl Shared {
    /// Fetches the keys that may verify the id token of a refresh. Before it is sent: afterwards no request may come between
    /// the new refresh token and the store.
    pub(super) async fn prepare_keys(&self) {
        let Some(keys) = &self.provider.0.id_token_keys else {
            return;
        };
        let expects_id_token = {
            let state = self.state();
            let cached = state.cached.as_ref().filter(|_| state.dead.is_none());
            cached.is_some_and(|cached| cached.tokens.id_token.is_some())
        };
        if expects_id_token {
            // OK to ignore: without keys the id token is not kept.
            let _ = self.clock().within(KEYS_WAIT, keys.prepare()).await;
        }
    }

    /// Removes an id token that does not pass: the one of the login stays.
    pub(super) fn drop_invalid_id_token(&self, issued: &mut Issued) {
        let Some(id_token) = &issued.id_token else {
            return;
        };
        if let Err(error) = self.check_renewed(id_token) {
            let reason = match error.kind() {
                Kind::Auth(AuthProblem::LoginRefused { code }) => code.as_str(),
                _ => "no_keys",
            };
            tracing::warn!(reason, "the id token of a refresh is not kept");
            issued.id_token = None;
        }
    }

    /// As the id token of a login, without a nonce: no authorization request asked for it. Its user is compared elsewhere.
    fn check_renewed(&self, id_token: &Secret) -> Result<()> {
        let settings = &self.provider.0;
        Claims::read(id_token.expose())
            .ok_or_else(|| login_refused("id_token_unreadable"))?
            .check(&Expected {
                issuer: settings.issuer.as_deref(),
                client_id: &settings.client_id,
                nonce: None,
                subject: None,
                now: settings.clock.now(),
            })?;
        match &settings.id_token_keys {
            Some(keys) => keys.verify_with_cached(id_token),
            None => Ok(()),
        }
    }
}
