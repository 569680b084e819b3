//! Settings of the stores in Postgres.

use std::marker::PhantomData;
use std::time::Duration;

use deadpool_postgres::Pool;

use super::database::DatabaseSettings;

/// Settings of a store in Postgres: of [`PostgresStore`](super::PostgresStore), and with the feature `sync` of `PostgresSync`.
///
/// See [`PostgresStore`](super::PostgresStore) for an example.
#[must_use]
pub struct PostgresBuilder<S> {
    pub(crate) database: DatabaseSettings,
    /// With which the names of the tables begin.
    pub(crate) prefix: String,
    store: PhantomData<fn() -> S>,
}

impl<S> PostgresBuilder<S> {
    pub(crate) fn new(pool: Pool, prefix: &str) -> Self {
        Self {
            database: DatabaseSettings::new(pool),
            prefix: prefix.to_owned(),
            store: PhantomData,
        }
    }

    setters! {
        /// The schema of the tables; `envd_sdk` unless set. Stores may share one: the names of their tables differ.
        pub fn schema(name: impl Into<String>) |it| it.database.schema = name.into();

        /// The role that owns schema and tables, when it is neither the role of the connections nor the owner of the database
        /// nor a superuser: such as one that only deploys.
        ///
        /// Schema and tables of any other role are refused with [`is_insecure`](envd_sdk::auth::StoreError::is_insecure), when they
        /// are migrated and before they are first used: their owner could read and replace what is stored.
        pub fn owner(role: impl Into<String>) |it| it.database.owner = role.into();

        /// How long the database may take for an answer, and the pool for a connection; 5 seconds each unless set. A network
        /// that was cut without a word is noticed by this alone.
        pub fn time_out(limit: Duration) |it| it.database.time_out = limit;
    }
}

// Without the pool, whose settings hold the password.
debug_shows!(PostgresBuilder<S>, |it|
    schema: it.database.schema,
    prefix: it.prefix,
    owner: it.database.owner,
    time_out: it.database.time_out,
);
