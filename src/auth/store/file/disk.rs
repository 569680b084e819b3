//! Reads the file, and replaces it in one step.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::path::Path;

use zeroize::Zeroizing;

use super::super::StoreError;
use super::fault::{Faults, Point};
use super::ownership::{keep_to_owner, open, private};
use super::place::Place;

/// What is in the file; `None` only if there is none.
pub(super) fn read(place: &Place) -> Result<Option<Zeroizing<Vec<u8>>>, StoreError> {
    let failed = |source| StoreError::io("the token file cannot be read", source);
    let mut options = OpenOptions::new();
    let Some(mut file) = open(&place.file(), options.read(true), "the token file")? else {
        return Ok(None);
    };
    keep_to_owner(&file)?;
    // With room for all of it: a buffer that grows leaves copies of the tokens behind.
    let size = file.metadata().map_err(failed)?.len();
    let size = usize::try_from(size).unwrap_or_default();
    let mut text = Zeroizing::new(Vec::with_capacity(size + 64));
    file.read_to_end(&mut text).map_err(failed)?;
    Ok(Some(text))
}

/// Puts a text in the place of the file, whole or not at all. The write lock is held.
pub(super) fn replace(place: &Place, text: &[u8], faults: &Faults) -> Result<(), StoreError> {
    let successor = place.successor();
    let replaced = write_successor(&successor, text, faults)
        .and_then(|()| fs::rename(&successor, place.file()));
    if let Err(error) = replaced {
        // OK to ignore: the next write removes it.
        let _ = fs::remove_file(&successor);
        return Err(StoreError::io("the token file cannot be written", error));
    }
    faults
        .pass(Point::Renamed)
        .and_then(|()| sync_directory(&place.directory))
        .map_err(|source| StoreError::io("the token file may not be on the disk yet", source))
}

/// Deletes the file. The write lock is held.
pub(super) fn delete(place: &Place) -> Result<(), StoreError> {
    fs::remove_file(place.file())
        .and_then(|()| sync_directory(&place.directory))
        .map_err(|source| StoreError::io("the token file cannot be deleted", source))
}

fn write_successor(path: &Path, text: &[u8], faults: &Faults) -> io::Result<()> {
    // What a process left that died in the middle of this.
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let mut file = private(OpenOptions::new().write(true).create_new(true)).open(path)?;
    faults.pass(Point::Made)?;
    file.write_all(text)?;
    // On the disk before it gets the name: after a power cut there must not be an empty file under it.
    file.sync_all()?;
    faults.pass(Point::Written)
}

/// Puts the change of a name on the disk.
#[cfg(unix)]
fn sync_directory(path: &Path) -> io::Result<()> {
    match File::open(path)?.sync_all() {
        // There is nothing to be done about file systems that cannot.
        Err(error) if error.kind() == io::ErrorKind::InvalidInput => Ok(()),
        result => result,
    }
}

/// Where directories cannot be opened, the file system's journal has to do.
#[cfg(not(unix))]
#[allow(clippy::unnecessary_wraps)]
fn sync_directory(_: &Path) -> io::Result<()> {
    Ok(())
}
