//! A user's file, in a directory where no other user can replace it.

use std::fs::{self, File, Metadata, OpenOptions, Permissions, TryLockError};
use std::io;
#[cfg(unix)]
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

#[cfg(unix)]
use rustix::fs::OFlags;
#[cfg(unix)]
use rustix::process::geteuid;

use super::held_file::while_held;
use super::windows_name::check_name;
use super::{StoreError, StoreErrorKind};
use crate::locked::lock;

/// Held while a file is created or checked, so that no other thread opens a new file before it is closed here. On Unix, a
/// process that closes any handle of a file loses its locks on that file through other handles, such as those of `SQLite`.
static CREATING: Mutex<()> = Mutex::new(());

/// A file that only its owner may read and write, in a directory where no other user can replace it. Use it for your own stores
/// that keep tokens or records in files.
///
/// The file must belong to the user that the program runs as. If others may read it, their permissions are removed, with a warning
/// in the log. A program that opened it earlier can still read it, unless [`prepare`](Self::prepare) replaces it. A file that
/// its group or others may write is refused, because anyone may have written it. A file with a second name (a hard link), a
/// symbolic link, a pipe and a directory are refused as well. While another program, such as a virus scanner, holds the file,
/// access is retried for up to a second.
///
/// The directory must belong to the same user or to root, and neither its group nor others may write to it. A group with the
/// user's own number counts as the user. Access control lists and parent directories are not checked. On systems without modes
/// and owners, such as Windows, only links and the file type are checked, so the permissions of the directory must protect the
/// file: on Windows, use one below `%LOCALAPPDATA%`, which only the user, the system and administrators can open. Windows names
/// that do not keep a file, such as `CON`, `nul.json` and `tokens.json:1`, are refused there.
///
/// [`FileStore`](super::FileStore) uses this for its files. A database library opens files itself, so
/// [`prepare`](Self::prepare) creates or checks the file first:
///
/// ```
/// use envd_sdk::auth::{PrivateFile, StoreError};
/// use std::path::Path;
///
/// /// Call this before SQLite opens the database.
/// fn prepare(database: &Path) -> Result<(), StoreError> {
///     // SQLite opens files with these names if they exist, even if another user created them.
///     let mut is_in_use = false;
///     for ending in ["-wal", "-shm", "-journal"] {
///         let mut beside = database.as_os_str().to_owned();
///         beside.push(ending);
///         is_in_use |= PrivateFile::new(&beside, "the log of the database").check()?;
///     }
///     let file = PrivateFile::new(database, "the database");
///     if is_in_use && file.check()? {
///         return Ok(());
///     }
///     file.prepare()
/// }
///
/// # let folder = test_support::TestFolder::new();
/// # let database = folder.path().join("farm.db");
/// prepare(&database)?;
/// assert!(PrivateFile::new(&database, "the database").check()?);
/// # Ok::<(), StoreError>(())
/// ```
///
/// # Errors
///
/// For all methods: the [`StoreError`] has the kind [`Insecure`](StoreErrorKind::Insecure) if another user could read, write or
/// replace the file, and its message says what to change; [`Unreadable`](StoreErrorKind::Unreadable) if the path is not a
/// regular file; [`Missing`](StoreErrorKind::Missing) if the directory does not exist (it is never created);
/// [`Denied`](StoreErrorKind::Denied), [`Full`](StoreErrorKind::Full) and [`Other`](StoreErrorKind::Other) as reported by the
/// operating system.
#[derive(Clone)]
pub struct PrivateFile {
    path: PathBuf,
    name: String,
    may_be_sticky: bool,
}

impl PrivateFile {
    /// The file at this path. Reads nothing yet. Errors refer to it by `name`, such as `the database`, because a path may
    /// contain the name of a person.
    pub fn new(path: impl AsRef<Path>, name: impl Into<String>) -> Self {
        let path = path.as_ref();
        Self {
            // An absolute path has a parent, and stays valid when the program changes its directory.
            path: std::path::absolute(path).unwrap_or_else(|_| path.to_owned()),
            name: name.into(),
            may_be_sticky: false,
        }
    }

    /// Accepts a directory with the sticky bit, such as `/tmp`, in which others can create files but cannot replace this one.
    ///
    /// Only for files opened with [`open`](Self::open). Not for files next to which a library looks for other files by name:
    /// another user may have put them there.
    #[must_use]
    pub(crate) fn in_sticky_directory(mut self) -> Self {
        self.may_be_sticky = true;
        self
    }

