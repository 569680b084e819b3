//! The client: settings, the one path of every request, single calls, lists page by page, the handle of an account.

mod account;
mod builder;
mod call;
mod dry_run;
mod handle;
mod pages;
mod plan;
mod response;
mod run;
mod trace;

pub use self::account::Account;
pub use self::builder::ClientBuilder;
pub use self::call::Call;
pub use self::dry_run::DryRun;
pub use self::handle::Client;
pub use self::pages::{Items, Page, Pager, Pages};
pub use self::response::Response;

pub(crate) use self::pages::{Circle, EMPTY_PAGES, InOrder, Leaf, NOTHING_NEW, Walk, placed};
