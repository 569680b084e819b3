//! Settings of a set.

use std::fmt;
use std::time::Duration;

use super::TokenManagerSet;
use crate::auth::TokenManagerBuilder;
use crate::error::{Error, Result};

/// Settings of a [`TokenManagerSet`].
#[must_use]
pub struct TokenManagerSetBuilder {
    pub(super) template: TokenManagerBuilder,
    pub(super) capacity: usize,
    pub(super) idle: Duration,
}

impl TokenManagerSetBuilder {
    pub(super) fn new(template: TokenManagerBuilder) -> Self {
        Self {
            template: template.with_one_store(),
            // Some hundred megabytes with tokens of the usual sizes.
            capacity: 100_000,
            // Longer than a manager pauses after failures.
            idle: Duration::from_secs(15 * 60),
        }
    }

    /// How many accounts are kept in memory; 100,000 unless set.
    pub fn capacity(mut self, accounts: usize) -> Self {
        self.capacity = accounts;
        self
    }

    /// How long an account is kept in memory after its last use; 15 minutes unless set.
    pub fn idle(mut self, time: Duration) -> Self {
        self.idle = time;
        self
    }

    /// Builds the set.
    ///
    /// # Errors
    ///
    /// [`is_config`](Error::is_config) when the capacity is 0.
    pub fn build(self) -> Result<TokenManagerSet> {
        if self.capacity == 0 {
            return Err(Error::config("a set of token managers needs room for one"));
        }
        Ok(TokenManagerSet::new(self))
    }
}

impl fmt::Debug for TokenManagerSetBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TokenManagerSetBuilder")
            .field("template", &self.template)
            .field("capacity", &self.capacity)
            .field("idle", &self.idle)
            .finish()
    }
}
