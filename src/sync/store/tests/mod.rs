//! The one wrapper of stores for tests, and the faults that most of them need.

pub(in crate::sync) mod faulty_store;
pub(in crate::sync) mod store_wrapper;
