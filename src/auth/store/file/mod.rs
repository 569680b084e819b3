//! A store in a file, shared by the processes of a user.
//!
//! `handle` is the store. `ledger` is the text of the file, `disk` replaces it in one step, `lock` waits for the lock
//! files, `place` knows where they are, `ownership` opens them if they are the user's own. `aside` keeps what cannot be
//! read. `fault` is where tests let a write fail or a process die.

mod aside;
mod disk;
mod fault;
mod handle;
mod ledger;
mod lock;
mod ownership;
mod place;

#[cfg(test)]
mod tests;

pub use self::handle::FileStore;
