//! A folder of a test's own.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::{env, fs, process};

use crate::sync::store::{Batch, Document, Query, Row, SqliteSync, SyncStore};

pub(super) const ACCOUNT: &str = "farm";

/// Is deleted with all that is in it when it is dropped.
pub(in crate::sync) struct Folder(PathBuf);

impl Folder {
    pub(in crate::sync) fn new() -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let path = env::temp_dir().join(format!("envd-sdk-sync-{}-{number}", process::id()));
        fs::create_dir(&path).unwrap();
        Self(path)
    }

    pub(in crate::sync) fn path(&self) -> &Path {
        &self.0
    }

    pub(in crate::sync) fn file(&self) -> PathBuf {
        self.0.join("farm.db")
    }

    pub(in crate::sync) fn store(&self) -> SqliteSync {
        SqliteSync::open(self.file()).unwrap()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// A row with a payload of some size, and a document that has its number.
pub(super) fn batch(number: u64, size: usize) -> Batch {
    let row = Row {
        id: format!("{number:06}"),
        sequence: number,
        payload: "x".repeat(size),
        ..Row::default()
    };
    Batch {
        documents: vec![("walk".to_owned(), Some(number.to_string()))],
        rows: vec![row],
        ..Batch::default()
    }
}

pub(super) async fn rows(store: &SqliteSync) -> Vec<Row> {
    let all = Query {
        limit: 100_000,
        ..Query::default()
    };
    store.query(ACCOUNT, &all).await.unwrap()
}

pub(super) async fn document(store: &SqliteSync) -> Option<Document> {
    store.documents(ACCOUNT, "walk").await.unwrap().pop()
}
