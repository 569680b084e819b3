//! The schema and tables of the store: their names, their owners, and the migrations.

use deadpool_postgres::tokio_postgres::types::Type;

use super::connection::{Connection, DatabaseError};
use crate::auth::StoreError;
use crate::auth::store::StoreErrorKind;

/// Postgres cuts longer names off, and two of them could become one. The longest ending is ours.
const LONGEST: usize = 63 - "_migrations".len();

/// Each is applied once, in this order. Never change one that was released: add one, that hosts of the version before can
/// live with, since they run on until they are updated.
const MIGRATIONS: [(i32, &str); 1] = [(1, include_str!("migrations/1.sql"))];
const NEWEST: i32 = 1;

const MIGRATIONS_TABLE: &str = "CREATE TABLE IF NOT EXISTS {migrations} (
    version pg_catalog.int4 PRIMARY KEY,
    applied_at pg_catalog.timestamptz NOT NULL DEFAULT pg_catalog.now()
);
";

/// `SET LOCAL` ends with the transaction, so the pool's other users keep their `search_path`.
const BEGIN: &str =
    "BEGIN ISOLATION LEVEL READ COMMITTED;\nSET LOCAL search_path = pg_catalog, pg_temp;\n";

const LOCK: &str = "SELECT pg_catalog.pg_advisory_xact_lock(
    pg_catalog.hashtextextended($1, 0::pg_catalog.int8))";

const APPLIED: &str = "SELECT COALESCE(pg_catalog.max(version), 0) FROM {migrations}";

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

const FOREIGN_OWNER: &str = "the schema or a table of the token store belongs to another role; drop it, or name that role \
    with PostgresStoreBuilder::owner if it is yours";

