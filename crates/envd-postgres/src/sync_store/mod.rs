//! Copies of accounts in tables of Postgres.

mod batch_commit;
mod batch_writes;
mod postgres_sync;
mod sql;

pub use self::postgres_sync::PostgresSync;
