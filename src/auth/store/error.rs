//! What a store can fail with.

use std::error::Error as StdError;
use std::fmt;
use std::sync::Arc;

use crate::error::{AuthProblem, Error, Kind};

/// Why a [`TokenStore`](super::TokenStore) failed; made by its author.
///
/// ```
/// use envd_sdk::auth::StoreError;
///
/// let error = StoreError::new("the table of tokens is locked").caused_by(std::io::Error::other("busy"));
/// assert_eq!(error.to_string(), "the table of tokens is locked");
/// ```
#[derive(Clone, Debug)]
pub struct StoreError {
    what: String,
    lock_timeout: bool,
    source: Option<Arc<dyn StdError + Send + Sync>>,
}

impl StoreError {
    /// A failure in words, which are shown: they must not hold tokens or keys.
    pub fn new(what: impl Into<String>) -> Self {
        Self {
            what: what.into(),
            lock_timeout: false,
            source: None,
        }
    }

    /// The lock was not free before the deadline.
    #[must_use]
    pub fn lock_timeout() -> Self {
        Self {
            lock_timeout: true,
            ..Self::new("the lock was not free in time")
        }
    }

    /// The failure below this one. It is shown as well.
    #[must_use]
    pub fn caused_by(mut self, source: impl StdError + Send + Sync + 'static) -> Self {
        self.source = Some(Arc::new(source));
        self
    }
}

impl fmt::Display for StoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.what)
    }
}

impl StdError for StoreError {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        self.source.as_deref().map(|source| source as _)
    }
}

/// Passes a source through, since the words of the layer are in the kind already.
#[derive(Debug)]
struct Below(Arc<dyn StdError + Send + Sync>);

impl fmt::Display for Below {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl StdError for Below {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        self.0.source()
    }
}

impl From<StoreError> for Error {
    fn from(error: StoreError) -> Self {
        if error.lock_timeout {
            return Self::new(Kind::Auth(AuthProblem::LockTimeout));
        }
        let outer = Self::new(Kind::Auth(AuthProblem::Store { what: error.what }));
        match error.source {
            Some(source) => outer.with_source(Below(source)),
            None => outer,
        }
    }
}
