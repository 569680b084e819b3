//! Cases of the validator as a whole.

mod bodies;
mod drafts;
mod errors;
mod fields;
mod findings;
mod forms;
mod guidance;
mod laws;
pub(super) mod questions;
mod reports;
mod rows;
mod sentences;
pub(super) mod shapes;
mod sources;
mod work;
