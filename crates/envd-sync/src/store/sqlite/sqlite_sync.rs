//! The store in an `SQLite` file: opening, permissions and transactions.

use std::fmt;
use std::path::Path;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use async_trait::async_trait;
use rusqlite::TransactionBehavior::{Deferred, Immediate};
use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags, TransactionBehavior};
use tokio::runtime::Handle;
use tokio::sync::Mutex;

use super::schema;
use super::sqlite_error::SqliteError;
use super::statements::AccountTables;
use crate::store::SyncStore;
use crate::store::rows::{Batch, ChangeRange, ChangeRow, Document, Query, RecordRow};
use envd_sdk::auth::{PrivateFile, StoreError, StoreErrorKind};

/// In KiB. Writing a page of rows touches many pages of the indexes.
const CACHE: i32 = 8_192;
/// In pages of 4 KiB. Consecutive writes touch the same pages; with a longer log these are copied into the file only once.
const LOG: i32 = 4_000;

/// More than the number of different statements that a program uses.
const STATEMENTS: usize = 64;

/// Keeps the copies of accounts in a file that several processes of one machine may share; clones share the connections.
///
/// When a commit returns, it is on the disk as far as `fsync` holds, and a crash leaves it complete or absent. Reads do not wait
/// for writes. While the file is in use, two more files exist next to it, with the endings `-wal` and `-shm`. They are part of it:
/// copy or move the file only when no program has it open. Do not use network file systems.
///
/// Only the owner may read the file (mode 600). If others may read it, a private copy replaces it; while a process has the file
/// open, only the permissions are changed. In both cases a warning is logged. While another program, such as a virus scanner, holds
/// a file, opening is retried for up to a second.
///
/// A file that its group or others may write is refused. So is a file of another user, a file with a second name (a hard link) and
/// a symbolic link instead of the file. The same holds for the files next to it. A directory that its group or others may write is
/// refused as well, also one with the sticky bit such as `/tmp`: another user could place a `-wal` there in advance, and thereby
/// change the data that is sent. A group with the same number as the user does not count as others.
///
/// A file of another program or of a newer version of this crate is an error, and stays unchanged. A read-only file can be read if
/// its directory is writable or another process has the file open.
///
/// A damaged structure is reported only when the damaged page is read, which may be late: call [`check`](Self::check) at the start
/// to find it. `SQLite` has no checksums of contents, so no check finds a changed byte inside a record. And it treats a damaged
/// `-wal` like a log that was cut short by a crash: the commits after the damage are lost without an error. Only a file system with
/// checksums protects against both.
///
/// ```
/// use envd_sync::Replica;
/// use envd_sync::store::SqliteSync;
///
/// # test_support::example(async {
/// # let folder = std::env::temp_dir().join(format!("envd-sdk-doc-{}", std::process::id()));
/// # std::fs::create_dir(&folder)?;
/// # #[cfg(unix)]
/// # std::fs::set_permissions(&folder, std::os::unix::fs::PermissionsExt::from_mode(0o700))?;
/// # let file = folder.join("farm.db");
/// # let fake = envd_sdk::fake::Fake::start().await;
/// # let account = fake.client().build()?.account(fake.account_id());
/// Replica::new(&account, SqliteSync::open(&file)?).sync().await?;
/// // The next program reads the copy without a request.
/// let replica = Replica::new(&account, SqliteSync::open(&file)?);
/// assert!(replica.consignments().count().await? > 0);
/// # std::fs::remove_dir_all(&folder)?;
/// # Ok(()) });
/// ```
///
/// # With another `SQLite` in the program
///
/// This crate links its own `SQLite` (`rusqlite`, bundled). Cargo links only one package with `links = "sqlite3"`. If the program
/// also depends on another version of `libsqlite3-sys`, for example through sqlx, the build is refused. Use the same version there,
/// or leave out the feature `sqlite` and keep the copy in Postgres.
///
/// # Errors
///
/// Any method can fail with these kinds of [`StoreError`]: [`Full`](envd_sdk::auth::StoreErrorKind::Full),
/// [`Denied`](envd_sdk::auth::StoreErrorKind::Denied), [`Missing`](envd_sdk::auth::StoreErrorKind::Missing) (the directory),
/// [`Insecure`](envd_sdk::auth::StoreErrorKind::Insecure), [`Unreadable`](envd_sdk::auth::StoreErrorKind::Unreadable),
/// [`NewerVersion`](envd_sdk::auth::StoreErrorKind::NewerVersion), [`LockTimeout`](envd_sdk::auth::StoreErrorKind::LockTimeout)
/// (another process has been writing for ten seconds), [`Unsupported`](envd_sdk::auth::StoreErrorKind::Unsupported) (a file system
/// without locks or shared memory).
#[derive(Clone)]
pub struct SqliteSync {
    path: Arc<Path>,
    pub(super) writer: Arc<Mutex<Connection>>,
    /// Reads the last commit, and does not wait for the writer.
    reader: Arc<Mutex<Connection>>,
}

