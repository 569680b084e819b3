//! The store in tables of Postgres.

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use deadpool_postgres::Pool;
use deadpool_postgres::tokio_postgres::types::Type;

use super::stored_row::{self, is_storable};
use super::{batch_commit, row_query};
use crate::auth::StoreError;
use crate::auth::postgres::PostgresBuilder;
use crate::auth::postgres::database::{Database, Parameter};
use crate::auth::postgres::schema::{Layout, Migration};
use crate::sync::store::{Batch, ChangeRange, ChangeRow, Document, Query, Row, RowStore, sql};

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

const DOCUMENTS: &str = "SELECT name, version, text FROM {document}
    WHERE account OPERATOR(pg_catalog.=) $1 AND name OPERATOR(pg_catalog.>=) $2";

const CHANGES: &str = "SELECT sequence, previous, id, payload FROM {change}
    WHERE account OPERATOR(pg_catalog.=) $1 AND sequence OPERATOR(pg_catalog.>) $2
    ORDER BY sequence LIMIT $3";

const REPLACING: &str = "SELECT sequence, previous, id, payload FROM {change}
    WHERE account OPERATOR(pg_catalog.=) $1 AND previous OPERATOR(pg_catalog.>) $2
    AND previous OPERATOR(pg_catalog.<=) $4 AND sequence OPERATOR(pg_catalog.>) $4
    ORDER BY previous, sequence LIMIT $3";

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
/// use envd_sdk::auth::postgres::loopback_pool;
/// use envd_sdk::sync::store::PostgresSync;
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
/// What [the store of tokens](crate::auth::postgres) needs, and one connection of the pool for each call at a time. The database has to be
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
/// A sync that finds nothing new reads two or three statements and writes none. A page of 100 records takes two round
/// trips and 8 to 14 statements, a search one round trip. The server chooses the indexes of a search by its statistics, which
/// autovacuum keeps; without it run `ANALYZE` after a first sync.
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

#[async_trait]
impl RowStore for PostgresSync {
    async fn documents(&self, account: &str, prefix: &str) -> Result<Vec<Document>, StoreError> {
        if !is_storable(prefix) {
            return Ok(Vec::new());
        }
        let end = first_after(prefix);
        let mut parameters: Vec<Parameter<'_>> =
            vec![(&account, Type::TEXT), (&prefix, Type::TEXT)];
        let mut statement = DOCUMENTS.to_owned();
        if let Some(end) = &end {
            parameters.push((end, Type::TEXT));
            statement += " AND name OPERATOR(pg_catalog.<) $3";
        }
        statement += " ORDER BY name";
        let rows = self.0.query(&statement, &parameters).await?;
        rows.iter().map(stored_row::document).collect()
    }

    async fn rows(&self, account: &str, ids: &[String]) -> Result<Vec<Row>, StoreError> {
        let ids = ids.iter().map(|id| &**id);
        let ids: Vec<&str> = ids.filter(|id| is_storable(id)).collect();
        let statement = format!(
            "SELECT {} FROM {{record}} AS found WHERE found.account OPERATOR(pg_catalog.=) $1
            AND found.id OPERATOR(pg_catalog.=) ANY ($2)",
            stored_row::COLUMNS
        );
        let parameters: [Parameter<'_>; 2] = [(&account, Type::TEXT), (&ids, Type::TEXT_ARRAY)];
        let rows = self.0.query(&statement, &parameters).await?;
        rows.iter().map(stored_row::row).collect()
    }

    async fn query(&self, account: &str, query: &Query) -> Result<Vec<Row>, StoreError> {
        row_query::rows(&self.0, account, query).await
    }

    async fn count(&self, account: &str, query: &Query) -> Result<u64, StoreError> {
        row_query::count(&self.0, account, query).await
    }

    async fn changes(
        &self,
        account: &str,
        range: ChangeRange,
        limit: usize,
    ) -> Result<Vec<ChangeRow>, StoreError> {
        let (statement, after, up_to) = match range {
            ChangeRange::After(after) => (CHANGES, after, None),
            ChangeRange::Replacing { after, up_to } => (REPLACING, after, Some(up_to)),
        };
        let (after, limit) = (sql::to_bound(after), sql::to_bound(limit));
        let up_to = up_to.map(sql::to_bound);
        let mut parameters: Vec<Parameter<'_>> = vec![
            (&account, Type::TEXT),
            (&after, Type::INT8),
            (&limit, Type::INT8),
        ];
        if let Some(up_to) = &up_to {
            parameters.push((up_to, Type::INT8));
        }
        let rows = self.0.query(statement, &parameters).await?;
        rows.iter().map(stored_row::change).collect()
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

/// The first text after all that begin with a prefix, in the order of their bytes; `None` if nothing comes after them.
fn first_after(prefix: &str) -> Option<String> {
    let mut kept = prefix.to_owned();
    while let Some(last) = kept.pop() {
        // The successor of the last character below the surrogates is the first one above them.
        if let Some(next) = (last..=char::MAX).nth(1) {
            kept.push(next);
            return Some(kept);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_after_a_prefix_is_after_all_that_begin_with_it() {
        for (prefix, after) in [
            ("", None),
            ("a", Some("b")),
            ("outbox/live/", Some("outbox/live0")),
            ("a\u{10ffff}", Some("b")),
            ("\u{10ffff}", None),
            ("\u{d7ff}", Some("\u{e000}")),
            ("\u{7f}", Some("\u{80}")),
        ] {
            assert_eq!(first_after(prefix).as_deref(), after, "{prefix:?}");
        }
    }
}
