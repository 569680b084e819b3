//! The desk of a saleyard: who is logged in, what they declare, what came in, and whose properties these are.

mod desk;
mod heads;
mod login;

pub use desk::{Answer, Desk};
pub use login::{Addresses, Gate};
