//! Stores for copies, outboxes and question lists, and [`SyncStore`] for authors of further ones, who test them with
//! `check_sync_store` (feature `requirements`).
//!
//! | store | crate | for |
//! | --- | --- | --- |
//! | [`MemorySync`] | this one | tests, and programs that copy the account at each start |
//! | `SqliteSync` | this one, feature `sqlite` | one machine: a file shared by several processes |
//! | `PostgresSync` | [`envd-postgres`](envd_sdk#companions) | many hosts and thousands of accounts |
//!
//! No store encrypts its data. To protect a lost disk or a backup, encrypt the disk or the volume of the database. `pgcrypto` does
//! not help, since the store finds rows by their columns.

#[cfg(feature = "conformance")]
mod conformance;
mod memory_sync;
pub mod rows;
#[cfg(feature = "sqlite")]
pub(crate) mod sqlite;
mod sync_store;
#[cfg(test)]
pub(crate) mod tests;

pub use envd_sdk::auth::{StoreError, StoreErrorKind};

#[cfg(feature = "conformance")]
#[doc(alias("conformance", "contract"))]
pub use self::conformance::check_sync_store;
pub use self::memory_sync::MemorySync;
pub use self::rows::Order;
#[cfg(feature = "sqlite")]
#[doc(alias = "local database")]
pub use self::sqlite::SqliteSync;
pub use self::sync_store::SyncStore;
