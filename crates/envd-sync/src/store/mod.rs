//! Where the copy is kept: the stores, and [`SyncStore`], which they alone implement.
//!
//! | store | feature | for |
//! | --- | --- | --- |
//! | [`MemorySync`] | `sync` | tests, and programs that copy anew when they start |
//! | `SqliteSync` | `sqlite` | one machine: a file that several processes use |
//! | `PostgresSync` | `postgres` and `sync` | many hosts and thousands of accounts; what the token store uses already |
//! | `SealedSync` | `sealed` | around one of them, where a dump must show nothing |

mod memory_sync;
#[cfg(feature = "postgres")]
pub(crate) mod postgres;
mod row;
#[cfg(feature = "sealed")]
mod sealed_sync;
#[cfg(any(feature = "sqlite", feature = "postgres"))]
mod sql;
#[cfg(feature = "sqlite")]
pub(crate) mod sqlite;
mod sync_store;
#[cfg(test)]
pub(crate) mod tests;

pub use self::memory_sync::MemorySync;
#[cfg(feature = "postgres")]
pub use self::postgres::PostgresSync;
pub use self::row::Order;
pub(crate) use self::row::{Batch, ChangeRange, ChangeRow, Document, Query, Row, RowKeys};
#[cfg(feature = "sealed")]
pub use self::sealed_sync::SealedSync;
#[cfg(feature = "sqlite")]
#[doc(alias = "local database")]
pub use self::sqlite::SqliteSync;
pub(crate) use self::sync_store::SyncStore;
pub use self::sync_store::SyncStore;
pub use envd_sdk::auth::{StoreError, StoreErrorKind};

/// What stores keep, for the tests and benches of this workspace. No part of the interface, and nothing outside can implement it.
#[doc(hidden)]
pub mod internal {
    pub use super::row::{Batch, ChangeRange, ChangeRow, Document, Query, Row, RowKeys};
    pub use super::sync_store::SyncStore as _;
}
