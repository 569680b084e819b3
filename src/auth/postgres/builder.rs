//! Settings of the store.

use std::fmt;
use std::time::Duration;

use deadpool_postgres::Pool;

use super::PostgresStore;
use super::handle::Settings;
use super::names::Names;
use crate::auth::StoreError;

/// Settings of a [`PostgresStore`].
#[must_use]
pub struct PostgresStoreBuilder {
    pool: Pool,
    schema: String,
    table: String,
    owner: String,
    time_out: Duration,
}

impl PostgresStoreBuilder {
    pub(super) fn new(pool: Pool) -> Self {
        Self {
            pool,
            schema: "envd_sdk".to_owned(),
            table: "tokens".to_owned(),
            owner: String::new(),
            time_out: Duration::from_secs(5),
        }
    }

    /// The schema of the tables; `envd_sdk` unless set.
    pub fn schema(mut self, name: impl Into<String>) -> Self {
        self.schema = name.into();
        self
    }

    /// The table of the tokens; `tokens` unless set. Another one beside it, with `_migrations` at the end, counts the
    /// migrations.
    pub fn table(mut self, name: impl Into<String>) -> Self {
        self.table = name.into();
        self
    }

    /// The role that owns schema and tables, when it is neither the role of the connections nor the owner of the database
    /// nor a superuser: such as one that only deploys.
    ///
    /// Schema and tables of any other role are refused with [`is_insecure`](StoreError::is_insecure), when they are
    /// migrated and before they are first used: their owner could read and replace what is stored.
    pub fn owner(mut self, role: impl Into<String>) -> Self {
        self.owner = role.into();
        self
    }

    /// How long the database may take for an answer, and the pool for a connection; 5 seconds each unless set. A network
    /// that was cut without a word is noticed by this alone.
    pub fn time_out(mut self, limit: Duration) -> Self {
        self.time_out = limit;
        self
    }

    /// Builds the store. Nothing is sent yet.
    ///
    /// # Errors
    ///
    /// The name of schema or table is not made of ASCII letters, digits and underscores, that of the owner holds quotes or
    /// the like, or the pool has room for less than two connections: a
    /// refresh holds one, and writes over another.
    pub fn build(self) -> Result<PostgresStore, StoreError> {
        let names = Names::new(&self.schema, &self.table, &self.owner)?;
        let size = self.pool.status().max_size;
        if size < 2 {
            return Err(StoreError::new(
                "the token store needs a pool of two connections at least",
            ));
        }
        Ok(PostgresStore::of(Settings {
            pool: self.pool,
            names,
            time_out: self.time_out,
            // One is left for reads and writes, so that locks never wait for each other's ends.
            locks: size - 1,
        }))
    }
}

impl fmt::Debug for PostgresStoreBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PostgresStoreBuilder")
            .field("schema", &self.schema)
            .field("table", &self.table)
            .field("owner", &self.owner)
            .field("time_out", &self.time_out)
            .finish_non_exhaustive()
    }
}
