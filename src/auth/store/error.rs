//! What a store can fail with.

use std::error::Error as StdError;
use std::sync::Arc;
use std::{fmt, io};

use crate::error::{AuthProblem, Error, Kind};

/// Characters of a key's id in an error.
const SHOWN: usize = 64;

/// Why a [`TokenStore`](super::TokenStore) failed; made by its author.
///
/// An [`Error`] with [`is_store`](Error::is_store) has it as its [`source`](StdError::source):
///
/// ```
/// use std::error::Error as _;
/// use envd_sdk::auth::StoreError;
///
/// let full = std::io::Error::from(std::io::ErrorKind::StorageFull);
/// let error: envd_sdk::Error = StoreError::io("the tokens could not be written", full).into();
/// assert!(error.is_store());
/// let below = error.source().and_then(|source| source.downcast_ref::<StoreError>());
/// assert!(below.is_some_and(StoreError::is_full));
/// ```
#[derive(Clone, Debug)]
pub struct StoreError {
    what: String,
    fault: Fault,
    key_id: Option<String>,
    source: Option<Arc<dyn StdError + Send + Sync>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fault {
    Other,
    LockTimeout,
    Unreadable,
    MissingKey,
    Newer,
    Insecure,
    Unsupported,
    Full,
    Denied,
    Missing,
    Unreachable,
}

impl StoreError {
    /// A failure in words, which are shown: they must not hold tokens or keys.
    pub fn new(what: impl Into<String>) -> Self {
        Self::of(Fault::Other, what)
    }

    /// The lock was not free before the deadline.
    #[must_use]
    pub fn lock_timeout() -> Self {
        Self::of(Fault::LockTimeout, "the lock was not free in time")
    }

    /// What is stored cannot be read: it is damaged, empty, or no record at all.
    pub fn unreadable(what: impl Into<String>) -> Self {
        Self::of(Fault::Unreadable, what)
    }

    /// What is stored is sealed with a key that this process does not have. The id is shown, in part when it is long.
    #[must_use]
    pub fn missing_key(id: impl Into<String>) -> Self {
        let id = id.into();
        let shown: String = id
            .chars()
            .take(SHOWN)
            .flat_map(char::escape_debug)
            .collect();
        let what = format!(
            "the stored record is sealed with the key \"{shown}\", which this process does not have"
        );
        let error = Self::of(Fault::MissingKey, what);
        Self {
            key_id: Some(id),
            ..error
        }
    }

    /// What is stored was written by a newer version of this crate or of the store.
    pub fn newer_version(what: impl Into<String>) -> Self {
        Self::of(Fault::Newer, what)
    }

    /// Others than the user could change what is stored.
    pub fn insecure(what: impl Into<String>) -> Self {
        Self::of(Fault::Insecure, what)
    }

    /// The store cannot do its work on this machine.
    pub fn unsupported(what: impl Into<String>) -> Self {
        Self::of(Fault::Unsupported, what)
    }

    /// The store is there, and may not be used like this.
    pub fn denied(what: impl Into<String>) -> Self {
        Self::of(Fault::Denied, what)
    }

    /// There is no space left where the store keeps its records.
    pub fn full(what: impl Into<String>) -> Self {
        Self::of(Fault::Full, what)
    }

    /// The place of the store is not there, or was not made ready.
    pub fn missing(what: impl Into<String>) -> Self {
        Self::of(Fault::Missing, what)
    }

    /// The server of the store does not answer now.
    pub fn unreachable(what: impl Into<String>) -> Self {
        Self::of(Fault::Unreachable, what)
    }

    /// A failure of the file system; its kind decides which of the predicates are true.
    pub fn io(what: impl Into<String>, source: io::Error) -> Self {
        let fault = match source.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => Fault::Full,
            io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => Fault::Denied,
            io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => Fault::Missing,
            io::ErrorKind::Unsupported => Fault::Unsupported,
            _ => Fault::Other,
        };
        Self::of(fault, what).caused_by(source)
    }

