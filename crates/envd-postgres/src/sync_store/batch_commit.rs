//! Writes a batch, in one transaction and two round trips: the lock and the versions, then everything else.

use std::collections::HashMap;

use deadpool_postgres::tokio_postgres::types::Type;
use futures_util::future::try_join4;
use tokio::time::timeout;

use super::batch_writes::BatchWrites;
use super::postgres_sync::is_storable;
use super::sql::StoredColumns;
use crate::connection::{Connection, DatabaseError};
use crate::database::{Database, Parameter};
use crate::schema::APPLIED;
use envd_sdk::auth::StoreError;
use envd_sync::store::rows::Batch;

/// `SET LOCAL` ends with the transaction, so the pool's other users keep their settings, behind `PgBouncer` as well. The
/// limits free the account from a host that hangs between the two round trips, and end the wait for it before the caller's.
const BEGIN: &str = "BEGIN ISOLATION LEVEL READ COMMITTED;
    SET LOCAL search_path = pg_catalog, pg_temp;
    SET LOCAL idle_in_transaction_session_timeout = '{idle}ms';
    SET LOCAL lock_timeout = '{lock}ms'";

/// Locks the row also where it is there and nothing is written to it.
const LOCK: &str = "INSERT INTO {lock} AS stored (account) VALUES ($1)
    ON CONFLICT (account) DO UPDATE SET account = EXCLUDED.account WHERE false";

/// Sees what was committed before the lock was taken: at READ COMMITTED each statement sees the latest state.
const VERSIONS: &str =
    "SELECT name, version FROM {document} WHERE account = $1 AND name = ANY ($2)";

/// Writes the batch, and returns whether all documents had the expected versions.
pub(super) async fn commit(
    database: &Database,
    account: &str,
    batch: &Batch,
) -> Result<bool, StoreError> {
    let Some(expected) = expected(batch) else {
        return Ok(false);
    };
    let writes = BatchWrites::of(account, batch)?;
    let mut begun = begin(database, account, &expected).await;
    if begun.as_ref().is_err_and(|error| error.connection_lost) {
        // Nothing was written yet.
        begun = begin(database, account, &expected).await;
    }
    let Some(connection) = begun.map_err(|error| error.error)? else {
        return Ok(false);
    };
    // With an error, the end of the connection ends the transaction.
    let written = writes.send(&connection, database).await;
    written.map_err(|error| error.error)?;
    connection.give_back();
    Ok(true)
}

/// The versions that documents must have, by name; `None` if they cannot have them.
fn expected(batch: &Batch) -> Option<HashMap<&str, u64>> {
    let mut expected = HashMap::new();
    for (name, version) in &batch.expected {
        let is_possible = *version == 0 || is_storable(name);
        let known = expected.insert(&**name, *version);
        if !is_possible || known.is_some_and(|known| known != *version) {
            return None;
        }
    }
    Some(expected)
}

/// Begins the transaction, locks the account and compares the versions. `None`: they are others, and the transaction ended.
async fn begin(
    database: &Database,
    account: &str,
    expected: &HashMap<&str, u64>,
) -> Result<Option<Connection>, DatabaseError> {
    let (schema, connection) = (&database.schema, database.connect().await?);
    let limit = database.time_out.as_millis().clamp(2, 60_000);
    let begin = BEGIN.replace("{idle}", &limit.to_string());
    let begin = begin.replace("{lock}", &(limit / 2).to_string());
    let names: Vec<&str> = expected
        .keys()
        .copied()
        .filter(|name| is_storable(name))
        .collect();
    let of_account: [Parameter<'_>; 1] = [(&account, Type::TEXT)];
    let of_names: [Parameter<'_>; 2] = [(&account, Type::TEXT), (&names, Type::TEXT_ARRAY)];
    let (applied, lock, versions) = (
        schema.fill(APPLIED),
        schema.fill(LOCK),
        schema.fill(VERSIONS),
    );
    let client = connection.client()?;
    // Sent in this order and together: the driver does not wait for replies in between. The migrations are read first, for a
    // migration takes its locks in this order.
    let replies = try_join4(
        client.batch_execute(&begin),
        client.query_typed_one(&applied, &[]),
        client.execute_typed(&lock, &of_account),
        client.query_typed(&versions, &of_names),
    );
    let ((), applied, _, versions) = timeout(database.time_out, replies).await??;
    schema.check_applied(&applied)?;
    let mut stored = HashMap::new();
    for row in &versions {
        stored.insert(row.text(0)?, row.number(1)?);
    }
    let is_as_expected =
        |(name, version): (&&str, &u64)| stored.get(*name).copied().unwrap_or_default() == *version;
    if expected.iter().all(is_as_expected) {
        return Ok(Some(connection));
    }
    timeout(database.time_out, connection.execute("ROLLBACK")).await??;
    connection.give_back();
    Ok(None)
}
