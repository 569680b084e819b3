//! Copies of accounts in tables of Postgres.

mod batch_commit;
mod postgres_sync;
mod row_query;

pub use self::postgres_sync::PostgresSync;
