//! The file with the records, replaced atomically.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
#[cfg(test)]
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use zeroize::Zeroizing;

use crate::auth::store::held_file::while_held;
use crate::auth::store::private_file::{private, sync_directory};
use crate::auth::store::read_stored;
use crate::auth::store::windows_name::check_name;
use crate::auth::{PrivateFile, Record, StoreError, StoreErrorKind, Version, Versioned};
use crate::secret::Secret;

/// The version of the file format. A file with a higher version is from a newer crate, and is left unchanged.
const FORM: u32 = 1;

/// The name of the file in errors.
const NAME: &str = "the token file";

const NOT_WRITTEN: &str = "the token file cannot be written";

/// The path of the file, with all directory links resolved, so that every path to the file leads to the same locks.
pub(super) struct TokenFile {
    directory: PathBuf,
    name: OsString,
    faults: WriteFaults,
}

impl TokenFile {
    pub(super) fn find(path: &Path, faults: WriteFaults) -> Result<Self, StoreError> {
        check_name(path.file_name(), NAME)?;
        let (Some(directory), Some(name)) = (path.parent(), path.file_name()) else {
            return Err(StoreError::new(
                StoreErrorKind::Other,
                "the path of the token file has no file name",
            ));
        };
        let directory = fs::canonicalize(directory).map_err(|source| {
            StoreError::io("the directory of the token file cannot be used", source)
        })?;
        let name = name.to_owned();
        Ok(Self {
            directory,
            name,
            faults,
        })
    }

    /// Held while the file is replaced.
    pub(super) fn write_lock(&self) -> PathBuf {
        self.beside(".lock".as_ref())
    }

    /// Held while an account's tokens are renewed. The file name contains a hash of the key, which may be a user name.
    pub(super) fn account_lock(&self, key: &str) -> PathBuf {
        self.beside(format!(".{:016x}.lock", fnv1a(key)).as_ref())
    }

    fn path(&self) -> PathBuf {
        self.directory.join(&self.name)
    }

    fn beside(&self, ending: &OsStr) -> PathBuf {
        let mut name = self.name.clone();
        name.push(ending);
        self.directory.join(name)
    }

    /// The text of the file; `None` only if there is no file.
    pub(super) fn read(&self) -> Result<Option<Zeroizing<Vec<u8>>>, StoreError> {
        let failed = |source| StoreError::io("the token file cannot be read", source);
        let file = PrivateFile::new(self.path(), NAME).in_sticky_directory();
        let Some(mut file) = file.open(OpenOptions::new().read(true))? else {
            return Ok(None);
        };
        // Allocated once, because a growing buffer leaves copies of the tokens in memory.
        let size = file.metadata().map_err(failed)?.len();
        let size = usize::try_from(size).unwrap_or_default();
        let mut text = Zeroizing::new(Vec::with_capacity(size + 64));
        file.read_to_end(&mut text).map_err(failed)?;
        Ok(Some(text))
    }

    /// Replaces the contents atomically, or deletes the file if there are no accounts. The caller holds the write lock.
    pub(super) fn write(&self, contents: &FileContents<'_>) -> Result<(), StoreError> {
        self.faults
            .pass(WriteStep::Begin)
            .map_err(|source| StoreError::io(NOT_WRITTEN, source))?;
        if contents.accounts.is_empty() {
            return self.delete();
        }
        let text = contents.to_json()?;
        let successor = self.beside(".tmp".as_ref());
        let replaced = self
            .write_successor(&successor, &text)
            .and_then(|()| while_held(|| self.rename(&successor)));
        if let Err(error) = replaced {
            // OK to ignore: the next write removes it.
            let _ = fs::remove_file(&successor);
            return Err(StoreError::io(NOT_WRITTEN, error));
        }
        self.faults
            .pass(WriteStep::Renamed)
            .and_then(|()| sync_directory(&self.directory))
            .map_err(|source| StoreError::io("the token file could not be synced to disk", source))
    }

    fn rename(&self, successor: &Path) -> io::Result<()> {
        self.faults.pass(WriteStep::Rename)?;
        fs::rename(successor, self.path())
    }

