//! The GraphQL interface, without any sending.

#[rustfmt::skip]
pub mod generated;
