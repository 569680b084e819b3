//! From a checked callback to stored tokens.

use std::sync::Arc;
use std::time::Duration;

use super::shared::{Held, Shared, Stop};
use crate::auth::claims::{Claims, Expected};
use crate::auth::endpoint::{self, Class, Issued};
use crate::auth::failure::login_refused;
use crate::auth::{CheckedCallback, StoreError, TokenSet};
use crate::error::Result;

impl Shared {
    pub(super) async fn log_in(self: Arc<Self>, callback: CheckedCallback) -> Result<TokenSet> {
        let (asked_at, logouts) = (self.clock().now(), self.state().logouts);
        let issued = self.redeem(&callback).await?;
        if let Err(error) = self.check_id_token(&callback, &issued) {
            // Tokens that nobody will use must not live on.
            if let Some(token) = &issued.refresh_token {
                // OK to ignore: the refused login is what counts.
                let _ = endpoint::revoke(&self.provider, token).await;
            }
            return Err(error);
        }
        let tokens = issued.into_set(None, asked_at, self.provider.0.default_lifetime);
        let new = tokens.refresh_token.clone();
        match self.move_in(tokens, logouts).await {
            Ok(tokens) => Ok(tokens),
            Err(Stop::Failed(error)) => Err(error),
            Err(Stop::Superseded) => {
                self.discard(new.as_ref()).await;
                Err(login_refused("overtaken_by_login_or_logout"))
            }
        }
    }

    /// Redeems the code once; sent again only if it surely was not sent.
    async fn redeem(&self, callback: &CheckedCallback) -> Result<Issued> {
        let mut tries = 1;
        loop {
            let refusal = match endpoint::exchange(callback).await {
                Ok(issued) => return Ok(issued),
                Err(refusal) => refusal,
            };
            if let Some(token) = &refusal.salvaged {
                // The code is used up and the user has to log in anew: this session must not live on.
                // OK to ignore: the refused login is what counts.
                let _ = endpoint::revoke(&self.provider, token).await;
            }
            match refusal.class {
                Class::NotSent if tries < 3 => {
                    tries += 1;
                    self.clock().sleep(Duration::from_millis(500)).await;
                }
                Class::Dead => return Err(login_refused("invalid_grant")),
                _ => return Err(refusal.error.with_retry_after(refusal.retry_after)),
            }
        }
    }

    fn check_id_token(&self, callback: &CheckedCallback, issued: &Issued) -> Result<()> {
        let settings = &self.provider.0;
        let Some(id_token) = &issued.id_token else {
            return if callback.wants_id_token {
                Err(login_refused("id_token_missing"))
            } else {
                Ok(())
            };
        };
        Claims::read(id_token.expose())
            .ok_or_else(|| login_refused("id_token_unreadable"))?
            .check(&Expected {
                issuer: settings.issuer.as_deref(),
                client_id: &settings.client_id,
                nonce: &callback.nonce,
                subject: callback.expected_subject.as_deref(),
                now: settings.clock.now(),
            })
    }

    /// Puts the tokens in the place of whatever was there.
    async fn move_in(
        self: &Arc<Self>,
        mut tokens: TokenSet,
        logouts: u64,
    ) -> Result<TokenSet, Stop> {
        // A refresh of the old tokens lets go of the lock, and its answer is discarded.
        let epoch = {
            let mut state = self.state();
            if state.logouts != logouts {
                return Err(Stop::Superseded);
            }
            self.turn(&mut state)
        };
        // OK without the lock when it cannot be had: a swap changes nothing that somebody else has changed.
        let _lease = self.lease(self.policy.lock_wait).await;
        let stored = self.stored().await.ok().and_then(|read| read.stored);
        let epoch = {
            let mut state = self.state_in(epoch)?;
            let stored_generation = stored
                .as_ref()
                .map(|stored| stored.record.tokens.generation);
            let last = state
                .last_generation
                .max(stored_generation.unwrap_or_default());
            tokens.generation = last.saturating_add(1);
            state.last_generation = tokens.generation;
            state.account.clone_from(&tokens.subject);
            state.held = Some(Held {
                tokens: Arc::new(tokens.clone()),
                version: stored.map(|stored| stored.version),
                saved: false,
                doubtful: false,
                base: None,
            });
            self.snapshot.store(None);
            self.turn(&mut state)
        };
        let failed = self.save_or_report(epoch).await?;
        if let Some(error) = failed.clone().filter(|_| self.policy.strict) {
            return Err(error.into());
        }
        self.publish_held(epoch)?;
        if let Some(error) = failed.filter(StoreError::is_unreadable) {
            // It may stay unreadable: the caller must not rely on a login that outlives the process.
            return Err(error.with_login_not_saved().into());
        }
        tracing::debug!(generation = tokens.generation, "logged in");
        Ok(tokens)
    }
}
