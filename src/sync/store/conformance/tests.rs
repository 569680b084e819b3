//! The store in memory keeps the laws, and each broken law is reported.

use std::sync::Arc;

use super::check;
use super::checked_store::CheckedStore;
use crate::sync::store::tests::faulty_store::FaultyStore;
use crate::sync::store::tests::store_wrapper::{Answered, StoreAnswer, StoreCall, StoreWrapper};
use crate::sync::store::{Batch, ChangeRange, MemorySync, Order, Query, Row, SyncStore};

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
}

impl Broken {
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

impl StoreWrapper for Broken {
    async fn call(&self, account: &str, call: StoreCall<'_>) -> Answered {
        let account = &match self.law {
            "AccountsAreApart" => account.to_lowercase(),
            _ => account.to_owned(),
        };
        let changed;
        let call = match call {
            StoreCall::Commit(batch) => return self.commit(account, batch).await,
            StoreCall::Query(query) => {
                changed = self.query(query);
                StoreCall::Query(&changed)
            }
            StoreCall::Count(query) => {
                changed = self.query(query);
                StoreCall::Count(&changed)
            }
            StoreCall::Documents(_) if self.law == "PrefixIsLiteral" => StoreCall::Documents(""),
            StoreCall::Changes(ChangeRange::Replacing { after, .. }, limit)
                if self.law == "RangesOfChanges" =>
            {
                StoreCall::Changes(ChangeRange::After(after), limit)
            }
            call => call,
        };
        let mut answer = call.forward(&self.inner, account).await?;
        match (&mut answer, call, self.law) {
            (StoreAnswer::Documents(found), _, "VersionsCount") => {
                for document in found {
                    document.version = document.version.min(2);
                }
            }
            (StoreAnswer::Rows(rows), StoreCall::Query(query), "OrderIsOfBytes")
                if query.order == Order::Id =>
            {
                rows.sort_by_key(|row| row.id.to_lowercase());
            }
            _ => {}
        }
        Ok(answer)
    }
}

impl Broken {
    async fn commit(&self, account: &str, batch: &Batch) -> Answered {
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
        Ok(StoreAnswer::Written(
            fits && self.inner.commit(account, &batch).await?,
        ))
    }
}

/// What the check of a law observes at a store with a mistake.
async fn observed(mistake: &'static str, law: &str) -> Option<String> {
    let store = Broken {
        law: mistake,
        inner: MemorySync::new(),
    };
    let mut laws = CheckedStore::laws().into_iter();
    let (_, check) = laws.find(|(name, _)| *name == law).unwrap();
    let checked = CheckedStore::new(Arc::new(move || store.clone()));
    check(&checked).await.err().map(|violation| violation.0)
}

#[tokio::test]
async fn each_broken_law_is_seen() {
    let laws = CheckedStore::<MemorySync>::laws().into_iter();
    // Handles that share nothing are another test.
    for (law, _) in laws.filter(|(law, _)| *law != "SharedBetweenHandles") {
        assert!(observed(law, law).await.is_some(), "{law}");
        assert_eq!(observed("none", law).await, None, "{law}");
    }
}

#[tokio::test]
async fn handles_that_share_nothing_and_errors_are_reported() {
    let report = check(MemorySync::new).await;
    let broken = report.broken();
    assert!(broken.contains(&"SharedBetweenHandles"), "{report}");
    let store = FaultyStore::new(&MemorySync::new(), 1);
    let report = check(move || store.clone()).await.to_string();
    assert!(report.contains("an error: the program ended"), "{report}");
}
