//! The examples as a user runs them: as processes, by their arguments, exit codes and output.

mod answer_questions;
mod calls;
mod lists;
#[cfg(unix)]
mod outbox;
mod outbox_killed;
mod serve_fake;
mod stories;
mod sync_account;
mod sync_killed;
mod tokens;