    /// The absolute path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Checks the directory, and the file if it exists. Returns whether it exists. Does not open the file.
    ///
    /// # Errors
    ///
    /// As [above](Self#errors).
    pub fn check(&self) -> Result<bool, StoreError> {
        let _creating = lock(&CREATING);
        self.check_unlocked(|| self.set_mode())
    }

    /// Checks the directory and the file, or creates an empty file with mode 600. An existing private file is not opened, so
    /// this process keeps its locks on it.
    ///
    /// If others could read the file, a private copy replaces it, because a program that opened it earlier could read later
    /// changes. Therefore, call this only while no program has the file open; otherwise use [`check`](Self::check). The copy is
    /// created with the suffix `.private`.
    ///
    /// # Errors
    ///
    /// As [above](Self#errors).
    pub fn prepare(&self) -> Result<(), StoreError> {
        let _creating = lock(&CREATING);
        if self.check_unlocked(|| self.replace())? {
            return Ok(());
        }
        let create = || private(OpenOptions::new().write(true).create_new(true)).open(&self.path);
        match while_held(create) {
            // Makes the name durable before anything is committed under it.
            Ok(_) => sync_directory(self.directory()),
            // Another process created it first.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
            Err(error) => Err(error),
        }
        .map_err(|source| StoreError::io(format!("{} cannot be created", self.name), source))
    }

