//! Guide pages: calls and their settings, errors, forms and findings, differences of the live schema, documents of your own,
//! tests, performance, coverage with its sources, and design decisions.
//!
//! What can fail with tokens has a page in `auth`: [`failure_modes`](crate::auth::failure_modes).

#[doc = include_str!("calls.md")]
pub mod calls {}

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
