//! Tests of the laws, a store wrapper for tests, and the faults that most tests need.

pub(crate) mod faulty_store;
mod laws;
pub(crate) mod store_wrapper;