    fn of(fault: Fault, what: impl Into<String>) -> Self {
        Self {
            what: what.into(),
            fault,
            key_id: None,
            source: None,
        }
    }

    /// The failure below this one. It is shown as well.
    #[must_use]
    pub fn caused_by(mut self, source: impl StdError + Send + Sync + 'static) -> Self {
        self.source = Some(Arc::new(source));
        self
    }

    /// The error of a login whose tokens are in memory alone, because what is stored cannot be read.
    pub(in crate::auth) fn with_login_not_saved(self) -> Self {
        let what = if self.is_newer_version() {
            "the login is not saved, its tokens are in memory only: a newer version of this crate wrote what is stored; update this program"
        } else if self.missing_key_id().is_some() {
            "the login is not saved, its tokens are in memory only: what is stored is sealed with a key that this process does not have; hand it in and log in again"
        } else {
            "the login is not saved, its tokens are in memory only: what is stored cannot be read; restore it, or log out to set it aside and log in again"
        };
        Self {
            key_id: self.key_id.clone(),
            ..Self::of(self.fault, what).caused_by(self)
        }
    }

    /// Whether somebody else held the lock until the deadline. Trying again later makes sense.
    #[must_use]
    pub fn is_lock_timeout(&self) -> bool {
        self.fault == Fault::LockTimeout
    }

    /// Whether what is stored cannot be read. It was left as it is: somebody may still be able to read or mend it. When
    /// nobody can, delete it and log in again.
    #[must_use]
    pub fn is_unreadable(&self) -> bool {
        matches!(
            self.fault,
            Fault::Unreadable | Fault::MissingKey | Fault::Newer
        )
    }

    /// The id of the key that what is stored is sealed with, if this process does not have it; then
    /// [`is_unreadable`](Self::is_unreadable) is true as well. Hand the key in; do not delete what is stored.
    #[must_use]
    pub fn missing_key_id(&self) -> Option<&str> {
        self.key_id.as_deref()
    }

    /// Whether what is stored was written by a newer version. Update the program; do not delete what is stored.
    #[must_use]
    pub fn is_newer_version(&self) -> bool {
        self.fault == Fault::Newer
    }

    /// Whether others than the user could change what is stored. Have a person look at it.
    #[must_use]
    pub fn is_insecure(&self) -> bool {
        self.fault == Fault::Insecure
    }

    /// Whether this kind of store does not work on this machine, such as a file system without locks. Choose another.
    #[must_use]
    pub fn is_unsupported(&self) -> bool {
        self.fault == Fault::Unsupported
    }

    /// Whether there is no space left. Make room; the tokens stay in memory and are written then.
    #[must_use]
    pub fn is_full(&self) -> bool {
        self.fault == Fault::Full
    }

    /// Whether access is denied: a read-only directory, file system or database, another user's file, a wrong password.
    #[must_use]
    pub fn is_denied(&self) -> bool {
        self.fault == Fault::Denied
    }

    /// Whether the place of the store, such as its directory or table, does not exist. Create it.
    #[must_use]
    pub fn is_missing(&self) -> bool {
        self.fault == Fault::Missing
    }

    /// Whether the server of the store does not answer: it is down, starts, has no room for another connection, or the
    /// network is cut. Trying again later makes sense.
    #[must_use]
    pub fn is_unreachable(&self) -> bool {
        self.fault == Fault::Unreachable
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

impl From<StoreError> for Error {
    fn from(error: StoreError) -> Self {
        let problem = if error.is_lock_timeout() {
            AuthProblem::LockTimeout
        } else if error.is_unreachable() {
            AuthProblem::StoreUnreachable
        } else {
            AuthProblem::Store
        };
        Self::new(Kind::Auth(problem)).with_source(error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_login_without_the_sealing_key_names_the_key() {
        let error = StoreError::missing_key("2027").with_login_not_saved();
        assert_eq!(error.missing_key_id(), Some("2027"));
        assert!(error.is_unreadable() && error.to_string().contains("hand it in"));
    }
}
