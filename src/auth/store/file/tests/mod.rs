//! The file store against what happens to files.

mod damage;
mod disk_faults;
mod folder;
mod locks;
mod permissions;
