//! Opens the files of the store, if they and their directory are the user's own.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::Path;

use super::super::StoreError;
use super::super::store_error::StoreErrorKind;

/// Opens a file without following a link or waiting for another end, as one of a pipe, and checks what was opened.
/// `what` names the file in errors.
#[cfg(unix)]
pub(super) fn open(
    path: &Path,
    options: &mut OpenOptions,
    what: &str,
) -> Result<Option<File>, StoreError> {
    use std::os::unix::fs::{MetadataExt, OpenOptionsExt};

    use rustix::fs::OFlags;

    let failed = |source| StoreError::io(format!("{what} cannot be opened"), source);
    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK;
    let opened = options.custom_flags(flags.bits().cast_signed()).open(path);
    let file = match opened {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => {
            // The number that says so differs between systems.
            refuse_link(path, what)?;
            return Err(failed(error));
        }
    };
    let about = file.metadata().map_err(failed)?;
    if !about.is_file() {
        return Err(StoreError::of(
            StoreErrorKind::Unreadable,
            format!("{what} is not a file"),
        ));
    }
    if about.uid() != rustix::process::geteuid().as_raw() {
        return Err(StoreError::of(
            StoreErrorKind::Insecure,
            format!(
                "{what} belongs to another user than this program runs as; look at it, then delete it or change its owner"
            ),
        ));
    }
    Ok(Some(file))
}

/// Where there are neither modes nor owners, the permissions of the directory count.
#[cfg(not(unix))]
pub(super) fn open(
    path: &Path,
    options: &mut OpenOptions,
    what: &str,
) -> Result<Option<File>, StoreError> {
    refuse_link(path, what)?;
    let failed = |source| StoreError::io(format!("{what} cannot be opened"), source);
    let file = match options.open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(failed(error)),
    };
    if !file.metadata().map_err(failed)?.is_file() {
        return Err(StoreError::of(
            StoreErrorKind::Unreadable,
            format!("{what} is not a file"),
        ));
    }
    Ok(Some(file))
}

/// Replacing a link would not replace its file, and locks beside the link would not be those beside the file.
fn refuse_link(path: &Path, what: &str) -> Result<(), StoreError> {
    match fs::symlink_metadata(path) {
        Ok(about) if about.is_symlink() => Err(StoreError::of(
            StoreErrorKind::Insecure,
            format!("{what} is a symbolic link; name the file that it points to"),
        )),
        _ => Ok(()),
    }
}

/// Files are made for their owner alone.
#[cfg(unix)]
pub(super) fn private(options: &mut OpenOptions) -> &mut OpenOptions {
    std::os::unix::fs::OpenOptionsExt::mode(options, 0o600)
}

#[cfg(not(unix))]
pub(super) fn private(options: &mut OpenOptions) -> &mut OpenOptions {
    options
}

/// Takes the right to read from others. Where others could write, the tokens may be anybody's, and that is refused.
#[cfg(unix)]
pub(super) fn keep_to_owner(file: &File) -> Result<(), StoreError> {
    use std::os::unix::fs::PermissionsExt;

    let failed = |source| StoreError::io("the token file cannot be kept from others", source);
    let mode = file.metadata().map_err(failed)?.permissions().mode();
    if mode & 0o022 != 0 {
        let what =
            "others than its owner may write the token file; look at it, then set its mode to 600";
        return Err(StoreError::of(StoreErrorKind::Insecure, what));
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
pub(super) fn keep_to_owner(_: &File) -> Result<(), StoreError> {
    Ok(())
}

/// Refuses a directory in which another user could replace the files.
#[cfg(unix)]
pub(super) fn check_directory(path: &Path) -> Result<(), StoreError> {
    use std::os::unix::fs::MetadataExt;

    let about = fs::metadata(path).map_err(|source| {
        StoreError::io("the directory of the token file cannot be used", source)
    })?;
    let user = rustix::process::geteuid().as_raw();
    match weakness(about.uid(), about.gid(), about.mode(), user) {
        None => Ok(()),
        Some(what) => Err(StoreError::of(StoreErrorKind::Insecure, what)),
    }
}

#[cfg(not(unix))]
#[allow(clippy::unnecessary_wraps)]
pub(super) fn check_directory(_: &Path) -> Result<(), StoreError> {
    Ok(())
}

/// Why a directory is no place for tokens.
#[cfg(unix)]
fn weakness(owner: u32, group: u32, mode: u32, user: u32) -> Option<&'static str> {
    const STICKY: u32 = 0o1000;
    // Root can replace any file anyway.
    if owner != user && owner != 0 {
        return Some(
            "the directory of the token file belongs to another user than this program runs as; use one of its own",
        );
    }
    // In a sticky directory such as /tmp others can make files, and not replace ours.
    if mode & STICKY != 0 {
        return None;
    }
    // A group with the number of its user is that user's alone, and its directories are often writable to it.
    let others = if group == owner { 0o002 } else { 0o022 };
    (mode & others != 0).then_some(
        "others than its owner may write to the directory of the token file; set its mode to 700",
    )
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
            let judged = weakness(owner, group, mode, 1000);
            assert_eq!(judged.is_none(), fine, "{owner} {group} {mode:o}");
        }
        // Root does not trust a directory that a user can change under its hands.
        assert!(weakness(1000, 1000, 0o40700, 0).is_some());
    }
}
