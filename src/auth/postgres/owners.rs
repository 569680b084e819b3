//! Refuses a schema or tables of other roles: their owner could read, change and replace what is stored.

use super::fault::{Fault, failed};
use super::names::Names;
use super::session::Session;
use crate::auth::StoreError;
use crate::auth::store::StoreErrorKind;

/// One row for each of schema and tables that exists and belongs to a role that is not trusted.
///
/// Trusted are the connection's role, superusers, the owner of the database, and the role of the settings. Membership is
/// not enough: before Postgres 15 any role could make another one its member.
const FOREIGN: &str = "SELECT 1 FROM (
    SELECT nspowner FROM pg_catalog.pg_namespace
    WHERE nspname OPERATOR(pg_catalog.=) {schema_name}
    UNION ALL
    SELECT relowner FROM pg_catalog.pg_class AS relation
    JOIN pg_catalog.pg_namespace AS namespace
        ON relation.relnamespace OPERATOR(pg_catalog.=) namespace.oid
    WHERE nspname OPERATOR(pg_catalog.=) {schema_name}
    AND (relname OPERATOR(pg_catalog.=) {table_name} OR relname OPERATOR(pg_catalog.=) {migrations_name})
) AS found (owner)
WHERE NOT EXISTS (SELECT 1 FROM pg_catalog.pg_roles AS trusted
    WHERE trusted.oid OPERATOR(pg_catalog.=) found.owner AND (
        trusted.rolsuper
        OR trusted.rolname OPERATOR(pg_catalog.=) CURRENT_USER
        OR trusted.rolname OPERATOR(pg_catalog.=) {owner_name}
        OR trusted.rolname OPERATOR(pg_catalog.=) 'pg_database_owner'::pg_catalog.name
        OR trusted.oid OPERATOR(pg_catalog.=) (SELECT datdba FROM pg_catalog.pg_database
            WHERE datname OPERATOR(pg_catalog.=) pg_catalog.current_database())))";

const REFUSAL: &str = "the schema or a table of the token store belongs to another role; drop it, or name that role \
    with PostgresStoreBuilder::owner if it is yours";

pub(super) async fn check_owners(session: &Session, names: &Names) -> Result<(), Fault> {
    let query = names.fill(FOREIGN);
    let rows = session.client()?.query_typed(&query, &[]).await;
    if rows.map_err(failed)?.is_empty() {
        Ok(())
    } else {
        Err(StoreError::of(StoreErrorKind::Insecure, REFUSAL).into())
    }
}

/// The same check as a statement of a script.
pub(super) fn assertion(names: &Names) -> String {
    let query = names.fill(FOREIGN);
    format!(
        "DO $check$ BEGIN\nIF EXISTS ({query}) THEN RAISE EXCEPTION '{REFUSAL}'; END IF;\nEND $check$;\n"
    )
}
