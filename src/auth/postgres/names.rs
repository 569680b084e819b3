//! The names of schema and tables, quoted once and for all.

use crate::auth::StoreError;

/// Names longer than this are cut off by Postgres; two of them could become one. The longest ending is ours.
const LONGEST: usize = 63 - "_migrations".len();

#[derive(Clone, Debug)]
pub(super) struct Names {
    pub(super) schema: String,
    quoted_schema: String,
    quoted_table: String,
    quoted_migrations: String,
    table: String,
    owner: String,
}

impl Names {
    /// `owner`: a further role to trust, or nothing.
    pub(super) fn new(schema: &str, table: &str, owner: &str) -> Result<Self, StoreError> {
        let whole = |name: &str| format!("{}.{}", quoted(schema), quoted(name));
        for name in [schema, table] {
            if !is_plain(name) {
                return Err(StoreError::new(
                    "names of schemas and tables are 1 to 52 letters, digits and underscores of ASCII, and begin with no digit",
                ));
            }
        }
        if owner.len() > 63 || owner.contains(|c: char| c.is_control() || "'\"\\${}".contains(c)) {
            return Err(StoreError::new(
                "the name of the owner holds quotes, backslashes, braces, dollar or control characters, or is too long",
            ));
        }
        Ok(Self {
            table: table.to_owned(),
            owner: owner.to_owned(),
            schema: schema.to_owned(),
            quoted_schema: quoted(schema),
            quoted_table: whole(table),
            quoted_migrations: whole(&format!("{table}_migrations")),
        })
    }

    /// Puts the names into a statement: `{schema}`, `{table}`, `{migrations}` as identifiers, `{.._name}` as texts.
    pub(super) fn fill(&self, statement: &str) -> String {
        statement
            .replace("{schema}", &self.quoted_schema)
            .replace("{table}", &self.quoted_table)
            .replace("{migrations}", &self.quoted_migrations)
            .replace("{schema_name}", &literal(&self.schema))
            .replace("{table_name}", &literal(&self.table))
            .replace(
                "{migrations_name}",
                &literal(&format!("{}_migrations", self.table)),
            )
            .replace("{owner_name}", &literal(&self.owner))
    }

    /// What the lock of an account is called; the database makes a number of it.
    pub(super) fn lock(&self, account: &str) -> String {
        format!("{}/{account}", self.quoted_table)
    }
}

fn is_plain(name: &str) -> bool {
    let begins = |c: char| c.is_ascii_alphabetic() || c == '_';
    name.starts_with(begins)
        && name.len() <= LONGEST
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// Quoted also where it need not be: so no name is a keyword, and capitals stay.
fn quoted(name: &str) -> String {
    format!("\"{name}\"")
}

/// Only for names in which there is nothing to escape.
fn literal(name: &str) -> String {
    format!("'{name}'::pg_catalog.name")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_quoted_wherever_they_stand() {
        let names = Names::new("public", "Select", "").unwrap();
        assert_eq!(
            names.fill("{schema} {table} {migrations}"),
            r#""public" "public"."Select" "public"."Select_migrations""#
        );
        assert_eq!(names.lock("sam"), r#""public"."Select"/sam"#);
    }

    #[test]
    fn names_that_could_end_the_quotes_or_be_cut_off_are_refused() {
        let long = "a".repeat(LONGEST + 1);
        for bad in ["", "a\"b", "a b", "a.b", "1a", "ä", "a\0", "{table}", &long] {
            assert!(Names::new(bad, "tokens", "").is_err(), "{bad}");
            assert!(Names::new("envd", bad, "").is_err(), "{bad}");
        }
        for good in ["a", "_", "A1", &"a".repeat(LONGEST)] {
            assert!(Names::new(good, good, "svc-deploy@x").is_ok(), "{good}");
        }
        for bad in ["a'b", "a\\", "$check$", "{table}", "a\"b", "a\0"] {
            assert!(Names::new("envd", "tokens", bad).is_err(), "{bad}");
        }
    }
}
