//! The errors of token stores.

use std::error::Error as StdError;
use std::sync::Arc;
use std::{fmt, io};

use super::held_file::is_open_elsewhere;
use crate::error::{Error, ErrorKind};

/// Why a store failed: a [`TokenStore`](super::TokenStore), or your own store for other data.
///
/// It is the [`source`](StdError::source) of an [`Error`] of the kind [`Store`](crate::ErrorKind::Store):
///
/// ```
/// use std::error::Error as _;
/// use envd_sdk::auth::{StoreError, StoreErrorKind};
///
/// let full = std::io::Error::from(std::io::ErrorKind::StorageFull);
/// let error: envd_sdk::Error = StoreError::io("the tokens could not be written", full).into();
/// assert!(error.kind() == envd_sdk::ErrorKind::Store);
/// let below = error.source().and_then(|source| source.downcast_ref::<StoreError>());
/// assert_eq!(below.map(StoreError::kind), Some(StoreErrorKind::Full));
/// ```
///
/// # For authors of stores
///
/// [`new`](Self::new) takes the kind, [`io`](Self::io) derives it from an operating system error, and
/// [`with_source`](Self::with_source) adds the underlying error. Message and source reach logs and support staff: neither may
/// contain a token, an account key, a connection string, a statement with its values, or part of a record.
///
/// ```
/// use std::error::Error as _;
/// use envd_sdk::auth::{StoreError, StoreErrorKind};
///
/// /// The error of your database client.
/// # #[derive(Debug)]
/// enum DatabaseError { Closed, UndefinedTable }
/// # impl std::fmt::Display for DatabaseError {
/// #     fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result { write!(f, "{self:?}") }
/// # }
/// # impl std::error::Error for DatabaseError {}
///
/// fn to_store_error(error: DatabaseError) -> StoreError {
///     use StoreErrorKind as Kind;
///     let (kind, message) = match error {
///         DatabaseError::Closed => (Kind::Unreachable, "the connection was closed"),
///         DatabaseError::UndefinedTable => (Kind::Missing, "the table does not exist"),
///     };
///     StoreError::new(kind, message).with_source(error)
/// }
///
/// let error = to_store_error(DatabaseError::UndefinedTable);
/// assert_eq!(error.kind(), StoreErrorKind::Missing);
/// assert!(error.source().is_some());
/// // From the `Error` that callers of the SDK get.
/// assert!(envd_sdk::Error::from(to_store_error(DatabaseError::Closed)).is_retryable());
/// ```
#[derive(Clone, Debug)]
pub struct StoreError {
    message: String,
    kind: StoreErrorKind,
    /// The id of the sealing key that this process lacks.
    pub(in crate::auth) missing_key_id: Option<String>,
    source: Option<Arc<dyn StdError + Send + Sync>>,
}

