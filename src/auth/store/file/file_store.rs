//! A store in a file, with its lock files.

use std::fs::{File, OpenOptions, TryLockError};
use std::path::{Path, PathBuf};
use std::time::Duration;

use async_trait::async_trait;
use tokio::runtime::Handle;

use super::token_file::{FileContents, TokenFile, WriteFaults, WriteStep};
use crate::auth::store::token_store::RetryPauses;
use crate::auth::{
    PrivateFile, Record, StoreError, StoreErrorKind, StoreGuard, TokenStore, Version, Versioned,
};
use crate::transport::Clock;

/// Longer than a write takes in another process, unless that process is suspended.
const WRITE_WAIT: Duration = Duration::from_secs(10);

/// Stores tokens in a file shared by a user's processes, with one record per account. For the few accounts on one machine;
/// thousands of users belong in a database. Clones share the file.
///
/// The file is replaced atomically, so a process that dies leaves either the old or the new tokens. Only its owner may read it
/// (mode 600). If others may read it, their permissions are removed, with a warning in the log. A file that its group or others
/// may write is refused, and so is another user's file, a file with a second name (a hard link), a symbolic link or a pipe.
/// Each change creates a new file, so a program that opened an earlier file never sees the new tokens. An unreadable file is an
/// error and is never overwritten; an empty one counts as no file. When the last account is removed, the file is deleted.
///
/// The directory must belong to the user that the program runs as, or to root, and neither its group nor others may write to it,
/// because they could replace the file. Directories with the sticky bit, such as `/tmp`, are accepted, and so are directories
/// writable to a group with the user's own number, as created under the umask 002. Give the store its own directory with the
/// mode 700 (in a container, the volume must belong to the user inside). Access control lists and parent directories are not
/// checked. On Windows, which has no modes, use a directory below `%LOCALAPPDATA%`; names such as `nul.json`, which Windows takes
/// for a device, are refused.
///
/// If the file is damaged, a login is not saved and fails with an error that says so. A logout renames the file with the suffix
/// `.damaged`, so that the next login can be saved. The records in it are kept, but programs no longer read them.
///
/// While another program holds the file, such as a virus scanner or a synchronised folder, opening and replacing it are retried
/// for up to a second. A file from a backup or another machine has older tokens, with a refresh token that is used up. A
/// running program detects this and stores its own tokens again ([`Event::OlderRecord`](crate::auth::Event::OlderRecord)). A
/// program that starts with such a file cannot detect it, and its user may have to log in. Therefore, keep the file out of
/// backups, roaming profiles and synchronised folders.
///
/// The locks are files next to it with names that end in `.lock`. They are also restricted to their owner, because a user who
/// may open one can hold the lock. They are never deleted; do not delete them while a program runs. The directory must exist,
/// on a file system with locks: some network file systems do not lock across machines.
///
/// ```
/// use envd_sdk::auth::{FileStore, TokenStore};
///
/// # test_support::example(async {
/// # let directory = std::env::temp_dir();
/// let store = FileStore::new(directory.join("envd-sdk-doc-tokens.json"));
/// assert!(store.load("default").await?.is_none());
/// # Ok(()) });
/// ```
///
/// The errors have these [kinds](StoreErrorKind): [`Full`](StoreErrorKind::Full), [`Denied`](StoreErrorKind::Denied),
/// [`Missing`](StoreErrorKind::Missing) (the directory), [`Insecure`](StoreErrorKind::Insecure),
/// [`Unreadable`](StoreErrorKind::Unreadable), [`NewerVersion`](StoreErrorKind::NewerVersion),
/// [`Unsupported`](StoreErrorKind::Unsupported) (no locks).
#[derive(Clone)]
pub struct FileStore {
    path: PathBuf,
    clock: Clock,
    pub(super) faults: WriteFaults,
}

impl FileStore {
    /// A store in this file, which need not exist yet, but its directory must. Does not read or write anything yet.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        let path = path.into();
        Self {
            // An absolute path, so that the program may change its directory.
            path: std::path::absolute(&path).unwrap_or(path),
            clock: Clock::system(),
            faults: WriteFaults::default(),
        }
    }

    /// The clock for lock deadlines.
    #[cfg(test)]
    pub(super) fn clock(mut self, clock: Clock) -> Self {
        self.clock = clock;
        self
    }

    /// Runs `work` with the file on a blocking thread. Cancelling the caller does not stop it.
    async fn with_file<T: Send + 'static>(
        &self,
        work: impl FnOnce(&TokenFile) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        let path = self.path.clone();
        let faults = self.faults.clone();
        spawn_blocking(move || work(&TokenFile::find(&path, faults)?)).await
    }

    /// Like [`with_file`](Self::with_file), under the write lock.
    async fn change<T: Send + 'static>(
        &self,
        work: impl FnOnce(&TokenFile) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        let path = self.path.clone();
        let faults = self.faults.clone();
        self.with_write_lock(move || work(&TokenFile::find(&path, faults)?))
            .await
    }

    /// Runs `work` under the write lock, also for stores without their own locks. Cancelling the caller does not stop it.
    pub(in crate::auth) async fn with_write_lock<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        let lock = self.acquire(TokenFile::write_lock, WRITE_WAIT).await?;
        spawn_blocking(move || {
            let _lock = lock;
            work()
        })
        .await
    }

    /// Retries until the deadline. Never uses the blocking call: it cannot be cancelled, and a runtime that shuts down would
    /// wait for it.
    async fn acquire(
        &self,
        path: impl FnOnce(&TokenFile) -> PathBuf + Send + 'static,
        wait: Duration,
    ) -> Result<FileLock, StoreError> {
        let until = self.clock.monotonic().saturating_add(wait);
        let mut lock = self.with_file(|file| open_lock(&path(file))).await?;
        let mut pauses = RetryPauses::new(Duration::from_millis(2), Duration::from_millis(50));
        loop {
            let faults = self.faults.clone();
            lock = match spawn_blocking(move || try_lock(lock, &faults)).await? {
                Ok(lock) => return Ok(lock),
                Err(busy) => busy,
            };
            let left = until.saturating_sub(self.clock.monotonic());
            if left.is_zero() {
                return Err(StoreError::lock_timeout());
            }
            self.clock.sleep(pauses.next().min(left)).await;
        }
    }
}

