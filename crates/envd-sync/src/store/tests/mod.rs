//! The laws of all stores; the one wrapper of stores for tests, and the faults that most of them need.

pub(crate) mod faulty_store;
mod laws;
pub(crate) mod store_wrapper;
