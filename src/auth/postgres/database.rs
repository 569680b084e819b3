//! A database with the tables of a store: what all stores in Postgres have in common.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use deadpool_postgres::Pool;
use deadpool_postgres::tokio_postgres::Row;
use deadpool_postgres::tokio_postgres::types::{ToSql, Type};
use futures_util::future::try_join3;
use tokio::time::timeout;

use super::connection::{Connection, DatabaseError};
use super::schema::{Layout, Schema};
use crate::auth::StoreError;

pub(crate) type Parameter<'a> = (&'a (dyn ToSql + Sync), Type);

/// The settings that all stores in Postgres have.
pub(crate) struct DatabaseSettings {
    pub(crate) pool: Pool,
    pub(crate) schema: String,
    /// Empty: none but the roles that are trusted anyway.
    pub(crate) owner: String,
    pub(crate) time_out: Duration,
}

impl DatabaseSettings {
    pub(crate) fn new(pool: Pool) -> Self {
        Self {
            pool,
            schema: "envd_sdk".to_owned(),
            owner: String::new(),
            time_out: Duration::from_secs(5),
        }
    }

    /// The database with these tables. Nothing is sent yet; fails when a name cannot be used.
    pub(crate) fn build(self, layout: &Layout<'_>) -> Result<Database, StoreError> {
        Ok(Database {
            schema: Schema::new(&self.schema, &self.owner, layout)?,
            pool: self.pool,
            time_out: self.time_out,
            checked: AtomicBool::new(false),
        })
    }
}

/// A pool of connections, and the schema of the tables.
pub(crate) struct Database {
    pool: Pool,
    pub(crate) schema: Schema,
    /// How long an answer may take, and the pool for a connection.
    pub(crate) time_out: Duration,
    /// Whether the tables were found to be those of this version.
    checked: AtomicBool,
}

impl Database {
    pub(crate) async fn migrate(&self) -> Result<(), StoreError> {
        let migrated = async {
            let connection = Connection::open(&self.pool, self.time_out).await?;
            self.schema.migrate(&connection).await?;
            connection.give_back();
            Ok(())
        };
        migrated.await.map_err(|error: DatabaseError| error.error)
    }

    /// A connection, after a check of the tables by the first one.
    pub(crate) async fn connect(&self) -> Result<Connection, DatabaseError> {
        let connection = Connection::open(&self.pool, self.time_out).await?;
        if !self.checked.load(Ordering::Relaxed) {
            timeout(self.time_out, self.schema.check(&connection)).await??;
            self.checked.store(true, Ordering::Relaxed);
        }
        Ok(connection)
    }

    /// Sends a statement; once more over another connection if the first one is lost. Each may be sent twice.
    pub(crate) async fn query(
        &self,
        statement: &str,
        parameters: &[Parameter<'_>],
    ) -> Result<Vec<Row>, StoreError> {
        self.query_in(None, statement, parameters).await
    }

    /// As [`query`](Self::query), for a statement without qualified names, in a transaction that has a `search_path` of its own.
    #[cfg(feature = "sync")]
    pub(crate) async fn read(
        &self,
        statement: &str,
        parameters: &[Parameter<'_>],
    ) -> Result<Vec<Row>, StoreError> {
        // `SET LOCAL` ends with the transaction, so the pool's other users keep their `search_path`.
        let begin = "BEGIN ISOLATION LEVEL READ COMMITTED READ ONLY;
            SET LOCAL search_path = pg_catalog, pg_temp";
        self.query_in(Some(begin), statement, parameters).await
    }

    async fn query_in(
        &self,
        begin: Option<&str>,
        statement: &str,
        parameters: &[Parameter<'_>],
    ) -> Result<Vec<Row>, StoreError> {
        let mut rows = self.send(begin, statement, parameters).await;
        if rows.as_ref().is_err_and(|error| error.connection_lost) {
            rows = self.send(begin, statement, parameters).await;
        }
        rows.map_err(|error| error.error)
    }

    async fn send(
        &self,
        begin: Option<&str>,
        statement: &str,
        parameters: &[Parameter<'_>],
    ) -> Result<Vec<Row>, DatabaseError> {
        let statement = self.schema.fill(statement);
        let connection = self.connect().await?;
        let client = connection.client()?;
        // Typed: a single round trip, and the driver does not log the parameters.
        let reply = client.query_typed(&statement, parameters);
        let Some(begin) = begin else {
            let rows = timeout(self.time_out, reply).await?;
            let rows = rows.map_err(DatabaseError::from);
            if !rows.as_ref().is_err_and(|error| error.connection_lost) {
                connection.give_back();
            }
            return rows;
        };
        // Sent together, in this order. With an error, the end of the connection ends the transaction.
        let (begin, end) = (client.batch_execute(begin), client.batch_execute("COMMIT"));
        let ((), rows, ()) = timeout(self.time_out, try_join3(begin, reply, end)).await??;
        connection.give_back();
        Ok(rows)
    }
}
