//! The schema and tables of a store: their names, their owners, and the migrations.

use deadpool_postgres::tokio_postgres::Row;

use super::statement::{BEGIN, column, unsigned};
use envd_sdk::auth::{StoreError, StoreErrorKind as Kind};

/// The maximum length of a name, including our longest suffix. Postgres truncates longer names, so two of them could become equal.
const LONGEST: usize = 63 - "_migrations".len();

/// A change of the tables, applied once. Its version is its position in the list, from 1.
///
/// Never change a released migration; add a new one. Hosts with the previous version keep running until they are updated. So name
/// the oldest version that works with the new tables, and rename whatever older versions read, so that their statements fail.
pub(crate) struct Migration {
    /// The oldest version whose programs can use the tables afterwards.
    pub(crate) oldest: usize,
    pub(crate) statements: &'static str,
}

/// Reads the newest applied migration, the oldest version whose programs can use the tables, and whether the encoding of the
/// database can store every text. The encoding of a database never changes, but a dump may be restored into another database.
pub(crate) const APPLIED: &str = "SELECT COALESCE(max(version), 0)::int8,
    COALESCE(max(COALESCE(oldest, version)), 0)::int8,
    current_setting('server_encoding') IN ('UTF8', 'SQL_ASCII') FROM {migrations}";

/// Selects one row for each schema or table that exists and belongs to a role that is not trusted.
///
/// Trusted are the connection's role, superusers, the owner of the database, and the role of the settings. Membership is
/// not enough: before Postgres 15 any role could make another one its member.
pub(crate) const FOREIGN: &str = "SELECT 1 FROM (
    SELECT nspowner FROM pg_namespace WHERE nspname = {schema_name}
    UNION ALL
    SELECT relowner FROM pg_class JOIN pg_namespace AS namespace ON relnamespace = namespace.oid
    WHERE nspname = {schema_name} AND relname = ANY (ARRAY[{relation_names}])
) AS found (owner)
WHERE NOT EXISTS (SELECT 1 FROM pg_roles WHERE oid = found.owner AND (
    rolsuper OR rolname IN (CURRENT_USER, {owner_name}, 'pg_database_owner')
    OR oid = (SELECT datdba FROM pg_database WHERE datname = current_database())))";

pub(crate) const FOREIGN_OWNER: &str = "the schema or a table of the store belongs to another role; drop it, or name that role \
    with the owner setting of the store if it is yours";
pub(crate) const NEWER_TABLES: &str =
    "the tables of the store are of a newer version of this crate; update this program";

/// `SQL_ASCII` stores the bytes of UTF-8 unchanged.
pub(crate) const ENCODING: &str = "the encoding of the database is not UTF8, so it cannot store every name and address; use a \
    database that was created with ENCODING UTF8 and TEMPLATE template0";

/// The codes by which the migration script reports these three errors.
pub(crate) const FOREIGN_STATE: &str = "ZE001";
pub(crate) const NEWER_STATE: &str = "ZE002";
pub(crate) const ENCODING_STATE: &str = "ZE003";

/// The part of the script before the migrations. One host at a time runs it. The owners are checked twice: in a schema where others
/// may create tables, another role may have created the table of migrations after the first check. A role that may not create
/// schemas can use an existing schema.
const PREPARE: &str = "{check_encoding}
PERFORM pg_advisory_xact_lock(hashtextextended({migrations_lock}, 0));
IF NOT EXISTS (SELECT 1 FROM pg_namespace WHERE nspname = {schema_name}) THEN
    CREATE SCHEMA {schema};
END IF;
{check_owners}
CREATE TABLE IF NOT EXISTS {migrations} (
    version int4 PRIMARY KEY,
    applied_at timestamptz NOT NULL DEFAULT now(),
    oldest int4
);
{check_owners}
";