/// Why a store failed, and what to do about it.
///
/// A reason is *temporary* if the same call can succeed later without a change to the program, its settings or its permissions:
/// until then, new tokens stay in memory, and the manager retries storing them.
///
/// ```
/// use envd_sdk::auth::{StoreError, StoreErrorKind};
///
/// fn advice(error: &StoreError) -> &'static str {
///     match error.kind() {
///         StoreErrorKind::LockTimeout | StoreErrorKind::Unreachable => "try again later",
///         StoreErrorKind::Full => "make room on the disk",
///         StoreErrorKind::NewerVersion => "update this program",
///         StoreErrorKind::Missing => "create the directory",
///         _ => "ask support",
///     }
/// }
///
/// let error = StoreError::new(StoreErrorKind::Missing, "the directory does not exist");
/// assert_eq!(advice(&error), "create the directory");
/// ```
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum StoreErrorKind {
    /// None of the other kinds, such as a device error or a store setting that does not work.
    ///
    /// See the message for details. Counts as permanent, because nothing indicates otherwise.
    Other,
    /// The lock was not free before the deadline: another process holds it.
    ///
    /// Retry later. Temporary: it ends with that process at the latest.
    LockTimeout,
    /// The stored data cannot be read: it is damaged, has another format, or is sealed with a key that this process lacks.
    ///
    /// It is left unchanged, because another process may be able to read it: restore it or add the key. If no process can read
    /// it, delete it; then log in again, or copy again. Permanent.
    Unreadable,
    /// A newer version of this crate wrote the stored data.
    ///
    /// Update the program; do not delete the data. Permanent.
    NewerVersion,
    /// Other users or roles could change or replace the stored data.
    ///
    /// Check the data, then correct owner and mode. Permanent.
    Insecure,
    /// This kind of store does not work on this machine, for example because the file system lacks locks or the session has no
    /// keyring.
    ///
    /// Choose another store. Permanent.
    Unsupported,
    /// The disk is full, or a quota is used up.
    ///
    /// Free some space. Temporary: other programs may free space as well.
    Full,
    /// Access is denied: a read-only directory, file system or database, another user's file, a wrong password, or a file that
    /// another program keeps open.
    ///
    /// Close that program, grant the permission, or choose another location. Permanent.
    Denied,
    /// The directory or table of the store does not exist.
    ///
    /// Create it. Permanent.
    Missing,
    /// The store's server does not respond: it is down, starting or out of connections, or the network is interrupted.
    ///
    /// Retry later. Temporary.
    Unreachable,
    /// The record belongs to a different client id or token endpoint than the token manager's provider has. Only token managers
    /// return this.
    ///
    /// Correct the setting, or give the client its own store or account key. The record is kept, because it is another client's
    /// session. If the provider has moved its token endpoint, delete the record and log in again. The [kind](Error::kind) is
    /// [`Config`](ErrorKind::Config). Permanent.
    AnotherClient,
}

impl StoreErrorKind {
    /// Whether the same call can succeed later without a change to the program, its settings or its permissions.
    pub(in crate::auth) fn passes(self) -> bool {
        matches!(self, Self::LockTimeout | Self::Full | Self::Unreachable)
    }
}

