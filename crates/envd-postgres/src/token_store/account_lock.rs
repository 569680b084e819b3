//! The lock of an account: an advisory lock, held by a transaction on a connection of its own.
//!
//! The database frees it when the transaction or the connection ends, so the lock of a host that died is free at once.
//! Waiters poll: that takes no connection between attempts, and can be cancelled at any time.

use std::time::Duration;

use deadpool_postgres::tokio_postgres::Row;
use deadpool_postgres::tokio_postgres::types::Type;
use futures_util::future::try_join3;
use tokio::runtime::Handle;
use tokio::sync::OwnedSemaphorePermit;
use tokio::time::timeout;

use crate::connection::{Connection, DatabaseError};
use crate::schema::Schema;
use envd_sdk::auth::{StoreError, StoreErrorKind};

/// Read committed, so that the record is read as it is under the lock. A host that hangs, or that is cut off without a
/// word, loses the lock when nothing was heard of it for longer than any refresh takes.
///
/// `SET LOCAL` ends with the transaction, so the pool's other users keep their settings, behind `PgBouncer` as well.
const BEGIN: &str = "BEGIN ISOLATION LEVEL READ COMMITTED;
    SET LOCAL search_path = pg_catalog, pg_temp;
    SET LOCAL idle_in_transaction_session_timeout = '5min'";

/// The record of an account, read under the lock or without it.
pub(super) const LOAD: &str =
    "SELECT version, record FROM {table} WHERE account OPERATOR(pg_catalog.=) $1";

/// The seed has the type of the parameter: any other type lets a function of another role match better.
const TRY: &str = "SELECT pg_catalog.pg_try_advisory_xact_lock(
    pg_catalog.hashtextextended($1, 0::pg_catalog.int8))";

/// A transaction that may hold the lock; it ends when this is dropped.
pub(super) struct AccountLock {
    held: Option<(Connection, OwnedSemaphorePermit)>,
    runtime: Handle,
    limit: Duration,
}

impl AccountLock {
    /// Tries once, and reads the record in the same round trip. `None`: another holder has the lock.
    pub(super) async fn attempt(
        connection: Connection,
        permit: OwnedSemaphorePermit,
        schema: &Schema,
        key: &str,
        limit: Duration,
    ) -> Result<Option<(Self, Option<Row>)>, DatabaseError> {
        let runtime = Handle::try_current().map_err(|_| {
            StoreError::new(
                StoreErrorKind::Other,
                "the store must be used inside a tokio runtime",
            )
        })?;
        let (lock, load) = (schema.lock_name(key), schema.fill(LOAD));
        let (lock, key) = ([(&lock as _, Type::TEXT)], [(&key as _, Type::TEXT)]);
        let client = connection.client()?;
        // Sent in this order and together: the driver does not wait for replies in between.
        let replies = try_join3(
            client.batch_execute(BEGIN),
            client.query_typed_one(TRY, &lock),
            client.query_typed_opt(&load, &key),
        );
        let ((), taken, row) = timeout(limit, replies).await??;
        let lock = Self {
            held: Some((connection, permit)),
            runtime,
            limit,
        };
        Ok(taken.try_get::<_, bool>(0)?.then_some((lock, row)))
    }
}

impl Drop for AccountLock {
    fn drop(&mut self) {
        let (held, limit) = (self.held.take(), self.limit);
        // When the runtime shuts down, the task is dropped and the connection with it: that frees the lock as well.
        self.runtime.spawn(async move {
            let Some((connection, _permit)) = held else {
                return;
            };
            if let Ok(Ok(())) = timeout(limit, connection.execute("ROLLBACK")).await {
                connection.give_back();
            }
        });
    }
}