    /// A fixed name is sufficient, because writing requires the lock.
    fn write_successor(&self, path: &Path, text: &[u8]) -> io::Result<()> {
        // Left by a process that died during a write.
        match while_held(|| fs::remove_file(path)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        let create = || private(OpenOptions::new().write(true).create_new(true)).open(path);
        let mut file = while_held(create)?;
        self.faults.pass(WriteStep::Made)?;
        file.write_all(text)?;
        // Made durable before the rename: after a power failure, the name must not refer to an empty file.
        file.sync_all()?;
        self.faults.pass(WriteStep::Written)
    }

    fn delete(&self) -> Result<(), StoreError> {
        while_held(|| fs::remove_file(self.path()))
            .and_then(|()| sync_directory(&self.directory))
            .map_err(|source| StoreError::io("the token file cannot be deleted", source))
    }

    /// Sets aside the file if it is unreadable, or only the account's record if the rest is readable. The caller holds the
    /// write lock.
    pub(super) fn set_aside_unreadable(&self, key: &str) -> Result<bool, StoreError> {
        let is_damaged = |error: &StoreError| error.kind() == StoreErrorKind::Unreadable;
        let json = self.read()?;
        let mut contents = match FileContents::parse(json.as_deref()) {
            Ok(contents) => contents,
            Err(error) if is_damaged(&error) => {
                self.keep_copy()?;
                self.delete()?;
                tracing::warn!(
                    "the token file is damaged; it was renamed to one that ends in .damaged"
                );
                return Ok(true);
            }
            Err(error) => return Err(error),
        };
        match contents.find(key) {
            Ok(_) => Ok(false),
            Err(error) if is_damaged(&error) => {
                self.keep_copy()?;
                contents.remove(key);
                self.write(&contents)?;
                tracing::warn!(
                    "a record in the token file is damaged; a copy of the file ends in .damaged"
                );
                Ok(true)
            }
            Err(error) => Err(error),
        }
    }

    /// Copies the damaged file, never overwriting an earlier copy.
    fn keep_copy(&self) -> Result<(), StoreError> {
        let failed = |source| StoreError::io("the damaged token file cannot be set aside", source);
        let from = self.path();
        let to = self.free_name().map_err(failed)?;
        copy_to_new(&from, &to).map_err(failed)
    }

    fn free_name(&self) -> io::Result<PathBuf> {
        let names = (1..=1_000).map(|number| match number {
            1 => self.beside(".damaged".as_ref()),
            _ => self.beside(format!(".damaged-{number}").as_ref()),
        });
        for name in names {
            match fs::symlink_metadata(&name) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(name),
                Err(error) => return Err(error),
                Ok(_) => {}
            }
        }
        Err(io::ErrorKind::AlreadyExists.into())
    }
}

/// Copies instead of linking, because a file with two names is rejected ([`PrivateFile`]). Never uses an existing name, which
/// may be another user's link in a sticky directory.
fn copy_to_new(from: &Path, to: &Path) -> io::Result<()> {
    let mut copy = private(OpenOptions::new().write(true).create_new(true)).open(to)?;
    io::copy(&mut File::open(from)?, &mut copy)?;
    copy.sync_all()
}

/// The 64-bit FNV-1a hash, which is the same in all processes of any version. If two keys collide, their accounts wait for each
/// other's lock; there is no other effect.
fn fnv1a(key: &str) -> u64 {
    let step = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    key.bytes().fold(0xcbf2_9ce4_8422_2325, step)
}

/// The contents of the file: one record per account, with the number of its write.
///
/// Borrows the records from the text, so that those of other accounts are written back verbatim, without leaving copies in
/// memory.
#[derive(Serialize, Deserialize)]
pub(super) struct FileContents<'a> {
    form: u32,
    /// Counts the writes, so that no version repeats, even after a record was removed.
    writes: u64,
    #[serde(borrow)]
    accounts: BTreeMap<String, VersionedJson<'a>>,
}

#[derive(Serialize, Deserialize)]
struct VersionedJson<'a> {
    version: u64,
    #[serde(borrow)]
    record: &'a RawValue,
}

