//! The file store against what happens to files.

mod damage;
mod disk_faults;
mod folder;
mod locks;
#[cfg(unix)]
mod permissions;

pub(in crate::auth) use self::folder::Folder;
