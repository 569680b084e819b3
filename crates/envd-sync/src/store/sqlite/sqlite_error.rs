//! Maps errors of `SQLite` to kinds of [`StoreError`].

use rusqlite::{Error, ErrorCode, ffi};

use envd_sdk::auth::{StoreError, StoreErrorKind as Kind};

/// An error inside this store. It has its own type, so that no public type converts from an error of `rusqlite`.
#[derive(Debug)]
pub(super) struct SqliteError(pub(super) StoreError);

impl From<StoreError> for SqliteError {
    fn from(error: StoreError) -> Self {
        Self(error)
    }
}

impl From<Error> for SqliteError {
    fn from(error: Error) -> Self {
        let (kind, code) = match error {
            // Drop the text next to the code: it can contain the path, and the path the name of a user.
            Error::SqliteFailure(code, _) | Error::SqlInputError { error: code, .. } => {
                (kind(code), Some(code))
            }
            Error::FromSqlConversionFailure(..)
            | Error::InvalidColumnType(..)
            | Error::IntegralValueOutOfRange(..)
            | Error::Utf8Error(..)
            | Error::QueryReturnedNoRows => (Kind::Unreadable, None),
            _ => (Kind::Other, None),
        };
        let error = StoreError::new(kind, message(kind));
        Self(match code {
            Some(code) => error.with_source(code),
            None => error,
        })
    }
}

fn kind(error: ffi::Error) -> Kind {
    match (error.code, error.extended_code) {
        (ErrorCode::DiskFull, _) | (_, ffi::SQLITE_IOERR_SHMSIZE) => Kind::Full,
        (ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked, _) => Kind::LockTimeout,
        (ErrorCode::NotADatabase | ErrorCode::DatabaseCorrupt, _)
        | (_, ffi::SQLITE_IOERR_SHORT_READ | ffi::SQLITE_IOERR_CORRUPTFS) => Kind::Unreadable,
        (ErrorCode::ReadOnly | ErrorCode::PermissionDenied | ErrorCode::CannotOpen, _) => {
            Kind::Denied
        }
        (ErrorCode::FileLockingProtocolFailed, _) | (_, ffi::SQLITE_IOERR_LOCK) => {
            Kind::Unsupported
        }
        _ => Kind::Other,
    }
}

fn message(kind: Kind) -> &'static str {
    match kind {
        Kind::Full => "no space is left for the database of the copy",
        Kind::LockTimeout => "another process writes to the database of the copy for too long",
        Kind::Unreadable => {
            "the database of the copy is damaged, or the file is not a database; it was not changed"
        }
        Kind::Denied => {
            "the database of the copy, its directory, or a file next to it cannot be opened or written, or another program holds one of them"
        }
        Kind::Unsupported => "the file system has no locks that the database of the copy can use",
        _ => "the database of the copy cannot be used",
    }
}
