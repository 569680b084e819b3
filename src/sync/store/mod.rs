//! Where the copy is kept: [`SyncStore`], for you to implement on your database.

mod batch;
#[cfg(any(test, feature = "fake"))]
pub mod conformance;
#[cfg(test)]
pub(crate) mod faulty_store;
mod memory_sync;
mod row;
#[cfg(feature = "sealed")]
mod sealed;
#[cfg(feature = "sqlite")]
mod sqlite;
mod sync_store;

pub use self::batch::{Batch, Document};
pub use self::memory_sync::MemorySync;
pub use self::row::{ChangeRange, ChangeRow, Order, Query, Row, RowKeys};
#[cfg(feature = "sealed")]
pub use self::sealed::SealedSync;
#[cfg(feature = "sqlite")]
pub use self::sqlite::SqliteSync;
pub use self::sync_store::SyncStore;
pub use crate::auth::{StoreError, StoreFuture};
