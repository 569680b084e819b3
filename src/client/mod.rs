//! The client: settings, the one path of every request, the handle of an account.

mod account;
mod builder;
mod handle;
mod run;

pub use self::account::Account;
pub use self::builder::ClientBuilder;
pub use self::handle::Client;
