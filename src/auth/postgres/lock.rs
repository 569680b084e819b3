//! The lock of an account: an advisory lock, held by a transaction on a connection of its own.
//!
//! The database frees it when the transaction or the connection ends, so the lock of a host that died is free at once.
//! Whoever waits asks again and again: that takes no connection while it waits, and can be given up at any time.

use std::time::Duration;

use deadpool_postgres::tokio_postgres::Row;
use deadpool_postgres::tokio_postgres::types::Type;
use futures_util::future::try_join3;
use tokio::runtime::Handle;
use tokio::sync::OwnedSemaphorePermit;
use tokio::time::timeout;

use super::fault::{Fault, failed, too_slow};
use super::names::Names;
use super::rows::LOAD;
use super::session::Session;
use crate::auth::StoreError;

/// Read committed, so that the record is read as it is under the lock. A host that hangs, or that is cut off without a
/// word, loses the lock when nothing was heard of it for longer than any refresh takes.
///
/// `SET LOCAL` ends with the transaction, so the pool's other users keep their settings, behind `PgBouncer` as well.
const BEGIN: &str = "BEGIN ISOLATION LEVEL READ COMMITTED;
    SET LOCAL search_path = pg_catalog, pg_temp;
    SET LOCAL idle_in_transaction_session_timeout = '5min'";

/// The seed has the type of the parameter: any other type lets a function of another role match better.
const TRY: &str = "SELECT pg_catalog.pg_try_advisory_xact_lock(
    pg_catalog.hashtextextended($1, 0::pg_catalog.int8))";

const FIRST_PAUSE: Duration = Duration::from_millis(5);
const LONGEST_PAUSE: Duration = Duration::from_millis(100);

/// A lock that was just freed is free at the server a little later, so nobody gives up before.
pub(super) const PATIENCE: Duration = Duration::from_millis(250);

/// A transaction that may hold the lock; it ends when this is dropped.
pub(super) struct Held {
    session: Option<Session>,
    permit: Option<OwnedSemaphorePermit>,
    runtime: Handle,
    limit: Duration,
}

impl Held {
    /// Tries once, and reads the record in the same round trip. `None`: somebody else holds the lock.
    pub(super) async fn attempt(
        session: Session,
        permit: OwnedSemaphorePermit,
        names: &Names,
        key: &str,
        limit: Duration,
    ) -> Result<Option<(Self, Option<Row>)>, Fault> {
        let runtime = Handle::try_current()
            .map_err(|_| StoreError::new("the store must be used inside a tokio runtime"))?;
        let (lock, load) = (names.lock(key), names.fill(LOAD));
        let (lock, load, key) = ([(&lock as _, Type::TEXT)], load, [(&key as _, Type::TEXT)]);
        let client = session.client()?;
        // Sent in this order and together: the driver does not wait for answers in between.
        let asked = try_join3(
            client.batch_execute(BEGIN),
            client.query_typed_one(TRY, &lock),
            client.query_typed_opt(&load, &key),
        );
        let answers = timeout(limit, asked).await.map_err(|_| too_slow())?;
        let ((), taken, row) = answers.map_err(failed)?;
        let held = Self {
            session: Some(session),
            permit: Some(permit),
            runtime,
            limit,
        };
        if !taken.try_get(0).map_err(failed)? {
            return Ok(None);
        }
        Ok(Some((held, row)))
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        let Some(session) = self.session.take() else {
            return;
        };
        let (permit, limit) = (self.permit.take(), self.limit);
        // When the runtime is at its end, the task is dropped and the connection with it: that frees the lock as well.
        self.runtime.spawn(async move {
            let _permit = permit;
            let Ok(client) = session.client() else {
                return;
            };
            if let Ok(Ok(())) = timeout(limit, client.batch_execute("ROLLBACK")).await {
                session.give_back();
            }
        });
    }
}

/// The pauses between attempts, at random, so that those who wait do not all come at once.
pub(super) struct Pauses(Duration);

impl Pauses {
    pub(super) fn new() -> Self {
        Self(FIRST_PAUSE)
    }

    pub(super) fn next(&mut self) -> Duration {
        let pause = self.0.mul_f64(0.5 + 0.5 * fastrand::f64());
        self.0 = (self.0 * 2).min(LONGEST_PAUSE);
        pause
    }
}
