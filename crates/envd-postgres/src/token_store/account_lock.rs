//! The lock of an account: an advisory lock, held by a transaction on its own connection.
//!
//! The database frees it when the transaction or the connection ends, so the lock of a dead host is free at once. Waiting hosts
//! poll: polling takes no connection between attempts, and can be cancelled at any time.

use std::time::Duration;

use deadpool_postgres::tokio_postgres::Row;
use deadpool_postgres::tokio_postgres::types::Type;
use tokio::runtime::Handle;
use tokio::sync::OwnedSemaphorePermit;
use tokio::time::timeout;

use crate::connection::PooledConnection;
use crate::database::Database;
use crate::statement::{Statement, column};
use envd_sdk::auth::{StoreError, StoreErrorKind};

/// A host that hangs, or whose connection is lost silently, loses the lock after a silence longer than any refresh takes.
const SETTINGS: &str = "SET LOCAL idle_in_transaction_session_timeout = '5min'";

const TRY: &str = "SELECT pg_try_advisory_xact_lock(hashtextextended($1, 0))";

/// A transaction that holds the lock; it ends when this is dropped.
pub(super) struct AccountLock {
    held: Option<(PooledConnection, OwnedSemaphorePermit)>,
    runtime: Handle,
    limit: Duration,
}

impl AccountLock {
    /// Tries once to take the lock, and reads a row with `read` in the same round trip. `None`: another holder has the lock.
    pub(super) async fn attempt(
        database: &Database,
        permit: OwnedSemaphorePermit,
        key: &str,
        read: Statement<'_>,
    ) -> Result<Option<(Self, Option<Row>)>, StoreError> {
        let runtime = Handle::try_current().map_err(|_| {
            let message = "the store must be used inside a tokio runtime";
            StoreError::new(StoreErrorKind::Other, message)
        })?;
        let name = database.schema.lock_name(key);
        let statements = [Statement::new(TRY).bind(Type::TEXT, name), read];
        let (connection, rows) = database.begin(SETTINGS, &statements, None).await?;
        let lock = Self {
            held: Some((connection, permit)),
            runtime,
            limit: database.time_out,
        };
        let mut rows = rows.into_iter();
        let is_taken = match rows.next() {
            Some(row) => column(&row, 0)?,
            None => false,
        };
        Ok(is_taken.then(|| (lock, rows.next())))
    }
}

impl Drop for AccountLock {
    fn drop(&mut self) {
        let held = self.held.take();
        let limit = self.limit;
        // If the runtime shuts down, it drops the task together with the connection, which frees the lock as well.
        self.runtime.spawn(async move {
            let Some((connection, _permit)) = held else {
                return;
            };
            let Ok(client) = connection.client() else {
                return;
            };
            if let Ok(Ok(())) = timeout(limit, client.batch_execute("ROLLBACK")).await {
                connection.give_back();
            }
        });
    }
}
