//! What an error of `SQLite` means to the caller.

use rusqlite::ErrorCode;
use rusqlite::ffi;

use envd_sdk::auth::StoreError;
use envd_sdk::auth::StoreErrorKind;

/// An error inside this store; a type of its own, so that no public type converts from those of `SQLite`.
#[derive(Debug)]
pub(super) struct SqliteError(pub(super) StoreError);

impl SqliteError {
    pub(super) fn of(kind: StoreErrorKind, message: &str) -> Self {
        Self(StoreError::new(kind, message))
    }

    pub(super) fn is_busy(&self) -> bool {
        self.0.kind() == StoreErrorKind::LockTimeout
    }
}

impl From<StoreError> for SqliteError {
    fn from(error: StoreError) -> Self {
        Self(error)
    }
}

impl From<rusqlite::Error> for SqliteError {
    fn from(error: rusqlite::Error) -> Self {
        use StoreErrorKind as Kind;
        use rusqlite::Error as Sqlite;
        match error {
            // The text beside the code is dropped: it can name the path, and a path the user.
            Sqlite::SqliteFailure(code, _) | Sqlite::SqlInputError { error: code, .. } => {
                let (kind, message) = meaning(code);
                Self(StoreError::new(kind, message).with_source(code))
            }
            Sqlite::FromSqlConversionFailure(..)
            | Sqlite::InvalidColumnType(..)
            | Sqlite::IntegralValueOutOfRange(..)
            | Sqlite::Utf8Error(..)
            | Sqlite::QueryReturnedNoRows => Self::of(Kind::Unreadable, DAMAGED),
            // None of them depends on the data.
            _ => Self::of(Kind::Other, "the database of the copy cannot be used"),
        }
    }
}

const DAMAGED: &str = "the database of the copy is damaged; it is left as it is";

fn meaning(error: ffi::Error) -> (StoreErrorKind, &'static str) {
    use StoreErrorKind as Kind;
    match (error.code, error.extended_code) {
        (ErrorCode::DiskFull, _) | (_, ffi::SQLITE_IOERR_SHMSIZE) => {
            (Kind::Full, "no space is left for the database of the copy")
        }
        (ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked, _) => (
            Kind::LockTimeout,
            "another process writes to the database of the copy for too long",
        ),
        (ErrorCode::NotADatabase, _) => (
            Kind::Unreadable,
            "the file of the copy is no database; it is left as it is",
        ),
        (ErrorCode::DatabaseCorrupt, _)
        | (_, ffi::SQLITE_IOERR_SHORT_READ | ffi::SQLITE_IOERR_CORRUPTFS) => {
            (Kind::Unreadable, DAMAGED)
        }
        (ErrorCode::ReadOnly | ErrorCode::PermissionDenied, _) => (
            Kind::Denied,
            "the database of the copy, or its directory, cannot be written",
        ),
        (ErrorCode::CannotOpen, _) => (
            Kind::Denied,
            "the database of the copy, or a file that SQLite needs beside it, cannot be opened",
        ),
        (ErrorCode::FileLockingProtocolFailed, _) | (_, ffi::SQLITE_IOERR_LOCK) => (
            Kind::Unsupported,
            "the file system has no locks that the database of the copy can use",
        ),
        _ => (Kind::Other, "the database of the copy failed"),
    }
}
