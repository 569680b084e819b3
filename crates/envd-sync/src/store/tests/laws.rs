//! The stores of this crate keep the laws, and each broken law is seen.

use std::sync::Arc;

use async_trait::async_trait;

use crate::store::laws::{CheckedStore, broken_laws};
use crate::store::rows::{Batch, ChangeRange, ChangeRow, Document, Query, Row};
use crate::store::{MemorySync, Order, StoreError, StoreErrorKind, SyncStore, check_sync_store};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_store_in_memory_keeps_all_laws() {
    let store = MemorySync::new();
    check_sync_store(move || store.clone()).await;
}

#[cfg(feature = "sqlite")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_store_in_a_file_keeps_all_laws() {
    use crate::store::SqliteSync;
    use crate::store::sqlite::tests::folder::Folder;

    let folder = Folder::new();
    let file = folder.file();
    check_sync_store(move || SqliteSync::open(&file).unwrap()).await;
}

/// A store with one mistake.
#[derive(Clone)]
struct Broken {
    law: &'static str,
    inner: MemorySync,
}

impl Broken {
    fn account(&self, account: &str) -> String {
        match self.law {
            "AccountsAreApart" => account.to_lowercase(),
            _ => account.to_owned(),
        }
    }

    fn query(&self, query: &Query) -> Query {
        let mut query = query.clone();
        match self.law {
            "QueriesFindWhatTheySay" => query.movement_to = None,
            "PagesGoOn" if query.order == Order::LastUpdated => query.after = None,
            _ => {}
        }
        query
    }

    /// What the mistake writes instead of a batch.
    fn batch(&self, batch: &Batch) -> Batch {
        let mut batch = batch.clone();
        match self.law {
            "AbsentIsEmpty" => {
                let removed = batch.removed.iter();
                batch.rows.extend(removed.map(|id| Row {
                    id: id.clone(),
                    ..Row::default()
                }));
                batch.removed.clear();
            }
            "ReadsWhatWasWritten" => {
                for row in &mut batch.rows {
                    row.payload = row.payload.trim().to_owned();
                }
            }
            "LargeTextsAreKept" => {
                for row in &mut batch.rows {
                    row.payload.truncate(65_536);
                }
            }
            "NulIsKeptOrRefused" => {
                for row in &mut batch.rows {
                    row.payload = row.payload.replace('\0', "");
                }
            }
            "NumbersAreKeptOrRefused" => {
                for row in &mut batch.rows {
                    row.sequence &= i64::MAX as u64;
                }
            }
            "PartsInOrder" => {
                let rows = batch.rows.iter().map(|row| &row.id);
                batch
                    .removed
                    .retain(|id| !rows.clone().any(|row| row == id));
            }
            "SeenChangesTheGeneration" => {
                if let Some((generation, ids)) = &batch.seen {
                    let seen = ids.iter().map(|id| Row {
                        id: id.clone(),
                        generation: *generation,
                        ..Row::default()
                    });
                    batch.rows.extend(seen);
                }
            }
            "ForgetsChanges" => batch.forget_changes = batch.forget_changes.map(|to| to / 2),
            _ => {}
        }
        batch
    }

    /// Keeps the keys of rows that are there.
    async fn with_old_keys(&self, account: &str, batch: &mut Batch) {
        for row in &mut batch.rows {
            let old = self
                .inner
                .rows(account, std::slice::from_ref(&row.id))
                .await
                .unwrap();
            if let Some(old) = old.into_iter().next() {
                row.keys.status = row.keys.status.take().or(old.keys.status);
            }
        }
    }
}

#[async_trait]
impl SyncStore for Broken {
    async fn documents(&self, account: &str, prefix: &str) -> Result<Vec<Document>, StoreError> {
        let prefix = if self.law == "PrefixIsLiteral" {
            ""
        } else {
            prefix
        };
        let mut found = self.inner.documents(&self.account(account), prefix).await?;
        for document in &mut found {
            if self.law == "VersionsCount" {
                document.version = document.version.min(2);
            }
        }
        Ok(found)
    }

    async fn rows(&self, account: &str, ids: &[String]) -> Result<Vec<Row>, StoreError> {
        if self.law == "rows of all ids" {
            let all = Query {
                limit: usize::MAX,
                ..Query::default()
            };
            return self.inner.query(account, &all).await;
        }
        self.inner.rows(&self.account(account), ids).await
    }

