//! The interface of token stores.

use std::fmt;
use std::time::Duration;

use super::{Record, StoreError};
use crate::auth::BoxFuture;

/// The result of the methods of a [`TokenStore`].
///
/// ```
/// use envd_sdk::auth::StoreFuture;
///
/// fn number_of_tokens<'a>(accounts: &'a [String]) -> StoreFuture<'a, usize> {
///     Box::pin(async move { Ok(accounts.len()) })
/// }
/// # let _ = number_of_tokens;
/// ```
pub type StoreFuture<'a, T> = BoxFuture<'a, Result<T, StoreError>>;

/// Keeps the tokens of accounts; implement it on whatever your processes share.
///
/// Two rules matter most: a record is written whole or not at all, and [`swap`](Self::swap) and
/// [`remove`](Self::remove) change nothing unless the stored version is the expected one. The record is opaque:
/// [`Record::to_secret_json`] and [`Record::from_secret_json`] turn it into text and back. It holds live credentials,
/// so keep it where only your application can read it.
///
/// Examples: a row with a version column and an advisory lock in Postgres; a value and a lock key with a time limit in
/// Redis. [`MemoryStore`](super::MemoryStore) is the smallest implementation. The feature `fake` has a function that checks
/// yours, `check_token_store`.
///
/// ```
/// use envd_sdk::auth::{Record, StoreError, Version, Versioned};
///
/// /// A row of your table, beside the key of the account.
/// struct Row {
///     version: u64,
///     record: String,
/// }
///
/// fn read(row: Row) -> Result<Versioned, StoreError> {
///     let record = Record::from_secret_json(&row.record.into())?;
///     Ok(Versioned::new(Version::new(row.version), record))
/// }
///
/// fn to_row(version: Version, record: &Record) -> Row {
///     Row { version: version.number(), record: record.to_secret_json().expose().to_owned() }
/// }
/// # let _ = (read, to_row);
/// ```
pub trait TokenStore: Send + Sync + 'static {
    /// The record of an account. `None` only if there is none: what cannot be read is an error, so that it is never
    /// mistaken for a user who is not logged in.
    fn load<'a>(&'a self, key: &'a str) -> StoreFuture<'a, Option<Versioned>>;

    /// Writes a record if the stored version is still `expected` (`None`: there is no record), and returns the new
    /// version. `Ok(None)` means that another writer was faster and nothing was written.
    fn swap<'a>(
        &'a self,
        key: &'a str,
        expected: Option<Version>,
        new: &'a Record,
    ) -> StoreFuture<'a, Option<Version>>;

    /// Deletes the record if the stored version is still `expected`, and returns whether it did.
    fn remove<'a>(&'a self, key: &'a str, expected: Version) -> StoreFuture<'a, bool>;

    /// Takes the lock of an account, among all processes that share the store, until the guard is dropped.
    ///
    /// When it is not free within `wait`: [`StoreError::lock_timeout`]. The lock must become free when its holder dies.
    fn lock<'a>(&'a self, key: &'a str, wait: Duration) -> StoreFuture<'a, StoreGuard>;

    /// Takes the lock, then reads the record: it is the one at the time of the lock, or a later one.
    ///
    /// A store behind a network combines the two in one round trip.
    fn lock_and_load<'a>(
        &'a self,
        key: &'a str,
        wait: Duration,
    ) -> StoreFuture<'a, (StoreGuard, Option<Versioned>)> {
        Box::pin(async move {
            let guard = self.lock(key, wait).await?;
            let stored = self.load(key).await?;
            Ok((guard, stored))
        })
    }

    /// Whether a lock ends only when its guard is dropped or its process dies; `false` unless implemented.
    ///
    /// True for locks of the operating system on one machine: a free lock then proves that its last holder has finished
    /// or exited, and a marked refresh token is sent at once. False for a lock behind a network, which can end with a
    /// connection or a time limit while its holder runs: another process then waits before it sends a marked refresh token (see
    /// [`mark_wait`](crate::auth::Timing::mark_wait)). Wrappers forward it.
    fn lock_survives_faults(&self) -> bool {
        false
    }

    /// The store in a few words, for [`TokenManager::inspect`](crate::auth::TokenManager::inspect), such as
    /// `file /home/sam/.config/app/tokens.json`; the name of the type unless implemented.
    ///
    /// It is shown to support staff: name a path, a schema or a table, and no password, no connection string and no account.
    fn describe(&self) -> String {
        std::any::type_name::<Self>().to_owned()
    }

    /// Sets aside what is stored for an account if it cannot be read, so that the account can be written again;
    /// returns whether it did. Only a logout calls it.
    ///
    /// What can be read, and what a newer version of this crate wrote, must stay as it is. A store that does not
    /// implement it sets nothing aside.
    fn set_aside_unreadable<'a>(&'a self, key: &'a str) -> StoreFuture<'a, bool> {
        let _ = key;
        Box::pin(async { Ok(false) })
    }
}

/// A number that a store gives to each write of a record; a different one for each.
///
/// See [`TokenStore`] for an example.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Version(u64);

impl Version {
    /// The version of this number.
    pub fn new(number: u64) -> Self {
        Self(number)
    }

    /// The number, to be stored beside the record.
    pub fn number(self) -> u64 {
        self.0
    }
}

/// A record and the version under which it is stored.
///
/// See [`TokenStore`] for an example.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Versioned {
    /// The version to expect when the record is changed.
    pub version: Version,
    /// The record.
    pub record: Record,
}

impl Versioned {
    /// Puts a record and its version together.
    pub fn new(version: Version, record: Record) -> Self {
        Self { version, record }
    }
}

/// Holds the lock of an account until it is dropped.
///
/// ```
/// # #[tokio::main(flavor = "current_thread")] async fn main() {
/// use std::sync::Arc;
///
/// use envd_sdk::auth::StoreGuard;
///
/// let lock = Arc::new(tokio::sync::Mutex::new(()));
/// let guard = StoreGuard::new(lock.clone().lock_owned().await);
/// assert!(lock.try_lock().is_err());
/// drop(guard);
/// assert!(lock.try_lock().is_ok());
/// # }
/// ```
pub struct StoreGuard(#[allow(dead_code)] Box<dyn Send>);

impl StoreGuard {
    /// Wraps a value that frees the lock when it is dropped.
    pub fn new(guard: impl Send + 'static) -> Self {
        Self(Box::new(guard))
    }
}

impl fmt::Debug for StoreGuard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("StoreGuard")
    }
}

/// The pauses between attempts to lock: they double, with jitter, so that waiters do not try in step.
pub(in crate::auth) struct RetryPauses {
    next: Duration,
    longest: Duration,
}

impl RetryPauses {
    pub(in crate::auth) fn new(first: Duration, longest: Duration) -> Self {
        Self {
            next: first,
            longest,
        }
    }

    pub(in crate::auth) fn next(&mut self) -> Duration {
        let pause = self.next.mul_f64(0.5 + 0.5 * fastrand::f64());
        self.next = (self.next * 2).min(self.longest);
        pause
    }
}
