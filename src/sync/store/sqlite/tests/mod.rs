//! The store in a file.

mod damage;
mod disk_full;
pub(in crate::sync) mod folder;
mod laws;
mod permissions;
mod processes;
