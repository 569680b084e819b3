//! Tests of the file store on real files.

mod damage;
mod disk_faults;
mod folder;
mod locks;
mod names;
#[cfg(unix)]
mod permissions;

pub(in crate::auth) use self::folder::Folder;
