//! Tests of the laws, for correct stores and for broken ones; a wrapper for test stores, and a store with faults.

pub(crate) mod faulty_store;
mod laws;
pub(crate) mod store_wrapper;
