//! Cases of the validator as a whole.

mod bodies;
mod drafts;
mod fields;
mod findings;
mod forms;
mod laws;
pub(super) mod questions;
mod reports;
mod sentences;
pub(super) mod shapes;
mod work;