    /// Checks the directory, opens the file, and checks the opened file; `None` if it does not exist and `options` do not
    /// create it. A newly created file has mode 600.
    ///
    /// Does not follow a symbolic link, and does not wait for the other end of a pipe.
    ///
    /// ```
    /// use std::fs::OpenOptions;
    /// use std::io::Write;
    /// use envd_sdk::auth::PrivateFile;
    ///
    /// # let folder = test_support::TestFolder::new();
    /// # let path = folder.path().join("secrets.json");
    /// let file = PrivateFile::new(&path, "the file of the secrets");
    /// assert!(file.open(OpenOptions::new().read(true))?.is_none());
    /// let mut options = OpenOptions::new();
    /// if let Some(mut opened) = file.open(options.write(true).create(true))? {
    ///     opened.write_all(b"{}")?;
    /// }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [above](Self#errors).
    pub fn open(&self, options: &mut OpenOptions) -> Result<Option<File>, StoreError> {
        let name = &self.name;
        self.check_directory()?;
        let failed = |source| StoreError::io(format!("{name} cannot be opened"), source);
        #[cfg(unix)]
        private(options).custom_flags((OFlags::NOFOLLOW | OFlags::NONBLOCK).bits().cast_signed());
        #[cfg(not(unix))]
        self.refuse_link()?;
        let file = match while_held(|| options.open(&self.path)) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => {
                // The error number for a symbolic link differs between systems.
                self.refuse_link()?;
                return Err(failed(error));
            }
        };
        let metadata = file.metadata().map_err(failed)?;
        self.check_file(&metadata, || {
            make_private(|mode| file.set_permissions(mode))
        })?;
        Ok(Some(file))
    }

    fn directory(&self) -> &Path {
        self.path.parent().unwrap_or(&self.path)
    }

    fn check_unlocked(
        &self,
        make_private: impl FnOnce() -> io::Result<()>,
    ) -> Result<bool, StoreError> {
        self.check_directory()?;
        match while_held(|| fs::symlink_metadata(&self.path)) {
            Ok(metadata) => {
                self.check_file(&metadata, make_private)?;
                Ok(true)
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(error) => Err(StoreError::io(
                format!("{} cannot be found", self.name),
                error,
            )),
        }
    }

    /// Removes the permissions of others. Programs that have the file open can still read it.
    fn set_mode(&self) -> io::Result<()> {
        make_private(|mode| fs::set_permissions(&self.path, mode))
    }

    /// Replaces the file with a private copy. Programs with the old file open do not see later changes.
    fn replace(&self) -> io::Result<()> {
        let mut copy = self.path.clone().into_os_string();
        copy.push(".private");
        let copy = Self {
            path: copy.into(),
            ..self.clone()
        };
        let mut options = OpenOptions::new();
        options.write(true).create(true).truncate(false);
        let opened = copy.open(&mut options).map_err(io::Error::other)?;
        let mut file = opened.ok_or(io::ErrorKind::NotFound)?;
        // If several processes replace the file, all but the first find it private.
        while_held(|| match file.try_lock() {
            Err(TryLockError::WouldBlock) => Err(io::ErrorKind::ResourceBusy.into()),
            locked => locked.map_err(io::Error::from),
        })?;
        if !is_readable_to_others(&fs::symlink_metadata(&self.path)?) {
            return fs::remove_file(copy.path());
        }
        // An earlier process may have died during the copy.
        file.set_len(0)?;
        io::copy(&mut File::open(&self.path)?, &mut file)?;
        file.sync_all()?;
        while_held(|| fs::rename(copy.path(), &self.path))?;
        sync_directory(self.directory())
    }

    /// Accepts only a regular file of this user, with one name, that others may not write.
    fn check_file(
        &self,
        metadata: &Metadata,
        make_private: impl FnOnce() -> io::Result<()>,
    ) -> Result<(), StoreError> {
        let name = &self.name;
        if metadata.is_symlink() {
            return Err(self.is_link());
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
        keep_to_owner(metadata, name, make_private)
    }

    /// Replacing a link would not replace its target, and lock files next to the link would differ from those next to the
    /// target.
    fn refuse_link(&self) -> Result<(), StoreError> {
        match fs::symlink_metadata(&self.path) {
            Ok(metadata) if metadata.is_symlink() => Err(self.is_link()),
            _ => Ok(()),
        }
    }

    fn is_link(&self) -> StoreError {
        insecure(format!(
            "{} is a symbolic link; configure the path of the file that it points to",
            self.name
        ))
    }

    /// Rejects a directory in which another user could replace the file or, unless it may be sticky, create other files.
    fn check_directory(&self) -> Result<(), StoreError> {
        let name = &self.name;
        check_name(self.path.file_name(), name)?;
        let metadata = fs::metadata(self.directory()).map_err(|source| {
            StoreError::io(format!("the directory of {name} cannot be used"), source)
        })?;
        let found = weakness(&metadata, self.may_be_sticky);
        found.map_or(Ok(()), |(weakness, remedy)| {
            Err(insecure(format!(
                "the directory of {name} {weakness}; {remedy}"
            )))
        })
    }
}

// The path may contain a user name.
debug_shows!(PrivateFile, |it| name: it.name, may_be_sticky: it.may_be_sticky);

fn insecure(message: impl Into<String>) -> StoreError {
    StoreError::new(StoreErrorKind::Insecure, message)
}

/// Sets the mode of a new file: only its owner may read and write it.
pub(super) fn private(options: &mut OpenOptions) -> &mut OpenOptions {
    #[cfg(unix)]
    options.mode(0o600);
    options
}

/// Removes the read permission of others. Rejects a file that others could write, for example one created under the umask 002,
/// because its content may come from anyone. Rejects a file with a second name too, which may be in another user's directory.
#[cfg(unix)]
fn keep_to_owner(
    metadata: &Metadata,
    name: &str,
    make_private: impl FnOnce() -> io::Result<()>,
) -> Result<(), StoreError> {
    if metadata.mode() & 0o022 != 0 {
        return Err(insecure(format!(
            "{name} is writable to its group or to others; check what it holds, then set its mode to 600"
        )));
    }
    if metadata.nlink() > 1 {
        return Err(insecure(format!(
            "{name} has another name (a hard link), by which others may read it; delete that name, or put a copy of the file in its place"
        )));
    }
    if is_readable_to_others(metadata) {
        tracing::warn!("others could read {name}; it is made private");
        make_private()
            .map_err(|source| StoreError::io(format!("{name} cannot be made private"), source))?;
    }
    Ok(())
}

#[cfg(not(unix))]
#[allow(clippy::unnecessary_wraps)]
fn keep_to_owner(
    _: &Metadata,
    _: &str,
    _: impl FnOnce() -> io::Result<()>,
) -> Result<(), StoreError> {
    Ok(())
}

#[cfg(unix)]
fn is_readable_to_others(metadata: &Metadata) -> bool {
    metadata.mode() & 0o077 != 0
}

#[cfg(not(unix))]
fn is_readable_to_others(_: &Metadata) -> bool {
    false
}

#[cfg(unix)]
fn make_private(set: impl FnOnce(Permissions) -> io::Result<()>) -> io::Result<()> {
    set(Permissions::from_mode(0o600))
}

#[cfg(not(unix))]
#[allow(clippy::unnecessary_wraps)]
fn make_private(_: impl FnOnce(Permissions) -> io::Result<()>) -> io::Result<()> {
    Ok(())
}

/// Makes changes to names in a directory durable.
#[cfg(unix)]
pub(super) fn sync_directory(path: &Path) -> io::Result<()> {
    match File::open(path)?.sync_all() {
        // Some file systems cannot sync a directory.
        Err(error) if error.kind() == io::ErrorKind::InvalidInput => Ok(()),
        result => result,
    }
}

/// Directories cannot be opened on this system, so rely on the file system's journal.
#[cfg(not(unix))]
#[allow(clippy::unnecessary_wraps)]
pub(super) fn sync_directory(_: &Path) -> io::Result<()> {
    Ok(())
}

/// Why a directory is unsafe, and the remedy.
#[cfg(unix)]
fn weakness(metadata: &Metadata, may_be_sticky: bool) -> Option<(&'static str, &'static str)> {
    let owner = metadata.uid();
    let group = metadata.gid();
    let mode = metadata.mode();
    weakness_of(owner, group, mode, geteuid().as_raw(), may_be_sticky)
}

#[cfg(not(unix))]
fn weakness(_: &Metadata, _: bool) -> Option<(&'static str, &'static str)> {
    None
}

#[cfg(unix)]
fn weakness_of(
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
    // In a sticky directory such as /tmp, others can create files but not replace ours.
    if mode & STICKY != 0 && may_be_sticky {
        return None;
    }
    // A group with the number of its user contains only that user, and its directories are often group-writable.
    let others = if group == owner { 0o002 } else { 0o022 };
    (mode & others != 0).then_some((
        "is writable to its group or to others, who could replace the file or put another one beside it",
        "use a directory of its own with the mode 700",
    ))
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::symlink;

    use test_support::TestFolder;

    use super::*;
    use crate::auth::store::held_file::system::while_waiting;

    #[test]
    fn a_directory_is_the_users_or_roots_and_closed_to_others() {
        for (owner, group, mode, fine) in [
            (1000, 1000, 0o40700, true),
            (1000, 1000, 0o40755, true),
            // A group with the user's own number.
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
                |may_be_sticky| weakness_of(owner, group, mode, 1000, may_be_sticky).is_none();
            assert_eq!(judged(true), fine, "{owner} {group} {mode:o}");
            let sticky = mode & 0o1000 != 0;
            assert_eq!(judged(false), fine && !sticky, "{owner} {group} {mode:o}");
        }
        // Root does not trust a directory that another user can change.
        assert!(weakness_of(1000, 1000, 0o40700, 0, true).is_some());
    }

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).unwrap().mode() & 0o7777
    }

    fn set_mode(path: &Path, mode: u32) {
        fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
    }

    /// The results of all ways to access a file: check, prepare, and open for writing.
    fn tried(file: &PrivateFile) -> [Result<bool, StoreErrorKind>; 3] {
        let kind = |error: StoreError| error.kind();
        let opened = |file: Option<File>| file.is_some();
        [
            file.check().map_err(kind),
            file.prepare().map(|()| true).map_err(kind),
            file.open(OpenOptions::new().write(true))
                .map(opened)
                .map_err(kind),
        ]
    }

    #[test]
    fn a_file_is_made_private_once_and_keeps_what_is_in_it() {
        let folder = TestFolder::new();
        let file = PrivateFile::new(folder.path().join("farm.db"), "the database");
        assert_eq!(tried(&file), [Ok(false), Ok(true), Ok(true)]);
        assert_eq!(mode(file.path()), 0o600);
        fs::write(file.path(), "records").unwrap();
        for loose in [0o644, 0o640, 0o604, 0o755] {
            set_mode(file.path(), loose);
            assert_eq!(tried(&file), [Ok(true), Ok(true), Ok(true)]);
            assert_eq!(mode(file.path()), 0o600, "{loose:o}");
        }
        assert_eq!(fs::read_to_string(file.path()).unwrap(), "records");
        // The same for a file that the options create.
        let other = PrivateFile::new(folder.path().join("other"), "the database");
        let made = other.open(OpenOptions::new().append(true).create(true));
        assert!(made.unwrap().is_some());
        assert_eq!(mode(other.path()), 0o600);
    }

    /// A program that opened the file while it was readable does not see the copy.
    #[test]
    fn a_file_that_others_could_read_is_replaced_before_it_is_used() {
        let folder = TestFolder::new();
        let file = PrivateFile::new(folder.path().join("farm.db"), "the database");
        fs::write(file.path(), "records").unwrap();
        set_mode(file.path(), 0o644);
        let earlier = File::open(file.path()).unwrap();
        file.prepare().unwrap();
        fs::write(file.path(), "more records").unwrap();
        assert_eq!(io::read_to_string(earlier).unwrap(), "records");
        assert_eq!(
            (mode(file.path()), folder.names()),
            (0o600, vec!["farm.db".to_owned()])
        );
        // A process that died during the copy left a part of the file, or a longer old version.
        set_mode(file.path(), 0o640);
        folder.write("farm.db.private", "a longer text than that of the file");
        file.prepare().unwrap();
        assert_eq!(fs::read_to_string(file.path()).unwrap(), "more records");
        // Another process is replacing it at the same time.
        set_mode(file.path(), 0o640);
        let other = File::create(folder.path().join("farm.db.private")).unwrap();
        make_private(|mode| other.set_permissions(mode)).unwrap();
        other.lock().unwrap();
        let error = file.prepare().unwrap_err();
        assert!(
            error.to_string().contains("cannot be made private"),
            "{error}"
        );
        let path = file.path().to_owned();
        let mut other = Some(other);
        while_waiting(move || {
            // The other process has replaced the file.
            set_mode(&path, 0o600);
            other.take();
        });
        file.prepare().unwrap();
        assert_eq!(folder.names(), ["farm.db"]);
        // A private file is not replaced, and `check` only changes the mode.
        let number = || fs::metadata(file.path()).unwrap().ino();
        let before = number();
        file.prepare().unwrap();
        set_mode(file.path(), 0o644);
        file.check().unwrap();
        assert_eq!((number(), mode(file.path())), (before, 0o600));
    }

    #[test]
    fn a_file_with_a_second_name_is_refused() {
        let folder = TestFolder::new();
        let file = PrivateFile::new(folder.path().join("farm.db"), "the database");
        file.prepare().unwrap();
        fs::hard_link(file.path(), folder.path().join("other")).unwrap();
        assert_eq!(tried(&file), [Err(StoreErrorKind::Insecure); 3]);
        let error = file.check().unwrap_err();
        assert!(error.to_string().contains("hard link"), "{error}");
        fs::remove_file(folder.path().join("other")).unwrap();
        assert_eq!(tried(&file), [Ok(true); 3]);
    }

    #[test]
    fn what_others_could_write_or_replace_is_refused_in_each_way() {
        let folder = TestFolder::new();
        let at = |name: &str| PrivateFile::new(folder.path().join(name), "the database");
        fs::write(at("loose").path(), "").unwrap();
        set_mode(at("loose").path(), 0o620);
        symlink(folder.path().join("nothing"), at("link").path()).unwrap();
        fs::create_dir(at("directory").path()).unwrap();
        let insecure = Err(StoreErrorKind::Insecure);
        assert_eq!(tried(&at("loose")), [insecure; 3]);
        assert_eq!(tried(&at("link")), [insecure; 3]);
        assert_eq!(
            at("directory").check().unwrap_err().kind(),
            StoreErrorKind::Unreadable
        );
        let missing = [Err(StoreErrorKind::Missing); 3];
        assert_eq!(tried(&at("missing/farm.db")), missing);
        assert_eq!(folder.names(), ["directory", "link", "loose"]);
        // The file is fine, but the directory is not.
        at("farm.db").prepare().unwrap();
        for (shared, alone, sticky) in [
            (0o755, Ok(true), Ok(true)),
            (0o777, insecure, insecure),
            (0o1777, insecure, Ok(true)),
        ] {
            set_mode(folder.path(), shared);
            assert_eq!(tried(&at("farm.db")), [alone; 3], "{shared:o}");
            let accepted = at("farm.db").in_sticky_directory();
            assert_eq!(tried(&accepted), [sticky; 3], "{shared:o}");
        }
        set_mode(folder.path(), 0o700);
    }

    #[test]
    fn neither_debug_nor_an_error_shows_the_path() {
        let file = PrivateFile::new("/nowhere/sam/farm.db", "the database");
        let error = file.check().unwrap_err();
        let shown = format!("{file:?} {error} {error:?}");
        assert!(!shown.contains("sam"), "{shown}");
        assert!(error.to_string().contains("the database"), "{shown}");
    }
}
