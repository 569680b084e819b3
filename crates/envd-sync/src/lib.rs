//! Work without reception, based on [`envd_sdk`]: a local copy of an account, an outbox that sends each declaration once, and
//! question lists for offline forms.
//!
//! | task | see |
//! | --- | --- |
//! | copy an account, and bring the copy up to date | [`Replica::new`], [`Replica::sync`] |
//! | do so every few minutes, until stopped | [`Replica::run`] |
//! | look records up without a request | [`Replica::consignments`], [`LocalQuery`](replica::LocalQuery) |
//! | react to changes, each delivered at least once and in order | [`Replica::changes`], [`Changes`](replica::Changes) |
//! | write declarations without reception, and send each once | [`Outbox::new`], [`Outbox::save`], [`Outbox::submit`], [`Outbox::edit`] |
//! | send waiting declarations, now or whenever there is reception | [`Outbox::send`], [`Outbox::run`] |
//! | show waiting declarations, and answer questions that only the user can decide | [`Outbox::declarations`], [`Outbox::decide`] |
//! | fill in forms without reception, and keep them | [`Banks::new`], [`bank`] |
//! | keep all of it in memory, in a file or in Postgres | [`store`]: [`MemorySync`](store::MemorySync), `SqliteSync`, `PostgresSync` |
//! | write your own store, and test it | [`SyncStore`](store::SyncStore), `check_sync_store` |
//! | handle errors | [`Error`], [`Error::kind`] |
//! | serve thousands of accounts from many hosts | the crate [`envd-postgres`](envd_sdk#companions) |
//!
//! The [`guide`] has complete programs ([`offline`](mod@guide::offline)). It also says what a copy ([`sync`](mod@guide::sync)) and
//! an outbox ([`outbox`](mod@guide::outbox)) guarantee, and what they cannot.
//!
//! | feature | it adds |
//! | --- | --- |
//! | `sqlite` | `SqliteSync`: everything in one file, for the processes of one machine. It compiles `SQLite`, so it needs a C compiler |
//! | `conformance` | `check_sync_store`: what a store must do, to test your own store |
//!
//! TLS, compression and the fake are features of [`envd_sdk`].
//!
//! A copy and its changes on the fake, while another user works on the website:
//!
//! ```
//! # test_support::example(async {
//! use envd_sdk::model::{ConsignmentInput, ConsignmentStatus};
//! use envd_sync::Replica;
//! use envd_sync::replica::ChangeKind;
//! use envd_sync::store::MemorySync;
//!
//! # let fake = envd_sdk::fake::Fake::start().await;
//! # let account = fake.client().build()?.account(fake.account_id());
//! let replica = Replica::new(&account, MemorySync::new());
//! replica.sync().await?;
//! let mut feed = replica.changes("screen");
//! while let Some(change) = feed.next().await? {
//!     feed.acknowledge(&change).await?;
//! }
//!
//! let draft = replica.consignments().status(ConsignmentStatus::Draft).list().await?.records.remove(0);
//! # let website = account.clone();
//! let record = website.consignment(draft.id().ok_or("no id")?).await?.value;
//! let (_, problems) = website.submit_consignment(ConsignmentInput::from(&record)).await?.into_parts();
//! println!("submitted with {} problems", problems.len());
//!
//! replica.sync().await?;
//! let change = feed.next().await?.ok_or("no change")?;
//! let ChangeKind::Changed { status: Some(status), .. } = &change.kind else {
//!     panic!("the status changed");
//! };
//! assert_eq!(status.before, Some(ConsignmentStatus::Draft));
//! assert_eq!(status.after, Some(ConsignmentStatus::Submitted));
//! # Ok(()) });
//! ```

#![cfg_attr(docsrs, feature(doc_cfg))]
#![forbid(unsafe_code)]
// Tests may unwrap; the library has `// OK because ...` on the line above where it must.
#![cfg_attr(not(test), warn(clippy::unwrap_used, clippy::expect_used))]
// Texts and lists of the server must not cause a panic: use `get`, `split_at_checked` and patterns, which handle missing parts.
#![cfg_attr(not(test), deny(clippy::string_slice, clippy::indexing_slicing))]

// First, so that all other modules can use its macros.
#[macro_use]
mod macros;

mod account_store;
pub mod bank;
mod error;
pub mod guide;
mod locked;
mod loop_control;
pub mod outbox;
pub mod replica;
pub mod store;
#[cfg(test)]
mod tests;

use chrono::{DateTime, Utc};
use envd_sdk::model::Timestamp;

pub use crate::bank::Banks;
pub use crate::error::{Error, Result};
pub use crate::loop_control::{Loop, LoopHandle};
pub use crate::outbox::Outbox;
pub use crate::replica::Replica;

/// Parses an instant that the caller passed as an argument or setting: in whole seconds since 1970, 0 before.
pub(crate) fn given_instant(at: &Timestamp, name: &str) -> Result<u64> {
    let time = DateTime::<Utc>::try_from(at);
    let time = time.map_err(|_| Error::usage(format!("{name}: {at:?} is not an instant")))?;
    Ok(time.timestamp().try_into().unwrap_or_default())
}

/// An instant for display: in UTC, without fractions of seconds.
pub(crate) fn instant(at: &Timestamp) -> Timestamp {
    let time = DateTime::<Utc>::try_from(at).ok();
    let whole = time.and_then(|time| DateTime::from_timestamp(time.timestamp(), 0));
    whole.map_or_else(|| at.clone(), Timestamp::from)
}

/// A count with its noun.
pub(crate) fn counted(count: u64, noun: &str) -> String {
    let ending = if count == 1 { "" } else { "s" };
    format!("{count} {noun}{ending}")
}
