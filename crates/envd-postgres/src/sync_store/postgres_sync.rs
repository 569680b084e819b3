//! The store of copies in tables of Postgres.

use std::sync::Arc;

use async_trait::async_trait;
use deadpool_postgres::tokio_postgres::Row as Stored;
use deadpool_postgres::tokio_postgres::types::Type;

use super::batch_commit;
use super::row_query;
use crate::PostgresBuilder;
use crate::connection::PostgresPool;
use crate::database::Database;
use crate::schema::Migration;
use crate::statement::{Statement, column, unsigned};
use envd_sdk::auth::StoreError;
use envd_sync::store::SyncStore;
use envd_sync::store::rows::{
    Batch, ChangeRange, ChangeRow, Document, Query, RecordRow, RowKeys, first_after,
};

const MIGRATIONS: [Migration; 1] = [Migration {
    oldest: 1,
    statements: include_str!("migrations/1.sql"),
}];

const TABLES: [(&str, &str); 5] = [
    ("{document}", "sync_document"),
    ("{record}", "sync_record"),
    ("{payload}", "sync_payload"),
    ("{change}", "sync_change"),
    ("{lock}", "sync_lock"),
];

const DOCUMENTS: &str = "SELECT name, version, text FROM {document}
    WHERE account = $1 AND name >= $2 AND ($3 IS NULL OR name < $3) ORDER BY name";

/// A row without a payload is damaged, and must cause an error instead of being skipped.
macro_rules! columns {
    () => {
        "id, sequence, generation, status, species, number, origin_pic, destination_pic, movement_day, updated_at,
            (SELECT payload FROM {payload} AS stored WHERE stored.account = $1 AND stored.id = found.id)"
    };
}
pub(super) use columns;

const ROWS: &str = concat!(
    "SELECT ",
    columns!(),
    " FROM {record} AS found WHERE account = $1 AND id = ANY ($2)"
);

const CHANGES_AFTER: &str = "SELECT sequence, previous, id, payload FROM {change}
    WHERE account = $1 AND sequence > $2 ORDER BY sequence LIMIT $3";

const CHANGES_REPLACING: &str = "SELECT sequence, previous, id, payload FROM {change}
    WHERE account = $1 AND previous > $2 AND previous <= $4 AND sequence > $4
    ORDER BY previous, sequence LIMIT $3";

impl PostgresBuilder<PostgresSync> {
    /// Builds the store; nothing is sent yet.
    ///
    /// # Errors
    ///
    /// The name of the schema contains other characters than ASCII letters, digits and underscores, or that of the owner contains
    /// quotes or the like.
    pub fn build(self) -> Result<PostgresSync, StoreError> {
        Ok(PostgresSync(Arc::new(self.database(&TABLES, &MIGRATIONS)?)))
    }
}

/// Keeps the copies of accounts in tables of Postgres that many hosts share; cheap to clone, and clones share the pool.
///
/// ```
/// use envd_postgres::{PostgresPool, PostgresSync};
///
/// # test_support::example(async {
/// let pool = PostgresPool::from_url("postgres://app:password@127.0.0.1/app", 16)?;
/// let store = PostgresSync::builder(pool).schema("vendor").build()?;
/// # if false {
/// store.migrate().await?; // when the application is deployed
/// # }
/// # let _ = store;
/// # Ok(()) });
/// ```
///
/// Everything is stored as plain text: encrypt the volume of the database if its disks or backups must show nothing.
///
/// Besides [the requirements of the crate](crate#what-it-needs), it needs one connection of the pool per concurrent call. The
/// database must be encoded in UTF-8. Texts with a NUL character are refused, because Postgres cannot store them.
///
/// # Commits
///
/// A commit is one transaction of two round trips: the first one locks the account and compares the versions, the second writes
/// everything. So commits to one account run one after the other, and commits to different accounts do not wait for each other.
/// Until the second round trip begins, a lost connection is replaced once. Afterwards the commit fails but may have been written:
/// load again. A batch with expected versions can be repeated: if it was already written, it is refused. A host that hangs in
/// between loses the lock after the [time-out](PostgresBuilder::time_out).
///
/// # Cost
///
/// A read is one round trip of three statements: the beginning of the transaction, the read, the end. A sync that finds nothing new
/// takes two or three reads and no write. A page of 100 records takes two round trips and 8 to 14 statements.
///
/// The server chooses the index for a search by its statistics, which autovacuum updates; without autovacuum run `ANALYZE` after
/// the first sync.
///
/// Every key begins with the account, so the tables can be partitioned by it; no key and no sequence spans accounts.
///
/// # Two versions during a deploy
///
/// A migration names the oldest version of this crate that can use the new tables. Programs from that version on continue. Older
/// ones get [`NewerVersion`](envd_sdk::auth::StoreErrorKind::NewerVersion) and write nothing, even if they were running before the
/// migration.
///
/// # Errors
///
/// Any method can fail with these kinds of [`StoreError`]: [`Unreachable`](envd_sdk::auth::StoreErrorKind::Unreachable),
/// [`LockTimeout`](envd_sdk::auth::StoreErrorKind::LockTimeout) (another process is writing to the account),
/// [`Full`](envd_sdk::auth::StoreErrorKind::Full), [`Denied`](envd_sdk::auth::StoreErrorKind::Denied),
/// [`Missing`](envd_sdk::auth::StoreErrorKind::Missing) (the tables), [`Insecure`](envd_sdk::auth::StoreErrorKind::Insecure),
/// [`Unreadable`](envd_sdk::auth::StoreErrorKind::Unreadable), [`NewerVersion`](envd_sdk::auth::StoreErrorKind::NewerVersion),
/// [`Unsupported`](envd_sdk::auth::StoreErrorKind::Unsupported) (a pooler that pools statements).
#[derive(Clone, Debug)]
pub struct PostgresSync(Arc<Database>);

