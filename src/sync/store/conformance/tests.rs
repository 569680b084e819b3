//! The store in memory keeps the laws, and each broken law is reported.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use crate::sync::store::conformance::check;
use crate::sync::store::{
    Batch, ChangeRange, ChangeRow, Document, MemorySync, Order, Query, Row, StoreError,
    StoreFuture, SyncStore,
};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_store_in_memory_keeps_all_laws() {
    let store = MemorySync::new();
    check(move || store.clone()).await.assert_kept();
}

/// A store with one mistake.
#[derive(Clone)]
struct Broken {
    law: &'static str,
    inner: MemorySync,
    commits: Arc<AtomicU32>,
}

impl Broken {
    fn is(&self, law: &str) -> bool {
        self.law == law
    }

    /// What the mistake makes of the name of an account.
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

impl SyncStore for Broken {
    fn documents<'a>(
        &'a self,
        account: &'a str,
        prefix: &'a str,
    ) -> StoreFuture<'a, Vec<Document>> {
        Box::pin(async move {
            let account = self.account(account);
            if self.is("PrefixIsLiteral") {
                let mut all = self.inner.documents(&account, "").await?;
                let prefix = prefix.to_lowercase();
                all.retain(|document| document.name.to_lowercase().starts_with(&prefix));
                return Ok(all);
            }
            let mut documents = self.inner.documents(&account, prefix).await?;
            if self.is("VersionsCount") {
                for document in &mut documents {
                    document.version = document.version.min(2);
                }
            }
            Ok(documents)
        })
    }

    fn rows<'a>(&'a self, account: &'a str, ids: &'a [String]) -> StoreFuture<'a, Vec<Row>> {
        Box::pin(async move { self.inner.rows(&self.account(account), ids).await })
    }

    fn query<'a>(&'a self, account: &'a str, query: &'a Query) -> StoreFuture<'a, Vec<Row>> {
        Box::pin(async move {
            let query = self.query(query);
            let mut rows = self.inner.query(&self.account(account), &query).await?;
            if self.is("OrderIsOfBytes") && query.order == Order::Id {
                rows.sort_by_key(|row| row.id.to_lowercase());
            }
            Ok(rows)
        })
    }

    fn count<'a>(&'a self, account: &'a str, query: &'a Query) -> StoreFuture<'a, u64> {
        Box::pin(async move {
            let query = self.query(query);
            self.inner.count(&self.account(account), &query).await
        })
    }

    fn changes<'a>(
        &'a self,
        account: &'a str,
        range: ChangeRange,
        limit: usize,
    ) -> StoreFuture<'a, Vec<ChangeRow>> {
        Box::pin(async move {
            let range = match range {
                ChangeRange::Replacing { after, .. } if self.is("RangesOfChanges") => {
                    ChangeRange::After(after)
                }
                range => range,
            };
            self.inner
                .changes(&self.account(account), range, limit)
                .await
        })
    }

    fn commit<'a>(&'a self, account: &'a str, batch: &'a Batch) -> StoreFuture<'a, bool> {
        Box::pin(async move {
            let account = self.account(account);
            let mut batch = self.batch(batch);
            if self.is("RowsAreReplaced") {
                self.with_old_keys(&account, &mut batch).await;
            }
            let expected = std::mem::take(&mut batch.expected);
            let mut fits = true;
            for (name, version) in expected.clone() {
                let documents = self.inner.documents(&account, &name).await?;
                let named = documents.iter().find(|document| document.name == name);
                fits &= named.map_or(0, |document| document.version) == version;
            }
            match self.law {
                // Looks first and writes later, when others may have written.
                "OneOfManyCommitsWins" => tokio::task::yield_now().await,
                "RefusedWritesNothing" if !fits => {
                    batch.documents.clear();
                    self.inner.commit(&account, &batch).await?;
                }
                "BatchesAreWhole" if fits => {
                    let documents = std::mem::take(&mut batch.documents);
                    for document in documents {
                        let single = Batch {
                            documents: vec![document],
                            ..Batch::default()
                        };
                        self.inner.commit(&account, &single).await?;
                        tokio::task::yield_now().await;
                    }
                }
                _ => batch.expected = expected,
            }
            let commits = self.commits.fetch_add(1, Ordering::Relaxed);
            if self.is("Fails") && commits > 0 {
                return Err(StoreError::new("the disk is gone"));
            }
            Ok(fits && self.inner.commit(&account, &batch).await?)
        })
    }
}

async fn broken(law: &'static str) -> super::Report {
    let store = Broken {
        law,
        inner: MemorySync::new(),
        commits: Arc::default(),
    };
    check(move || store.clone()).await
}

#[tokio::test]
async fn each_broken_law_is_reported() {
    let kept = MemorySync::new();
    let laws = check(move || kept.clone()).await.0.into_iter();
    // Handles that share nothing are another test.
    for (law, _) in laws.filter(|(law, _)| *law != "SharedBetweenHandles") {
        let report = broken(law).await;
        assert!(
            report.broken().contains(&law),
            "{law} is not seen:\n{report}"
        );
    }
}

#[tokio::test]
async fn handles_that_share_nothing_and_errors_are_reported() {
    let report = check(MemorySync::new).await;
    assert!(
        report.broken().contains(&"SharedBetweenHandles"),
        "{report}"
    );
    let report = broken("Fails").await.to_string();
    assert!(report.contains("an error: the disk is gone"), "{report}");
    assert!(broken("none").await.broken().is_empty());
}
