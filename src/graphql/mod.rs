//! The GraphQL interface, without any sending: operations, the bodies of requests, the envelope of replies.

mod envelope;
mod request;

pub use self::envelope::Outcome;
pub(crate) use self::envelope::decode;
pub(crate) use self::request::{Encoded, OperationKind, encode, encode_document};

/// The operations, written from `graphql/`; this module tracks the schema and may change in minor releases.
#[rustfmt::skip]
pub mod generated;
