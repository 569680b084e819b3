//! Where the copy is kept: [`SyncStore`], for you to implement on your database.
//!
//! | store | feature | for |
//! | --- | --- | --- |
//! | [`MemorySync`] | `sync` | tests, and programs that copy anew when they start |
//! | `SqliteSync` | `sqlite` | one machine: a file that several processes use |
//! | `PostgresSync` | `postgres` and `sync` | many hosts and thousands of accounts; what the token store uses already |
//! | `SealedSync` | `sealed` | around one of them, where a dump must show nothing |

mod batch;
#[cfg(any(test, feature = "fake"))]
// It runs in tests, where a panic is a report.
#[allow(clippy::indexing_slicing)]
pub mod conformance;
#[cfg(test)]
pub(crate) mod faulty_store;
#[cfg(any(feature = "sqlite", feature = "postgres"))]
mod integers;
mod memory_sync;
#[cfg(feature = "postgres")]
pub(in crate::sync) mod postgres;
mod row;
#[cfg(feature = "sealed")]
mod sealed;
#[cfg(feature = "sqlite")]
mod sqlite;
mod sync_store;

pub use self::batch::{Batch, Document};
pub use self::memory_sync::MemorySync;
#[cfg(feature = "postgres")]
pub use self::postgres::{PostgresSync, PostgresSyncBuilder};
pub use self::row::{ChangeRange, ChangeRow, Order, Query, Row, RowKeys};
#[cfg(feature = "sealed")]
pub use self::sealed::SealedSync;
#[cfg(feature = "sqlite")]
pub use self::sqlite::SqliteSync;
pub use self::sync_store::SyncStore;
pub use crate::auth::{StoreError, StoreFuture};
