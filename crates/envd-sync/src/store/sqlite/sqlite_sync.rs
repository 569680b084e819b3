//! The store in a file.

use std::fmt;
use std::path::Path;
use std::sync::Arc;

use async_trait::async_trait;
use rusqlite::Transaction;

use super::account_reads::AccountReads;
use super::batch_commit;
use super::sqlite_connections::SqliteConnections;
use super::sqlite_error::SqliteError;
use crate::store::SyncStore;
use crate::store::rows::{Batch, ChangeRange, ChangeRow, Document, Query, Row};
use envd_sdk::auth::{PrivateFile, StoreError};

/// Keeps the copies of accounts in a file, which several processes of one machine may use at the same time. Clones share
/// the connections.
///
/// A commit is on the disk when it returns, as far as `fsync` holds, and is there whole or not at all after a crash. Reads do
/// not wait for writes. Beside the file are two more while it is in use, with the endings `-wal` and `-shm`; they belong to it:
/// copy or move the file only when no program has it open. Not for file systems behind a network.
///
/// Only its owner may read the file (mode 600); if others may read it, their rights are removed, with a warning in the log.
/// A file that its group or others may write is refused, as are one of another user and a symbolic link in its place; the same holds
/// for the files beside it. So is a directory that its group or others may write, also one with the sticky bit such as `/tmp`:
/// another user could put a `-wal` there first, and write what is sent. A group with the user's own number does not count as
/// others. A file that is damaged, of another program or of a newer version of this crate is an error, and is
/// left as it is. A file that cannot be written is read, if its directory can be written or another process has it open.
///
/// ```
/// use envd_sync::Replica;
/// use envd_sync::store::SqliteSync;
///
/// # equipment::example(async {
/// # let folder = std::env::temp_dir().join(format!("envd-sdk-doc-{}", std::process::id()));
/// # std::fs::create_dir(&folder)?;
/// # #[cfg(unix)]
/// # std::fs::set_permissions(&folder, std::os::unix::fs::PermissionsExt::from_mode(0o700))?;
/// # let file = folder.join("farm.db");
/// # let fake = envd_sdk::fake::Fake::start().await;
/// # let account = fake.client().build()?.account(fake.account_id());
/// Replica::new(&account, SqliteSync::open(&file)?).sync().await?;
/// // The next program reads it without a request.
/// let replica = Replica::new(&account, SqliteSync::open(&file)?);
/// assert!(replica.consignments().count().await? > 0);
/// # std::fs::remove_dir_all(&folder)?;
/// # Ok(()) });
/// ```
///
/// # Beside another `SQLite`
///
/// The crate brings `SQLite` along (`rusqlite`, bundled). Cargo links one package for `links = "sqlite3"`: with another version of
/// `libsqlite3-sys` in the tree, such as that of sqlx, the build is refused. Then use the same version there, or leave out the
/// feature `sqlite` and keep the copy in Postgres.
///
/// # Errors
///
/// Those of all methods have these predicates of [`StoreError`]: [`Full`](envd_sdk::auth::StoreErrorKind::Full),
/// [`Denied`](envd_sdk::auth::StoreErrorKind::Denied), [`Missing`](envd_sdk::auth::StoreErrorKind::Missing) (the directory),
/// [`Insecure`](envd_sdk::auth::StoreErrorKind::Insecure), [`Unreadable`](envd_sdk::auth::StoreErrorKind::Unreadable),
/// [`NewerVersion`](envd_sdk::auth::StoreErrorKind::NewerVersion), [`LockTimeout`](envd_sdk::auth::StoreErrorKind::LockTimeout) (another process has
/// been writing for ten seconds), [`Unsupported`](envd_sdk::auth::StoreErrorKind::Unsupported) (a file system without locks or shared memory).
#[derive(Clone)]
pub struct SqliteSync(pub(super) Arc<SqliteConnections>);

impl SqliteSync {
    /// Opens the file, or creates it in a directory that exists. Blocks while it does: call it when the program starts.
    ///
    /// # Errors
    ///
    /// As above.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, StoreError> {
        // The file stays the same when the program changes its directory.
        let path = std::path::absolute(path)
            .map_err(|source| StoreError::io("the path of the copy cannot be used", source))?;
        prepare(&path)?;
        let connections = SqliteConnections::open(path).map_err(|error| error.0)?;
        Ok(Self(Arc::new(connections)))
    }

    /// Runs a read for an account; one that was never written has nothing.
    async fn read<T: Default + Send + 'static>(
        &self,
        account: &str,
        read: impl FnOnce(&AccountReads<'_>) -> Result<T, SqliteError> + Send + 'static,
    ) -> Result<T, StoreError> {
        let name = account.to_owned();
        let read = move |transaction: &Transaction<'_>| {
            let account = batch_commit::account(transaction, &name)?;
            let reads = account.map(|account| AccountReads {
                transaction,
                account,
            });
            reads.map_or_else(|| Ok(T::default()), |reads| read(&reads))
        };
        self.0.read(read).await
    }
}

/// Checks the file without opening it, or creates it empty. The files that `SQLite` makes beside it get its mode.
fn prepare(path: &Path) -> Result<(), StoreError> {
    const NAME: &str = "the database of the copy";
    // SQLite opens them if they exist, also those that another user made.
    for ending in ["-wal", "-shm", "-journal"] {
        let mut beside = path.as_os_str().to_owned();
        beside.push(ending);
        PrivateFile::new(beside, NAME).check()?;
    }
    PrivateFile::new(path, NAME).prepare()
}

#[async_trait]
impl SyncStore for SqliteSync {
    async fn documents(&self, account: &str, prefix: &str) -> Result<Vec<Document>, StoreError> {
        let prefix = prefix.to_owned();
        self.read(account, move |reads| reads.documents(&prefix))
            .await
    }

    async fn rows(&self, account: &str, ids: &[String]) -> Result<Vec<Row>, StoreError> {
        let ids = ids.to_vec();
        self.read(account, move |reads| reads.rows(&ids)).await
    }

    async fn query(&self, account: &str, query: &Query) -> Result<Vec<Row>, StoreError> {
        let query = query.clone();
        self.read(account, move |reads| reads.query(&query)).await
    }

    async fn count(&self, account: &str, query: &Query) -> Result<u64, StoreError> {
        let query = query.clone();
        self.read(account, move |reads| reads.count(&query)).await
    }

    async fn changes(
        &self,
        account: &str,
        range: ChangeRange,
        limit: usize,
    ) -> Result<Vec<ChangeRow>, StoreError> {
        self.read(account, move |reads| reads.changes(range, limit))
            .await
    }

    async fn commit(&self, account: &str, batch: &Batch) -> Result<bool, StoreError> {
        let (account, batch) = (account.to_owned(), batch.clone());
        self.0
            .write(move |transaction| batch_commit::commit(transaction, &account, &batch))
            .await
    }

    /// The name of the file, without its directory, which may hold the name of a user.
    fn name(&self) -> String {
        let name = self.0.path.file_name().unwrap_or_default();
        format!("the file {}", name.to_string_lossy().escape_debug())
    }
}

impl fmt::Debug for SqliteSync {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The path may hold the name of a user.
        f.debug_struct("SqliteSync").finish_non_exhaustive()
    }
}