    async fn query(&self, account: &str, query: &Query) -> Result<Vec<Row>, StoreError> {
        let query = self.query(query);
        let mut rows = self.inner.query(&self.account(account), &query).await?;
        if self.law == "OrderIsOfBytes" && query.order == Order::Id {
            rows.sort_by_key(|row| row.id.to_lowercase());
        }
        Ok(rows)
    }

    async fn count(&self, account: &str, query: &Query) -> Result<u64, StoreError> {
        let mut query = self.query(query);
        if self.law == "counts all" {
            query = Query::default();
        }
        self.inner.count(&self.account(account), &query).await
    }

    async fn changes(
        &self,
        account: &str,
        range: ChangeRange,
        limit: usize,
    ) -> Result<Vec<ChangeRow>, StoreError> {
        let range = match range {
            ChangeRange::Replacing { after, .. } if self.law == "RangesOfChanges" => {
                ChangeRange::After(after)
            }
            range => range,
        };
        self.inner
            .changes(&self.account(account), range, limit)
            .await
    }

    async fn commit(&self, account: &str, batch: &Batch) -> Result<bool, StoreError> {
        self.write(&self.account(account), batch).await
    }
}

impl Broken {
    async fn write(&self, account: &str, batch: &Batch) -> Result<bool, StoreError> {
        if self.law == "error" {
            return Err(StoreError::new(StoreErrorKind::Other, "the program ended"));
        }
        let mut batch = self.batch(batch);
        if self.law == "RowsAreReplaced" {
            self.with_old_keys(account, &mut batch).await;
        }
        let expected = std::mem::take(&mut batch.expected);
        let mut fits = true;
        for (name, version) in &expected {
            let documents = self.inner.documents(account, name).await?;
            let named = documents.iter().find(|document| document.name == *name);
            fits &= named.map_or(0, |document| document.version) == *version;
        }
        match self.law {
            // Looks first and writes later, when others may have written.
            "OneOfManyCommitsWins" => tokio::task::yield_now().await,
            "RefusedWritesNothing" if !fits => {
                batch.documents.clear();
                self.inner.commit(account, &batch).await?;
            }
            "BatchesAreWhole" if fits => {
                for document in std::mem::take(&mut batch.documents) {
                    let single = Batch {
                        documents: vec![document],
                        ..Batch::default()
                    };
                    self.inner.commit(account, &single).await?;
                    tokio::task::yield_now().await;
                }
            }
            _ => batch.expected = expected,
        }
        Ok(fits && self.inner.commit(account, &batch).await?)
    }
}

/// What the check of a law observes at a store with a mistake.
async fn observed(mistake: &'static str, law: &str) -> Option<String> {
    let store = Broken {
        law: mistake,
        inner: MemorySync::new(),
    };
    let mut laws = CheckedStore::LAWS.into_iter();
    let (_, check) = laws.find(|(name, _)| *name == law).unwrap();
    let checked = CheckedStore::new(Arc::new(move || store.clone()));
    check(&checked)
        .await
        .err()
        .map(|observed| observed.to_string())
}

#[tokio::test]
async fn each_broken_law_is_seen() {
    let laws = CheckedStore::<MemorySync>::LAWS.into_iter();
    // Handles that share nothing are another test.
    for (law, _) in laws.filter(|(law, _)| *law != "SharedBetweenHandles") {
        assert!(observed(law, law).await.is_some(), "{law}");
        assert_eq!(observed("none", law).await, None, "{law}");
    }
    for (mistake, law) in [
        ("rows of all ids", "ReadsWhatWasWritten"),
        ("counts all", "RowsAreReplaced"),
    ] {
        assert!(observed(mistake, law).await.is_some(), "{mistake}");
    }
}

#[tokio::test]
async fn handles_that_share_nothing_and_errors_are_reported() {
    let broken = broken_laws(MemorySync::new).await;
    let shared = |line: &String| line.starts_with("SharedBetweenHandles: ");
    assert!(broken.iter().any(shared), "{broken:?}");
    let failing = || Broken {
        law: "error",
        inner: MemorySync::new(),
    };
    let broken = broken_laws(failing).await;
    let failed = |line: &String| line.ends_with(": the program ended");
    assert!(broken.iter().all(failed), "{broken:?}");
}

#[tokio::test]
#[should_panic(expected = "\nForgetsChanges: after \"forget 20\" it has")]
async fn the_check_panics_with_a_line_for_each_broken_law() {
    let store = Broken {
        law: "ForgetsChanges",
        inner: MemorySync::new(),
    };
    check_sync_store(move || store.clone()).await;
}
