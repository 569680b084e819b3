//! What is wanted of the service, kept until it is there: declarations written without reception.
//!
//! One row is kept for each declaration: what is wanted (a draft, a submitted one, nothing), and what is known of the service. A pass
//! compares the two and sends the one next request, or waits, or asks a person.
//!
//! | task | see |
//! | --- | --- |
//! | write a declaration down, and have it sent once | [`Outbox::save`], [`Outbox::submit`] |
//! | change what was written, or take it back | [`Outbox::edit`], [`Outbox::withdraw`], [`Outbox::delete`] |
//! | change a record of the service | [`Outbox::update`], [`Outbox::submit_record`], [`Outbox::delete_record`] |
//! | send what waits, now or whenever there is reception | [`Outbox::send`], [`Outbox::run`] |
//! | send what is due, from a scheduler of your own | [`Outbox::send_due`] |
//! | show what waits and what became of it | [`Outbox::declarations`], [`Outbox::events`], [`Outbox::history`] |
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
//! use envd_sync::outbox::DeclarationState;
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
//! let written = outbox.save(input).await?;
//! assert_eq!(written.state, DeclarationState::Queued);
//!
//! // The server saves it, and the connection is lost before the reply.
//! fake.on_operation("CreateOrSaveConsignment").fault(Fault::dropped_after());
//! let report = outbox.send().await?;
//! assert_eq!(report.confirmed, 1);
//! # assert_eq!(fake.consignments::<serde_json::Value>(fake.account_id()).len(), before + 1);
//! # Ok(()) });
//! ```

// Pure: no clock, no store, no request. `tests/one_row` compiles these files alone, with a model.
mod apply;
// Both walk stored JSON by name, which gives null for what is not there; what is written to is an object.
#[allow(clippy::indexing_slicing)]
mod compare;
mod decide;
mod decision;
#[allow(clippy::indexing_slicing)]
mod row;

mod declaration;
mod events;
mod history;
mod lease;
mod observe;
#[allow(clippy::module_inception)]
mod outbox;
mod outbox_loop;
mod overlay;
mod pass;
mod reading;
mod report;
mod sentences;
mod store;
#[cfg(test)]
mod tests;
mod wishes;

pub use self::compare::{ChangedBy, FieldDifference};
#[doc(alias = "conflict")]
pub use self::decision::Decision;
pub use self::declaration::{
    Conflict, Declaration, DeclarationId, DeclarationState, HistoryEvent, Wanted,
};
pub use self::events::DeclarationEvents;
pub use self::history::HistoryPage;
#[doc(alias("queue", "offline"))]
pub use self::outbox::Outbox;
pub use self::outbox_loop::OutboxEvent;
pub use self::overlay::{RecordWithWaiting, WaitingPage};
pub use self::report::OutboxReport;
pub use self::row::Reason;
pub use self::wishes::NewDeclaration;
