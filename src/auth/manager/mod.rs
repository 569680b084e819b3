//! Keeps the tokens of one account fresh.
//!
//! # The states of a session
//!
//! | state | in memory | in the store | a caller gets |
//! |---|---|---|---|
//! | unread | nothing | unknown | what the first read finds |
//! | logged out | nothing | no record | `is_reauth_required` |
//! | in use | tokens, a [`Snapshot`](memory::Snapshot) | the same tokens | the snapshot, without a lock |
//! | renewing | as before | the same tokens, marked | the snapshot; after its end, the outcome of the one refresh |
//! | not stored | new tokens | the tokens before them, marked | the new tokens, or an error of a strict manager |
//! | paused | tokens, the last failure | tokens, marked if they may be used up | the snapshot; after its end, the failure with its time |
//! | ended | the reason, the last access token | the reason | the snapshot; after its end, `is_reauth_required` |
//!
//! # One refresh
//!
//! [`decide`] chooses each step, [`refresh`] carries it out. The store holds durable state before the next step begins.
//!
//! | step | what it does | durable after it |
//! |---|---|---|
//! | serve | the token in use, the refresh that runs, or a new one: never two | nothing new |
//! | lock | takes the store's lock and reads the record under it | nothing new |
//! | compare | adopts newer tokens, a login, a logout or an end of another process | nothing new |
//! | save | stores tokens that an earlier refresh could not store | those tokens |
//! | wait, claim, watch | another process may be sending, and the lock proves nothing: waits for its mark, replaces it, watches it | the replaced mark |
//! | mark | writes that the refresh token is about to be sent | the mark |
//! | send | one request, and once more if the reply was lost | the mark |
//! | store | new tokens, or the reason of the end, in the place of the mark | new tokens, or the end |
//! | publish | serves them | new tokens |
//! | release | the lock, unless tokens are not stored | new tokens |
//!
//! # What may come in between
//!
//! Each row names its tables in `tests/scenarios`; the random schedules of `tests/schedules` mix the rows.
//!
//! | what | before mark | from mark to reply | after the reply, before it is stored | tests |
//! |---|---|---|---|---|
//! | a crash | nothing is lost | the next process sends the marked token once more: at once if a free lock proves the crash, else after the wait | the session is lost, and says so | `persistence`, `ending`, `marks`; kills in `tests/processes` |
//! | a dropped caller | the task goes on | the task goes on | the task goes on | `single_flight` |
//! | another process | its lock is waited for, its tokens are adopted | it waits for the lock, or for the mark | it waits: the lock is kept | `single_flight`, `persistence`, `marks`, `kept_lock` |
//! | a suspended process | reads again before it sends | holds the lock, or its mark stands | as before | `marks` |
//! | a logout here | the task ends | the reply is discarded and its token revoked | as before | `sessions`, `deletion`, `kept_lock` |
//! | a logout elsewhere | is found by the read | the new tokens find no record, and are revoked | as before | `elsewhere`, `kept_lock` |
//! | a login here | the task ends | the reply is discarded | its tokens replace the unsaved ones | `sessions`, `kept_lock` |
//! | a login elsewhere | is adopted, or ends the session if it is another user's | its record is never overwritten | as before | `elsewhere`, `kept_lock` |
//! | a store with an earlier record | the tokens in memory are stored again, and sent | the mark and the new tokens replace it | as before | `elsewhere` |
//! | a store that fails | a pause; the token in use is served | nothing is sent without the mark | new tokens are served, the lock is kept, storing is tried again | `persistence`, `kept_lock` |
//! | a provider that fails | | classified: never sent, not processed (the mark is removed), unclear (sent once more), dead | | `failures`, `network` |
//! | a calendar that jumps | tokens end by either clock | waits go by the monotonic clock | as before | `time` |
//! | the end of the runtime | nothing is lost | as a crash | the lock is kept until the manager is dropped; the next runtime stores the tokens | `ending`, `kept_lock` |
//!
//! Imports go one way: [`timing`], [`report`], [`memory`], [`decide`], [`shared`], [`refresh`], [`login`], [`token_manager`],
//! [`builder`].

mod builder;
mod decide;
mod login;
mod memory;
mod refresh;
mod report;
mod shared;
mod token_manager;

#[cfg(test)]
pub(in crate::auth) mod tests;

pub use self::builder::Timing;
pub use self::builder::TokenManagerBuilder;
pub(super) use self::login::Login;
pub use self::login::LogoutReport;
pub use self::report::{Event, Events, Inspection, LastFailure, SessionState};
pub use self::token_manager::TokenManager;
