//! Opens the files of a store, if they and their directory are safe from other users. `name` names a file in errors.

use std::fs::{self, File, Metadata, OpenOptions, Permissions};
use std::io;
#[cfg(unix)]
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::Path;

#[cfg(unix)]
use rustix::fs::OFlags;
#[cfg(unix)]
use rustix::process::geteuid;

use crate::auth::StoreError;
use crate::auth::store::StoreErrorKind;

/// Opens a file without following a link and without waiting, as for the other end of a pipe, and checks what was opened: its kind,
/// its owner and its mode. Who may read a lock file can hold the lock.
/// Where there are neither modes nor owners, the permissions of the directory count.
pub(super) fn open(
    path: &Path,
    options: &mut OpenOptions,
    name: &str,
) -> Result<Option<File>, StoreError> {
    let failed = |source| StoreError::io(format!("{name} cannot be opened"), source);
    #[cfg(unix)]
    options.custom_flags((OFlags::NOFOLLOW | OFlags::NONBLOCK).bits().cast_signed());
    #[cfg(not(unix))]
    refuse_link(path, name)?;
    let file = match options.open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => {
            // The error number for a link differs between systems.
            refuse_link(path, name)?;
            return Err(failed(error));
        }
    };
    let metadata = file.metadata().map_err(failed)?;
    check_kind_and_owner(&metadata, name)?;
    keep_to_owner(&metadata, name, |private| file.set_permissions(private))?;
    Ok(Some(file))
}

/// Refuses what is no file, and a file of another user.
pub(crate) fn check_kind_and_owner(metadata: &Metadata, name: &str) -> Result<(), StoreError> {
    if metadata.is_symlink() {
        return Err(is_link(name));
    }
    if !metadata.is_file() {
        let message = format!("{name} is not a file");
        return Err(StoreError::new(StoreErrorKind::Unreadable, message));
    }
    #[cfg(unix)]
    if metadata.uid() != geteuid().as_raw() {
        return Err(insecure(format!(
            "{name} belongs to another user than this program runs as; check it, then delete it or change its owner"
        )));
    }
    Ok(())
}

fn insecure(message: impl Into<String>) -> StoreError {
    StoreError::new(StoreErrorKind::Insecure, message)
}

/// Replacing a link would not replace its file, and locks beside the link would not be those beside the file.
fn refuse_link(path: &Path, name: &str) -> Result<(), StoreError> {
    match fs::symlink_metadata(path) {
        Ok(metadata) if metadata.is_symlink() => Err(is_link(name)),
        _ => Ok(()),
    }
}

fn is_link(name: &str) -> StoreError {
    insecure(format!(
        "{name} is a symbolic link; configure the path of the file that it points to"
    ))
}

/// Files are created for their owner alone.
pub(crate) fn private(options: &mut OpenOptions) -> &mut OpenOptions {
    #[cfg(unix)]
    options.mode(0o600);
    options
}

/// Removes the right to read from others. A file that others could write is refused, for anybody may have written it: also one
/// that another program made under the umask 002.
#[cfg(unix)]
pub(crate) fn keep_to_owner(
    metadata: &Metadata,
    name: &str,
    set_permissions: impl FnOnce(Permissions) -> io::Result<()>,
) -> Result<(), StoreError> {
    let mode = metadata.permissions().mode();
    if mode & 0o022 != 0 {
        return Err(insecure(format!(
            "{name} is writable to its group or to others; check what it holds, then set its mode to 600"
        )));
    }
    if mode & 0o077 != 0 {
        tracing::warn!("others could read {name}; its mode is set to 600");
        set_permissions(Permissions::from_mode(0o600)).map_err(|source| {
            StoreError::io(format!("the mode of {name} cannot be changed"), source)
        })?;
    }
    Ok(())
}

#[cfg(not(unix))]
#[allow(clippy::unnecessary_wraps)]
pub(crate) fn keep_to_owner(
    _: &Metadata,
    _: &str,
    _: impl FnOnce(Permissions) -> io::Result<()>,
) -> Result<(), StoreError> {
    Ok(())
}

