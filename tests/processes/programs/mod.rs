//! The examples as a user runs them: as processes, by their arguments, exit codes and output.

mod answer_questions;
mod calls;
mod control_characters;
mod lists;
mod outbox;
#[cfg(unix)]
mod outbox_killed;
#[cfg(unix)]
mod serve_fake;
mod sync_account;
mod sync_killed;
mod tokens;
mod validate;