impl<'a> FileContents<'a> {
    pub(super) fn parse(json: Option<&'a Vec<u8>>) -> Result<Self, StoreError> {
        // A full disk can leave an empty file where another program wrote. Overwriting it loses nothing.
        match json.filter(|json| !json.trim_ascii().is_empty()) {
            Some(json) => read_stored(json, FORM, "the token file"),
            None => Ok(Self {
                form: FORM,
                // Starts at a random number, so that a file that is deleted and recreated does not repeat versions either.
                writes: fastrand::u64(..1 << 52),
                accounts: BTreeMap::new(),
            }),
        }
    }

    pub(super) fn find(&self, key: &str) -> Result<Option<Versioned>, StoreError> {
        let Some(stored) = self.accounts.get(key) else {
            return Ok(None);
        };
        let record = Record::from_secret_json(&Secret::new(stored.record.get()))?;
        Ok(Some(Versioned::new(Version::new(stored.version), record)))
    }

    pub(super) fn version(&self, key: &str) -> Option<Version> {
        Some(Version::new(self.accounts.get(key)?.version))
    }

    pub(super) fn insert(&mut self, key: &str, record: &'a Secret) -> Result<Version, StoreError> {
        let record = serde_json::from_str(record.expose())
            .map_err(|_| StoreError::new(StoreErrorKind::Other, "the record cannot be written"))?;
        let version = self.count_write();
        let stored = VersionedJson { version, record };
        self.accounts.insert(key.to_owned(), stored);
        Ok(Version::new(version))
    }

    pub(super) fn remove(&mut self, key: &str) {
        self.count_write();
        self.accounts.remove(key);
    }

    fn count_write(&mut self) -> u64 {
        self.writes = self.writes.wrapping_add(1);
        self.writes
    }

    fn to_json(&self) -> Result<Zeroizing<Vec<u8>>, StoreError> {
        let accounts = self.accounts.iter();
        // Six bytes per key byte, plus overhead. A growing buffer would leave copies of the tokens in memory.
        let sizes = accounts.map(|(key, stored)| 6 * key.len() + stored.record.get().len() + 64);
        let mut json = Zeroizing::new(Vec::with_capacity(sizes.sum::<usize>() + 128));
        serde_json::to_writer(&mut *json, self)
            .map_err(|_| StoreError::new(StoreErrorKind::Other, NOT_WRITTEN))?;
        json.push(b'\n');
        Ok(json)
    }
}

/// A step at which tests make a write fail or a process die.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WriteStep {
    /// Before taking a lock.
    Lock,
    /// The file has been read, but nothing is written yet.
    Begin,
    /// The new file exists, but is still empty.
    Made,
    /// The new file is complete, next to the old one.
    Written,
    /// Before the new file is renamed.
    Rename,
    /// The new file is in place.
    Renamed,
}

/// Does nothing outside tests.
#[derive(Clone, Default)]
pub(super) struct WriteFaults {
    #[cfg(test)]
    at: Option<Arc<dyn Fn(WriteStep) -> io::Result<()> + Send + Sync>>,
}

impl WriteFaults {
    #[cfg(test)]
    pub(super) fn new(at: impl Fn(WriteStep) -> io::Result<()> + Send + Sync + 'static) -> Self {
        let at = Arc::new(at);
        Self { at: Some(at) }
    }

    #[cfg(test)]
    pub(super) fn pass(&self, step: WriteStep) -> io::Result<()> {
        self.at.as_ref().map_or(Ok(()), |at| at(step))
    }

    #[cfg(not(test))]
    #[allow(clippy::unused_self, clippy::unnecessary_wraps)]
    pub(super) fn pass(&self, _: WriteStep) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    #[test]
    fn a_copy_follows_no_link_that_another_user_has_made() {
        let folder = test_support::TestFolder::new();
        let from = folder.write("tokens.json", "s3cr3t");
        let target = folder.path().join("target");
        let planted = folder.path().join("tokens.json.damaged");
        std::os::unix::fs::symlink(&target, &planted).unwrap();
        let error = copy_to_new(&from, &planted).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::AlreadyExists);
        assert!(!target.exists());
    }

    #[test]
    fn the_hash_is_the_published_one() {
        assert_eq!(fnv1a(""), 0xcbf2_9ce4_8422_2325);
        assert_eq!(fnv1a("a"), 0xaf63_dc4c_8601_ec8c);
        assert_eq!(fnv1a("foobar"), 0x8594_4171_f739_67e8);
    }
}
