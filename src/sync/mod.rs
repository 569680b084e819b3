//! A local copy of what an account holds, and what changed in it.

pub mod replica;
pub mod store;
