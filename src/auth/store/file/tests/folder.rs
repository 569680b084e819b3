//! A temporary folder for a test.

use std::fs;
use std::path::{Path, PathBuf};

use test_support::TestFolder;

use crate::auth::store::tokens;
use crate::auth::{FileStore, Record, StoreError, StoreErrorKind, TokenStore, Versioned};

const FILE: &str = "tokens.json";

/// Deleted with all its contents when dropped.
pub(in crate::auth) struct Folder(TestFolder);

impl Folder {
    pub(in crate::auth) fn new() -> Self {
        Self(TestFolder::new())
    }

    /// A folder with a token file with these contents.
    pub(in crate::auth) fn with(contents: impl AsRef<[u8]>) -> Self {
        let folder = Self::new();
        folder.write(contents);
        folder
    }

    pub(in crate::auth) fn path(&self) -> &Path {
        self.0.path()
    }

    pub(in crate::auth) fn file(&self) -> PathBuf {
        self.path().join(FILE)
    }

    pub(in crate::auth) fn store(&self) -> FileStore {
        FileStore::new(self.file())
    }

    pub(in crate::auth) fn text(&self) -> String {
        fs::read_to_string(self.file()).unwrap()
    }

    /// Writes the file with the store's private mode.
    pub(in crate::auth) fn write(&self, contents: impl AsRef<[u8]>) {
        self.0.write(FILE, contents);
    }

    /// The file names in the folder, sorted.
    pub(super) fn names(&self) -> Vec<String> {
        self.0.names()
    }
}

pub(super) fn record(generation: u64) -> Record {
    Record::new(tokens(generation))
}

/// Stores a record where there is none yet.
pub(super) async fn put(store: &FileStore, key: &str, generation: u64) -> Versioned {
    let record = record(generation);
    store.swap(key, None, &record).await.unwrap().unwrap();
    store.load(key).await.unwrap().unwrap()
}

/// The kind of a call's error.
pub(super) fn kind<T>(outcome: Result<T, StoreError>) -> StoreErrorKind {
    outcome.err().unwrap().kind()
}