impl PostgresSync {
    /// Starts the settings of a store that uses your pool.
    pub fn builder(pool: PostgresPool) -> PostgresBuilder<Self> {
        PostgresBuilder::new(pool, "sync")
    }

    /// Creates the tables, or updates them to this version; only this method changes tables.
    ///
    /// Several hosts may call it at the same time, and again.
    ///
    /// # Cancel safety
    ///
    /// If the future is dropped, the migration may still be applied, completely or not at all. Repeating the call is harmless.
    ///
    /// # Errors
    ///
    /// [`NewerVersion`](envd_sdk::auth::StoreErrorKind::NewerVersion) if this program is too old for the tables;
    /// [`Denied`](envd_sdk::auth::StoreErrorKind::Denied) if the role may not create tables;
    /// [`Unsupported`](envd_sdk::auth::StoreErrorKind::Unsupported) if the encoding of the database is neither `UTF8` nor
    /// `SQL_ASCII`, as for reads and writes; [`Insecure`](envd_sdk::auth::StoreErrorKind::Insecure) if the schema or a table exists
    /// and belongs to a role that is not trusted, see [`owner`](PostgresBuilder::owner).
    pub async fn migrate(&self) -> Result<(), StoreError> {
        self.0.migrate().await
    }

    /// The SQL of [`migrate`](Self::migrate), to be run by a role that may create tables.
    #[must_use]
    pub fn migration_sql(&self) -> String {
        self.0.schema.script()
    }
}

#[async_trait]
impl SyncStore for PostgresSync {
    async fn documents(&self, account: &str, prefix: &str) -> Result<Vec<Document>, StoreError> {
        if !is_storable(prefix) {
            return Ok(Vec::new());
        }
        let statement = Statement::new(DOCUMENTS)
            .bind(Type::TEXT, account)
            .bind(Type::TEXT, prefix)
            .bind(Type::TEXT, first_after(prefix));
        let document = |row: &Stored| {
            Ok(Document {
                name: column(row, 0)?,
                version: unsigned(row, 1)?,
                text: column(row, 2)?,
            })
        };
        self.0
            .query(statement)
            .await?
            .iter()
            .map(document)
            .collect()
    }

    async fn rows(&self, account: &str, ids: &[String]) -> Result<Vec<RecordRow>, StoreError> {
        let statement = Statement::new(ROWS)
            .bind(Type::TEXT, account)
            .bind(Type::TEXT_ARRAY, storable(ids));
        self.0.query(statement).await?.iter().map(row).collect()
    }

    async fn query(&self, account: &str, query: &Query) -> Result<Vec<RecordRow>, StoreError> {
        if !row_query::is_possible(query) {
            return Ok(Vec::new());
        }
        let statement = row_query::page(account, query);
        self.0.query(statement).await?.iter().map(row).collect()
    }

    async fn count(&self, account: &str, query: &Query) -> Result<u64, StoreError> {
        if !row_query::is_possible(query) {
            return Ok(0);
        }
        let counts = self.0.query(row_query::count(account, query)).await?;
        counts.iter().map(|row| unsigned(row, 0)).sum()
    }

    async fn changes(
        &self,
        account: &str,
        range: ChangeRange,
        limit: usize,
    ) -> Result<Vec<ChangeRow>, StoreError> {
        let (sql, after, up_to) = match range {
            ChangeRange::After(after) => (CHANGES_AFTER, after, None),
            ChangeRange::Replacing { after, up_to } => (CHANGES_REPLACING, after, Some(up_to)),
        };
        let mut statement = Statement::new(sql)
            .bind(Type::TEXT, account)
            .bind(Type::INT8, to_bound(after))
            .bind(Type::INT8, to_bound(limit));
        if let Some(up_to) = up_to {
            statement = statement.bind(Type::INT8, to_bound(up_to));
        }
        let change = |row: &Stored| {
            Ok(ChangeRow {
                sequence: unsigned(row, 0)?,
                previous: unsigned(row, 1)?,
                id: column(row, 2)?,
                payload: column(row, 3)?,
            })
        };
        self.0.query(statement).await?.iter().map(change).collect()
    }

    async fn commit(&self, account: &str, batch: &Batch) -> Result<bool, StoreError> {
        batch_commit::commit(&self.0, account, batch).await
    }
}

/// Reads [`columns`].
fn row(row: &Stored) -> Result<RecordRow, StoreError> {
    Ok(RecordRow {
        id: column(row, 0)?,
        sequence: unsigned(row, 1)?,
        generation: unsigned(row, 2)?,
        keys: RowKeys {
            status: column(row, 3)?,
            species: column(row, 4)?,
            number: column(row, 5)?,
            origin_pic: column(row, 6)?,
            destination_pic: column(row, 7)?,
            movement_day: column(row, 8)?,
            updated_at: column(row, 9)?,
        },
        payload: column(row, 10)?,
    })
}

/// Whether Postgres can store a text. A commit with another text is refused, so no row has one.
pub(super) fn is_storable(text: &str) -> bool {
    !text.contains('\0')
}

/// The ids that a row can have.
pub(super) fn storable(ids: &[String]) -> Vec<&str> {
    let ids = ids.iter().map(|id| &**id);
    ids.filter(|id| is_storable(id)).collect()
}

/// Limits a number to the range of stored ones, to compare with them or as a row limit.
pub(super) fn to_bound(number: impl TryInto<i64>) -> i64 {
    number.try_into().unwrap_or(i64::MAX)
}