impl StoreError {
    /// Creates an error. The message is one lower-case clause without a full stop, and contains no secret.
    pub fn new(kind: StoreErrorKind, message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            kind,
            missing_key_id: None,
            source: None,
        }
    }

    /// Sets the underlying error. Error reports show it as well, so it must not contain secrets either.
    ///
    /// Errors of database clients often quote statements and their values: remove those, or use your own text.
    #[must_use]
    pub fn with_source(mut self, source: impl Into<Box<dyn StdError + Send + Sync>>) -> Self {
        self.source = Some(source.into().into());
        self
    }

    /// The lock was not free before the deadline.
    pub fn lock_timeout() -> Self {
        let message = "the account's lock was not free before the deadline";
        Self::new(StoreErrorKind::LockTimeout, message)
    }

    /// Creates an error with an operating system error as its source. The [`io::ErrorKind`] determines the kind.
    ///
    /// ```
    /// use std::io::{Error, ErrorKind};
    /// use envd_sdk::auth::{StoreError, StoreErrorKind};
    ///
    /// let cut = Error::from(ErrorKind::ConnectionReset);
    /// let error = StoreError::io("the server of the tokens ended the connection", cut);
    /// assert_eq!(error.kind(), StoreErrorKind::Unreachable);
    /// ```
    pub fn io(message: impl Into<String>, source: io::Error) -> Self {
        use io::ErrorKind as Io;
        let kind = match source.kind() {
            Io::StorageFull | Io::QuotaExceeded => StoreErrorKind::Full,
            Io::PermissionDenied | Io::ReadOnlyFilesystem => StoreErrorKind::Denied,
            _ if is_open_elsewhere(&source) => StoreErrorKind::Denied,
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
        Self::new(kind, message).with_source(source)
    }

    /// The kind of failure, to match on.
    pub fn kind(&self) -> StoreErrorKind {
        self.kind
    }

    /// The error of a login with its tokens only in memory, for a permanent reason.
    pub(in crate::auth) fn with_login_not_saved(self) -> Self {
        let reason = match self.kind {
            StoreErrorKind::NewerVersion => {
                "a newer version of this crate wrote what is stored; update this program"
            }
            StoreErrorKind::Unreadable if self.missing_key_id.is_some() => {
                "what is stored is sealed with a key that this process does not have; add the key and log in again"
            }
            StoreErrorKind::Unreadable => {
                "what is stored cannot be read; restore it, or log out to set it aside and log in again"
            }
            StoreErrorKind::Insecure => "other users could change what is stored; make it private",
            StoreErrorKind::Denied => {
                "the program was denied access to the store; grant it the right, close the program that holds the file, or choose another place"
            }
            StoreErrorKind::Missing => {
                "the directory or table of the store does not exist; create it"
            }
            StoreErrorKind::Unsupported => {
                "this kind of store does not work on this machine; choose another"
            }
            StoreErrorKind::AnotherClient => "what is stored is another client's session",
            _ => "the store failed",
        };
        let message = format!("the login is not saved, its tokens are in memory only: {reason}");
        Self {
            missing_key_id: self.missing_key_id.clone(),
            ..Self::new(self.kind, message).with_source(self)
        }
    }

    /// The id of the key that sealed the stored data, if this process lacks that key. In that case, the kind is
    /// [`Unreadable`](StoreErrorKind::Unreadable). Add the key; do not delete the data.
    pub fn missing_key_id(&self) -> Option<&str> {
        self.missing_key_id.as_deref()
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
        if error.kind == StoreErrorKind::AnotherClient {
            let what = "client_id or token_url is not that of the stored tokens";
            return Self::config(what).with_source(error);
        }
        let (passes, what) = match error.kind {
            StoreErrorKind::LockTimeout => (true, "another process holds a lock in the store"),
            StoreErrorKind::Unreachable => (true, "the server of the store does not answer"),
            _ => (false, "the store failed"),
        };
        Self::said(ErrorKind::Store, what)
            .with_passes(passes)
            .with_source(error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kind_is_the_one_of_the_constructor_or_of_the_io_error() {
        use StoreErrorKind as Kind;
        use io::ErrorKind::*;
        // Each kind, with the I/O errors that map to it.
        for (kind, io_kinds) in [
            (Kind::Other, &[Other, Interrupted][..]),
            (Kind::Insecure, &[]),
            (Kind::Unreadable, &[InvalidData]),
            (Kind::Unsupported, &[Unsupported]),
            (Kind::Full, &[StorageFull, QuotaExceeded]),
            (Kind::Denied, &[PermissionDenied, ReadOnlyFilesystem]),
            (Kind::Missing, &[NotFound, NotADirectory]),
            (Kind::Unreachable, &[ConnectionRefused, ConnectionReset]),
            (Kind::Unreachable, &[TimedOut, NetworkUnreachable]),
        ] {
            let by_io = io_kinds.iter().map(|&io| StoreError::io("x", io.into()));
            for error in by_io.chain([StoreError::new(kind, "x").with_source("below")]) {
                assert_eq!(error.kind(), kind, "{error:?}");
                assert_eq!(error.to_string(), "x");
                assert!(StdError::source(&error).is_some(), "{error:?}");
            }
        }
        assert_eq!(StoreError::lock_timeout().kind(), Kind::LockTimeout);
    }

    #[test]
    fn a_login_without_the_sealing_key_names_the_key() {
        let mut error = StoreError::new(StoreErrorKind::Unreadable, "x");
        error.missing_key_id = Some("2027".to_owned());
        let error = error.with_login_not_saved();
        assert_eq!(error.missing_key_id(), Some("2027"));
        assert!(
            error.kind() == StoreErrorKind::Unreadable && error.to_string().contains("add the key")
        );
    }
}
