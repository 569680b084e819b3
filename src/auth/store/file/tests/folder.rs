//! A folder of a test's own.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, UNIX_EPOCH};
use std::{env, fs, process};

use crate::auth::{FileStore, Record, TokenSet, TokenStore, Versioned};

/// Is deleted with all that is in it when it is dropped.
pub(in crate::auth) struct Folder(PathBuf);

impl Folder {
    pub(in crate::auth) fn new() -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let path = env::temp_dir().join(format!("envd-sdk-{}-{number}", process::id()));
        fs::create_dir(&path).unwrap();
        Self(path)
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
