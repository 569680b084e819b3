//! The laws, kept by the stores and seen to be broken; the one wrapper of stores for tests, and the faults that most of them need.

pub(crate) mod faulty_store;
mod laws;
pub(crate) mod store_wrapper;
