//! Tests of the requirements, a store wrapper for tests, and the faults that most tests need.

pub(crate) mod faulty_store;
mod requirements;
pub(crate) mod store_wrapper;
