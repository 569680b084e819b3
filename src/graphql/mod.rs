//! The GraphQL interface, without any sending.

/// The operations, written from `graphql/`; this module tracks the schema and may change in minor releases.
#[rustfmt::skip]
pub mod generated;