impl SqliteSync {
    /// Opens the file, or creates it in an existing directory; it blocks, so call it when the program starts.
    ///
    /// # Errors
    ///
    /// As above.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, StoreError> {
        // An absolute path, so that the store keeps its file when the program changes its working directory.
        let path = std::path::absolute(path)
            .map_err(|source| StoreError::io("the path of the copy cannot be used", source))?;
        prepare(&path)?;
        let connect = || -> Result<_, SqliteError> {
            let mut connection = connect(&path)?;
            schema::prepare(&mut connection)?;
            Ok(Arc::new(Mutex::new(connection)))
        };
        let both = || Ok((connect()?, connect()?));
        let connections = while_held(thread::sleep, both);
        let (writer, reader) = connections.map_err(|error: SqliteError| error.0)?;
        Ok(Self {
            path: path.into(),
            writer,
            reader,
        })
    }

    /// Checks the structure of the entire file (`PRAGMA quick_check`); call it when the program starts.
    ///
    /// It takes as long as reading the file once. Other reads of this store wait until it ends.
    ///
    /// # Cancel safety
    ///
    /// A read. If the future is dropped, a check that has started continues in the background, and other reads of this store wait
    /// until it ends.
    ///
    /// # Errors
    ///
    /// [`Unreadable`](envd_sdk::auth::StoreErrorKind::Unreadable) with the first damage found; otherwise as above. Damage that
    /// `SQLite` cannot detect, such as a torn log, is not reported: see [`SqliteSync`](Self).
    ///
    /// ```
    /// use envd_sync::store::SqliteSync;
    ///
    /// # test_support::example(async {
    /// # let folder = std::env::temp_dir().join(format!("envd-sdk-doc-check-{}", std::process::id()));
    /// # std::fs::create_dir(&folder)?;
    /// # #[cfg(unix)]
    /// # std::fs::set_permissions(&folder, std::os::unix::fs::PermissionsExt::from_mode(0o700))?;
    /// # let file = folder.join("farm.db");
    /// let store = SqliteSync::open(&file)?;
    /// if let Err(error) = store.check().await {
    ///     eprintln!("restore {} from a backup, or remove it and sync again: {error}", file.display());
    /// }
    /// # std::fs::remove_dir_all(&folder)?;
    /// # Ok(()) });
    /// ```
    pub async fn check(&self) -> Result<(), StoreError> {
        blocking(&self.reader, |connection| {
            let found: String =
                connection.query_row("PRAGMA quick_check(1)", [], |row| row.get(0))?;
            if found == "ok" {
                return Ok(());
            }
            // The result names pages, tables and indexes, but no values. Skip the heading of the database.
            let mut lines = found.lines().filter(|line| !line.starts_with("***"));
            let damage = lines.next().unwrap_or("no details");
            let message = format!("the database of the copy is damaged, at {damage}");
            Err(StoreError::new(StoreErrorKind::Unreadable, message).into())
        })
        .await
    }

    async fn read<T: Send + 'static>(
        &self,
        account: &str,
        read: impl FnOnce(&AccountTables<'_>) -> rusqlite::Result<T> + Send + 'static,
    ) -> Result<T, StoreError> {
        run(&self.reader, Deferred, account, read).await
    }
}

/// Runs `work` in a transaction, which is rolled back unless `work` returns `Ok`. Cancelling the caller does not stop it.
async fn run<T: Send + 'static>(
    connection: &Arc<Mutex<Connection>>,
    behavior: TransactionBehavior,
    account: &str,
    work: impl FnOnce(&AccountTables<'_>) -> rusqlite::Result<T> + Send + 'static,
) -> Result<T, StoreError> {
    let account = account.to_owned();
    blocking(connection, move |connection| {
        let transaction = connection.transaction_with_behavior(behavior)?;
        schema::check(&transaction)?;
        let done = work(&AccountTables::of(&transaction, &account)?)?;
        transaction.commit()?;
        Ok(done)
    })
    .await
}

