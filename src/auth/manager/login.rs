//! A login, from a code or the tokens of another grant to stored tokens.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use super::Event;
use super::epoch::Epoch;
use super::lease::{Lease, save_or_report};
use super::shared::Shared;
use super::state::{CachedTokens, Stop};
use crate::auth::claims::ExpectedIdToken;
use crate::auth::endpoint::{self, Class, Issued};
use crate::auth::failure::login_refused;
use crate::auth::{CheckedCallback, StoreError, TokenSet};
use crate::error::{Error, Result};
use crate::secret::Secret;

/// What all kinds of login do with their tokens.
pub(super) struct Login {
    pub(super) shared: Arc<Shared>,
    expected: ExpectedIdToken,
    /// The logouts of the manager when the login began: a later one aborts it.
    logouts: u64,
}

impl Login {
    pub(super) fn begin(shared: &Arc<Shared>, expected: ExpectedIdToken) -> Self {
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

    async fn exchange_and_accept(&self, callback: &CheckedCallback) -> Result<TokenSet> {
        let sent_at = self.shared.clock().now();
        let issued = self.exchange(callback).await?;
        self.accept(issued, sent_at).await
    }

    /// Checks the tokens of a request that was sent at this time, and stores them.
    pub(super) async fn accept(&self, issued: Issued, sent_at: SystemTime) -> Result<TokenSet> {
        if let Err(error) = self.check_id_token(&issued) {
            self.revoke(issued.refresh_token.as_ref()).await;
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

    /// Fails when the user has logged out since the login began.
    pub(super) fn check_not_overtaken(&self) -> Result<()> {
        if self.shared.state().logouts == self.logouts {
            Ok(())
        } else {
            Err(overtaken())
        }
    }

    /// Exchanges the code once; sent again only if it surely was not sent.
    async fn exchange(&self, callback: &CheckedCallback) -> Result<Issued> {
        let mut attempts = 1;
        loop {
            let refusal = match endpoint::exchange(callback).await {
                Ok(issued) => return Ok(issued),
                Err(refusal) => refusal,
            };
            // The code is used up and the user has to log in again.
            self.revoke(refusal.salvaged.as_ref()).await;
            match refusal.class {
                Class::NotSent if attempts < 3 => {
                    attempts += 1;
                    let pause = Duration::from_millis(500);
                    self.shared.clock().sleep(pause).await;
                }
                Class::Dead => return Err(login_refused("invalid_grant")),
                _ => return Err(refusal.error.with_retry_after(refusal.retry_after)),
            }
        }
    }

    /// The session of a refused login must not stay open.
    pub(super) async fn revoke(&self, refresh_token: Option<&Secret>) {
        if let Some(token) = refresh_token {
            // OK to ignore: the error of the login is returned.
            let _ = self.shared.provider.revoke(token).await;
        }
    }

    fn check_id_token(&self, issued: &Issued) -> Result<()> {
        let ExpectedIdToken {
            is_required,
            nonce,
            subject,
        } = &self.expected;
        match &issued.id_token {
            Some(id_token) => {
                let provider = &self.shared.provider;
                provider.check_id_token(id_token, nonce.as_ref(), subject.as_ref())
            }
            None if *is_required => Err(login_refused("id_token_missing")),
            None => Ok(()),
        }
    }

    /// Stores and publishes the tokens in the place of any others.
    async fn replace_session(&self, mut tokens: TokenSet) -> Result<TokenSet, Stop> {
        let shared = &self.shared;
        // A refresh of the old tokens releases the lock, and its reply is discarded.
        let epoch = {
            let mut state = shared.state();
            if state.logouts != self.logouts {
                return Err(Stop::Superseded);
            }
            Epoch::begin(shared, &mut state)
        };
        // OK without the lock if it cannot be taken: a swap overwrites no change of another process.
        let _lease = Lease::acquire(shared, shared.policy.lock_wait).await;
        let stored = shared.load().await.ok().and_then(|read| read.stored);
        let epoch = {
            let mut state = epoch.state()?;
            let stored_generation = stored.as_ref().map_or(0, |s| s.record.tokens.generation);
            tokens.generation = state
                .last_generation
                .max(stored_generation)
                .saturating_add(1);
            state.last_generation = tokens.generation;
            state.account.clone_from(&tokens.subject);
            state.note_login(&tokens);
            state.cached = Some(CachedTokens {
                tokens: Arc::new(tokens.clone()),
                version: stored.map(|stored| stored.version),
                saved: false,
                possibly_used: false,
                base: None,
            });
            shared.snapshot.store(None);
            Epoch::begin(shared, &mut state)
        };
        let failed = save_or_report(&epoch).await?;
        if let Some(error) = failed.clone().filter(|_| shared.policy.strict) {
            return Err(error.into());
        }
        let generation = tokens.generation;
        // A later login in another process may have come in between.
        if epoch.publish_cached()?.generation() == generation {
            shared.emit(Event::LoggedIn {
                generation,
                elsewhere: false,
            });
        }
        if let Some(error) = failed.filter(StoreError::is_unreadable) {
            // The record may stay unreadable, so the caller must not rely on a login that outlives the process.
            return Err(error.with_login_not_saved().into());
        }
        tracing::debug!(generation, "logged in");
        Ok(tokens)
    }
}

fn overtaken() -> Error {
    login_refused("overtaken_by_login_or_logout")
}
