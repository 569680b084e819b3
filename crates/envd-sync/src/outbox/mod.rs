//! What is to be sent, kept until it is: declarations written without reception.
//!
//! | task | see |
//! | --- | --- |
//! | write a declaration down, and have it sent once | [`Outbox::save`], [`Outbox::submit`] |
//! | change a record of the service | [`Outbox::update`], [`Outbox::delete`], [`Outbox::comment`] |
//! | send what waits, now or whenever there is reception | [`Outbox::send`], [`Outbox::run`] |
//! | send what is due, from a scheduler of your own | [`Outbox::send_due`] |
//! | show what waits and what became of it | [`Outbox::entries`], [`Outbox::events`], [`Outbox::history`] |
//! | answer what only a person can | [`Outbox::decide`], [`Decision`] |
//!
//! [`guide::outbox`](crate::guide::outbox) says what this claims and what it cannot, what each state means, and how to choose the times.
//!
//! A declaration whose reply is lost is found again, and not made twice:
//!
//! ```
//! # equipment::example(async {
//! use envd_sdk::fake::Fault;
//! use envd_sdk::model::{ConsignmentInput, FormType, PartyInput};
//! use envd_sync::outbox::EntryState;
//! use envd_sync::store::MemorySync;
//! use envd_sync::{Outbox, Replica};
//!
//! # let fake = envd_sdk::fake::Fake::start().await;
//! # let account = fake.client().build()?.account(fake.account_id());
//! # let before = fake.consignments::<serde_json::Value>(fake.account_id()).len();
//! let outbox = Outbox::new(&Replica::new(&account, MemorySync::new()));
//! let (origin, destination) = (PartyInput::new("QAZZ7777"), PartyInput::new("QDZZ3333"));
//! let input = ConsignmentInput::new([FormType::Lpac1], origin, destination)
//!     .movement("2099-01-15", "05:15");
//! let entry = outbox.save(input).await?;
//! assert_eq!(entry.state, EntryState::Queued);
//!
//! // The server saves it, and the connection is lost before the reply.
//! fake.on_operation("CreateOrSaveConsignment").fault(Fault::dropped_after());
//! let report = outbox.send().await?;
//! assert_eq!(report.confirmed, 1);
//! # assert_eq!(fake.consignments::<serde_json::Value>(fake.account_id()).len(), before + 1);
//! # Ok(()) });
//! ```

mod account_outbox;
mod compare;
mod decide;
mod decision;
mod edits;
mod entry;
mod events;
mod history;
mod input_text;
mod lease;
mod observe;
mod ordering;
mod outbox_loop;
mod outbox_store;
mod pass;
mod report;
mod sending;
mod stored;
mod submit;
#[cfg(test)]
mod tests;
mod waiting;
mod write;

#[doc(alias("queue", "offline"))]
pub use self::account_outbox::Outbox;
pub use self::compare::{ChangedBy, Conflict, FieldDifference};
#[doc(alias = "conflict")]
pub use self::decision::Decision;
pub use self::entry::{Attempt, Entry, EntryId, EntryKind, EntryState, Reason};
pub use self::events::EntryEvents;
pub use self::history::HistoryPage;
pub use self::outbox_loop::OutboxEvent;
pub use self::report::OutboxReport;
pub use self::waiting::{RecordWithWaiting, WaitingPage};
