//! The store in tables of Postgres.

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use deadpool_postgres::Pool;
use deadpool_postgres::tokio_postgres::Row as Stored;
use deadpool_postgres::tokio_postgres::types::Type;

use super::batch_commit;
use super::sql::{self, Sql, SqlValue, StoredColumns};
use crate::PostgresBuilder;
use crate::database::{Database, Parameter};
use crate::schema::{Layout, Migration};
use envd_sdk::auth::StoreError;
use envd_sync::store::SyncStore;
use envd_sync::store::rows::{Batch, ChangeRange, ChangeRow, Document, Query, Row};

/// A migration with which older programs cannot go on renames what they read, so that their statements fail.
const MIGRATIONS: [Migration; 1] = [Migration {
    version: 1,
    oldest: Some(1),
    statements: include_str!("migrations/1.sql"),
}];

const TABLES: [(&str, &str); 5] = [
    ("{document}", "sync_document"),
    ("{record}", "sync_record"),
    ("{payload}", "sync_payload"),
    ("{change}", "sync_change"),
    ("{lock}", "sync_lock"),
];

/// The columns of [`sql::row`]. A row without a payload is damaged, and must not be passed over.
const COLUMNS: &str =
    "id, sequence, generation, status, species, number, origin_pic, destination_pic,
    movement_day, updated_at, (SELECT stored.payload FROM {payload} AS stored
        WHERE stored.account = $1 AND stored.id = found.id)";

impl PostgresBuilder<PostgresSync> {
    /// Builds the store. Nothing is sent yet.
    ///
    /// # Errors
    ///
    /// The name of the schema is not made of ASCII letters, digits and underscores, or that of the owner has quotes or the like.
    pub fn build(self) -> Result<PostgresSync, StoreError> {
        let layout = Layout {
            tables: &TABLES,
            prefix: &self.prefix,
            migrations: &MIGRATIONS,
        };
        Ok(PostgresSync(Arc::new(self.database.build(&layout)?)))
    }
}

/// Keeps the copies of accounts in tables of Postgres that many hosts share (features `postgres` and `sync`). Cheap to clone;
/// clones share the pool.
///
/// ```
/// use envd_postgres::loopback_pool;
/// use envd_sync::store::PostgresSync;
///
/// # equipment::example(async {
/// let pool = loopback_pool("postgres://app:password@127.0.0.1/app", 16)?;
/// let store = PostgresSync::builder(pool).schema("vendor").build()?;
/// # if false {
/// store.migrate().await?; // when the application is deployed
/// # }
/// # let _ = store;
/// # Ok(()) });
/// ```
///
/// Everything is stored in the clear unless a [`SealedSync`](super::super::SealedSync) around it encrypts and hashes it.
///
/// # What it needs
///
/// What [the store of tokens](envd_postgres) needs, and one connection of the pool for each call at a time. The database has to be
/// encoded in UTF-8. The two stores may share a pool, a database and a schema. Between may be a pooler (`PgBouncer`) that pools transactions:
/// no statement rests on what an earlier transaction has set. All names are qualified and owners are checked, as there. Texts with a NUL
/// character are refused, for Postgres cannot store them.
///
/// # Commits
///
/// A commit is one transaction of two round trips: the first one locks the account and compares the versions, the second
/// writes everything. So commits of one account come one after the other, and those of two accounts do not wait for each other.
/// Until the second round trip begins, a lost connection is replaced once; afterwards the commit fails, and may have been
/// written: load again. A batch with expected versions can be repeated, for it is refused if it was written. A
/// host that hangs in between loses the lock after the [time-out](PostgresBuilder::time_out).
///
/// # Cost
///
/// A read is one statement and one round trip. A sync that finds nothing new reads two or three times and writes nothing. A page
/// of 100 records takes two round trips and 8 to 14 statements.
///
/// The server chooses the indexes of a search by its statistics, which autovacuum keeps; without it run `ANALYZE` after a first sync.
///
/// Every key begins with the account, so that the tables can be
/// partitioned by it; no key and no sequence spans accounts.
///
/// # Two versions during a deploy
///
/// A migration names the oldest version of the tables whose programs can go on with the new ones. Those do; older ones get
/// [`is_newer_version`](StoreError::is_newer_version) and write nothing, also if they ran before the migration.
///
/// # Errors
///
/// Those of all methods have these predicates of [`StoreError`]: [`is_unreachable`](StoreError::is_unreachable),
/// [`is_lock_timeout`](StoreError::is_lock_timeout) (another process writes to the account),
/// [`is_full`](StoreError::is_full), [`is_denied`](StoreError::is_denied), [`is_missing`](StoreError::is_missing) (the
/// tables), [`is_insecure`](StoreError::is_insecure), [`is_unreadable`](StoreError::is_unreadable),
/// [`is_newer_version`](StoreError::is_newer_version), [`is_unsupported`](StoreError::is_unsupported) (a pooler that pools statements).
#[derive(Clone)]
pub struct PostgresSync(pub(super) Arc<Database>);

