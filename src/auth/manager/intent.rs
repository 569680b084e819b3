//! The mark that a refresh leaves in the store before it is sent.

use std::time::Duration;

use super::refresh::Refresh;
use super::shared::{Held, Stop};
use crate::auth::failure::auth;
use crate::auth::store::Intent;
use crate::auth::{Record, StoreError};
use crate::error::AuthProblem;

impl Refresh {
    /// Should this process end before the answer is stored, the next one knows that the token may be used up.
    pub(super) async fn mark_intent(&self) -> Result<Held, Stop> {
        let held = self.shared.state_in(self.epoch)?.held.clone();
        let mut held = held.ok_or_else(|| Stop::Failed(auth(AuthProblem::NoTokens)))?;
        if held.doubtful || !held.saved || held.tokens.refresh_token.is_none() {
            return Ok(held);
        }
        let mut record = Record::new(held.tokens.as_ref().clone());
        record.intent = Some(Intent {
            generation: held.tokens.generation,
            at: self.shared.clock().now(),
        });
        let marked = self.rewrite(&mut held, &record).await;
        // Nothing is sent while the store cannot be written: the answer could not be kept.
        marked.map_err(|error| self.fail(error.into(), Duration::ZERO, None))?;
        Ok(held)
    }

    pub(super) async fn clear_intent(&self, held: &mut Held) {
        if !held.doubtful && held.saved {
            let record = Record::new(held.tokens.as_ref().clone());
            // OK to ignore: a mark too many costs one refresh ahead of time.
            let _ = self.rewrite(held, &record).await;
        }
    }

    async fn rewrite(&self, held: &mut Held, record: &Record) -> Result<(), StoreError> {
        let swapped = self
            .shared
            .store
            .swap(&self.shared.key, held.version, record);
        let Some(version) = swapped.await? else {
            return Err(StoreError::new("a record changed while its lock was held"));
        };
        held.version = Some(version);
        if let Ok(mut state) = self.shared.state_in(self.epoch)
            && let Some(held) = &mut state.held
        {
            held.version = Some(version);
        }
        Ok(())
    }
}
