//! A store in Postgres (features `postgres` and `sync`).

mod batch_commit;
mod batch_writes;
mod postgres_sync;

#[cfg(test)]
pub(crate) mod tests;

pub use self::postgres_sync::PostgresSync;
