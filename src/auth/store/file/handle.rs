//! The store itself.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use tokio::runtime::Handle;

use super::super::{Record, StoreError, StoreGuard, TokenStore, Version, Versioned};
use super::aside::set_aside;
use super::disk;
use super::fault::{Faults, Point};
use super::ledger::Ledger;
use super::lock::{Lock, acquire};
use super::place::Place;
use crate::auth::BoxFuture;
use crate::transport::Clock;

/// Longer than a write of another process takes, unless that is stopped.
const WRITE_WAIT: Duration = Duration::from_secs(10);

/// Keeps tokens in a file that the processes of a user share, one record an account. For the few accounts of a machine;
/// thousands of users belong into a database. Clones mean the same file.
///
/// The file is replaced in one step, so a process that dies leaves the old tokens or the new ones. Nobody but its owner
/// may read it (mode 600); one that others may read is taken from them, with a warning in the log. One that others may
/// write is refused, as is one of another user, and a symbolic link or a pipe in its place. What cannot be read is an
/// error and is never overwritten. When the last account is removed, the file is deleted.
///
/// The directory must belong to the user that the program runs as, or to root, and others may not write to it: who can,
/// can replace the file. Directories with the sticky bit, such as `/tmp`, will do, and so will one that is writable to a
/// group with the user's own number. Give the store a directory of its own with mode 700. In a container the volume must
/// belong to the user inside. Access control lists and the directories above are not looked at.
///
/// A login over a damaged file is not saved, and says so. A logout sets the file aside, under its name and `.damaged`, so
/// that the next login can be saved; the records in it are not lost, but no program reads them any more.
///
/// The locks are files beside it with names that end in `.lock`. They stay; do not delete them while a program runs. The
/// directory has to exist, on a file system with locks: on some network file systems there are none between machines.
///
/// ```
/// use envd_sdk::auth::{FileStore, TokenStore};
///
/// # tokio::runtime::Runtime::new()?.block_on(async {
/// # let directory = std::env::temp_dir();
/// let store = FileStore::new(directory.join("envd-sdk-doc-tokens.json"));
/// assert!(store.load("default").await?.is_none());
/// # Ok::<(), envd_sdk::auth::StoreError>(()) })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// Its errors answer to the predicates of [`StoreError`]: [`is_full`](StoreError::is_full),
/// [`is_denied`](StoreError::is_denied), [`is_missing`](StoreError::is_missing) (the directory),
/// [`is_insecure`](StoreError::is_insecure), [`is_unreadable`](StoreError::is_unreadable),
/// [`is_newer_version`](StoreError::is_newer_version), [`is_unsupported`](StoreError::is_unsupported) (no locks).
#[derive(Clone)]
pub struct FileStore {
    path: PathBuf,
    clock: Clock,
    pub(super) faults: Faults,
}

impl FileStore {
    /// The store in this file, which need not exist yet; its directory must. Nothing is read or written here.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        let path = path.into();
        Self {
            // The file stays the same when the program changes its directory.
            path: std::path::absolute(&path).unwrap_or(path),
            clock: Clock::system(),
            faults: Faults::default(),
        }
    }

    /// The clock by which deadlines of locks are kept; the system's unless set.
    #[must_use]
    pub fn clock(mut self, clock: Clock) -> Self {
        self.clock = clock;
        self
    }

    /// Changes the file under the write lock.
    async fn change<T: Send + 'static>(
        &self,
        change: impl FnOnce(&Place, &Faults) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        let (path, faults) = (self.path.clone(), self.faults.clone());
        self.exclusively(move || change(&Place::find(&path)?, &faults))
            .await
    }

    /// Does work under the write lock, in one go: whoever waits for it may leave, the work goes through. Also for stores
    /// that have no locks of their own.
    pub(crate) async fn exclusively<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        let path = self.path.clone();
        let place = move || Ok(Place::find(&path)?.write_lock());
        let lock: Lock = acquire(place, WRITE_WAIT, &self.clock, &self.faults).await?;
        off_the_runtime(move || {
            let _lock = lock;
            work()
        })
        .await
    }
}

impl TokenStore for FileStore {
    fn load<'a>(&'a self, key: &'a str) -> BoxFuture<'a, Result<Option<Versioned>, StoreError>> {
        let (path, key) = (self.path.clone(), key.to_owned());
        // Without a lock: the file is whole at any time.
        Box::pin(off_the_runtime(move || {
            let text = disk::read(&Place::find(&path)?)?;
            Ledger::read(text.as_ref().map(|text| text.as_slice()))?.find(&key)
        }))
    }

    fn swap<'a>(
        &'a self,
        key: &'a str,
        expected: Option<Version>,
        new: &'a Record,
    ) -> BoxFuture<'a, Result<Option<Version>, StoreError>> {
        let (key, record) = (key.to_owned(), new.to_secret_json());
        Box::pin(self.change(move |place, faults| {
            let text = disk::read(place)?;
            let mut ledger = Ledger::read(text.as_ref().map(|text| text.as_slice()))?;
            if ledger.version(&key) != expected {
                return Ok(None);
            }
            let version = ledger.put(&key, &record)?;
            begin(faults)?;
            disk::replace(place, &ledger.write()?, faults)?;
            Ok(Some(version))
        }))
    }

    fn remove<'a>(
        &'a self,
        key: &'a str,
        expected: Version,
    ) -> BoxFuture<'a, Result<bool, StoreError>> {
        let key = key.to_owned();
        Box::pin(self.change(move |place, faults| {
            let text = disk::read(place)?;
            let mut ledger = Ledger::read(text.as_ref().map(|text| text.as_slice()))?;
            if ledger.version(&key) != Some(expected) {
                return Ok(false);
            }
            ledger.take_out(&key);
            begin(faults)?;
            if ledger.is_empty() {
                disk::delete(place)?;
            } else {
                disk::replace(place, &ledger.write()?, faults)?;
            }
            Ok(true)
        }))
    }

    fn lock<'a>(
        &'a self,
        key: &'a str,
        wait: Duration,
    ) -> BoxFuture<'a, Result<StoreGuard, StoreError>> {
        let (path, key) = (self.path.clone(), key.to_owned());
        Box::pin(async move {
            let place = move || Ok(Place::find(&path)?.account_lock(&key));
            let lock = acquire(place, wait, &self.clock, &self.faults).await?;
            Ok(StoreGuard::new(lock))
        })
    }

    fn lock_survives_faults(&self) -> bool {
        true
    }

    /// The damaged file stays, beside it, under its name and `.damaged`. If only the account's record is damaged, that is
    /// a copy, and the other accounts go on.
    fn set_aside_unreadable<'a>(&'a self, key: &'a str) -> BoxFuture<'a, Result<bool, StoreError>> {
        let key = key.to_owned();
        Box::pin(self.change(move |place, faults| set_aside(place, &key, faults)))
    }
}

impl fmt::Debug for FileStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The path may hold the name of a user.
        f.debug_struct("FileStore").finish_non_exhaustive()
    }
}

fn begin(faults: &Faults) -> Result<(), StoreError> {
    faults
        .pass(Point::Begin)
        .map_err(|source| StoreError::io("the token file cannot be written", source))
}

/// Work with files blocks, so it is done where that hurts nobody.
pub(super) async fn off_the_runtime<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, StoreError> + Send + 'static,
) -> Result<T, StoreError> {
    let runtime = Handle::try_current()
        .map_err(|_| StoreError::new("the file store must be used inside a tokio runtime"))?;
    let done = runtime.spawn_blocking(work).await;
    done.map_err(|_| StoreError::new("the work on the token file was cut off"))?
}
