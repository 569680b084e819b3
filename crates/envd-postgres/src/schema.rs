//! The schema and tables of the store: their names, their owners, and the migrations.

use deadpool_postgres::tokio_postgres::Row;
use deadpool_postgres::tokio_postgres::types::Type;

use super::connection::{Connection, DatabaseError};
use envd_sdk::auth::StoreError;
use envd_sdk::auth::StoreErrorKind;

/// Postgres cuts longer names off, and two of them could become one. The longest ending is ours.
const LONGEST: usize = 63 - "_migrations".len();

/// A change of the tables, applied once, in the order of the versions.
///
/// Never change one that was released: add one, that hosts of the version before can live with, since they run on until they
/// are updated.
pub(crate) struct Migration {
    /// From 1, without gaps.
    pub(crate) version: i32,
    /// The oldest version of the tables whose programs can use these; `None`: only programs that know this version can start.
    pub(crate) oldest: Option<i32>,
    pub(crate) statements: &'static str,
}

/// What a store keeps in its schema.
pub(crate) struct Layout<'a> {
    /// The tables by the names that statements have for them, such as `{table}`.
    pub(crate) tables: &'a [(&'static str, &'a str)],
    /// Names the table that counts the migrations, with `_migrations` at its end.
    pub(crate) prefix: &'a str,
    pub(crate) migrations: &'static [Migration],
}

/// `oldest` may be absent from a table that was made by an earlier version of this crate.
const MIGRATIONS_TABLE: &str = "CREATE TABLE IF NOT EXISTS {migrations} (
    version pg_catalog.int4 PRIMARY KEY,
    applied_at pg_catalog.timestamptz NOT NULL DEFAULT pg_catalog.now(),
    oldest pg_catalog.int4
);
";

/// `SET LOCAL` ends with the transaction, so the pool's other users keep their `search_path`.
const BEGIN: &str =
    "BEGIN ISOLATION LEVEL READ COMMITTED;\nSET LOCAL search_path = pg_catalog, pg_temp;\n";

const LOCK: &str = "SELECT pg_catalog.pg_advisory_xact_lock(
    pg_catalog.hashtextextended($1, 0::pg_catalog.int8))";

/// The newest migration that was applied, and the oldest version whose programs can use the tables.
pub(crate) const APPLIED: &str = "SELECT COALESCE(pg_catalog.max(version), 0),
    COALESCE(pg_catalog.max({oldest}), 0) FROM {migrations}";

/// Holds up the migration until the transactions that have read [`APPLIED`] end, and further ones until it has ended.
const LOCK_OUT: &str = "LOCK TABLE {migrations} IN ACCESS EXCLUSIVE MODE";

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
    AND relname OPERATOR(pg_catalog.=) ANY ({relation_names})
) AS found (owner)
WHERE NOT EXISTS (SELECT 1 FROM pg_catalog.pg_roles AS trusted
    WHERE trusted.oid OPERATOR(pg_catalog.=) found.owner AND (
        trusted.rolsuper
        OR trusted.rolname OPERATOR(pg_catalog.=) CURRENT_USER
        OR trusted.rolname OPERATOR(pg_catalog.=) {owner_name}
        OR trusted.rolname OPERATOR(pg_catalog.=) 'pg_database_owner'::pg_catalog.name
        OR trusted.oid OPERATOR(pg_catalog.=) (SELECT datdba FROM pg_catalog.pg_database
            WHERE datname OPERATOR(pg_catalog.=) pg_catalog.current_database())))";

const FOREIGN_OWNER: &str = "the schema or a table of the store belongs to another role; drop it, or name that role with \
    the owner setting of the store if it is yours";

/// The names of schema and tables, quoted once and for all.
pub(crate) struct Schema {
    pub(crate) name: String,
    /// The first of the tables with its schema, as an identifier.
    pub(crate) table: String,
    /// `{schema}`, `{migrations}` and those of the tables as identifiers, `{.._name}` as texts.
    placeholders: Vec<(&'static str, String)>,
    migrations: &'static [Migration],
}

impl Schema {
    /// `owner`: a further role to trust, or an empty text.
    pub(crate) fn new(schema: &str, owner: &str, layout: &Layout<'_>) -> Result<Self, StoreError> {
        let migrations_name = format!("{}_migrations", layout.prefix);
        let mut tables = layout.tables.iter().map(|(_, table)| *table);
        if !is_plain(schema) || !is_plain(layout.prefix) || !tables.all(is_plain) {
            return Err(StoreError::new(
                StoreErrorKind::Other,
                "names of schemas and tables are 1 to 52 ASCII letters, digits and underscores, and do not begin with a digit",
            ));
        }
        if owner.len() > 63 || owner.contains(|c: char| c.is_control() || "'\"\\${}".contains(c)) {
            return Err(StoreError::new(
                StoreErrorKind::Other,
                "the name of the owner has quotes, backslashes, braces, dollar or control characters, or is too long",
            ));
        }
        // Quoted also where it need not be: so no name is a keyword, and capitals stay.
        let quoted = |table: &str| format!("\"{schema}\".\"{table}\"");
        // Nothing in these names needs an escape.
        let literal = |name: &str| format!("'{name}'::pg_catalog.name");
        let tables = layout.tables.iter().map(|(_, table)| *table);
        let relations = tables.chain([&*migrations_name]).map(literal);
        let relations = relations.collect::<Vec<_>>().join(", ");
        // A table without this column serves programs that know its newest version.
        let has_oldest = layout.migrations.iter().any(|one| one.oldest.is_some());
        let oldest = if has_oldest {
            "COALESCE(oldest, version)"
        } else {
            "version"
        };
        let mut placeholders = vec![
            ("{schema}", format!("\"{schema}\"")),
            ("{migrations}", quoted(&migrations_name)),
            ("{oldest}", oldest.to_owned()),
            ("{schema_name}", literal(schema)),
            ("{relation_names}", format!("ARRAY[{relations}]")),
            ("{owner_name}", literal(owner)),
        ];
        let tables = layout.tables.iter();
        placeholders.extend(tables.map(|(placeholder, table)| (*placeholder, quoted(table))));
        let first = layout.tables.first().map_or("", |(_, table)| table);
        Ok(Self {
            name: schema.to_owned(),
            table: quoted(first),
            placeholders,
            migrations: layout.migrations,
        })
    }

