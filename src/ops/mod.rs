//! The operations, a file for each group: methods on [`Client`](crate::Client) and [`Account`](crate::Account).

mod consignments;
mod details;
mod filter;
mod introspection;
mod people;
mod templates;

pub use self::filter::ConsignmentFilter;
