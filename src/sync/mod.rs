//! A local copy of what an account holds, what changed in it, and what is to be sent.
//!
//! | task | see |
//! | --- | --- |
//! | copy an account, and bring the copy up to date | [`Account::replica`](crate::Account::replica), [`Replica::sync`](replica::Replica::sync) |
//! | do so every few minutes, until stopped | [`Replica::run`](replica::Replica::run) |
//! | look records up without a request | [`Replica::consignments`](replica::Replica::consignments), [`LocalQuery`](replica::LocalQuery) |
//! | react to changes, each at least once and in order | [`Replica::changes`](replica::Replica::changes), [`Changes`](replica::Changes) |
//! | write declarations without reception, and have each sent once | [`outbox`]: [`Account::outbox`](crate::Account::outbox) |
//! | fill in forms without reception, and keep them | [`Account::banks`](crate::Account::banks), [`bank`] |
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
//! use envd_sdk::sync::replica::ChangeKind;
//! use envd_sdk::sync::store::MemorySync;
//!
//! # let fake = envd_sdk::fake::Fake::start().await;
//! # let account = fake.client().build()?.account(fake.account_id());
//! let replica = account.replica(MemorySync::new());
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
#![cfg_attr(
    feature = "postgres",
    doc = "\n[`guide::many_hosts`]: crate::guide::many_hosts"
)]
#![cfg_attr(
    not(feature = "postgres"),
    doc = "\n[`guide::many_hosts`]: crate#features"
)]

mod account_store;
// As in `validate`, whose numbers of questions it uses.
#[allow(clippy::indexing_slicing)]
pub mod bank;
mod loop_control;
pub mod outbox;
pub mod replica;
pub mod store;
#[cfg(test)]
mod tests;

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crate::error::{Error, Result};
use crate::model::Timestamp;

/// The instant that a caller gave as an argument or a setting.
pub(crate) fn given_instant(at: &Timestamp, name: &str) -> Result<SystemTime> {
    at.to_time()
        .ok_or_else(|| Error::config(format!("{name}: {at:?} is not an instant")))
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
