//! A folder of a test's own.

use std::path::{Path, PathBuf};
use std::time::{Duration, UNIX_EPOCH};

use equipment::TestFolder;

use crate::auth::{FileStore, Record, TokenSet, TokenStore, Versioned};

const FILE: &str = "tokens.json";

/// Is deleted with all that is in it when it is dropped.
pub(in crate::auth) struct Folder(TestFolder);

impl Folder {
    pub(in crate::auth) fn new() -> Self {
        Self(TestFolder::new())
    }

    pub(in crate::auth) fn path(&self) -> &Path {
        self.0.path()
    }

    pub(in crate::auth) fn file(&self) -> PathBuf {
        self.path().join(FILE)
    }

    /// Writes the file, private as the store's own.
    pub(in crate::auth) fn write(&self, contents: impl AsRef<[u8]>) {
        self.0.write(FILE, contents);
    }

    pub(in crate::auth) fn store(&self) -> FileStore {
        FileStore::new(self.file())
    }

    /// The names in the folder, in order.
    pub(super) fn names(&self) -> Vec<String> {
        self.0.names()
    }
}

pub(super) fn record(generation: u64) -> Record {
    Record::new(TokenSet {
        access_token: format!("at-{generation}").as_str().into(),
        refresh_token: Some(format!("rt-{generation}").as_str().into()),
        id_token: None,
        subject: None,
        scopes: Vec::new(),
        issued_at: UNIX_EPOCH + Duration::from_secs(1_700_000_000),
        lifetime: Duration::from_secs(86_400),
        generation,
        logged_in_at: None,
        session_ends_at: None,
    })
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
