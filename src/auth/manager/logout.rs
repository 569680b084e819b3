//! The end of a session, here and at the identity provider.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use url::Url;

use super::Event;
use super::shared::Shared;
use crate::auth::{StoreError, endpoint};
use crate::error::{Error, Result};
use crate::secret::Secret;

/// What a logout did. The tokens are gone from memory in any case.
#[non_exhaustive]
pub struct LogoutReport {
    /// Open this in the user's browser to end the session at the identity provider (spec 5.8). `None` when the provider
    /// has no logout address.
    pub url: Option<Url>,
    /// What did not work: the stored record could not be deleted, the refresh token could not be revoked.
    pub problems: Vec<Error>,
}

impl fmt::Debug for LogoutReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The query holds where the user goes next, which may be private.
        f.debug_struct("LogoutReport")
            .field("host", &self.url.as_ref().and_then(Url::host_str))
            .field("problems", &self.problems)
            .finish()
    }
}

impl Shared {
    /// Forgets the tokens at once; nothing can fail here.
    pub(super) fn wipe(&self) -> (u64, Option<Secret>) {
        let mut state = self.state();
        let held = state.held.take();
        state.account = None;
        state.logouts += 1;
        self.snapshot.store(None);
        let epoch = self.turn(&mut state);
        self.emit(Event::LoggedOut);
        (
            epoch,
            held.and_then(|held| held.tokens.refresh_token.clone()),
        )
    }

    /// Deletes the record and revokes what was in it.
    pub(super) async fn sweep(self: Arc<Self>, epoch: u64, held: Option<Secret>) -> Vec<Error> {
        let mut problems = Vec::new();
        let mut tokens = Vec::from_iter(held);
        match self.clear_record(epoch).await {
            Ok(stored) => {
                let is_new =
                    |stored: &Secret| !tokens.iter().any(|token| token.matches(stored.expose()));
                tokens.extend(stored.filter(is_new));
            }
            Err(error) => problems.push(error),
        }
        for token in tokens {
            if let Err(error) = self.revoke(&token).await {
                problems.push(error);
            }
        }
        problems
    }

    /// Deletes the record whatever its version, and tells the refresh token that was in it.
    async fn clear_record(self: &Arc<Self>, epoch: u64) -> Result<Option<Secret>> {
        // OK without the lock when it cannot be had: the record must go, and each version is compared.
        let _lease = self.lease(self.policy.lock_wait).await;
        // A refresh of another process may write once in between, or twice.
        for _ in 0..5 {
            let read = self.stored().await;
            if self.state().epoch != epoch {
                // Somebody has logged in meanwhile: the record is theirs.
                return Ok(None);
            }
            let stored = match read {
                Ok(read) => read.stored,
                Err(error) => return Err(self.set_aside(error).await.into()),
            };
            let Some(stored) = stored else {
                return Ok(None);
            };
            let removed = self.store.remove(&self.key, stored.version).await;
            self.state().writes += 1;
            if removed? {
                return Ok(stored.record.tokens.refresh_token);
            }
        }
        Err(StoreError::new("the record keeps changing and could not be deleted").into())
    }

    /// Sets an unreadable record aside, so that the next login can be saved. Returns what to report.
    async fn set_aside(&self, error: StoreError) -> StoreError {
        if !error.is_unreadable() || error.is_newer_version() {
            return error;
        }
        match self.store.set_aside_unreadable(&self.key).await {
            Ok(true) => StoreError::of(crate::auth::store::StoreErrorKind::Unreadable, "the stored record could not be read: it was set aside, and a refresh token in it was not revoked",
            )
            .caused_by(error),
            Ok(false) => error,
            Err(error) => error,
        }
    }

    async fn revoke(&self, token: &Secret) -> Result<()> {
        let mut tries = 1;
        loop {
            match endpoint::revoke(&self.provider, token).await {
                Err(error) if error.is_retryable() && tries < 3 => {
                    self.clock().sleep(Duration::from_secs(tries)).await;
                    tries += 1;
                }
                result => return result,
            }
        }
    }
}
