//! The store in a file.

pub(in crate::sync) mod folder;
mod laws;
