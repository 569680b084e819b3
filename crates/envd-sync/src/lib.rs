//! A local copy of what an account holds, what changed in it, and what is to be sent.
//!
//! | task | see |
//! | --- | --- |
//! | copy an account, and bring the copy up to date | [`Account::replica`](envd_sdk::Account::replica), [`Replica::sync`](replica::Replica::sync) |
//! | do so every few minutes, until stopped | [`Replica::run`](replica::Replica::run) |
//! | look records up without a request | [`Replica::consignments`](replica::Replica::consignments), [`LocalQuery`](replica::LocalQuery) |
//! | react to changes, each at least once and in order | [`Replica::changes`](replica::Replica::changes), [`Changes`](replica::Changes) |
//! | write declarations without reception, and have each sent once | [`outbox`]: [`Account::outbox`](envd_sdk::Account::outbox) |
//! | fill in forms without reception, and keep them | [`Account::banks`](envd_sdk::Account::banks), [`bank`] |
//! | keep the copy in memory, in a file or in Postgres | [`store`] |
//! | serve thousands of accounts from many hosts | `store::PostgresSync` and a job queue: [`guide::many_hosts`] |
//!
//! [`guide::sync`](crate::guide::sync) says what this claims and what it cannot, and how to choose intervals and consumers;
//! [`guide::outbox`](crate::guide::outbox) does so for what is sent.
//!
//! A copy and its changes on the fake, while someone else works on the website:
//!
//! ```
//! # equipment::example(async {
//! use envd_sdk::model::{ConsignmentInput, ConsignmentStatus};
//! use envd_sync::replica::ChangeKind;
//! use envd_sync::store::MemorySync;
//! use envd_sync::Replica;
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
// A text or a list of the server must not end the program: `get`, `split_at_checked` and patterns say what is not there.
#![cfg_attr(not(test), deny(clippy::string_slice, clippy::indexing_slicing))]

// First, since its macros serve all that follow.
#[macro_use]
mod macros;

mod account_store;
// Numbers of questions index the lists that they were made for.
#[allow(clippy::indexing_slicing)]
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

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use envd_sdk::model::Timestamp;

pub use crate::bank::Banks;
pub use crate::error::{Error, Result};
pub use crate::outbox::Outbox;
pub use crate::replica::Replica;

/// The instant that a caller gave as an argument or a setting.
pub(crate) fn given_instant(at: &Timestamp, name: &str) -> Result<SystemTime> {
    at.to_time()
        .ok_or_else(|| Error::usage(format!("{name}: {at:?} is not an instant")))
}

/// An instant for people: in UTC, without fractions of seconds.
pub(crate) fn instant(at: &Timestamp) -> Timestamp {
    let since = (at.to_time()).and_then(|time| time.duration_since(UNIX_EPOCH).ok());
    let whole = since.map(|since| UNIX_EPOCH + Duration::from_secs(since.as_secs()));
    whole.map_or_else(|| at.clone(), Timestamp::from)
}

/// A count with its noun.
pub(crate) fn counted(count: u64, noun: &str) -> String {
    let ending = if count == 1 { "" } else { "s" };
    format!("{count} {noun}{ending}")
}
