//! Why a token store failed.

use std::error::Error as StdError;
use std::sync::Arc;
use std::{fmt, io};

use crate::error::{AuthProblem, Error, Repr};

/// Why a store failed: a [`TokenStore`](super::TokenStore), or the store of a copy (feature `sync`).
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
    message: String,
    kind: StoreErrorKind,
    /// The id of the sealing key that this process lacks.
    pub(in crate::auth) missing_key_id: Option<String>,
    source: Option<Arc<dyn StdError + Send + Sync>>,
}

/// What the caller can do about it; one predicate each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StoreErrorKind {
    Other,
    LockTimeout,
    Unreadable,
    NewerVersion,
    Insecure,
    Unsupported,
    Full,
    Denied,
    Missing,
    Unreachable,
}

impl StoreError {
    /// A failure that no predicate describes. The message is shown, so it must not hold tokens, account keys or records.
    pub fn new(message: impl Into<String>) -> Self {
        Self::of(StoreErrorKind::Other, message)
    }

    /// The lock was not free before the deadline.
    pub fn lock_timeout() -> Self {
        let message = "the account's lock was not free before the deadline";
        Self::of(StoreErrorKind::LockTimeout, message)
    }

    /// A failure with a cause, whose [`io::ErrorKind`] decides which predicate is true. The message and the cause are
    /// shown, so they must not hold tokens or account keys.
    ///
    /// A store on something else than files chooses the kind: `StorageFull`, `PermissionDenied`, `NotFound` for a missing
    /// table, `InvalidData` for a record that cannot be read, `ConnectionRefused` or `TimedOut` for a server that does not
    /// answer, `Unsupported`.
    ///
    /// ```
    /// use std::io::{Error, ErrorKind};
    /// use envd_sdk::auth::StoreError;
    ///
    /// let cut = Error::new(ErrorKind::ConnectionReset, "code 57P01");
    /// assert!(StoreError::io("the database ended the connection", cut).is_unreachable());
    /// ```
    pub fn io(message: impl Into<String>, source: io::Error) -> Self {
        use io::ErrorKind as Io;
        let kind = match source.kind() {
            Io::StorageFull | Io::QuotaExceeded => StoreErrorKind::Full,
            Io::PermissionDenied | Io::ReadOnlyFilesystem => StoreErrorKind::Denied,
            Io::NotFound | Io::NotADirectory => StoreErrorKind::Missing,
            Io::Unsupported => StoreErrorKind::Unsupported,
            Io::InvalidData => StoreErrorKind::Unreadable,
            Io::ConnectionRefused
            | Io::ConnectionReset
            | Io::ConnectionAborted
            | Io::NotConnected
            | Io::BrokenPipe
            | Io::TimedOut
            | Io::HostUnreachable
            | Io::NetworkUnreachable
            | Io::NetworkDown => StoreErrorKind::Unreachable,
            _ => StoreErrorKind::Other,
        };
        Self::of(kind, message).caused_by(source)
    }

