//! Pages to read: what is covered and how sure it is, what its sources are, why things
//! are as they are, what to do about errors and about a
//! live schema that differs, how to show findings and build forms, how to test an application, what is fast.
//!
//! What can go wrong with tokens has its page beside them: [`failure_modes`](crate::auth::failure_modes).

/// What each operation, argument and field rests on. Written by `tests/codegen.rs` from `graphql/schema.graphql`.
///
/// *stated (n)* is said in section n of the interface's specification; *public (name)* was seen in public material of this
/// name and is not confirmed; *assumed* is shown nowhere and is our best guess. [`sources`] lists them all.
///
/// # Operations
#[doc = include_str!("../graphql/coverage.md")]
pub mod coverage {}

#[doc = include_str!("decisions.md")]
pub mod decisions {}

#[doc = include_str!("errors.md")]
pub mod errors {}

/// How to show findings to people, in other languages and in front ends that are not written in Rust.
///
#[doc = include_str!("findings.md")]
pub mod findings {}

/// How to build a screen on a form: what comes next, what an edit changes, save and open.
///
#[doc = include_str!("forms.md")]
pub mod forms {}

#[doc = include_str!("migrating.md")]
pub mod migrating {}

#[doc = include_str!("own_documents.md")]
pub mod own_documents {}

#[doc = include_str!("performance.md")]
pub mod performance {}

#[doc = include_str!("sources.md")]
pub mod sources {}

#[doc = include_str!("testing.md")]
pub mod testing {}
