//! A private folder for a test.

use std::fs;
use std::path::{Path, PathBuf};

use test_support::TestFolder;

use crate::store::rows::{Batch, Document, Query, RecordRow};
use crate::store::{SqliteSync, SyncStore};
use envd_sdk::auth::{StoreError, StoreErrorKind};

pub(super) const ACCOUNT: &str = "farm";

const FILE: &str = "farm.db";

/// Deleted with its contents when dropped.
pub(crate) struct Folder(TestFolder);

impl Folder {
    pub(crate) fn new() -> Self {
        Self(TestFolder::new())
    }

    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }

    pub(crate) fn file(&self) -> PathBuf {
        self.path().join(FILE)
    }

    /// Writes the file with the permissions of the store.
    pub(super) fn write(&self, contents: impl AsRef<[u8]>) {
        self.0.write(FILE, contents);
    }

    /// Asserts that the file cannot be opened and is not changed.
    #[track_caller]
    pub(super) fn refuses(&self, kind: StoreErrorKind) -> StoreError {
        let before = fs::read(self.file()).unwrap();
        let error = SqliteSync::open(self.file()).unwrap_err();
        assert_eq!(error.kind(), kind, "{error}");
        assert_eq!(fs::read(self.file()).unwrap(), before);
        error
    }

    pub(crate) fn store(&self) -> SqliteSync {
        SqliteSync::open(self.file()).unwrap()
    }
}

/// A row with a payload of this size, and a document with its number.
pub(super) fn batch(number: u64, size: usize) -> Batch {
    let row = RecordRow {
        id: format!("{number:06}"),
        sequence: number,
        payload: "x".repeat(size),
        ..RecordRow::default()
    };
    Batch {
        documents: vec![("walk".to_owned(), Some(number.to_string()))],
        rows: vec![row],
        ..Batch::default()
    }
}

pub(super) async fn rows(store: &SqliteSync) -> Vec<RecordRow> {
    let all = Query {
        limit: 100_000,
        ..Query::default()
    };
    store.query(ACCOUNT, &all).await.unwrap()
}

pub(super) async fn document(store: &SqliteSync) -> Option<Document> {
    store.documents(ACCOUNT, "walk").await.unwrap().pop()
}
