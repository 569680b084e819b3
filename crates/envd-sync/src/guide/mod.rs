//! Guide pages.
//!
//! | page | what it shows |
//! | --- | --- |
//! | [`sync`](mod@sync) | a local copy and its changes: guarantees, intervals, consumers, banks |
//! | [`outbox`](mod@outbox) | the life of a declaration that is written without reception, and the questions that the user decides |
//! | [`decisions`] | the reasons for the design of copies and question lists |
//! | [`offline`](mod@offline) | complete programs: a farm without reception, a copy in SQLite |

#[doc = include_str!("decisions.md")]
pub mod decisions {}

#[doc = include_str!("outbox.md")]
#[doc(alias = "without reception")]
pub mod outbox {}

#[doc = include_str!("sync.md")]
#[doc(alias = "changed since")]
pub mod sync {}

#[doc = include_str!("offline.md")]
#[doc(alias("cookbook", "programs"))]
pub mod offline {}
