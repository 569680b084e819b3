//! How a session begins, and how it ends in memory, in the store and at the provider.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use url::Url;

use super::memory::{CachedTokens, Stop};
use super::refresh_transaction::{RefreshTransaction, save_or_report};
use super::report::Event;
use super::shared::{Session, Shared};
use crate::auth::endpoint::{self, Class, Issued};
use crate::auth::failure::login_refused;
use crate::auth::id_token::ExpectedIdToken;
use crate::auth::store::StoreErrorKind;
use crate::auth::{CheckedCallback, StoreError, TokenSet};
use crate::error::{Error, Result};
use crate::secret::Secret;

/// The steps after a login that all kinds of login share.
pub(in crate::auth) struct Login {
    pub(in crate::auth) shared: Arc<Shared>,
    expected: ExpectedIdToken,
    /// The number of logouts when the login began. A later logout aborts the login.
    logouts: u64,
}

impl Login {
    pub(in crate::auth) fn begin(shared: &Arc<Shared>, expected: ExpectedIdToken) -> Self {
        Self {
            shared: shared.clone(),
            expected,
            logouts: shared.state().logouts,
        }
    }

    /// Exchanges a code for tokens.
    pub(super) async fn redeem(self, callback: CheckedCallback) -> Result<TokenSet> {
        self.exchange_and_accept(&callback)
            .await
            .inspect_err(|error| self.shared.note_failure(error))
    }

    /// Fails if the record belongs to another client, before anything is sent for tokens that could not be stored.
    pub(in crate::auth) async fn check_record(&self) -> Result<()> {
        match self.shared.load().await {
            Err(error) if error.kind() == StoreErrorKind::AnotherClient => Err(error.into()),
            // A store that fails now may work once the tokens arrive.
            _ => Ok(()),
        }
    }

    async fn exchange_and_accept(&self, callback: &CheckedCallback) -> Result<TokenSet> {
        self.check_record().await?;
        let sent_at = self.shared.clock().now();
        let issued = self.exchange(callback).await?;
        self.accept(issued, sent_at).await
    }

    /// Checks and stores the tokens from a request sent at this time.
    pub(in crate::auth) async fn accept(
        &self,
        issued: Issued,
        sent_at: SystemTime,
    ) -> Result<TokenSet> {
        if let Err(error) = self.check_id_token(&issued) {
            self.shared
                .revoke_unused(issued.refresh_token.as_ref())
                .await;
            return Err(error);
        }
        let tokens = issued.into_set(None, sent_at, self.shared.provider.0.default_lifetime);
        let new = tokens.refresh_token.clone();
        match self.replace_session(tokens).await {
            Ok(tokens) => Ok(tokens),
            Err(Stop::Failed(error)) => Err(error),
            Err(Stop::Superseded) => {
                self.shared.discard(new.as_ref()).await;
                Err(overtaken())
            }
        }
    }

    /// Fails if the user logged out since the login began.
    pub(in crate::auth) fn check_not_overtaken(&self) -> Result<()> {
        if self.shared.state().logouts == self.logouts {
            Ok(())
        } else {
            Err(overtaken())
        }
    }

    /// Exchanges the code. Repeats the request only if it certainly was not sent.
    async fn exchange(&self, callback: &CheckedCallback) -> Result<Issued> {
        let mut attempts = 1;
        loop {
            let refusal = match endpoint::exchange(callback).await {
                Ok(issued) => return Ok(issued),
                Err(refusal) => refusal,
            };
            // The code is used up, so the user has to log in again.
            self.shared.revoke_unused(refusal.salvaged.as_ref()).await;
            match refusal.class {
                Class::NotSent if attempts < 3 => {
                    attempts += 1;
                    let pause = Duration::from_millis(500);
                    self.shared.clock().sleep(pause).await;
                }
                Class::Dead => return Err(login_refused("invalid_grant")),
                _ => return Err(refusal.error),
            }
        }
    }

    fn check_id_token(&self, issued: &Issued) -> Result<()> {
        match &issued.id_token {
            Some(id_token) => {
                let provider = &self.shared.provider;
                let now = issued.server_time_or(self.shared.clock());
                provider.check_id_token(id_token, &self.expected, now)
            }
            None if self.expected.is_required => Err(login_refused("id_token_missing")),
            None => Ok(()),
        }
    }