/// Puts the change of a name on the disk.
#[cfg(unix)]
pub(crate) fn sync_directory(path: &Path) -> io::Result<()> {
    match File::open(path)?.sync_all() {
        // Some file systems cannot sync a directory.
        Err(error) if error.kind() == io::ErrorKind::InvalidInput => Ok(()),
        result => result,
    }
}

/// Where directories cannot be opened, the file system's journal has to do.
#[cfg(not(unix))]
#[allow(clippy::unnecessary_wraps)]
pub(crate) fn sync_directory(_: &Path) -> io::Result<()> {
    Ok(())
}

/// Refuses a directory in which another user could replace the files.
pub(crate) fn check_directory(path: &Path, name: &str) -> Result<(), StoreError> {
    check(path, name, true)
}

/// Refuses a directory in which another user could also make files, as in `/tmp`: `SQLite` takes whatever file has the name
/// it looks for, such as `-wal`.
#[cfg(feature = "sqlite")]
pub(crate) fn check_unshared_directory(path: &Path, name: &str) -> Result<(), StoreError> {
    check(path, name, false)
}

#[cfg(unix)]
fn check(path: &Path, name: &str, may_be_sticky: bool) -> Result<(), StoreError> {
    let metadata = fs::metadata(path).map_err(|source| {
        StoreError::io(format!("the directory of {name} cannot be used"), source)
    })?;
    let (owner, group, mode) = (metadata.uid(), metadata.gid(), metadata.mode());
    let found = weakness(owner, group, mode, geteuid().as_raw(), may_be_sticky);
    found.map_or(Ok(()), |(weakness, remedy)| {
        Err(insecure(format!(
            "the directory of {name} {weakness}; {remedy}"
        )))
    })
}

#[cfg(not(unix))]
#[allow(clippy::unnecessary_wraps)]
fn check(_: &Path, _: &str, _: bool) -> Result<(), StoreError> {
    Ok(())
}

/// Why a directory is not safe, and what to do.
#[cfg(unix)]
fn weakness(
    owner: u32,
    group: u32,
    mode: u32,
    user: u32,
    may_be_sticky: bool,
) -> Option<(&'static str, &'static str)> {
    const STICKY: u32 = 0o1000;
    // Root can replace any file anyway.
    if owner != user && owner != 0 {
        return Some((
            "belongs to another user than this program runs as",
            "use one of its own",
        ));
    }
    // In a sticky directory such as /tmp others can make files, and not replace ours.
    if mode & STICKY != 0 && may_be_sticky {
        return None;
    }
    // A group with the number of its user is that user's alone, and its directories are often writable to it.
    let others = if group == owner { 0o002 } else { 0o022 };
    (mode & others != 0).then_some((
        "is writable to its group or to others, who could replace the file or put another one beside it",
        "use a directory of its own with the mode 700",
    ))
}

#[cfg(all(test, unix))]
mod tests {
    use super::weakness;

    #[test]
    fn a_directory_is_the_users_or_roots_and_closed_to_others() {
        for (owner, group, mode, fine) in [
            (1000, 1000, 0o40700, true),
            (1000, 1000, 0o40755, true),
            // A group of the user's own.
            (1000, 1000, 0o40775, true),
            (1000, 100, 0o40775, false),
            (1000, 1000, 0o40777, false),
            (1000, 100, 0o40770, false),
            (0, 0, 0o40755, true),
            (0, 0, 0o41777, true),
            (0, 0, 0o40777, false),
            (1001, 1001, 0o40700, false),
            (1001, 1001, 0o41777, false),
        ] {
            let judged =
                |may_be_sticky| weakness(owner, group, mode, 1000, may_be_sticky).is_none();
            assert_eq!(judged(true), fine, "{owner} {group} {mode:o}");
            let sticky = mode & 0o1000 != 0;
            assert_eq!(judged(false), fine && !sticky, "{owner} {group} {mode:o}");
        }
        // Root does not trust a directory that another user can change.
        assert!(weakness(1000, 1000, 0o40700, 0, true).is_some());
    }
}
