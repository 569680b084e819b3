//! The stores of this crate keep the requirements, and the check detects each broken requirement.

use std::sync::Arc;

use crate::store::conformance::{CheckedStore, broken_requirements};
use crate::store::rows::{Batch, ChangeRange, Query, RecordRow};
use crate::store::tests::store_wrapper::{Answered, StoreAnswer, StoreCall, StoreWrapper};
use crate::store::{MemorySync, Order, StoreError, StoreErrorKind, SyncStore, check_sync_store};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_store_in_memory_keeps_all_requirements() {
    let store = MemorySync::new();
    check_sync_store(move || store.clone()).await;
}

#[cfg(feature = "sqlite")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_store_in_a_file_keeps_all_requirements() {
    use crate::store::SqliteSync;
    use crate::store::sqlite::tests::folder::Folder;

    let folder = Folder::new();
    let file = folder.file();
    check_sync_store(move || SqliteSync::open(&file).unwrap()).await;
}

/// A store with one bug.
#[derive(Clone)]
struct Broken {
    requirement: &'static str,
    inner: MemorySync,
}

impl StoreWrapper for Broken {
    async fn call(&self, account: &str, call: StoreCall<'_>) -> Answered {
        let account = match self.requirement {
            "AccountsAreApart" => account.to_lowercase(),
            _ => account.to_owned(),
        };
        let all = Query {
            limit: usize::MAX,
            ..Query::default()
        };
        let mut query = match call {
            StoreCall::Query(query) | StoreCall::Count(query) => query.clone(),
            _ => Query::default(),
        };
        match self.requirement {
            "QueriesFindWhatTheySay" => query.movement_to = None,
            "PagesGoOn" if query.order == Order::LastUpdated => query.after = None,
            _ => {}
        }
        let call = match (self.requirement, call) {
            (_, StoreCall::Commit(batch)) => {
                let is_written = self.write(&account, batch).await?;
                return Ok(StoreAnswer::Written(is_written));
            }
            ("PrefixIsLiteral", StoreCall::Documents(_)) => StoreCall::Documents(""),
            ("rows of all ids", StoreCall::Rows(_)) => StoreCall::Query(&all),
            ("counts all", StoreCall::Count(_)) => StoreCall::Count(&all),
            (
                "RangesOfChanges",
                StoreCall::Changes(ChangeRange::Replacing { after, .. }, limit),
            ) => StoreCall::Changes(ChangeRange::After(after), limit),
            (_, StoreCall::Query(_)) => StoreCall::Query(&query),
            (_, StoreCall::Count(_)) => StoreCall::Count(&query),
            (_, call) => call,
        };
        let mut answer = call.forward(&self.inner, &account).await?;
        match (self.requirement, &mut answer) {
            ("VersionsCount", StoreAnswer::Documents(found)) => {
                for document in found {
                    document.version = document.version.min(2);
                }
            }
            ("OrderIsOfBytes", StoreAnswer::Rows(rows)) if query.order == Order::Id => {
                rows.sort_by_key(|row| row.id.to_lowercase());
            }
            _ => {}
        }
        Ok(answer)
    }
}