    /// Stores and publishes the tokens, replacing any others.
    async fn replace_session(&self, mut tokens: TokenSet) -> Result<TokenSet, Stop> {
        let shared = &self.shared;
        // A refresh of the old tokens releases the lock, and its reply is discarded.
        let session = {
            let mut state = shared.state();
            if state.logouts != self.logouts {
                return Err(Stop::Superseded);
            }
            Session::begin(shared, &mut state)
        };
        // OK without the lock if it cannot be taken: a swap does not overwrite a change by another process.
        let _lease = RefreshTransaction::begin(shared, shared.policy.timing.lock_wait).await;
        let stored = shared.load().await.ok().and_then(|read| read.stored);
        let session = {
            let mut state = session.state()?;
            let stored_generation = stored.as_ref().map_or(0, |s| s.record.tokens.generation);
            tokens.generation = state
                .last_generation
                .max(stored_generation)
                .saturating_add(1);
            state.last_generation = tokens.generation;
            state.account.clone_from(&tokens.subject);
            state.note_login(&tokens);
            let version = stored.map(|stored| stored.version);
            state.cached = Some(CachedTokens::unsaved(tokens.clone(), version));
            shared.snapshot.store(None);
            Session::begin(shared, &mut state)
        };
        let failed = save_or_report(&session).await?;
        if let Some(error) = failed.clone().filter(|_| shared.policy.strict) {
            return Err(error.into());
        }
        let generation = tokens.generation;
        // A later login in another process may have intervened.
        if session.publish_cached()?.generation() == generation {
            shared.emit(Event::LoggedIn {
                generation,
                elsewhere: false,
            });
        }
        if let Some(error) = failed.filter(|error| !error.kind().passes()) {
            // Storing is retried, but the caller must not assume that the login outlives the process.
            return Err(error.with_login_not_saved().into());
        }
        tracing::debug!(generation, "logged in");
        Ok(tokens)
    }
}

fn overtaken() -> Error {
    login_refused("overtaken_by_login_or_logout")
}

/// The result of a logout. The tokens are wiped from memory in any case.
///
/// ```
/// # use envd_sdk::fake::Fake;
/// # test_support::example(async {
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
    /// The address to open in the user's browser, which ends the session at the identity provider (spec 5.8). `None` if the
    /// provider has no logout address.
    pub url: Option<Url>,
    /// The failures: the stored record was not deleted, or the refresh token was not revoked.
    pub problems: Vec<Error>,
}

// Hides the query, which contains the address to return to and may be private.
debug_shows!(LogoutReport, |it| host: it.url.as_ref().and_then(Url::host_str), problems: it.problems);

/// A logout that has wiped memory, but not yet deleted the record or revoked the token.
pub(super) struct Logout {
    session: Session,
    refresh_token: Option<Secret>,
    /// Dropped after the deletion, or when the task is dropped with its runtime.
    deletion: Arc<()>,
}

impl Logout {
    /// Wipes the tokens from memory. This step cannot fail.
    pub(super) fn begin(shared: &Arc<Shared>) -> Self {
        let mut state = shared.state();
        let cached = state.cached.take();
        state.account = None;
        state.logouts += 1;
        shared.snapshot.store(None);
        let session = Session::begin(shared, &mut state);
        state.login.get_or_insert_default();
        let deletion = Arc::new(());
        state.deletion = Arc::downgrade(&deletion);
        shared.emit(Event::LoggedOut { elsewhere: false });
        Self {
            session,
            refresh_token: cached.and_then(|cached| cached.tokens.refresh_token.clone()),
            deletion,
        }
    }

    /// Deletes the record, and revokes the tokens from memory and from the record. Returns the failures.
    pub(super) async fn run(self) -> Vec<Error> {
        let mut problems = Vec::new();
        let mut tokens = Vec::from_iter(self.refresh_token.clone());
        let deleted = self.delete_record().await;
        let shared = self.session.shared;
        // Invalidates reads that began earlier, even if another process deleted the record.
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

    /// Deletes the record whatever its version. Returns its refresh token.
    async fn delete_record(&self) -> Result<Option<Secret>> {
        let shared = &self.session.shared;
        // OK without the lock if it cannot be taken: the record must be deleted, and each attempt compares versions.
        let _lease = RefreshTransaction::begin(shared, shared.policy.timing.lock_wait).await;
        // A refresh in another process may write once or twice in between.
        for _ in 0..5 {
            let read = shared.load().await;
            if self.session.is_over() {
                // The record belongs to a new login.
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
        Err(StoreError::new(
            StoreErrorKind::LockTimeout,
            "the record keeps changing and could not be deleted",
        )
        .into())
    }

    /// Sets aside an unreadable record, so that the next login can be saved. Returns the error to report.
    async fn set_aside(&self, error: StoreError) -> StoreError {
        if error.kind() != StoreErrorKind::Unreadable {
            return error;
        }
        let shared = &self.session.shared;
        match shared.store.set_aside_unreadable(&shared.key).await {
            Ok(true) => StoreError::new(
                StoreErrorKind::Unreadable,
                "the stored record could not be read: it was set aside, and a refresh token in it was not revoked",
            )
            .with_source(error),
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
