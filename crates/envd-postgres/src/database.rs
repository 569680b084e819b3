//! The database of a store: every statement runs in a transaction that sets its own `search_path`.

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use deadpool_postgres::Pool;
use deadpool_postgres::tokio_postgres::types::ToSql;
use deadpool_postgres::tokio_postgres::{Client, Error, Row};
use futures_util::future::{join_all, join3};
use tokio::time::timeout;

use super::connection::{DatabaseError, PooledConnection, Retry};
use super::schema::{APPLIED, FOREIGN, Schema};
use super::statement::{BEGIN, Statement};
use envd_sdk::auth::StoreError;

/// A pool of connections, and the schema of the tables.
pub(crate) struct Database {
    pub(crate) pool: Pool,
    pub(crate) schema: Schema,
    /// The time limit for a reply, and for a connection from the pool.
    pub(crate) time_out: Duration,
    /// Whether the tables were checked and are those of this version.
    pub(crate) checked: AtomicBool,
}

impl Database {
    /// Applies the missing migrations, in one transaction, one host at a time.
    pub(crate) async fn migrate(&self) -> Result<(), StoreError> {
        let migrated = async {
            let connection = PooledConnection::open(&self.pool, self.time_out).await?;
            let script = self.schema.script();
            connection.client()?.batch_execute(&script).await?;
            connection.give_back();
            Ok(())
        };
        migrated.await.map_err(|error: DatabaseError| error.error)
    }

    /// Runs a statement in a transaction of one round trip, and returns its rows. The statement may run twice.
    pub(crate) async fn query(&self, statement: Statement<'_>) -> Result<Vec<Row>, StoreError> {
        let (connection, rows) = self.begin("", &[statement], Some("COMMIT")).await?;
        connection.give_back();
        Ok(rows)
    }

    /// Begins a transaction with `settings` and sends its first statements, in one round trip. Retries once if the connection is
    /// lost or read-only, so the statements may run twice. The transaction ends with the connection.
    pub(crate) async fn begin(
        &self,
        settings: &str,
        statements: &[Statement<'_>],
        end: Option<&str>,
    ) -> Result<(PooledConnection, Vec<Row>), StoreError> {
        let begin = format!("{BEGIN}; {settings}");
        let mut done = self.try_begin(&begin, statements, end).await;
        if let Err(DatabaseError { retry, .. }) = done
            && retry != Retry::Never
        {
            if retry == Retry::NewConnection {
                // Idle sessions are connected to the same server, which is no longer the primary after the failover.
                self.pool.retain(|_, _| false);
            }
            done = self.try_begin(&begin, statements, end).await;
        }
        done.map_err(|error| error.error)
    }

    async fn try_begin(
        &self,
        begin: &str,
        statements: &[Statement<'_>],
        end: Option<&str>,
    ) -> Result<(PooledConnection, Vec<Row>), DatabaseError> {
        let connection = PooledConnection::open(&self.pool, self.time_out).await?;
        if !self.checked.load(Ordering::Relaxed) {
            self.check(&connection).await?;
            self.checked.store(true, Ordering::Relaxed);
        }
        let replies = self.send(&connection, Some(begin), statements, end).await?;
        Ok((connection, replies))
    }

    /// Checks first that the tables belong to trusted roles, because reading a view of another role would run its code. Then checks
    /// that they are those of this version.
    async fn check(&self, connection: &PooledConnection) -> Result<(), DatabaseError> {
        let foreign = [Statement::new(FOREIGN)];
        let rows = self.send(connection, Some(BEGIN), &foreign, None).await?;
        Schema::check_owners(&rows)?;
        let applied = [Statement::new(APPLIED)];
        let end = Some("COMMIT");
        let rows = self.send(connection, None, &applied, end).await?;
        Ok(self.schema.check_version(&rows)?)
    }

    /// Sends statements together, in this order, and waits for all replies: one round trip. Returns all rows, or the first error.
    pub(crate) async fn send(
        &self,
        connection: &PooledConnection,
        begin: Option<&str>,
        statements: &[Statement<'_>],
        end: Option<&str>,
    ) -> Result<Vec<Row>, DatabaseError> {
        let client = connection.client()?;
        let typed = statements
            .iter()
            .map(|Statement { sql, values }| async move {
                let sql = self.schema.fill(sql);
                let values = values.iter().map(|(value, kind)| {
                    let value: &(dyn ToSql + Sync) = &**value;
                    (value, kind.clone())
                });
                client.query_typed(&sql, &values.collect::<Vec<_>>()).await
            });
        // Each statement is sent at its first poll, so they are sent in this order.
        let replies = join3(run(client, begin), join_all(typed), run(client, end));
        let (first, rows, last) = timeout(self.time_out, replies).await?;
        first?;
        let rows = rows.into_iter().collect::<Result<Vec<_>, _>>()?;
        last?;
        Ok(rows.into_iter().flatten().collect())
    }
}

async fn run(client: &Client, statements: Option<&str>) -> Result<(), Error> {
    match statements {
        Some(statements) => client.batch_execute(statements).await,
        None => Ok(()),
    }
}

// Without the pool, whose settings hold the password.
impl fmt::Debug for Database {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Database")
            .field("table", &self.schema.table)
            .field("time_out", &self.time_out)
            .finish_non_exhaustive()
    }
}