impl PostgresSync {
    /// Starts the settings of a store over a pool of yours.
    pub fn builder(pool: Pool) -> PostgresBuilder<Self> {
        PostgresBuilder::new(pool, "sync")
    }

    /// Makes the tables, or brings them up to this version. Hosts may call it at the same time, and again. Nothing else
    /// changes tables.
    ///
    /// # Errors
    ///
    /// [`is_newer_version`](StoreError::is_newer_version) when this program is too old for the tables;
    /// [`is_denied`](StoreError::is_denied) when the role may not create tables;
    /// [`is_insecure`](StoreError::is_insecure) when schema or tables are there and belong to a role that is not trusted, see
    /// [`owner`](PostgresBuilder::owner).
    pub async fn migrate(&self) -> Result<(), StoreError> {
        self.0.migrate().await
    }

    /// The statements of [`migrate`](Self::migrate) for an empty database, to be run by a role that may create tables.
    #[must_use]
    pub fn migration_sql(&self) -> String {
        self.0.schema.script()
    }
}

impl StoredColumns for Stored {
    fn optional(&self, column: usize) -> Result<Option<String>, StoreError> {
        self.try_get(column).map_err(|_| sql::damaged())
    }

    fn integer(&self, column: usize) -> Result<i64, StoreError> {
        self.try_get(column).map_err(|_| sql::damaged())
    }
}

impl PostgresSync {
    async fn select<T>(
        &self,
        sql: Sql<'_>,
        read: impl Fn(&dyn StoredColumns) -> Result<T, StoreError>,
    ) -> Result<Vec<T>, StoreError> {
        // Nothing was stored under a text that cannot be, and no bound is one. The account is first.
        let is_storable = |value: &SqlValue<'_>| match value {
            SqlValue::Text(text) => is_storable(text),
            SqlValue::Number(_) => true,
        };
        if !sql.parameters.iter().skip(1).all(is_storable) {
            return Ok(Vec::new());
        }
        let parameters = sql.parameters.iter().map(|value| match value {
            SqlValue::Text(text) => (text as _, Type::TEXT),
            SqlValue::Number(number) => (number as _, Type::INT8),
        });
        let parameters: Vec<Parameter<'_>> = parameters.collect();
        let rows = self
            .0
            .query(&qualified(&sql.statement), &parameters)
            .await?;
        rows.iter().map(|row| read(row)).collect()
    }
}

#[async_trait]
impl SyncStore for PostgresSync {
    async fn documents(&self, account: &str, prefix: &str) -> Result<Vec<Document>, StoreError> {
        self.select(Sql::documents(account, prefix), sql::document)
            .await
    }

    async fn rows(&self, account: &str, ids: &[String]) -> Result<Vec<Row>, StoreError> {
        let ids: Vec<&str> = ids
            .iter()
            .map(|id| &**id)
            .filter(|id| is_storable(id))
            .collect();
        let statement = format!(
            "SELECT {COLUMNS} FROM {{record}} AS found WHERE account = $1 AND id = ANY ($2)"
        );
        let parameters: [Parameter<'_>; 2] = [(&account, Type::TEXT), (&ids, Type::TEXT_ARRAY)];
        let rows = self.0.query(&qualified(&statement), &parameters).await?;
        rows.iter().map(|row| sql::row(row)).collect()
    }

    async fn query(&self, account: &str, query: &Query) -> Result<Vec<Row>, StoreError> {
        let mut sql = Sql::page(account, query, "*", "updated_at IS NULL");
        let (page, order) = (sql.statement, sql::order(query));
        sql.statement = format!("SELECT {COLUMNS} FROM ({page}) AS found ORDER BY {order}");
        self.select(sql, sql::row).await
    }

    async fn count(&self, account: &str, query: &Query) -> Result<u64, StoreError> {
        let counts = self.select(Sql::count(account, query), |row| row.number(0));
        Ok(counts.await?.into_iter().sum())
    }

    async fn changes(
        &self,
        account: &str,
        range: ChangeRange,
        limit: usize,
    ) -> Result<Vec<ChangeRow>, StoreError> {
        self.select(Sql::changes(account, range, limit), sql::change)
            .await
    }

    async fn commit(&self, account: &str, batch: &Batch) -> Result<bool, StoreError> {
        batch_commit::commit(&self.0, account, batch).await
    }
}

impl fmt::Debug for PostgresSync {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PostgresSync")
            .field("schema", &self.0.schema.name)
            .field("time_out", &self.0.time_out)
            .finish_non_exhaustive()
    }
}

/// Names the schema of each function and operator, so that no `search_path` decides what runs: reads are sent without a
/// transaction.
fn qualified(statement: &str) -> String {
    let statement = statement.replace("count(*)", "pg_catalog.count(*)");
    let operators = ["=", "<", "<=", ">", ">="].into_iter();
    operators.fold(statement, |text, operator| {
        let qualified = format!(" OPERATOR(pg_catalog.{operator}) ");
        text.replace(&format!(" {operator} "), &qualified)
    })
}

/// Texts that Postgres can keep. A commit with another one is refused.
pub(super) fn is_storable(text: &str) -> bool {
    !text.contains('\0')
}
