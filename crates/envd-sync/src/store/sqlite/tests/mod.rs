//! The store in a file.

mod damage;
mod disk_full;
mod earlier_forms;
pub(crate) mod folder;
mod long_paths;
mod permissions;
mod plans;
mod processes;
