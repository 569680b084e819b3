//! A token file store for which a test can simulate a full disk in one of the processes.

use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use envd_sdk::auth::{
    FileStore, Record, StoreError, StoreFuture, StoreGuard, TokenStore, Version, Versioned,
};

/// The suffix of the path for the process with the full disk.
const SUFFIX: &str = "?full";

pub(super) struct FullDisk {
    file: FileStore,
    /// While this file exists, writes of new tokens fail.
    flag: Option<PathBuf>,
}

impl FullDisk {
    pub(super) fn at(path: &str) -> Self {
        let (file, flag) = match path.strip_suffix(SUFFIX) {
            Some(file) => (file, Some(flag(file))),
            None => (path, None),
        };
        Self {
            file: FileStore::new(file),
            flag,
        }
    }

    /// The path for the process with the full disk.
    pub(super) fn marked(path: &str) -> String {
        format!("{path}{SUFFIX}")
    }

    pub(super) fn fill(path: &str) {
        fs::write(flag(path), "").unwrap();
    }

    pub(super) fn clear(path: &str) {
        fs::remove_file(flag(path)).unwrap();
    }
}

fn flag(path: &str) -> PathBuf {
    format!("{path}.full").into()
}

impl TokenStore for FullDisk {
    fn load<'a>(&'a self, key: &'a str) -> StoreFuture<'a, Option<Versioned>> {
        self.file.load(key)
    }

    fn swap<'a>(
        &'a self,
        key: &'a str,
        expected: Option<Version>,
        new: &'a Record,
    ) -> StoreFuture<'a, Option<Version>> {
        Box::pin(async move {
            // Marks of a refresh are still written; new tokens are not.
            let is_new = new.refresh_began_at().is_none();
            if is_new && self.flag.as_ref().is_some_and(|flag| flag.exists()) {
                return Err(StoreError::io(
                    "the disk is full",
                    std::io::ErrorKind::StorageFull.into(),
                ));
            }
            self.file.swap(key, expected, new).await
        })
    }

    fn remove<'a>(&'a self, key: &'a str, expected: Version) -> StoreFuture<'a, bool> {
        self.file.remove(key, expected)
    }

    fn lock<'a>(&'a self, key: &'a str, wait: Duration) -> StoreFuture<'a, StoreGuard> {
        self.file.lock(key, wait)
    }

    fn lock_survives_faults(&self) -> bool {
        self.file.lock_survives_faults()
    }
}
