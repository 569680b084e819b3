//! The file store against what happens to files.

mod damage;
mod disk_faults;
mod folder;
#[cfg(unix)]
mod kill;
mod locks;
mod permissions;
