//! Where the file, its successor and its locks are.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};

use super::super::StoreError;
use super::ownership::check_directory;

/// Paths with all links among the directories resolved: whoever means the same file means the same locks.
pub(super) struct Place {
    pub(super) directory: PathBuf,
    name: OsString,
}

impl Place {
    pub(super) fn find(path: &Path) -> Result<Self, StoreError> {
        let (Some(directory), Some(name)) = (path.parent(), path.file_name()) else {
            return Err(StoreError::new("the path of the token file names no file"));
        };
        let directory = fs::canonicalize(directory).map_err(|source| {
            StoreError::io("the directory of the token file cannot be used", source)
        })?;
        check_directory(&directory)?;
        let name = name.to_owned();
        Ok(Self { directory, name })
    }

    pub(super) fn file(&self) -> PathBuf {
        self.directory.join(&self.name)
    }

    /// The next content of the file. One name is enough: it is written under a lock.
    pub(super) fn successor(&self) -> PathBuf {
        self.beside(".tmp".as_ref())
    }

    /// Held while the file is replaced.
    pub(super) fn write_lock(&self) -> PathBuf {
        self.beside(".lock".as_ref())
    }

    /// Held while an account's tokens are renewed. The key may be the name of a user, so it is not shown.
    pub(super) fn account_lock(&self, key: &str) -> PathBuf {
        self.beside(format!(".{:016x}.lock", fnv1a(key)).as_ref())
    }

    pub(super) fn beside(&self, ending: &OsStr) -> PathBuf {
        let mut name = self.name.clone();
        name.push(ending);
        self.directory.join(name)
    }
}

/// The 64-bit FNV-1a hash: the same in all processes, of whatever version. When two keys meet in one hash, their accounts
/// wait for each other; no more.
fn fnv1a(key: &str) -> u64 {
    let step = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    key.bytes().fold(0xcbf2_9ce4_8422_2325, step)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hash_is_the_published_one() {
        assert_eq!(fnv1a(""), 0xcbf2_9ce4_8422_2325);
        assert_eq!(fnv1a("a"), 0xaf63_dc4c_8601_ec8c);
        assert_eq!(fnv1a("foobar"), 0x8594_4171_f739_67e8);
    }
}
