//! Keeps the tokens of one account valid.
//!
//! # The states of a session
//!
//! | state | in memory | in the store | a caller gets |
//! |---|---|---|---|
//! | unread | nothing | unknown | the result of the first read |
//! | logged out | nothing | no record | `is_reauth_required` |
//! | in use | tokens, a [`Snapshot`](memory::Snapshot) | the same tokens | the snapshot, without a lock |
//! | renewing | unchanged | the same tokens, marked | the snapshot; after it expires, the result of the running refresh |
//! | not stored | new tokens | the previous tokens, marked | the new tokens, or an error from a strict manager |
//! | paused | tokens, the last failure | tokens, marked if they may be used up | the snapshot; after it expires, the failure with the time to wait |
//! | ended | the reason, the last access token | the reason | the snapshot; after it expires, `is_reauth_required` |
//!
//! # One refresh
//!
//! The function `refresh` of [`refresh`] has these steps from top to bottom; [`decide`] chooses among those before the mark.
//! Each step's durable state is in the store before the next step begins. Waits, claims and watches are in [`foreign_mark`]; a
//! refresh with a memory or file store has none of them, because a free lock proves that the owner of a mark has exited.
//!
//! | step | action | durable afterwards |
//! |---|---|---|
//! | serve | returns the current token, the running refresh, or a new one: never two refreshes | no change |
//! | lock | takes the store's lock and reads the record under it | no change |
//! | compare | adopts newer tokens, a login, a logout or an end from another process | no change |
//! | save | stores tokens that an earlier refresh could not store | those tokens |
//! | wait, claim, watch | another process may be sending, and the lock proves nothing: waits for its mark, replaces it, watches it | the replaced mark |
//! | mark | records that the refresh token is about to be sent | the mark |
//! | send | one request, and a second one if the reply was lost | the mark |
//! | store | replaces the mark with new tokens, or with the reason why the session ended | new tokens, or the end |
//! | publish | serves the new tokens | new tokens |
//! | release | releases the lock, unless tokens are not stored | new tokens |
//!
//! # Interruptions
//!
//! Each row names its tables in `tests/scenarios`; the random schedules of `tests/schedules` combine the rows.
//!
//! | event | before the mark | from mark to reply | after the reply, before it is stored | tests |
//! |---|---|---|---|---|
//! | a crash | nothing is lost | the next process sends the marked token once more: immediately if a free lock proves the crash, otherwise after the wait | the session is lost, and this is reported | `persistence`, `ending`, `marks`; kills in `tests/processes` |
//! | a dropped caller | the task continues | the task continues | the task continues | `single_flight` |
//! | another process | waits for its lock, adopts its tokens | the other process waits for the lock, or for the mark | it waits: the lock is kept | `single_flight`, `persistence`, `marks`, `kept_lock` |
//! | a suspended process | reads again before it sends | holds the lock, or its mark remains | same | `marks` |
//! | a logout here | the task ends | the reply is discarded and its token revoked | same | `sessions`, `deletion`, `kept_lock` |
//! | a logout elsewhere | detected by the read | the new tokens find no record, and are revoked | same | `elsewhere`, `kept_lock` |
//! | a login here | the task ends | the reply is discarded | its tokens replace the unsaved ones | `sessions`, `kept_lock` |
//! | a login elsewhere | adopted, or ends the session if it is a different user | its record is never overwritten | same | `elsewhere`, `kept_lock` |
//! | a store with an earlier record | the tokens in memory are stored again, and sent | the mark and the new tokens replace it | same | `elsewhere` |
//! | a failing store | a pause; the current token is served | nothing is sent without the mark | new tokens are served, the lock is kept, storing is retried | `persistence`, `kept_lock` |
//! | a failing provider | | classified: never sent, not processed (the mark is removed), unclear (sent once more), dead | | `failures`, `network` |
//! | a wall clock that jumps | tokens expire by either clock | waits use the monotonic clock | same | `time` |
//! | the end of the runtime | nothing is lost | like a crash | the lock is kept until the manager is dropped; the next runtime stores the tokens | `ending`, `kept_lock` |
//!
//! Modules import in one direction: [`report`], [`timing`], [`memory`], [`decide`], [`shared`], [`refresh_transaction`],
//! [`foreign_mark`], [`refresh`], [`login`], [`token_manager`], [`builder`].

mod builder;
mod decide;
mod foreign_mark;
mod login;
mod memory;
mod refresh;
mod refresh_transaction;
mod report;
mod shared;
mod timing;
mod token_manager;

#[cfg(test)]
pub(in crate::auth) mod tests;

pub use self::builder::TokenManagerBuilder;
pub(super) use self::login::Login;
pub use self::login::LogoutReport;
pub use self::report::{Event, Events, Inspection, LastFailure, SessionState};
pub use self::timing::Timing;
pub use self::token_manager::TokenManager;
