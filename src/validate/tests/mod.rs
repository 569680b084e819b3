//! Cases of the validator as a whole.

mod bodies;
mod errors;
mod exported_types;
mod exports;
mod fields;
mod findings;
mod forms;
mod guidance;
mod laws;
mod places;
mod questions;
mod rows;
mod sentences;
mod sessions;
mod shapes;
mod sources;
mod told;
mod wire;
mod work;
