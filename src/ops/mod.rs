//! The operations, a file for each group: methods on [`Client`](crate::Client) and [`Account`](crate::Account).

mod accounts;
mod candidates;
mod consignments;
mod details;
mod filter;
mod people;
mod templates;

pub use self::accounts::AccountChoice;
pub use self::filter::ConsignmentFilter;
