//! Makes and changes the tables.

use std::fmt::Write;

use deadpool_postgres::tokio_postgres::types::Type;

use super::fault::{Fault, failed};
use super::names::Names;
use super::owners::{self, check_owners};
use super::session::Session;
use crate::auth::StoreError;
use crate::auth::store::StoreErrorKind;

/// Each is applied once, in this order. Never change one that was released: add one, that hosts of the version before can
/// live with, since they run on until they are updated.
const MIGRATIONS: [&str; 1] = [include_str!("migrations/1.sql")];

const LEDGER: &str = "CREATE TABLE IF NOT EXISTS {migrations} (
    version pg_catalog.int4 PRIMARY KEY,
    applied_at pg_catalog.timestamptz NOT NULL DEFAULT pg_catalog.now()
);
";

/// `SET LOCAL` ends with the transaction, so the pool's other users keep their `search_path`.
const BEGIN: &str =
    "BEGIN ISOLATION LEVEL READ COMMITTED;\nSET LOCAL search_path = pg_catalog, pg_temp;\n";

const NEWEST: &str = "SELECT COALESCE(pg_catalog.max(version), 0) FROM {migrations}";

/// Applies what is missing, in one transaction, one host at a time.
pub(super) async fn migrate(session: &Session, names: &Names) -> Result<(), Fault> {
    let begun = session.client()?.batch_execute(BEGIN).await;
    begun.map_err(failed)?;
    let done = apply(session, names).await;
    let end = if done.is_ok() { "COMMIT" } else { "ROLLBACK" };
    let ended = session.client()?.batch_execute(end).await;
    done?;
    ended.map_err(failed)
}

async fn apply(session: &Session, names: &Names) -> Result<(), Fault> {
    let client = session.client()?;
    let lock = "SELECT pg_catalog.pg_advisory_xact_lock(
        pg_catalog.hashtextextended($1, 0::pg_catalog.int8))";
    let name = names.lock("migrations of all accounts");
    client
        .query_typed(lock, &[(&name, Type::TEXT)])
        .await
        .map_err(failed)?;
    // Looked for first: who may not create schemas can use one that is there.
    let there = "SELECT 1 FROM pg_catalog.pg_namespace WHERE nspname OPERATOR(pg_catalog.=) $1";
    let there = client
        .query_typed_opt(there, &[(&names.schema, Type::NAME)])
        .await
        .map_err(failed)?;
    if there.is_none() {
        let create = names.fill("CREATE SCHEMA {schema}");
        client.batch_execute(&create).await.map_err(failed)?;
    }
    check_owners(session, names).await?;
    let made = client.batch_execute(&names.fill(LEDGER)).await;
    made.map_err(failed)?;
    // Again: in a schema where others may create tables, the ledger may be one that was made since.
    check_owners(session, names).await?;
    let applied = newest(session, names).await?;
    let all = (1_i32..).zip(MIGRATIONS);
    if applied > newest_known() {
        return Err(newer().into());
    }
    for (version, migration) in all.filter(|(version, _)| *version > applied) {
        let mut statements = names.fill(migration);
        statements.push_str(&record(names, version));
        client.batch_execute(&statements).await.map_err(failed)?;
    }
    Ok(())
}

/// Everything as one script.
pub(super) fn script(names: &Names) -> String {
    let mut script = BEGIN.to_owned();
    script.push_str(&names.fill("CREATE SCHEMA IF NOT EXISTS {schema};\n"));
    script.push_str(&names.fill(LEDGER));
    script.push_str(&owners::assertion(names));
    for (version, migration) in (1_i32..).zip(MIGRATIONS) {
        // OK to ignore: a text takes everything.
        let _ = write!(
            script,
            "{}{}",
            names.fill(migration),
            record(names, version)
        );
    }
    script.push_str("COMMIT;\n");
    script
}

fn record(names: &Names, version: i32) -> String {
    names.fill(&format!(
        "INSERT INTO {{migrations}} (version) VALUES ({version});\n"
    ))
}

/// Whether the tables are those that this version knows.
pub(super) async fn check(session: &Session, names: &Names) -> Result<(), Fault> {
    check_owners(session, names).await?;
    let applied = newest(session, names).await?;
    if applied > newest_known() {
        return Err(newer().into());
    }
    if applied < newest_known() {
        return Err(StoreError::of(
            StoreErrorKind::Missing,
            "the tables of the token store are of an older version; call PostgresStore::migrate",
        )
        .into());
    }
    Ok(())
}

async fn newest(session: &Session, names: &Names) -> Result<i32, Fault> {
    let query = names.fill(NEWEST);
    let row = session.client()?.query_typed_one(&query, &[]).await;
    row.and_then(|row| row.try_get(0)).map_err(failed)
}

fn newest_known() -> i32 {
    i32::try_from(MIGRATIONS.len()).unwrap_or(i32::MAX)
}

fn newer() -> StoreError {
    StoreError::of(
        StoreErrorKind::NewerVersion,
        "the tables of the token store are of a newer version of this crate",
    )
}
