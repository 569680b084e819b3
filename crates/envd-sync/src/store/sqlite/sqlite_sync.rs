//! The store in a file.

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

/// In KiB. A page of rows touches many pages of the indexes.
const CACHE: i32 = 8_192;
/// In pages of 4 KiB. Rows that come one after the other touch the same pages, which are then copied into the file once.
const LOG: i32 = 4_000;

/// More than the forms of statements that a program uses.
const STATEMENTS: usize = 64;

/// Keeps the copies of accounts in a file, which several processes of one machine may use at the same time. Clones share
/// the connections.
///
/// A commit is on the disk when it returns, as far as `fsync` holds, and is there whole or not at all after a crash. Reads do
/// not wait for writes. Beside the file are two more while it is in use, with the endings `-wal` and `-shm`; they belong to it:
/// copy or move the file only when no program has it open. Not for file systems behind a network.
///
/// Only its owner may read the file (mode 600). If others may read it, a private copy replaces it; while a process has
/// the file open, only their rights are removed. Either way there is a warning in the log. While another program, such as a virus scanner, holds a file, opening is tried
/// again for up to a second. A file that its group or others may write is refused, as are one of another user, one with a second name (a hard link) and a symbolic link in its place; the same holds
/// for the files beside it. So is a directory that its group or others may write, also one with the sticky bit such as `/tmp`:
/// another user could put a `-wal` there first, and write what is sent. A group with the user's own number does not count as
/// others. A file of another program or of a newer version of this crate is an error, and stays unchanged. A file that cannot be
/// written is read, if its directory can be written or another process has it open.
///
/// A file with a damaged structure is an error when the damage is read, which may be late: [`check`](Self::check) finds it at the
/// start. `SQLite` has no checksums of contents, so no check finds a byte that was changed inside a record. And it takes a
/// damaged `-wal` for a log that a crash cut short: the commits from the damage on are missing without an error. Only a file system
/// with checksums protects against both.
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
pub struct SqliteSync {
    path: Arc<Path>,
    pub(super) writer: Arc<Mutex<Connection>>,
    /// It sees what was committed last, and does not wait for the writer.
    reader: Arc<Mutex<Connection>>,
}

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

    /// Checks the structure of the entire file (`PRAGMA quick_check`), for a program that calls it at its start. It takes as long
    /// as reading the file once; other reads of this store wait until it ends.
    ///
    /// # Errors
    ///
    /// [`Unreadable`](envd_sdk::auth::StoreErrorKind::Unreadable) with the first damage that was found; otherwise as above. Damage that
    /// `SQLite` cannot detect, such as a torn log, stays unreported: see [`SqliteSync`](Self).
    ///
    /// ```
    /// use envd_sync::store::SqliteSync;
    ///
    /// # equipment::example(async {
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
            // It names pages, tables and indexes, and no values. The heading of a database is left out.
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

/// Runs `work` in a transaction, which is undone unless `work` returns `Ok`. A caller that is cancelled does not stop it.
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

/// Not `OPEN_URI`, for which a path may hold settings; not `OPEN_CREATE`, which would not set the mode.
fn connect(path: &Path) -> Result<Connection, SqliteError> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags)?;
    connection.busy_timeout(schema::BUSY)?;
    connection.set_prepared_statement_cache_capacity(STATEMENTS);
    connection.pragma_update(None, "synchronous", "FULL")?;
    // Never parts of records in files elsewhere.
    connection.pragma_update(None, "temp_store", "MEMORY")?;
    // With statistics, SQLite would plan each statement anew for each value.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    // Damage is found before it is followed.
    connection.pragma_update(None, "cell_size_check", true)?;
    connection.pragma_update(None, "cache_size", -CACHE)?;
    connection.pragma_update(None, "wal_autocheckpoint", LOG)?;
    Ok(connection)
}

/// Checks the file without opening it, or creates it empty. The files that `SQLite` makes beside it get its mode.
fn prepare(path: &Path) -> Result<(), StoreError> {
    const NAME: &str = "the database of the copy";
    // SQLite opens them if they exist, also those that another user made.
    let mut is_in_use = false;
    for ending in ["-wal", "-shm", "-journal"] {
        let mut beside = path.as_os_str().to_owned();
        beside.push(ending);
        is_in_use |= PrivateFile::new(beside, NAME).check()?;
    }
    let file = PrivateFile::new(path, NAME);
    // A file that another process writes must stay where it is.
    if is_in_use && file.check()? {
        return Ok(());
    }
    file.prepare()
}

/// Tries again for up to a second while access is denied: a virus scanner or a synchronised folder may hold the database or its
/// log for a moment.
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

    /// The name of the file, without its directory, which may hold the name of a user.
    fn name(&self) -> String {
        let name = self.path.file_name().unwrap_or_default();
        format!("the file {}", name.to_string_lossy().escape_debug())
    }
}

impl fmt::Debug for SqliteSync {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The path may hold the name of a user.
        f.debug_struct("SqliteSync").finish_non_exhaustive()
    }
}
