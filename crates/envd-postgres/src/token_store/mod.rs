//! Tokens in a table of Postgres, and the lock of an account.

mod account_lock;
mod postgres_store;

pub use self::postgres_store::PostgresStore;
