//! A token file on a disk that one of the processes finds full from time to time.

use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use envd_sdk::auth::{
    FileStore, Record, StoreError, StoreFuture, StoreGuard, TokenStore, Version, Versioned,
};

/// Ends the place of the file for the process that finds the disk full.
const SOMETIMES: &str = "?full";

pub(super) struct FullDisk {
    file: FileStore,
    /// While this file exists, new tokens are refused.
    sign: Option<PathBuf>,
}

impl FullDisk {
    pub(super) fn at(place: &str) -> Self {
        let (file, sign) = match place.strip_suffix(SOMETIMES) {
            Some(file) => (file, Some(sign(file))),
            None => (place, None),
        };
        Self {
            file: FileStore::new(file),
            sign,
        }
    }

    pub(super) fn sometimes(place: &str) -> String {
        format!("{place}{SOMETIMES}")
    }

    pub(super) fn fill(place: &str) {
        fs::write(sign(place), "").unwrap();
    }

    pub(super) fn make_room(place: &str) {
        fs::remove_file(sign(place)).unwrap();
    }
}

fn sign(place: &str) -> PathBuf {
    format!("{place}.full").into()
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
            // The mark of a refresh still fits; what the answer brings does not.
            let is_new = new.refresh_began_at().is_none();
            if is_new && self.sign.as_ref().is_some_and(|sign| sign.exists()) {
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