/// The names of schema and tables, validated and quoted.
pub(crate) struct Schema {
    /// The first table with its schema, as an identifier.
    pub(crate) table: String,
    /// The placeholders and their values: `{schema}`, `{migrations}` and the tables as identifiers, the others as texts.
    placeholders: Vec<(&'static str, String)>,
    migrations: &'static [Migration],
}

impl Schema {
    /// `tables`: pairs of a placeholder such as `{table}` and the name of the table. `owner`: an additional trusted role, or an
    /// empty text. `prefix`: the beginning of the name of the table of migrations, before `_migrations`.
    pub(crate) fn new(
        schema: &str,
        owner: &str,
        prefix: &str,
        tables: &[(&'static str, &str)],
        migrations: &'static [Migration],
    ) -> Result<Self, StoreError> {
        let mut names = tables.iter().map(|(_, table)| *table);
        if !is_plain(schema) || !is_plain(prefix) || !names.all(is_plain) {
            return Err(StoreError::new(
                Kind::Other,
                "names of schemas and tables are 1 to 52 ASCII letters, digits and underscores, and do not begin with a digit",
            ));
        }
        if owner.len() > 63 || owner.contains(|c: char| c.is_control() || "'\"\\${}".contains(c)) {
            return Err(StoreError::new(
                Kind::Other,
                "the name of the owner has quotes, backslashes, braces, dollar or control characters, or is too long",
            ));
        }
        let migrations_name = format!("{prefix}_migrations");
        let tables = [&[("{migrations}", &*migrations_name)], tables].concat();
        // Always quoted, so that no name is a keyword and capitals are kept.
        let quoted = |table: &str| format!("\"{schema}\".\"{table}\"");
        // No character in these names needs an escape.
        let literal = |name: &str| format!("'{name}'::name");
        let relations: Vec<_> = tables.iter().map(|(_, table)| literal(table)).collect();
        let mut placeholders = vec![
            ("{schema}", format!("\"{schema}\"")),
            ("{schema_name}", literal(schema)),
            ("{relation_names}", relations.join(", ")),
            ("{owner_name}", literal(owner)),
        ];
        placeholders.extend(tables.iter().map(|(name, table)| (*name, quoted(table))));
        Ok(Self {
            table: tables
                .get(1)
                .map_or_else(String::new, |(_, table)| quoted(table)),
            placeholders,
            migrations,
        })
    }

    /// Replaces the placeholders of a statement.
    pub(crate) fn fill(&self, statement: &str) -> String {
        let placeholders = self.placeholders.iter();
        placeholders.fold(statement.to_owned(), |text, (placeholder, name)| {
            text.replace(placeholder, name)
        })
    }

    /// The name of the lock of an account; the database hashes it.
    pub(crate) fn lock_name(&self, account: &str) -> String {
        format!("{}/{account}", self.table)
    }

    /// Checks the rows of [`FOREIGN`].
    pub(crate) fn check_owners(foreign: &[Row]) -> Result<(), StoreError> {
        match foreign {
            [] => Ok(()),
            _ => Err(StoreError::new(Kind::Insecure, FOREIGN_OWNER)),
        }
    }

    /// Checks the row of [`APPLIED`]. Fails if this program is too old or too new for the tables, or if the database cannot store
    /// every text.
    pub(crate) fn check_version(&self, applied: &[Row]) -> Result<(), StoreError> {
        let newest = self.migrations.len() as u64;
        let (version, oldest, can_store_all) = match applied {
            [row] => (unsigned(row, 0)?, unsigned(row, 1)?, column(row, 2)?),
            _ => (0, 0, true),
        };
        let (kind, message) = if !can_store_all {
            (Kind::Unsupported, ENCODING)
        } else if oldest > newest {
            (Kind::NewerVersion, NEWER_TABLES)
        } else if version < newest {
            (
                Kind::Missing,
                "the tables of the store are of an older version; call its method migrate",
            )
        } else {
            return Ok(());
        };
        Err(StoreError::new(kind, message))
    }

    /// The script that applies the missing migrations in one transaction.
    ///
    /// The lock on the table of migrations waits for transactions that have read [`APPLIED`], and blocks further ones.
    pub(crate) fn script(&self) -> String {
        let fail = |condition: &str, message: &str, state: &str| {
            format!(
                "IF {condition} THEN RAISE EXCEPTION '{message}' USING ERRCODE = '{state}'; END IF;"
            )
        };
        let check_owners = fail(&format!("EXISTS ({FOREIGN})"), FOREIGN_OWNER, FOREIGN_STATE);
        let newest = self.migrations.len();
        let is_newer =
            format!("(SELECT max(COALESCE(oldest, version)) FROM {{migrations}}) > {newest}");
        let check_version = fail(&is_newer, NEWER_TABLES, NEWER_STATE);
        let lock = format!("'{}'", self.lock_name("migrations of all accounts"));
        let is_limited = "current_setting('server_encoding') NOT IN ('UTF8', 'SQL_ASCII')";
        let check_encoding = fail(is_limited, ENCODING, ENCODING_STATE);
        let prepare = PREPARE.replace("{check_encoding}", &check_encoding);
        let prepare = prepare.replace("{check_owners}", &check_owners);
        let prepare = prepare.replace("{migrations_lock}", &lock);
        let missing = self.migrations.iter().zip(1..).map(|(migration, version)| {
            let Migration { oldest, statements } = migration;
            format!(
                "IF NOT EXISTS (SELECT 1 FROM {{migrations}} WHERE version >= {version}) THEN
LOCK TABLE {{migrations}} IN ACCESS EXCLUSIVE MODE;
{statements}INSERT INTO {{migrations}} (version, oldest) VALUES ({version}, {oldest});
END IF;
"
            )
        });
        let missing = missing.collect::<String>();
        self.fill(&format!(
            "{BEGIN};\nDO $migrate$ BEGIN\n{prepare}{check_version}\n{missing}END $migrate$;\nCOMMIT;\n"
        ))
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
        Schema::new(schema, owner, table, &[("{table}", table)], &[])
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
