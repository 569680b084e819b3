//! The laws of all stores; the one wrapper of stores for tests, and the faults that most of them need.

pub(in crate::sync) mod faulty_store;
mod laws;
#[cfg(feature = "sealed")]
mod sealed;
pub(in crate::sync) mod store_wrapper;
