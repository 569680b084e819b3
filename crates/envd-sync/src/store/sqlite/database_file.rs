//! The file of the database: for its owner alone, in a directory that is safe from others.

use std::path::Path;

use envd_sdk::auth::{PrivateFile, StoreError};

const NAME: &str = "the database of the copy";

/// Checks the file without opening it, or creates it empty. The files that `SQLite` makes beside it get its mode.
pub(super) fn prepare(path: &Path) -> Result<(), StoreError> {
    // SQLite opens them if they exist, also those that another user made.
    for ending in ["-wal", "-shm", "-journal"] {
        let mut beside = path.as_os_str().to_owned();
        beside.push(ending);
        PrivateFile::new(beside, NAME).check()?;
    }
    PrivateFile::new(path, NAME).prepare()
}
