//! Fits our documents and inputs to a server with another schema than [`SCHEMA`](super::SCHEMA).
//!
//! The module exists because this crate was written without access to the service. An *override* replaces one of our documents
//! with the caller's. A *rewrite* is our document with fields omitted or renamed, or with the record at another location. All of
//! it is set by the [`ServiceProfile`](crate::profile::ServiceProfile) of a client, except the fields of a query that the server
//! refuses: they are omitted as well, and [`Overrides`] keeps them for later requests.

mod document_rewrite;
mod field_renames;
mod lexer;
mod overrides;

#[cfg(feature = "fake")]
pub(crate) use self::field_renames::FieldRename;
pub(crate) use self::field_renames::FieldRenames;
pub(super) use self::lexer::operations;
pub(crate) use self::overrides::Overrides;
