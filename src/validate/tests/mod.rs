//! Cases of the validator as a whole.

mod bodies;
