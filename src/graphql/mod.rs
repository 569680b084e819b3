//! The GraphQL interface, without any sending.
//!
//! [`generated`] has an operation for each document under `graphql/`, with the document as text and as data. An override is a
//! document of the caller in place of ours; a document of ours is fitted to the live schema.
//!
//! Document and variables are encoded as the body of a request. A reply is decoded in one pass or, where that fails, part by
//! part. The result is an [`Outcome`]: the data, with the errors of the server beside it.

pub(crate) mod as_received;
mod document;
mod envelope;
mod lexer;
pub(crate) mod misfit;
mod operation;
pub(crate) mod outcome;
mod overrides;
mod reply;
mod request;
#[cfg(test)]
pub(crate) mod tests;
mod unreadable;

pub(crate) use self::as_received::AsReceived;
pub(crate) use self::document::{OperationDocument, OperationKind};
pub(crate) use self::misfit::unreadable_record;
pub(crate) use self::outcome::Outcome;
pub(crate) use self::overrides::Overrides;
pub(crate) use self::reply::{BEGINNING, ValueIn, early_page_info};
pub(crate) use self::request::{Encoded, encode, encode_document, encode_operation};
pub(crate) use self::unreadable::{SalvagedList, Unreadable, salvage_list};

#[doc(inline)]
pub use self::operation::{OperationBody, TypedOperation};
use crate::model::Timestamp;

/// The schema that this crate was written for, in the schema definition language.
///
/// Each description ends with where the element comes from: `stated` by the specification, `public` material, or
/// `assumed`. `envd-codegen` writes operations of your own against it, see [`guide::own_documents`](crate::guide::own_documents).
pub const SCHEMA: &str = include_str!("../../graphql/schema.graphql");

/// The scalar `DateTime` of the schema, for operations that the derive of `graphql_client` makes: it looks for a type of
/// this name in the module of the derive, see [`guide::own_documents`](crate::guide::own_documents).
///
/// That page has an example.
pub type DateTime = Timestamp;

/// The operations, written from `graphql/`; this module tracks the schema and may change in minor releases.
///
/// The methods of [`Client`](crate::Client) and [`Account`](crate::Account) run them, and most programs do not need this module.
/// A type of it names an operation: to run it with variables of your own ([`Client::execute`](crate::Client::execute)), or to
/// script its replies in a test (`Fake::on`).
///
/// ```
/// # equipment::example(async {
/// use envd_sdk::fake::{Fake, Fault};
/// use envd_sdk::graphql::generated::{Comments, comments};
///
/// let fake = Fake::start().await;
/// fake.on::<Comments>().fault(Fault::status(503));
/// let variables = comments::Variables {
///     envd_account_id: fake.account_id().into(),
///     consignment_number: "C-900000101".into(),
/// };
/// // The first attempt fails, the second one is answered.
/// let call = fake.client().build()?.execute::<Comments>(variables);
/// let comments = call.await?.value.comments;
/// assert_eq!(fake.request_count("Comments"), 2);
/// # let _ = comments;
/// # Ok(()) });
/// ```
#[rustfmt::skip]
pub mod generated;
