//! New tokens go into the store before anybody sees them.

use std::pin::pin;
use std::sync::Arc;
use std::time::SystemTime;

use super::Event;
use super::refresh::Refresh;
use super::shared::{Held, Shared, Stop};
use super::verdict::backoff;
use crate::auth::endpoint::{self, Issued};
use crate::auth::failure::{auth, reauth};
use crate::auth::{AccessToken, Record, StoreError, TokenSet};
use crate::error::{AuthProblem, Error, Result};
use crate::secret::Secret;
use crate::transport::{First, first};

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
            return Err(self.give_up(reauth(
                "the identity provider answered with another user's tokens",
            ))?);
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
            state.held = Some(Held {
                tokens: Arc::new(tokens),
                version: old.version,
                saved: false,
                doubtful: false,
            });
            state.pause = None;
            state.failures = 0;
        }
        self.shared.save_or_shout(self.epoch).await?;
        self.shared.publish_held(self.epoch)
    }

    /// A reply that cannot be read as a whole may hold the only copy of the new refresh token.
    pub(super) async fn keep_salvaged(&self, old: &Held, token: Secret) -> Result<Held, Stop> {
        let mut tokens = old.tokens.as_ref().clone();
        tokens.refresh_token = Some(token);
        let held = Held {
            tokens: Arc::new(tokens),
            version: old.version,
            saved: false,
            doubtful: false,
        };
        self.shared.state_in(self.epoch)?.held = Some(held);
        if let Err(error) = self.shared.save(self.epoch).await? {
            self.shared.emit(Event::PersistFailed { error });
        }
        let held = self.shared.state_in(self.epoch)?.held.clone();
        held.ok_or_else(|| Stop::Failed(auth(AuthProblem::NoTokens)))
    }
}

impl Shared {
    /// Writes the held tokens. The inner error is the store's; the outer one says that they are not wanted any more.
    pub(super) async fn save(&self, epoch: u64) -> Result<Result<(), Error>, Stop> {
        let mut last = StoreError::new("the record keeps changing");
        for _ in 0..3 {
            let Some(held) = self.state_in(epoch)?.held.clone() else {
                return Err(Stop::Failed(auth(AuthProblem::NoTokens)));
            };
            if held.saved {
                return Ok(Ok(()));
            }
            let record = Record::new(held.tokens.as_ref().clone());
            match self.store.swap(&self.key, held.version, &record).await {
                Ok(Some(version)) => {
                    if let Some(held) = &mut self.state_in(epoch)?.held {
                        held.version = Some(version);
                        held.saved = true;
                    }
                    return Ok(Ok(()));
                }
                // Somebody wrote in between: what is there decides.
                Ok(None) => match self.stored().await {
                    Ok(stored) => self.reconcile(epoch, stored)?,
                    Err(error) => last = error,
                },
                Err(error) => last = error,
            }
        }
        Ok(Err(last.into()))
    }

    /// As [`save`](Self::save); a store that fails is told about and tried on. An error under the strict policy.
    pub(super) async fn save_or_shout(self: &Arc<Self>, epoch: u64) -> Result<(), Stop> {
        let Err(error) = self.save(epoch).await? else {
            return Ok(());
        };
        tracing::warn!("new tokens could not be stored: {error}");
        self.emit(Event::PersistFailed {
            error: error.clone(),
        });
        let idle = !std::mem::replace(&mut self.state_in(epoch)?.saving, true);
        if idle {
            self.spawn(self.clone().save_later(epoch))?;
        }
        if self.policy.strict {
            return Err(Stop::Failed(error));
        }
        Ok(())
    }

    async fn save_later(self: Arc<Self>, mut epoch: u64) {
        for failures in 1_u32.. {
            let pause = pin!(self.clock().sleep(backoff(failures)));
            if let First::Right(()) = first(pause, self.superseded(epoch)).await {
                // New tokens of a later login may wait for the same store.
                epoch = self.state().epoch;
            }
            let lock = self.store.lock(&self.key, self.policy.lock_wait);
            let Ok(_guard) = lock.await else { continue };
            match self.save(epoch).await {
                Ok(Ok(())) => {
                    // OK to ignore: superseded ones are not to be published.
                    let _ = self.publish_held(epoch);
                    break;
                }
                Ok(Err(_)) | Err(Stop::Superseded) => {}
                Err(Stop::Failed(_)) => break,
            }
        }
        self.state().saving = false;
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
            Some(token) if held.tokens.access_token.matches(token.expose()) => Ok(token),
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