impl Broken {
    /// The batch that the bug writes instead.
    async fn batch(&self, account: &str, batch: &Batch) -> Batch {
        let mut batch = batch.clone();
        for row in &mut batch.rows {
            match self.requirement {
                "ReadsWhatWasWritten" => row.payload = row.payload.trim().to_owned(),
                "LargeTextsAreKept" => row.payload.truncate(65_536),
                "NulIsKeptOrRefused" => row.payload = row.payload.replace('\0', ""),
                "NumbersAreKeptOrRefused" => row.sequence &= i64::MAX as u64,
                // Keep a key of the existing row.
                "RowsAreReplaced" => {
                    let ids = std::slice::from_ref(&row.id);
                    let old = self.inner.rows(account, ids).await.unwrap().pop();
                    row.keys.status = row.keys.status.take().or(old.and_then(|it| it.keys.status));
                }
                _ => {}
            }
        }
        let row = |id: &String, generation| RecordRow {
            id: id.clone(),
            generation,
            ..RecordRow::default()
        };
        match self.requirement {
            "AbsentIsEmpty" => {
                let removed = std::mem::take(&mut batch.removed);
                batch.rows.extend(removed.iter().map(|id| row(id, 0)));
            }
            "PartsInOrder" => {
                let rows: Vec<&String> = batch.rows.iter().map(|row| &row.id).collect();
                batch.removed.retain(|id| !rows.contains(&id));
            }
            "SeenChangesTheGeneration" => {
                let seen = batch.seen.iter();
                let seen = seen.flat_map(|(at, ids)| ids.iter().map(|id| row(id, *at)));
                batch.rows.extend(seen.collect::<Vec<_>>());
            }
            "ForgetsChanges" => batch.forget_changes = batch.forget_changes.map(|to| to / 2),
            _ => {}
        }
        batch
    }

    async fn write(&self, account: &str, batch: &Batch) -> Result<bool, StoreError> {
        if self.requirement == "error" {
            return Err(StoreError::new(StoreErrorKind::Other, "the program ended"));
        }
        let mut batch = self.batch(account, batch).await;
        let expected = std::mem::take(&mut batch.expected);
        let mut fits = true;
        for (name, version) in &expected {
            let documents = self.inner.documents(account, name).await?;
            let named = documents.iter().find(|document| document.name == *name);
            fits &= named.map_or(0, |document| document.version) == *version;
        }
        match self.requirement {
            // Check first and write later, when others may have written.
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

/// The result of checking a requirement on a store with this bug.
async fn observed(mistake: &'static str, requirement: &str) -> Option<String> {
    let store = Broken {
        requirement: mistake,
        inner: MemorySync::new(),
    };
    let mut requirements = CheckedStore::LAWS.into_iter();
    let (_, check) = requirements.find(|(name, _)| *name == requirement).unwrap();
    let checked = CheckedStore::new(Arc::new(move || store.clone()));
    check(&checked)
        .await
        .err()
        .map(|observed| observed.to_string())
}

#[tokio::test]
async fn each_broken_requirement_is_seen() {
    let requirements = CheckedStore::<MemorySync>::LAWS.into_iter();
    // Another test covers handles that share no data.
    for (requirement, _) in
        requirements.filter(|(requirement, _)| *requirement != "SharedBetweenHandles")
    {
        assert!(
            observed(requirement, requirement).await.is_some(),
            "{requirement}"
        );
        assert_eq!(observed("none", requirement).await, None, "{requirement}");
    }
    for (mistake, requirement) in [
        ("rows of all ids", "ReadsWhatWasWritten"),
        ("counts all", "RowsAreReplaced"),
    ] {
        assert!(observed(mistake, requirement).await.is_some(), "{mistake}");
    }
}

#[tokio::test]
async fn handles_that_share_nothing_and_errors_are_reported() {
    let broken = broken_requirements(MemorySync::new).await;
    let shared = |line: &String| line.starts_with("SharedBetweenHandles: ");
    assert!(broken.iter().any(shared), "{broken:?}");
    let failing = || Broken {
        requirement: "error",
        inner: MemorySync::new(),
    };
    let broken = broken_requirements(failing).await;
    let failed = |line: &String| line.ends_with(": the program ended");
    assert!(broken.iter().all(failed), "{broken:?}");
}

#[tokio::test]
#[should_panic(expected = "\nForgetsChanges: after \"forget 20\" it has")]
async fn the_check_panics_with_a_line_for_each_broken_requirement() {
    let store = Broken {
        requirement: "ForgetsChanges",
        inner: MemorySync::new(),
    };
    check_sync_store(move || store.clone()).await;
}
