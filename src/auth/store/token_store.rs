//! The trait for token stores.

use std::fmt;
use std::time::Duration;

use async_trait::async_trait;

use super::{Record, StoreError};

/// Stores the tokens of accounts. Implement it for the storage that your processes share.
///
/// Two rules matter most: a record is replaced atomically, and [`swap`](Self::swap) and [`remove`](Self::remove) change nothing
/// unless the stored version is the expected one. The record is opaque: [`Record::to_secret_json`] and
/// [`Record::from_secret_json`] convert it to text and back. It contains valid credentials, so keep it where only your
/// application can read it.
///
/// The methods are async and the trait is used as an object, so write `#[async_trait]`, from the crate `async-trait`, above your
/// implementation.
///
/// Possible implementations: a row with a version column and an advisory lock in Postgres; a value and a lock key with a time
/// limit in Redis. [`MemoryStore`](super::MemoryStore) is the smallest implementation. To test yours, use the function
/// `check_token_store` of the feature `fake`.
///
/// ```
/// use envd_sdk::auth::{Record, StoreError, Version, Versioned};
///
/// /// A row of your table, next to the key of the account.
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
///
/// # Cancel safety
///
/// The future of any method may be dropped before it completes. A dropped [`swap`](Self::swap) or [`remove`](Self::remove) may
/// have changed the record, completely or not at all. A dropped [`lock`](Self::lock) must not take the lock later, and must
/// release a lock that it has already taken.
#[async_trait]
pub trait TokenStore: Send + Sync + 'static {
    /// Loads the record of an account. Return `None` only if there is none: unreadable data is an error, so that it is never
    /// mistaken for a user who is not logged in.
    async fn load(&self, key: &str) -> Result<Option<Versioned>, StoreError>;

    /// Writes a record if the stored version is still `expected` (`None`: there is no record), and returns the new version.
    /// `Ok(None)` means that another writer was faster and nothing was written.
    async fn swap(
        &self,
        key: &str,
        expected: Option<Version>,
        new: &Record,
    ) -> Result<Option<Version>, StoreError>;

    /// Deletes the record if the stored version is still `expected`, and returns whether it did.
    async fn remove(&self, key: &str, expected: Version) -> Result<bool, StoreError>;

    /// Locks an account, among all processes that share the store, until the guard is dropped.
    ///
    /// Fails with [`StoreError::lock_timeout`] if the lock is not free within `wait`. The lock must become free when its holder
    /// dies.
    async fn lock(&self, key: &str, wait: Duration) -> Result<StoreGuard, StoreError>;

    /// Takes the lock, then reads the record. The record must not be older than the lock.
    ///
    /// A networked store can combine the two in one round trip.
    async fn lock_and_load(
        &self,
        key: &str,
        wait: Duration,
    ) -> Result<(StoreGuard, Option<Versioned>), StoreError> {
        let guard = self.lock(key, wait).await?;
        let stored = self.load(key).await?;
        Ok((guard, stored))
    }

    /// Whether a lock ends only when its guard is dropped or its process dies; defaults to `false`.
    ///
    /// True for operating system locks on a single machine: a free lock then proves that its last holder has finished or
    /// exited, and a marked refresh token is sent immediately. False for locks over a network, which a lost connection or a
    /// time limit can end while the holder runs: another process then waits before it sends a marked refresh token (see
    /// [`mark_wait`](crate::auth::Timing::mark_wait)). Wrappers forward it.
    fn lock_survives_faults(&self) -> bool {
        false
    }

    /// A short description of the store, for [`TokenManager::inspect`](crate::auth::TokenManager::inspect), such as `file
    /// /home/sam/.config/app/tokens.json`; defaults to the type name.
    ///
    /// Support staff see it: include a path, a schema or a table, but no password, connection string or account.
    fn describe(&self) -> String {
        std::any::type_name::<Self>().to_owned()
    }

    /// Sets aside the stored data of an account if it is unreadable, so that the account can be written again. Returns whether
    /// it did. Called only by a logout.
    ///
    /// Readable data, and data from a newer version of this crate, must be left unchanged. By default, nothing is set aside.
    async fn set_aside_unreadable(&self, key: &str) -> Result<bool, StoreError> {
        let _ = key;
        Ok(false)
    }
}

/// A number that a store assigns to each write of a record, never reusing one.
///
/// See [`TokenStore`] for an example.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Version(u64);

impl Version {
    /// Creates a version from its number.
    pub fn new(number: u64) -> Self {
        Self(number)
    }

    /// The number, to be stored next to the record.
    pub fn number(self) -> u64 {
        self.0
    }
}

/// A record with its stored version.
///
/// See [`TokenStore`] for an example.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Versioned {
    /// The version to expect when changing the record.
    pub version: Version,
    /// The record.
    pub record: Record,
}

impl Versioned {
    /// Combines a version and a record.
    pub fn new(version: Version, record: Record) -> Self {
        Self { version, record }
    }
}

/// Holds the lock of an account until dropped.
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
    /// Wraps a value that releases the lock when dropped.
    pub fn new(guard: impl Send + 'static) -> Self {
        Self(Box::new(guard))
    }
}

impl fmt::Debug for StoreGuard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("StoreGuard")
    }
}

/// The pauses between attempts to lock. They double, with jitter, so that waiters do not retry in step.
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
