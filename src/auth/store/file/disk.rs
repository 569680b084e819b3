//! Reads the file, and replaces it in one step.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::path::Path;

use zeroize::Zeroizing;

use super::super::StoreError;
use super::fault::{Faults, Point};
use super::place::Place;

/// What is in the file; `None` only if there is none.
pub(super) fn read(place: &Place) -> Result<Option<Zeroizing<Vec<u8>>>, StoreError> {
    let failed = |source| StoreError::io("the token file cannot be read", source);
    let path = place.file();
    let about = match fs::symlink_metadata(&path) {
        Ok(about) => about,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(failed(error)),
    };
    if about.is_symlink() {
        // Replacing it would replace the link, and locks beside the link would not be those beside the file.
        let what = "the token file is a symbolic link; name the file that it points to";
        return Err(StoreError::insecure(what));
    }
    if !about.is_file() {
        return Err(StoreError::unreadable("the token file is not a file"));
    }
    let mut file = match File::open(&path) {
        Ok(file) => file,
        // Deleted since, by a logout.
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(failed(error)),
    };
    keep_to_owner(&file)?;
    // With room for all of it: a buffer that grows leaves copies of the tokens behind.
    let size = usize::try_from(about.len()).unwrap_or_default();
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

/// Files are made for their owner alone.
#[cfg(unix)]
pub(super) fn private(options: &mut OpenOptions) -> &mut OpenOptions {
    std::os::unix::fs::OpenOptionsExt::mode(options, 0o600)
}

/// Where there are no modes, the permissions of the directory are inherited.
#[cfg(not(unix))]
pub(super) fn private(options: &mut OpenOptions) -> &mut OpenOptions {
    options
}

/// Takes the right to read from others. Where others could write, the tokens may be anybody's, and that is refused.
#[cfg(unix)]
fn keep_to_owner(file: &File) -> Result<(), StoreError> {
    use std::os::unix::fs::PermissionsExt;

    let failed = |source| StoreError::io("the token file cannot be kept from others", source);
    let mode = file.metadata().map_err(failed)?.permissions().mode();
    if mode & 0o022 != 0 {
        let what =
            "others than its owner may write the token file; look at it, then set its mode to 600";
        return Err(StoreError::insecure(what));
    }
    if mode & 0o077 != 0 {
        tracing::warn!("others could read the token file; its mode is set to 600");
        file.set_permissions(fs::Permissions::from_mode(0o600))
            .map_err(failed)?;
    }
    Ok(())
}

#[cfg(not(unix))]
#[allow(clippy::unnecessary_wraps)]
fn keep_to_owner(_: &File) -> Result<(), StoreError> {
    Ok(())
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
