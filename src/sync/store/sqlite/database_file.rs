//! The file of the database: for its owner alone, in a directory that is safe from others.

use std::fs::{self, OpenOptions};
use std::io::ErrorKind;
use std::path::Path;
use std::sync::Mutex;

use crate::auth::StoreError;
use crate::auth::store::file::file_access;
use crate::locked::lock;

const NAME: &str = "the database of the copy";

/// Held from the creation of a file until it is closed: the locks that `SQLite` has on a file end when the process closes
/// any handle on it, so no file may be closed here that `SQLite` may have opened already.
static CREATING: Mutex<()> = Mutex::new(());

/// Checks the file without opening it, or creates it empty. The files that `SQLite` makes beside it get its mode.
pub(super) fn prepare(path: &Path) -> Result<(), StoreError> {
    let _creating = lock(&CREATING);
    let directory = path.parent().unwrap_or(path);
    file_access::check_unshared_directory(directory, NAME)?;
    // SQLite takes those that are there, whoever made them.
    for ending in ["-wal", "-shm", "-journal"] {
        let mut beside = path.as_os_str().to_owned();
        beside.push(ending);
        check_file(beside.as_ref())?;
    }
    if check_file(path)? {
        return Ok(());
    }
    create(path, directory)
}

/// Whether the file is there. It must be one of this user that nobody else may write; the right to read it is taken from others.
fn check_file(path: &Path) -> Result<bool, StoreError> {
    match fs::symlink_metadata(path) {
        Ok(metadata) => {
            file_access::check_kind_and_owner(&metadata, NAME)?;
            file_access::keep_to_owner(&metadata, NAME, |private| {
                fs::set_permissions(path, private)
            })?;
            Ok(true)
        }
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
        Err(error) => Err(StoreError::io(format!("{NAME} cannot be found"), error)),
    }
}

fn create(path: &Path, directory: &Path) -> Result<(), StoreError> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    match file_access::private(&mut options).open(path) {
        // The name survives a loss of power, as what is committed under it does. SQLite sees to that for its own files only.
        Ok(_) => file_access::sync_directory(directory),
        // Another process was first.
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(()),
        Err(error) => Err(error),
    }
    .map_err(|source| StoreError::io(format!("{NAME} cannot be created"), source))
}
