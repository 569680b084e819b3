//! The GraphQL interface, without any sending: operations, the bodies of requests, the envelope of replies.

mod catalogue;
mod document;
mod envelope;
mod overrides;
mod page_info;
mod request;

pub use self::envelope::Outcome;
pub(crate) use self::envelope::decode;
pub(crate) use self::overrides::Overrides;
pub(crate) use self::page_info::{BEGINNING, early_page_info};
pub(crate) use self::request::{Encoded, OperationKind, encode, encode_document, encode_operation};

/// The operations, written from `graphql/`; this module tracks the schema and may change in minor releases.
#[rustfmt::skip]
pub mod generated;
