//! A saleyard application: login, declarations, lists of consignments, and look-ups of properties.

mod desk;
mod heads;
mod login;

pub use desk::{Desk, SaveResult};
pub use login::{Addresses, LoginService};

/// Operations that the SDK has no method for.
pub mod queries {
    envd_sdk::include_operations!();
}
