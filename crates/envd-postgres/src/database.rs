//! A database with the tables of a store: what all stores in Postgres have in common.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use deadpool_postgres::Pool;
use deadpool_postgres::tokio_postgres::Row;
use deadpool_postgres::tokio_postgres::types::{ToSql, Type};
use tokio::time::timeout;

use super::connection::{Connection, DatabaseError};
use super::schema::{Layout, Schema};
use envd_sdk::auth::StoreError;

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
        let statement = self.schema.fill(statement);
        let mut rows = self.send(&statement, parameters).await;
        if rows.as_ref().is_err_and(|error| error.connection_lost) {
            rows = self.send(&statement, parameters).await;
        }
        rows.map_err(|error| error.error)
    }

    async fn send(
        &self,
        statement: &str,
        parameters: &[Parameter<'_>],
    ) -> Result<Vec<Row>, DatabaseError> {
        let connection = self.connect().await?;
        // Typed: a single round trip, and the driver does not log the parameters.
        let reply = connection.client()?.query_typed(statement, parameters);
        let rows = timeout(self.time_out, reply).await?;
        let rows = rows.map_err(DatabaseError::from);
        if !rows.as_ref().is_err_and(|error| error.connection_lost) {
            connection.give_back();
        }
        rows
    }
}
