//! A store in a file, and its lock files.

use std::fs::{File, OpenOptions, TryLockError};
use std::path::{Path, PathBuf};
use std::time::Duration;

use tokio::runtime::Handle;

use super::token_file::{FileContents, TokenFile, WriteFaults, WriteStep};
use crate::auth::store::token_store::RetryPauses;
use crate::auth::{
    PrivateFile, Record, StoreError, StoreErrorKind, StoreFuture, StoreGuard, TokenStore, Version,
    Versioned,
};
use crate::transport::Clock;

/// Longer than a write of another process takes, unless that is stopped.
const WRITE_WAIT: Duration = Duration::from_secs(10);

/// Keeps tokens in a file that the processes of a user share, one record for each account. For the few accounts of one
/// machine; thousands of users belong in a database. Clones share the file.
///
/// The file is replaced in one step, so a process that dies leaves the old tokens or the new ones. Only its owner may read
/// it (mode 600); if others may read it, their rights are removed, with a warning in the log. A file that its group
/// or others may write is refused, as is one of another user, one with a second name (a hard link), and a symbolic link or a pipe in its place.
/// Each change makes a new file, so a program that opened an earlier file never sees the new tokens. A file that cannot be read is
/// an error and is never overwritten; an empty one counts as none. When the last account is removed, the file is deleted.
///
/// The directory must belong to the user that the program runs as, or to root, and neither its group nor others may
/// write to it, for they could replace the file. Directories with the sticky bit, such as `/tmp`, are accepted, and so are those
/// that are writable to a group with the user's own number, as the umask 002 makes them. Give the store a directory of its own with mode 700. In a container the
/// volume must belong to the user inside. Access control lists and the directories above are not checked.
///
/// A login over a damaged file is not saved, and fails with an error to that effect. A logout sets the file aside, under its name and
/// `.damaged`, so that the next login can be saved; the records in it are kept, but no program reads them any more.
///
/// While another program holds the file, such as a virus scanner or a synchronised folder, opening and replacing it are tried again for up to
/// a second. A file from a backup or from another machine has older tokens, and their refresh token is used up. A running program
/// notices this and stores its own tokens again ([`Event::OlderRecord`](crate::auth::Event::OlderRecord)). A program that starts with such a
/// file cannot notice it, and its user may have to log in. So keep the file out of backups, roaming profiles and synchronised folders.
///
/// The locks are files beside it with names that end in `.lock`, kept to their owner as it is, since a user who may open one can hold the lock.
/// They stay; do not delete them while a program runs. The directory has to exist, on a file system with locks: some network file systems have none between machines.
///
/// ```
/// use envd_sdk::auth::{FileStore, TokenStore};
///
/// # equipment::example(async {
/// # let directory = std::env::temp_dir();
/// let store = FileStore::new(directory.join("envd-sdk-doc-tokens.json"));
/// assert!(store.load("default").await?.is_none());
/// # Ok(()) });
/// ```
///
/// Its errors have these [kinds](StoreErrorKind): [`Full`](StoreErrorKind::Full), [`Denied`](StoreErrorKind::Denied),
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
    /// The store in this file, which need not exist yet; its directory must. Nothing is read or written here.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        let path = path.into();
        Self {
            // An absolute path, so that the program may change its directory.
            path: std::path::absolute(&path).unwrap_or(path),
            clock: Clock::system(),
            faults: WriteFaults::default(),
        }
    }

    /// The clock for the deadlines of locks.
    #[cfg(test)]
    pub(super) fn clock(mut self, clock: Clock) -> Self {
        self.clock = clock;
        self
    }

    /// Runs `work` with the file on a thread that may block. A caller that is cancelled does not stop it.
    async fn with_file<T: Send + 'static>(
        &self,
        work: impl FnOnce(&TokenFile) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        let (path, faults) = (self.path.clone(), self.faults.clone());
        spawn_blocking(move || work(&TokenFile::find(&path, faults)?)).await
    }

    /// As [`with_file`](Self::with_file), under the write lock.
    async fn change<T: Send + 'static>(
        &self,
        work: impl FnOnce(&TokenFile) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        let (path, faults) = (self.path.clone(), self.faults.clone());
        self.with_write_lock(move || work(&TokenFile::find(&path, faults)?))
            .await
    }

    /// Runs `work` under the write lock; also for stores that have no locks of their own. A caller that is cancelled does
    /// not stop it.
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

    /// Tries until the deadline. Never the call that blocks: it cannot be cancelled, and a runtime that shuts down would
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

