//! New tokens go into the store before anybody sees them.

use std::sync::Arc;
use std::time::SystemTime;

use super::Event;
use super::refresh::Refresh;
use super::shared::{Held, Shared, State, Stop};
use crate::auth::endpoint::{self, Issued};
use crate::auth::failure::auth;
use crate::auth::store::Ended;
use crate::auth::{AccessToken, Record, StoreError, TokenSet};
use crate::error::{AuthProblem, Result};
use crate::secret::Secret;

impl Refresh {
    /// Receive, store, publish, answer.
    pub(super) async fn settle(
        &self,
        old: &Held,
        issued: Issued,
        asked_at: SystemTime,
    ) -> Result<AccessToken, Stop> {
        let subject = issued.subject();
        if subject.is_some() && old.tokens.subject.is_some() && subject != old.tokens.subject {
            // Tokens that nobody will use must not live on.
            let (shared, token) = (self.shared.clone(), issued.refresh_token.clone());
            self.shared.spawn(async move {
                if let Some(token) = token {
                    // OK to ignore: the refused refresh is what counts.
                    let _ = endpoint::revoke(&shared.provider, &token).await;
                }
            })?;
            return self.end_session(old, Ended::AnotherUser).await;
        }
        let lifetime = self.shared.provider.0.default_lifetime;
        let tokens = issued.into_set(Some(&old.tokens), asked_at, lifetime);
        let new = tokens.refresh_token.clone();
        let stored = self.keep(old, tokens).await;
        if stored.is_err() {
            // Revoked if the user was logged out meanwhile, here or elsewhere; else they are still held.
            self.shared.discard(new.as_ref()).await;
        }
        let token = stored?;
        let generation = token.generation();
        tracing::debug!(generation, "tokens renewed");
        self.shared.emit(Event::Refreshed { generation });
        Ok(token)
    }

    async fn keep(&self, old: &Held, tokens: TokenSet) -> Result<AccessToken, Stop> {
        {
            let mut state = self.shared.state_in(self.epoch)?;
            state.held = Some(state.renewed(old, tokens));
            state.pause = None;
            state.failures = 0;
        }
        let failed = self.shared.save_or_report(self.epoch).await?;
        match failed.filter(|_| self.shared.policy.strict) {
            Some(error) => Err(error.into()),
            None => self.shared.publish_held(self.epoch),
        }
    }

    /// A reply that cannot be read as a whole may hold the only copy of the new refresh token.
    pub(super) async fn keep_salvaged(&self, old: &Held, token: Secret) -> Result<Held, Stop> {
        let mut tokens = old.tokens.as_ref().clone();
        tokens.refresh_token = Some(token);
        {
            let mut state = self.shared.state_in(self.epoch)?;
            state.held = Some(state.renewed(old, tokens));
        }
        // OK to ignore: it is tried again, under the lock that is kept until then.
        let _ = self.shared.save_or_report(self.epoch).await?;
        let held = self.shared.state_in(self.epoch)?.held.clone();
        held.ok_or_else(|| Stop::Failed(auth(AuthProblem::NoTokens)))
    }
}

impl State {
    /// New tokens in the place of old ones, not stored yet.
    fn renewed(&self, old: &Held, tokens: TokenSet) -> Held {
        // The old ones may have been stored since.
        let current = self.held.as_ref();
        let current = current.filter(|held| Arc::ptr_eq(&held.tokens, &old.tokens));
        let old = current.unwrap_or(old);
        Held {
            tokens: Arc::new(tokens),
            version: old.version,
            saved: false,
            doubtful: false,
            base: if old.saved {
                Some(old.tokens.clone())
            } else {
                old.base.clone()
            },
        }
    }
}

impl Shared {
    /// Writes the held tokens. The inner error is the store's; the outer one says that they are not wanted any more.
    pub(super) async fn save(&self, epoch: u64) -> Result<Result<(), StoreError>, Stop> {
        let mut last = StoreError::new("the record keeps changing");
        for _ in 0..3 {
            let Some(held) = self.state_in(epoch)?.held.clone() else {
                return Err(Stop::Failed(auth(AuthProblem::NoTokens)));
            };
            if held.saved {
                return Ok(Ok(()));
            }
            let record = Record::new(held.tokens.as_ref().clone());
            match self.swap(held.version, &record).await {
                Ok(Some(version)) => {
                    let mut state = self.state_in(epoch)?;
                    state.mark = None;
                    if let Some(held) = &mut state.held {
                        held.version = Some(version);
                        held.saved = true;
                        held.base = None;
                    }
                    return Ok(Ok(()));
                }
                // Somebody wrote in between: what is there decides.
                Ok(None) => match self.stored().await {
                    Ok(read) => self.reconcile(epoch, read)?,
                    Err(error) => last = error,
                },
                Err(error) => last = error,
            }
        }
        Ok(Err(last))
    }

    /// As [`save`](Self::save); a failure of the store is reported, and storing is retried later.
    pub(super) async fn save_or_report(
        self: &Arc<Self>,
        epoch: u64,
    ) -> Result<Option<StoreError>, Stop> {
        let Err(error) = self.save(epoch).await? else {
            return Ok(None);
        };
        tracing::warn!("new tokens could not be stored: {error}");
        self.emit(Event::PersistFailed {
            error: error.clone().into(),
        });
        self.start_saving()?;
        Ok(Some(error))
    }

    /// Puts the held tokens into use, if they are not.
    pub(super) fn publish_held(&self, epoch: u64) -> Result<AccessToken, Stop> {
        let mut state = self.state_in(epoch)?;
        let Some(held) = state.held.clone() else {
            return Err(Stop::Failed(auth(AuthProblem::NoTokens)));
        };
        let current = self.snapshot.load();
        let current = current.as_ref().map(|snapshot| snapshot.token.clone());
        match current {
            // Not by the text: a provider may answer with the same access token, of a new lifetime.
            Some(token) if token.generation() == held.tokens.generation => Ok(token),
            _ => Ok(self.publish(&mut state, held)?.token.clone()),
        }
    }

    /// An answer came too late. After a logout the new refresh token is revoked; after a login it is left alone, since
    /// revoking may end all of the user's sessions, the new one with them.
    pub(super) async fn discard(&self, refresh_token: Option<&Secret>) {
        let logged_out = self.state().held.is_none();
        if let Some(token) = refresh_token.filter(|_| logged_out)
            && let Err(error) = endpoint::revoke(&self.provider, token).await
        {
            tracing::debug!("a late refresh token could not be revoked: {error}");
        }
    }
}