/// Runs `work` outside the runtime's own threads, because file access blocks.
async fn blocking<T: Send + 'static>(
    connection: &Arc<Mutex<Connection>>,
    work: impl FnOnce(&mut Connection) -> Result<T, SqliteError> + Send + 'static,
) -> Result<T, StoreError> {
    let failed = |what| StoreError::new(StoreErrorKind::Other, what);
    let mut connection = connection.clone().lock_owned().await;
    let runtime = Handle::try_current()
        .map_err(|_| failed("the SQLite store must be used inside a tokio runtime"))?;
    let done = runtime.spawn_blocking(move || work(&mut connection)).await;
    done.map_err(|_| failed("the runtime ended during access to the database of the copy"))?
        .map_err(|error: SqliteError| error.0)
}

/// Without `OPEN_URI`, since a URI may contain settings, and without `OPEN_CREATE`, which would not set the mode.
fn connect(path: &Path) -> Result<Connection, SqliteError> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = open_file(path, flags)?;
    connection.busy_timeout(schema::BUSY)?;
    connection.set_prepared_statement_cache_capacity(STATEMENTS);
    connection.pragma_update(None, "synchronous", "FULL")?;
    // Never write parts of records to temporary files.
    connection.pragma_update(None, "temp_store", "MEMORY")?;
    // Otherwise SQLite would use the statistics to plan each statement again for each value.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    // Detect a damaged page before following its pointers.
    connection.pragma_update(None, "cell_size_check", true)?;
    connection.pragma_update(None, "cache_size", -CACHE)?;
    connection.pragma_update(None, "wal_autocheckpoint", LOG)?;
    Ok(connection)
}

fn open_file(path: &Path, flags: OpenFlags) -> rusqlite::Result<Connection> {
    #[cfg(windows)]
    if let Some(long) = path.to_str().and_then(super::long_path::long_path) {
        return Connection::open_with_flags_and_vfs(long, flags, "win32-longpath");
    }
    Connection::open_with_flags(path, flags)
}

/// Checks the file without opening it, or creates an empty one. The files that `SQLite` creates next to it get its mode.
fn prepare(path: &Path) -> Result<(), StoreError> {
    const NAME: &str = "the database of the copy";
    // SQLite opens these files if they exist, even if another user created them.
    let mut is_in_use = false;
    for ending in ["-wal", "-shm", "-journal"] {
        let mut beside = path.as_os_str().to_owned();
        beside.push(ending);
        is_in_use |= PrivateFile::new(beside, NAME).check()?;
    }
    let file = PrivateFile::new(path, NAME);
    // A file that another process is writing must not be replaced.
    if is_in_use && file.check()? {
        return Ok(());
    }
    file.prepare()
}

/// Retries for up to a second while access is denied: a virus scanner or a folder synchronization may hold the database or its log
/// for a moment.
pub(super) fn while_held<T>(
    wait: impl Fn(Duration),
    mut attempt: impl FnMut() -> Result<T, SqliteError>,
) -> Result<T, SqliteError> {
    for pause in [10, 20, 40, 80, 160, 320] {
        match attempt() {
            Err(error) if error.0.kind() == StoreErrorKind::Denied => {
                wait(Duration::from_millis(pause));
            }
            done => return done,
        }
    }
    attempt()
}

#[async_trait]
impl SyncStore for SqliteSync {
    async fn documents(&self, account: &str, prefix: &str) -> Result<Vec<Document>, StoreError> {
        let prefix = prefix.to_owned();
        self.read(account, move |tables| tables.documents(&prefix))
            .await
    }

    async fn rows(&self, account: &str, ids: &[String]) -> Result<Vec<RecordRow>, StoreError> {
        let ids = ids.to_vec();
        self.read(account, move |tables| tables.rows(&ids)).await
    }

    async fn query(&self, account: &str, query: &Query) -> Result<Vec<RecordRow>, StoreError> {
        let query = query.clone();
        self.read(account, move |tables| tables.query(&query)).await
    }

    async fn count(&self, account: &str, query: &Query) -> Result<u64, StoreError> {
        let query = query.clone();
        self.read(account, move |tables| tables.count(&query)).await
    }

    async fn changes(
        &self,
        account: &str,
        range: ChangeRange,
        limit: usize,
    ) -> Result<Vec<ChangeRow>, StoreError> {
        self.read(account, move |tables| tables.changes(range, limit))
            .await
    }

    async fn commit(&self, account: &str, batch: &Batch) -> Result<bool, StoreError> {
        let batch = batch.clone();
        let commit = move |tables: &AccountTables<'_>| tables.commit(&batch);
        run(&self.writer, Immediate, account, commit).await
    }

    /// The file name without the directory, which may contain the name of a user.
    fn name(&self) -> String {
        let name = self.path.file_name().unwrap_or_default();
        format!("the file {}", name.to_string_lossy().escape_debug())
    }
}

impl fmt::Debug for SqliteSync {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The path may contain the name of a user.
        f.debug_struct("SqliteSync").finish_non_exhaustive()
    }
}