#[async_trait]
impl TokenStore for FileStore {
    async fn load(&self, key: &str) -> Result<Option<Versioned>, StoreError> {
        let key = key.to_owned();
        // Reads without a lock, because the file is always complete.
        self.with_file(move |file| FileContents::parse(file.read()?.as_deref())?.find(&key))
            .await
    }

    async fn swap(
        &self,
        key: &str,
        expected: Option<Version>,
        new: &Record,
    ) -> Result<Option<Version>, StoreError> {
        let key = key.to_owned();
        let record = new.to_secret_json();
        self.change(move |file| {
            let json = file.read()?;
            let mut contents = FileContents::parse(json.as_deref())?;
            if contents.version(&key) != expected {
                return Ok(None);
            }
            let version = contents.insert(&key, &record)?;
            file.write(&contents)?;
            Ok(Some(version))
        })
        .await
    }

    async fn remove(&self, key: &str, expected: Version) -> Result<bool, StoreError> {
        let key = key.to_owned();
        self.change(move |file| {
            let json = file.read()?;
            let mut contents = FileContents::parse(json.as_deref())?;
            if contents.version(&key) != Some(expected) {
                return Ok(false);
            }
            contents.remove(&key);
            file.write(&contents)?;
            Ok(true)
        })
        .await
    }

    async fn lock(&self, key: &str, wait: Duration) -> Result<StoreGuard, StoreError> {
        let key = key.to_owned();
        let lock = self.acquire(move |file| file.account_lock(&key), wait);
        Ok(StoreGuard::new(lock.await?))
    }

    fn lock_survives_faults(&self) -> bool {
        true
    }

    /// Includes the full path, for support.
    fn describe(&self) -> String {
        format!("file {}", self.path.display())
    }

    /// Renames the damaged file with the suffix `.damaged`. If only the account's record is damaged, makes a copy instead, and
    /// the other accounts stay in the file.
    async fn set_aside_unreadable(&self, key: &str) -> Result<bool, StoreError> {
        let key = key.to_owned();
        self.change(move |file| file.set_aside_unreadable(&key))
            .await
    }
}

// The path may contain a user name.
debug_shows!(FileStore);

/// A lock file, locked until dropped. The operating system releases the lock when the process dies. The file is not deleted,
/// because that would release the locks on the open file.
struct FileLock(File);

impl Drop for FileLock {
    fn drop(&mut self) {
        // OK to ignore: closing the file also releases the lock.
        let _ = self.0.unlock();
    }
}

fn open_lock(path: &Path) -> Result<File, StoreError> {
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(false);
    let file = PrivateFile::new(path, "the lock of the token file").in_sticky_directory();
    file.open(&mut options)?.ok_or_else(|| {
        let message = "the directory of the token file does not exist";
        StoreError::new(StoreErrorKind::Missing, message)
    })
}

/// Returns the file if another process holds its lock.
fn try_lock(file: File, faults: &WriteFaults) -> Result<Result<FileLock, File>, StoreError> {
    let tried = match faults.pass(WriteStep::Lock) {
        Ok(()) => file.try_lock(),
        Err(error) => Err(TryLockError::Error(error)),
    };
    match tried {
        Ok(()) => Ok(Ok(FileLock(file))),
        Err(TryLockError::WouldBlock) => Ok(Err(file)),
        // Must fail without locks, or two processes would use one refresh token.
        Err(TryLockError::Error(error)) => {
            let message = "the file system of the token file has no locks";
            Err(StoreError::new(StoreErrorKind::Unsupported, message).with_source(error))
        }
    }
}

/// File access blocks, so it runs outside the runtime's worker threads.
async fn spawn_blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, StoreError> + Send + 'static,
) -> Result<T, StoreError> {
    let runtime = Handle::try_current().map_err(|_| {
        StoreError::new(
            StoreErrorKind::Other,
            "the file store must be used inside a tokio runtime",
        )
    })?;
    let done = runtime.spawn_blocking(work).await;
    done.map_err(|_| {
        StoreError::new(
            StoreErrorKind::Other,
            "the runtime ended during access to the token file",
        )
    })?
}