    /// The version that this program knows.
    fn newest(&self) -> i32 {
        self.migrations.last().map_or(0, |newest| newest.version)
    }

    /// Puts the names into a statement.
    pub(crate) fn fill(&self, statement: &str) -> String {
        let placeholders = self.placeholders.iter();
        placeholders.fold(statement.to_owned(), |text, (placeholder, name)| {
            text.replace(placeholder, name)
        })
    }

    /// What the lock of an account is called; the database hashes it.
    pub(crate) fn lock_name(&self, account: &str) -> String {
        format!("{}/{account}", self.table)
    }

    /// Checks that the tables are those of this version and belong to roles that are trusted.
    pub(crate) async fn check(&self, connection: &Connection) -> Result<(), DatabaseError> {
        self.check_owners(connection).await?;
        if self.applied(connection).await? < self.newest() {
            let message =
                "the tables of the store are of an older version; call its method migrate";
            return Err(StoreError::new(StoreErrorKind::Missing, message).into());
        }
        Ok(())
    }

    /// Applies the missing migrations, in one transaction, one host at a time.
    pub(crate) async fn migrate(&self, connection: &Connection) -> Result<(), DatabaseError> {
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
        let missing = self.migrations.iter().filter(|one| one.version > applied);
        for (number, migration) in missing.enumerate() {
            if number == 0 {
                connection.execute(&self.fill(LOCK_OUT)).await?;
            }
            connection.execute(&self.statements(migration)).await?;
        }
        Ok(())
    }

    /// The newest migration that was applied.
    async fn applied(&self, connection: &Connection) -> Result<i32, DatabaseError> {
        let query = self.fill(APPLIED);
        let row = connection.client()?.query_typed_one(&query, &[]).await?;
        self.check_applied(&row)
    }

    /// Reads [`APPLIED`]; an error if this program is too old for the tables.
    pub(crate) fn check_applied(&self, row: &Row) -> Result<i32, DatabaseError> {
        if row.try_get::<_, i32>(1)? > self.newest() {
            let message =
                "the tables of the store are of a newer version of this crate; update this program";
            return Err(StoreError::new(StoreErrorKind::NewerVersion, message).into());
        }
        Ok(row.try_get(0)?)
    }

    async fn check_owners(&self, connection: &Connection) -> Result<(), DatabaseError> {
        let query = self.fill(FOREIGN);
        let foreign = connection.client()?.query_typed(&query, &[]).await?;
        if foreign.is_empty() {
            return Ok(());
        }
        Err(StoreError::new(StoreErrorKind::Insecure, FOREIGN_OWNER).into())
    }

    fn statements(&self, migration: &Migration) -> String {
        let Migration {
            version,
            oldest,
            statements,
        } = migration;
        let insert = match oldest {
            Some(oldest) => format!("(version, oldest) VALUES ({version}, {oldest})"),
            None => format!("(version) VALUES ({version})"),
        };
        self.fill(&format!(
            "{statements}INSERT INTO {{migrations}} {insert};\n"
        ))
    }

    /// All migrations as one script, with the same check of owners.
    pub(crate) fn script(&self) -> String {
        let mut script = format!(
            "{BEGIN}{}{}DO $check$ BEGIN\nIF EXISTS ({}) THEN RAISE EXCEPTION '{FOREIGN_OWNER}'; END IF;\nEND $check$;\n",
            self.fill("CREATE SCHEMA IF NOT EXISTS {schema};\n"),
            self.fill(MIGRATIONS_TABLE),
            self.fill(FOREIGN),
        );
        for migration in self.migrations {
            script += &self.statements(migration);
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

    fn schema(schema: &str, table: &str, owner: &str) -> Result<Schema, StoreError> {
        let layout = Layout {
            tables: &[("{table}", table)],
            prefix: table,
            migrations: &[],
        };
        Schema::new(schema, owner, &layout)
    }

    #[test]
    fn names_are_quoted_wherever_they_stand() {
        let names = schema("public", "Select", "").unwrap();
        assert_eq!(
            names.fill("{schema} {table} {migrations}"),
            r#""public" "public"."Select" "public"."Select_migrations""#
        );
        assert_eq!(names.lock_name("sam"), r#""public"."Select"/sam"#);
    }

    #[test]
    fn names_that_could_end_the_quotes_or_be_cut_off_are_refused() {
        let long = "a".repeat(LONGEST + 1);
        for bad in ["", "a\"b", "a b", "a.b", "1a", "ä", "a\0", "{table}", &long] {
            assert!(schema(bad, "tokens", "").is_err(), "{bad}");
            assert!(schema("envd", bad, "").is_err(), "{bad}");
        }
        for good in ["a", "_", "A1", &"a".repeat(LONGEST)] {
            assert!(schema(good, good, "svc-deploy@x").is_ok(), "{good}");
        }
        for bad in ["a'b", "a\\", "$check$", "{table}", "a\"b", "a\0"] {
            assert!(schema("envd", "tokens", bad).is_err(), "{bad}");
        }
    }
}
