//! The local copy of an account's consignments: a sync scans the list of the service and writes each page to a store.
//!
//! | task | see |
//! | --- | --- |
//! | copy an account, and bring the copy up to date | [`Replica::sync`], [`SyncReport`], [`ScanProgress`] |
//! | do so every few minutes, until stopped | [`Replica::run`], [`Loop`](crate::Loop), [`SyncEvent`] |
//! | copy the last days of an account with many records | [`Replica::horizon`], [`Replica::retention`] |
//! | copy all fields of records, not only those of the list | [`Replica::depth`], [`Depth`] |
//! | look records up without a request | [`Replica::consignments`], [`LocalQuery`], [`LocalRecord`] |
//! | react to changes, each delivered at least once and in order | [`Replica::changes`], [`Changes`], [`Change`] |
//! | list the consumers of changes, and remove one | [`Replica::consumers`], [`Consumer`] |
//!
//! [`guide::sync`](mod@crate::guide::sync) says what a copy guarantees and what it cannot.

mod account_replica;
mod changes;
mod local_query;
mod local_record;
mod record_read;
mod scan;
mod sync_loop;
mod sync_report;
mod sync_run;
mod sync_state;
#[cfg(test)]
mod tests;

#[doc(alias("offline", "cache", "mirror"))]
pub use self::account_replica::Replica;
#[doc(alias("subscribe", "webhook", "notification", "poll"))]
pub use self::changes::Changes;
pub use self::changes::{Change, ChangeKind, Consumer, StatusChange};
pub use self::local_query::{LocalPage, LocalQuery};
pub use self::local_record::{Depth, LocalRecord};
pub use self::sync_loop::SyncEvent;
pub use self::sync_report::{ScanProgress, SyncMode, SyncReport};
pub use crate::store::rows::LocalPosition;

pub(crate) use self::changes::{ReplicaState, outbox_document};
pub(crate) use self::local_record::instant_key;
pub(crate) use self::record_read::{RecordRead, is_answer};
