//! The examples as a user runs them: as processes, by their arguments, exit codes and output.
//!
//! `cargo test` builds the examples; before a run of this test alone, run `cargo build --examples`. An example that is older
//! than its sources fails the test.

mod answer_questions;
mod calls;
mod check_pics;
mod check_pics_files;
mod check_pics_resume;
#[cfg(unix)]
mod check_pics_terminal;
mod control_characters;
mod folder;
#[cfg(unix)]
mod gate;
mod lists;
mod loopback_down;
mod outbox;
#[cfg(unix)]
mod outbox_killed;
mod program;
mod resume;
mod running;
#[cfg(unix)]
mod serve_fake;
mod sync_account;
mod sync_killed;
#[cfg(unix)]
mod terminal;
mod tokens;
mod validate;
mod web_form;
mod web_login;
mod workbook;
