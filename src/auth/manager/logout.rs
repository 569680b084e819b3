//! A logout, in memory, in the store and at the identity provider.

use std::sync::Arc;
use std::time::Duration;

use url::Url;

use super::Event;
use super::epoch::Epoch;
use super::lease::Lease;
use super::shared::Shared;
use crate::auth::StoreError;
use crate::auth::store::StoreErrorKind;
use crate::error::{Error, Result};
use crate::secret::Secret;

/// The result of a logout. The tokens are wiped from memory in any case.
///
/// ```
/// # use envd_sdk::fake::Fake;
/// # equipment::example(async {
/// # let fake = Fake::start().await;
/// # let manager = fake.token_manager().await?;
/// let report = manager.logout(None).await;
/// for problem in &report.problems {
///     println!("logged out here, but: {problem}");
/// }
/// if let Some(url) = report.url {
///     println!("to end the session of the browser too, open {url}");
/// }
/// # Ok(())
/// # });
/// ```
#[non_exhaustive]
pub struct LogoutReport {
    /// Open this in the user's browser to end the session at the identity provider (spec 5.8). `None` when the provider
    /// has no logout address.
    pub url: Option<Url>,
    /// What failed: the stored record could not be deleted, the refresh token could not be revoked.
    pub problems: Vec<Error>,
}

// The query holds the address to return to, which may be private.
debug_shows!(LogoutReport, |it| host: it.url.as_ref().and_then(Url::host_str), problems: it.problems);

/// A logout that has wiped the memory; the store and the provider follow.
pub(super) struct Logout {
    epoch: Epoch,
    refresh_token: Option<Secret>,
    /// Ends with the deletion, also when the task is dropped with its runtime.
    deletion: Arc<()>,
}

impl Logout {
    /// Wipes the tokens from memory; nothing can fail here.
    pub(super) fn begin(shared: &Arc<Shared>) -> Self {
        let mut state = shared.state();
        let cached = state.cached.take();
        state.account = None;
        state.logouts += 1;
        shared.snapshot.store(None);
        let epoch = Epoch::begin(shared, &mut state);
        state.login.get_or_insert_default();
        let deletion = Arc::new(());
        state.deletion = Arc::downgrade(&deletion);
        shared.emit(Event::LoggedOut { elsewhere: false });
        Self {
            epoch,
            refresh_token: cached.and_then(|cached| cached.tokens.refresh_token.clone()),
            deletion,
        }
    }

    /// Deletes the record, and revokes the tokens of memory and record; returns what failed.
    pub(super) async fn run(self) -> Vec<Error> {
        let mut problems = Vec::new();
        let mut tokens = Vec::from_iter(self.refresh_token.clone());
        let deleted = self.delete_record().await;
        let shared = self.epoch.shared;
        // Reads that began before are out of date, also when another process has deleted the record.
        shared.state().writes += 1;
        drop(self.deletion);
        match deleted {
            Ok(stored) => {
                let is_new = |stored: &Secret| !tokens.iter().any(|t| t.matches(stored.expose()));
                tokens.extend(stored.filter(is_new));
            }
            Err(error) => problems.push(error),
        }
        for token in tokens {
            problems.extend(revoke(&shared, &token).await.err());
        }
        problems
    }

    /// Deletes the record whatever its version; returns its refresh token.
    async fn delete_record(&self) -> Result<Option<Secret>> {
        let shared = &self.epoch.shared;
        // OK without the lock if it cannot be taken: the record must go, and each version is compared.
        let _lease = Lease::acquire(shared, shared.policy.lock_wait).await;
        // A refresh of another process may write once in between, or twice.
        for _ in 0..5 {
            let read = shared.load().await;
            if self.epoch.is_over() {
                // A new login owns the record.
                return Ok(None);
            }
            let stored = match read {
                Ok(read) => read.stored,
                Err(error) => return Err(self.set_aside(error).await.into()),
            };
            let Some(stored) = stored else {
                return Ok(None);
            };
            if shared.remove(stored.version).await? {
                return Ok(stored.record.tokens.refresh_token);
            }
        }
        Err(StoreError::new("the record keeps changing and could not be deleted").into())
    }

    /// Sets an unreadable record aside, so that the next login can be saved. Returns the error to report.
    async fn set_aside(&self, error: StoreError) -> StoreError {
        if !error.is_unreadable() || error.is_newer_version() {
            return error;
        }
        let shared = &self.epoch.shared;
        match shared.store.set_aside_unreadable(&shared.key).await {
            Ok(true) => StoreError::of(
                StoreErrorKind::Unreadable,
                "the stored record could not be read: it was set aside, and a refresh token in it was not revoked",
            )
            .caused_by(error),
            Ok(false) => error,
            Err(error) => error,
        }
    }
}

async fn revoke(shared: &Shared, token: &Secret) -> Result<()> {
    let mut attempts = 1;
    loop {
        match shared.provider.revoke(token).await {
            Err(error) if error.is_retryable() && attempts < 3 => {
                shared.clock().sleep(Duration::from_secs(attempts)).await;
                attempts += 1;
            }
            result => return result,
        }
    }
}
