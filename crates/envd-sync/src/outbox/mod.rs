//! Declarations written without reception: the outbox stores what the user wants until the service has it.
//!
//! The store has one row for each declaration: what the user wants (a draft, a submitted declaration, or none), and the last state
//! that the service has shown. A pass compares the two for each row, and then sends the next request, waits, or asks the user.
//!
//! | task | see |
//! | --- | --- |
//! | write a declaration that is sent once | [`Outbox::save`], [`Outbox::submit`] |
//! | change a declaration, or take it back | [`Outbox::edit`], [`Outbox::withdraw`], [`Outbox::delete`] |
//! | change a record of the service | [`Outbox::update`], [`Outbox::delete_record`] |
//! | send what is due, once or whenever there is reception | [`Outbox::send`], [`Outbox::run`] |
//! | send what is due, from your own scheduler | [`Outbox::send_due`] |
//! | show the declarations and their progress | [`Outbox::declarations`], [`Outbox::events`], [`Outbox::history`] |
//! | answer a question that only the user can decide | [`Outbox::decide`], [`Decision`] |
//!
//! [`guide::outbox`](crate::guide::outbox) describes what the outbox promises and what it does not, each state, and how to choose the
//! times.
//!
//! If a reply is lost, the outbox finds the record instead of creating a second one:
//!
//! ```
//! # test_support::example(async {
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
//! let origin = PartyInput::new("QAZZ7777");
//! let destination = PartyInput::new("QDZZ3333");
//! let input = ConsignmentInput::new([FormType::Lpac1], origin, destination)
//!     .movement("2099-01-15", "05:15");
//! let written = outbox.save(input).await?;
//! assert_eq!(written.state, DeclarationState::Queued);
//!
//! // The server saves the declaration, and the connection is lost before the reply.
//! fake.on_operation("CreateOrSaveConsignment").fault(Fault::dropped_after());
//! let report = outbox.send().await?;
//! assert_eq!(report.confirmed, 1);
//! # assert_eq!(fake.consignments::<serde_json::Value>(fake.account_id()).len(), before + 1);
//! # Ok(()) });
//! ```

// These modules are pure: no clock, no store, no requests. `tests/outbox_model` compiles them without the rest and checks them with a
// model.
mod apply;
mod builders;
// `compare` and `row` index stored JSON by name. Reading a missing name gives null, and only objects are written to.
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
mod requests;
mod sentences;
mod store;
#[cfg(test)]
mod tests;

pub use self::builders::{DeclarationEdit, NewDeclaration};
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
pub use self::row::{HistoryEventKind, Reason};