impl TokenStore for FileStore {
    fn load<'a>(&'a self, key: &'a str) -> StoreFuture<'a, Option<Versioned>> {
        let key = key.to_owned();
        // Reads without a lock: the file is whole at any time.
        Box::pin(
            self.with_file(move |file| FileContents::parse(file.read()?.as_deref())?.find(&key)),
        )
    }

    fn swap<'a>(
        &'a self,
        key: &'a str,
        expected: Option<Version>,
        new: &'a Record,
    ) -> StoreFuture<'a, Option<Version>> {
        let (key, record) = (key.to_owned(), new.to_secret_json());
        Box::pin(self.change(move |file| {
            let json = file.read()?;
            let mut contents = FileContents::parse(json.as_deref())?;
            if contents.version(&key) != expected {
                return Ok(None);
            }
            let version = contents.insert(&key, &record)?;
            file.write(&contents)?;
            Ok(Some(version))
        }))
    }

    fn remove<'a>(&'a self, key: &'a str, expected: Version) -> StoreFuture<'a, bool> {
        let key = key.to_owned();
        Box::pin(self.change(move |file| {
            let json = file.read()?;
            let mut contents = FileContents::parse(json.as_deref())?;
            if contents.version(&key) != Some(expected) {
                return Ok(false);
            }
            contents.remove(&key);
            file.write(&contents)?;
            Ok(true)
        }))
    }

    fn lock<'a>(&'a self, key: &'a str, wait: Duration) -> StoreFuture<'a, StoreGuard> {
        let key = key.to_owned();
        Box::pin(async move {
            let lock = self.acquire(move |file| file.account_lock(&key), wait);
            Ok(StoreGuard::new(lock.await?))
        })
    }

    fn lock_survives_faults(&self) -> bool {
        true
    }

    /// Names the whole path, for support.
    fn describe(&self) -> String {
        format!("file {}", self.path.display())
    }

    /// Renames the damaged file to its name and `.damaged`. If only the account's record is damaged, that is a copy, and
    /// the other accounts stay in the file.
    fn set_aside_unreadable<'a>(&'a self, key: &'a str) -> StoreFuture<'a, bool> {
        let key = key.to_owned();
        Box::pin(self.change(move |file| file.set_aside_unreadable(&key)))
    }
}

// The path may hold the name of a user.
debug_shows!(FileStore);

/// A lock file that is held until this is dropped. The operating system frees it at once when its process dies. The file
/// stays: deleting it would free the locks on the open file.
struct FileLock(File);

impl Drop for FileLock {
    fn drop(&mut self) {
        // OK to ignore: closing the file frees the lock as well.
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

/// The file comes back if another process holds its lock.
fn try_lock(file: File, faults: &WriteFaults) -> Result<Result<FileLock, File>, StoreError> {
    let tried = match faults.pass(WriteStep::Lock) {
        Ok(()) => file.try_lock(),
        Err(error) => Err(TryLockError::Error(error)),
    };
    match tried {
        Ok(()) => Ok(Ok(FileLock(file))),
        Err(TryLockError::WouldBlock) => Ok(Err(file)),
        // Fails without a lock: two processes would use one refresh token.
        Err(TryLockError::Error(error)) => {
            let message = "the file system of the token file has no locks";
            Err(StoreError::new(StoreErrorKind::Unsupported, message).with_source(error))
        }
    }
}

/// File access blocks, so it runs outside the runtime's own threads.
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
