//! Cases of the validator as a whole.

mod bodies;
mod fields;
mod forms;
mod questions;
mod rows;
mod shapes;