/// The names of schema and tables, quoted once and for all.
pub(super) struct Schema {
    name: String,
    /// The table with its schema, as an identifier.
    pub(super) table: String,
    /// `{schema}`, `{table}`, `{migrations}` as identifiers, `{.._name}` as texts.
    placeholders: [(&'static str, String); 7],
}

impl Schema {
    /// `owner`: a further role to trust, or an empty text.
    pub(super) fn new(schema: &str, table: &str, owner: &str) -> Result<Self, StoreError> {
        if !is_plain(schema) || !is_plain(table) {
            return Err(StoreError::new(
                "names of schemas and tables are 1 to 52 ASCII letters, digits and underscores, and do not begin with a digit",
            ));
        }
        if owner.len() > 63 || owner.contains(|c: char| c.is_control() || "'\"\\${}".contains(c)) {
            return Err(StoreError::new(
                "the name of the owner has quotes, backslashes, braces, dollar or control characters, or is too long",
            ));
        }
        // Quoted also where it need not be: so no name is a keyword, and capitals stay.
        let quoted = |table: &str| format!("\"{schema}\".\"{table}\"");
        // Nothing in these names needs an escape.
        let literal = |name: &str| format!("'{name}'::pg_catalog.name");
        let migrations = format!("{table}_migrations");
        Ok(Self {
            name: schema.to_owned(),
            table: quoted(table),
            placeholders: [
                ("{schema}", format!("\"{schema}\"")),
                ("{table}", quoted(table)),
                ("{migrations}", quoted(&migrations)),
                ("{schema_name}", literal(schema)),
                ("{table_name}", literal(table)),
                ("{migrations_name}", literal(&migrations)),
                ("{owner_name}", literal(owner)),
            ],
        })
    }

    /// Puts the names into a statement.
    pub(super) fn fill(&self, statement: &str) -> String {
        let placeholders = self.placeholders.iter();
        placeholders.fold(statement.to_owned(), |text, (placeholder, name)| {
            text.replace(placeholder, name)
        })
    }

    /// What the lock of an account is called; the database hashes it.
    pub(super) fn lock_name(&self, account: &str) -> String {
        format!("{}/{account}", self.table)
    }

    /// Checks that the tables are those of this version and belong to roles that are trusted.
    pub(super) async fn check(&self, connection: &Connection) -> Result<(), DatabaseError> {
        self.check_owners(connection).await?;
        if self.applied(connection).await? < NEWEST {
            let message = "the tables of the token store are of an older version; call PostgresStore::migrate";
            return Err(StoreError::of(StoreErrorKind::Missing, message).into());
        }
        Ok(())
    }

    /// Applies the missing migrations, in one transaction, one host at a time.
    pub(super) async fn migrate(&self, connection: &Connection) -> Result<(), DatabaseError> {
        connection.execute(BEGIN).await?;
        let applied = self.apply_migrations(connection).await;
        let end = if applied.is_ok() {
            "COMMIT"
        } else {
            "ROLLBACK"
        };
        let ended = connection.execute(end).await;
        applied.and(ended)
    }

    async fn apply_migrations(&self, connection: &Connection) -> Result<(), DatabaseError> {
        let client = connection.client()?;
        let name = self.lock_name("migrations of all accounts");
        client.query_typed(LOCK, &[(&name, Type::TEXT)]).await?;
        // Checked first: a role that may not create schemas can use one that exists.
        let exists =
            "SELECT 1 FROM pg_catalog.pg_namespace WHERE nspname OPERATOR(pg_catalog.=) $1";
        let parameters = [(&self.name as _, Type::NAME)];
        if client.query_typed_opt(exists, &parameters).await?.is_none() {
            connection
                .execute(&self.fill("CREATE SCHEMA {schema}"))
                .await?;
        }
        self.check_owners(connection).await?;
        connection.execute(&self.fill(MIGRATIONS_TABLE)).await?;
        // Again: in a schema where others may create tables, this one may be of another role since.
        self.check_owners(connection).await?;
        let applied = self.applied(connection).await?;
        for (version, migration) in MIGRATIONS {
            if version > applied {
                connection
                    .execute(&self.statements(version, migration))
                    .await?;
            }
        }
        Ok(())
    }

    /// The newest migration that was applied.
    async fn applied(&self, connection: &Connection) -> Result<i32, DatabaseError> {
        let query = self.fill(APPLIED);
        let row = connection.client()?.query_typed_one(&query, &[]).await?;
        let applied = row.try_get(0)?;
        if applied > NEWEST {
            let message = "the tables of the token store are of a newer version of this crate";
            return Err(StoreError::of(StoreErrorKind::NewerVersion, message).into());
        }
        Ok(applied)
    }

    async fn check_owners(&self, connection: &Connection) -> Result<(), DatabaseError> {
        let query = self.fill(FOREIGN);
        let foreign = connection.client()?.query_typed(&query, &[]).await?;
        if foreign.is_empty() {
            return Ok(());
        }
        Err(StoreError::of(StoreErrorKind::Insecure, FOREIGN_OWNER).into())
    }

    fn statements(&self, version: i32, migration: &str) -> String {
        self.fill(&format!(
            "{migration}INSERT INTO {{migrations}} (version) VALUES ({version});\n"
        ))
    }

    /// All migrations as one script, with the same check of owners.
    pub(super) fn script(&self) -> String {
        let mut script = format!(
            "{BEGIN}{}{}DO $check$ BEGIN\nIF EXISTS ({}) THEN RAISE EXCEPTION '{FOREIGN_OWNER}'; END IF;\nEND $check$;\n",
            self.fill("CREATE SCHEMA IF NOT EXISTS {schema};\n"),
            self.fill(MIGRATIONS_TABLE),
            self.fill(FOREIGN),
        );
        for (version, migration) in MIGRATIONS {
            script += &self.statements(version, migration);
        }
        script + "COMMIT;\n"
    }
}

fn is_plain(name: &str) -> bool {
    let begins = |c: char| c.is_ascii_alphabetic() || c == '_';
    name.starts_with(begins)
        && name.len() <= LONGEST
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_quoted_wherever_they_stand() {
        let schema = Schema::new("public", "Select", "").unwrap();
        assert_eq!(
            schema.fill("{schema} {table} {migrations}"),
            r#""public" "public"."Select" "public"."Select_migrations""#
        );
        assert_eq!(schema.lock_name("sam"), r#""public"."Select"/sam"#);
    }

    #[test]
    fn names_that_could_end_the_quotes_or_be_cut_off_are_refused() {
        let long = "a".repeat(LONGEST + 1);
        for bad in ["", "a\"b", "a b", "a.b", "1a", "ä", "a\0", "{table}", &long] {
            assert!(Schema::new(bad, "tokens", "").is_err(), "{bad}");
            assert!(Schema::new("envd", bad, "").is_err(), "{bad}");
        }
        for good in ["a", "_", "A1", &"a".repeat(LONGEST)] {
            assert!(Schema::new(good, good, "svc-deploy@x").is_ok(), "{good}");
        }
        for bad in ["a'b", "a\\", "$check$", "{table}", "a\"b", "a\0"] {
            assert!(Schema::new("envd", "tokens", bad).is_err(), "{bad}");
        }
    }
}
