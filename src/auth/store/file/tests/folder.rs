//! A folder of a test's own.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::{env, fs, process};

use crate::auth::store::tokens;
use crate::auth::{FileStore, Record, TokenStore, Versioned};

/// Is deleted with all that is in it when it is dropped.
pub(in crate::auth) struct Folder(PathBuf);

impl Folder {
    pub(in crate::auth) fn new() -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let path = env::temp_dir().join(format!("envd-sdk-{}-{number}", process::id()));
        fs::create_dir(&path).unwrap();
        // Whatever the umask is: a folder that others may write is refused.
        #[cfg(unix)]
        set_mode(&path, 0o700);
        Self(path)
    }

    /// With a token file of these contents.
    pub(in crate::auth) fn with(contents: impl AsRef<[u8]>) -> Self {
        let folder = Self::new();
        folder.write(contents);
        folder
    }

    pub(in crate::auth) fn path(&self) -> &Path {
        &self.0
    }

    pub(in crate::auth) fn file(&self) -> PathBuf {
        self.0.join("tokens.json")
    }

    pub(in crate::auth) fn store(&self) -> FileStore {
        FileStore::new(self.file())
    }

    pub(in crate::auth) fn text(&self) -> String {
        fs::read_to_string(self.file()).unwrap()
    }

    /// Writes a token file for its owner only.
    pub(in crate::auth) fn write(&self, contents: impl AsRef<[u8]>) {
        fs::write(self.file(), contents).unwrap();
        #[cfg(unix)]
        set_mode(&self.file(), 0o600);
    }

    /// The names in the folder, in order.
    pub(super) fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(&self.0).unwrap();
        let name = |entry: fs::DirEntry| entry.file_name().into_string().unwrap();
        let mut names: Vec<_> = entries.map(|entry| name(entry.unwrap())).collect();
        names.sort();
        names
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[cfg(unix)]
pub(super) fn set_mode(path: &Path, mode: u32) {
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

pub(super) fn record(generation: u64) -> Record {
    Record::new(tokens(generation))
}

/// Puts a record where there is none.
pub(super) async fn put(store: &FileStore, key: &str, generation: u64) -> Versioned {
    let record = record(generation);
    store.swap(key, None, &record).await.unwrap().unwrap();
    store.load(key).await.unwrap().unwrap()
}

pub(super) async fn generation(store: &FileStore, key: &str) -> Option<u64> {
    let stored = store.load(key).await.unwrap();
    stored.map(|stored| stored.record.tokens().generation())
}
