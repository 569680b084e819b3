//! Where copies, outboxes and question lists are kept: the stores, and [`SyncStore`] for authors of further ones, who check theirs with
//! `check_sync_store` (feature `laws`).
//!
//! | store | crate | for |
//! | --- | --- | --- |
//! | [`MemorySync`] | this one | tests, and programs that copy again at each start |
//! | `SqliteSync` | this one, feature `sqlite` | one machine: a file that several processes use |
//! | `PostgresSync` | [`envd-postgres`](envd_sdk#companions) | many hosts and thousands of accounts |
//!
//! None of them encrypts what it keeps. Where a lost disk or a backup must show nothing, encrypt the disk or the volume of the
//! database; `pgcrypto` is no help, since the store looks rows up by their columns.

#[cfg(feature = "laws")]
mod laws;
mod memory_sync;
pub mod rows;
#[cfg(feature = "sqlite")]
pub(crate) mod sqlite;
mod sync_store;
#[cfg(test)]
pub(crate) mod tests;

pub use envd_sdk::auth::{StoreError, StoreErrorKind};

#[cfg(feature = "laws")]
#[doc(alias("conformance", "contract"))]
pub use self::laws::check_sync_store;
pub use self::memory_sync::MemorySync;
pub use self::rows::Order;
#[cfg(feature = "sqlite")]
#[doc(alias = "local database")]
pub use self::sqlite::SqliteSync;
pub use self::sync_store::SyncStore;