    pub(crate) fn of(kind: StoreErrorKind, message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            kind,
            missing_key_id: None,
            source: None,
        }
    }

    /// Sets the failure below this one, which is shown as well.
    pub(crate) fn caused_by(mut self, source: impl Into<Box<dyn StdError + Send + Sync>>) -> Self {
        self.source = Some(source.into().into());
        self
    }

    /// The error of a login whose tokens are in memory alone, because what is stored cannot be read.
    pub(in crate::auth) fn with_login_not_saved(self) -> Self {
        let reason = if self.is_newer_version() {
            "a newer version of this crate wrote what is stored; update this program"
        } else if self.missing_key_id.is_some() {
            "what is stored is sealed with a key that this process does not have; add the key and log in again"
        } else {
            "what is stored cannot be read; restore it, or log out to set it aside and log in again"
        };
        let message = format!("the login is not saved, its tokens are in memory only: {reason}");
        Self {
            missing_key_id: self.missing_key_id.clone(),
            ..Self::of(self.kind, message).caused_by(self)
        }
    }

    /// Whether the lock was not free before the deadline. Retry later.
    pub fn is_lock_timeout(&self) -> bool {
        self.kind == StoreErrorKind::LockTimeout
    }

    /// Whether what is stored cannot be read. It was left as it is, for another process may read it. If none can, delete
    /// it; then log in again, or copy again.
    pub fn is_unreadable(&self) -> bool {
        self.kind == StoreErrorKind::Unreadable || self.is_newer_version()
    }

    /// The id of the key that what is stored is sealed with, if this process does not have it; then
    /// [`is_unreadable`](Self::is_unreadable) is true as well. Add the key; do not delete what is stored.
    pub fn missing_key_id(&self) -> Option<&str> {
        self.missing_key_id.as_deref()
    }

    /// Whether a newer version of this crate wrote what is stored. Update the program; do not delete what is stored.
    pub fn is_newer_version(&self) -> bool {
        self.kind == StoreErrorKind::NewerVersion
    }

    /// Whether other users or roles could change what is stored. Have a person check it.
    pub fn is_insecure(&self) -> bool {
        self.kind == StoreErrorKind::Insecure
    }

    /// Whether this kind of store does not work on this machine, such as a file system without locks. Choose another.
    pub fn is_unsupported(&self) -> bool {
        self.kind == StoreErrorKind::Unsupported
    }

    /// Whether no space is left. Make room; tokens stay in memory and are written then.
    pub fn is_full(&self) -> bool {
        self.kind == StoreErrorKind::Full
    }

    /// Whether access is denied: a read-only directory, file system or database, another user's file, a wrong password.
    pub fn is_denied(&self) -> bool {
        self.kind == StoreErrorKind::Denied
    }

    /// Whether the directory or table of the store does not exist. Create it.
    pub fn is_missing(&self) -> bool {
        self.kind == StoreErrorKind::Missing
    }

    /// Whether the server of the store does not answer: it is down, starting or full, or the network is cut. Retry later.
    pub fn is_unreachable(&self) -> bool {
        self.kind == StoreErrorKind::Unreachable
    }
}

impl fmt::Display for StoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
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
        Self::new(Repr::Auth(problem)).with_source(error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kind_of_an_io_error_decides_which_predicate_is_true() {
        let predicates = [
            StoreError::is_denied as fn(&StoreError) -> bool,
            StoreError::is_full,
            StoreError::is_insecure,
            StoreError::is_lock_timeout,
            StoreError::is_missing,
            StoreError::is_newer_version,
            StoreError::is_unreachable,
            StoreError::is_unreadable,
            StoreError::is_unsupported,
        ];
        for (kind, expected) in [
            (io::ErrorKind::PermissionDenied, Some(0)),
            (io::ErrorKind::ReadOnlyFilesystem, Some(0)),
            (io::ErrorKind::StorageFull, Some(1)),
            (io::ErrorKind::NotFound, Some(4)),
            (io::ErrorKind::ConnectionRefused, Some(6)),
            (io::ErrorKind::ConnectionReset, Some(6)),
            (io::ErrorKind::TimedOut, Some(6)),
            (io::ErrorKind::NetworkUnreachable, Some(6)),
            (io::ErrorKind::InvalidData, Some(7)),
            (io::ErrorKind::Unsupported, Some(8)),
            (io::ErrorKind::Other, None),
        ] {
            let error = StoreError::io("x", kind.into());
            let found = predicates.iter().position(|predicate| predicate(&error));
            let count = predicates.iter().filter(|predicate| predicate(&error));
            assert_eq!(
                (found, count.count()),
                (expected, usize::from(expected.is_some())),
                "{kind}"
            );
        }
    }

    #[test]
    fn a_login_without_the_sealing_key_names_the_key() {
        let mut error = StoreError::of(StoreErrorKind::Unreadable, "x");
        error.missing_key_id = Some("2027".to_owned());
        let error = error.with_login_not_saved();
        assert_eq!(error.missing_key_id(), Some("2027"));
        assert!(error.is_unreadable() && error.to_string().contains("add the key"));
    }
}
