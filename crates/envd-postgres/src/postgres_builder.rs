//! Settings of the stores.

use std::fmt;
use std::marker::PhantomData;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use super::connection::PostgresPool;
use super::database::Database;
use super::schema::{Migration, Schema};
use envd_sdk::auth::StoreError;

/// Settings of a [`PostgresStore`](super::PostgresStore) or a [`PostgresSync`](super::PostgresSync).
///
/// See [`PostgresStore`](super::PostgresStore) for an example.
#[must_use]
pub struct PostgresBuilder<S> {
    pub(crate) pool: PostgresPool,
    schema: String,
    /// The beginning of the name of the table of migrations.
    pub(crate) prefix: String,
    /// An additional trusted owner; empty: only the roles that are always trusted.
    owner: String,
    time_out: Duration,
    store: PhantomData<fn() -> S>,
}

impl<S> PostgresBuilder<S> {
    pub(crate) fn new(pool: PostgresPool, prefix: &str) -> Self {
        Self {
            pool,
            schema: "envd_sdk".to_owned(),
            prefix: prefix.to_owned(),
            owner: String::new(),
            time_out: Duration::from_secs(5),
            store: PhantomData,
        }
    }

    /// The schema of the tables; `envd_sdk` unless set; stores may share it, since their tables have different names.
    pub fn schema(mut self, name: impl Into<String>) -> Self {
        self.schema = name.into();
        self
    }

    /// The role that owns schema and tables, for example a role used only for deployments.
    ///
    /// Needed only if it is neither the role of the connections nor the owner of the database nor a superuser.
    ///
    /// A schema or tables of any other role are refused with [`Insecure`](envd_sdk::auth::StoreErrorKind::Insecure), when they are
    /// migrated and before they are first used: their owner could read and replace the stored data.
    pub fn owner(mut self, role: impl Into<String>) -> Self {
        self.owner = role.into();
        self
    }

    /// The time limit for each reply of the database and for a connection from the pool; 5 seconds each unless set.
    ///
    /// This is the only protection against silently dropped connections.
    pub fn time_out(mut self, limit: Duration) -> Self {
        self.time_out = limit;
        self
    }

    /// The database with these tables, by their names in statements. Nothing is sent yet.
    pub(crate) fn database(
        self,
        tables: &[(&'static str, &str)],
        migrations: &'static [Migration],
    ) -> Result<Database, StoreError> {
        Ok(Database {
            schema: Schema::new(&self.schema, &self.owner, &self.prefix, tables, migrations)?,
            pool: self.pool.0,
            time_out: self.time_out,
            checked: AtomicBool::new(false),
        })
    }
}

// Without the pool, whose settings hold the password.
impl<S> fmt::Debug for PostgresBuilder<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PostgresBuilder")
            .field("schema", &self.schema)
            .field("prefix", &self.prefix)
            .field("owner", &self.owner)
            .field("time_out", &self.time_out)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use test_support::{PLANTED, hides};

    use super::*;
    use crate::{PostgresStore, PostgresSync};

    #[tokio::test]
    async fn debug_shows_no_password() {
        let url = format!("postgres://sam:{PLANTED}@127.0.0.1/farm");
        let pool = PostgresPool::from_url(&url, 2).unwrap();
        hides::<PostgresPool>(&pool);
        hides::<PostgresBuilder<_>>(&PostgresStore::builder(pool.clone()));
        hides::<PostgresBuilder<_>>(&PostgresSync::builder(pool.clone()));
        hides::<PostgresStore>(&PostgresStore::builder(pool.clone()).build().unwrap());
        hides::<PostgresSync>(&PostgresSync::builder(pool).build().unwrap());
    }
}
