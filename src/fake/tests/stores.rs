//! The requirements of stores: our stores obey them, and each broken requirement is reported.

use std::time::Duration;

use async_trait::async_trait;
use test_support::TestFolder;

use crate::auth::{
    FileStore, MemoryStore, Record, StoreError, StoreErrorKind, StoreGuard, TokenStore, Version,
    Versioned,
};
use crate::fake::check_token_store;
use crate::fake::store_conformance::{CheckedTokenStore, broken_requirements};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_memory_store_meets_all_requirements() {
    let store = MemoryStore::new();
    check_token_store(move || store.clone()).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_file_store_meets_all_requirements() {
    let folder = TestFolder::new();
    let file = folder.path().join("tokens.json");
    check_token_store(move || FileStore::new(&file)).await;
}

#[cfg(feature = "keyring")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_keyring_store_meets_all_requirements() {
    use crate::auth::keyring::KeyringStore;
    use keyring_core::mock::Store;

    let folder = TestFolder::new();
    let keyring = Store::new().unwrap();
    let locks = folder.path().join("locks");
    let open = move || KeyringStore::with_keyring(keyring.clone(), "app".to_owned(), locks.clone());
    check_token_store(open).await;
}

/// A store with a single bug.
#[derive(Clone)]
struct Broken {
    requirement: &'static str,
    inner: MemoryStore,
}

impl Broken {
    fn is(&self, requirement: &str) -> bool {
        self.requirement == requirement
    }

    /// The key after applying the bug.
    fn key(&self, key: &str) -> String {
        match self.requirement {
            "AccountsAreApart" => key.trim().to_lowercase(),
            _ => key.to_owned(),
        }
    }

    fn record(&self, record: &Record) -> Record {
        if !self.is("ReadsWhatWasWritten") {
            return record.clone();
        }
        let text = record
            .to_secret_json()
            .expose()
            .replace("offline_access", "");
        Record::from_secret_json(&text.into()).unwrap()
    }

    /// A version that restarts with each record, if that is the bug.
    fn shown(&self, version: Version) -> Version {
        if self.is("VersionsNeverRepeat") {
            return Version::new(version.number() % 4);
        }
        version
    }

    async fn true_version(&self, key: &str) -> Option<Version> {
        let stored = self.inner.load(key).await.unwrap();
        stored.map(|stored| stored.version)
    }

    /// The stored version if the caller expects it, or if the bug skips the comparison.
    async fn expected(&self, key: &str, expected: Option<Version>) -> Option<Version> {
        let stored = self.true_version(key).await;
        let blind = match expected {
            None => self.is("FirstWriteExpectsNone") && stored.is_some(),
            Some(_) => self.is("SwapComparesVersions") && stored.is_some(),
        };
        let same = stored.map(|version| self.shown(version)) == expected;
        if blind || same { stored } else { expected }
    }
}

#[async_trait]
impl TokenStore for Broken {
    async fn load(&self, key: &str) -> Result<Option<Versioned>, StoreError> {
        let stored = self.inner.load(&self.key(key)).await?;
        if stored.is_none() && self.is("AbsentIsNone") {
            return Err(StoreError::new(
                StoreErrorKind::Other,
                "nobody is logged in",
            ));
        }
        Ok(stored
            .map(|stored| Versioned::new(self.shown(stored.version), self.record(&stored.record))))
    }

    async fn swap(
        &self,
        key: &str,
        expected: Option<Version>,
        new: &Record,
    ) -> Result<Option<Version>, StoreError> {
        let key = self.key(key);
        if self.is("LockStopsNoWrites") {
            self.inner.lock(&key, Duration::ZERO).await?;
        }
        let expected = self.expected(&key, expected).await;
        if self.is("OneOfManySwapsWins") {
            let before = self.true_version(&key).await;
            tokio::task::yield_now().await;
            // Compares the version read earlier, then overwrites whatever is stored now.
            if before != expected {
                return Ok(None);
            }
            let now = self.true_version(&key).await;
            return self.inner.swap(&key, now, new).await;
        }
        let swapped = self.inner.swap(&key, expected, new).await?;
        Ok(swapped.map(|version| self.shown(version)))
    }

    async fn remove(&self, key: &str, expected: Version) -> Result<bool, StoreError> {
        let key = self.key(key);
        let Some(stored) = self.true_version(&key).await else {
            return Ok(false);
        };
        let blind = self.is("RemoveComparesVersions");
        if !blind && self.shown(stored) != expected {
            return Ok(false);
        }
        self.inner.remove(&key, stored).await
    }

    async fn lock(&self, key: &str, wait: Duration) -> Result<StoreGuard, StoreError> {
        let wait = match self.requirement {
            "LockExcludes" => return Ok(StoreGuard::new(())),
            "LockWaits" => Duration::ZERO,
            _ => wait,
        };
        let key = match self.requirement {
            "LockIsPerAccount" => "all",
            _ => key,
        };
        let guard = match self.requirement {
            // Waits in its own task, which continues after the caller is dropped, and keeps the lock.
            "CancelledWaitTakesNoLock" => {
                let inner = self.inner.clone();
                let key = key.to_owned();
                let lock = tokio::spawn(async move {
                    let guard = inner.lock(&key, wait).await;
                    guard.map(|guard| Box::leak(Box::new(Some(guard))))
                });
                let guard = lock.await.unwrap()?;
                StoreGuard::new(guard.take())
            }
            _ => self.inner.lock(key, wait).await?,
        };
        if self.is("LockEndsWithItsGuard") {
            std::mem::forget(guard);
            return Ok(StoreGuard::new(()));
        }
        Ok(guard)
    }

    async fn set_aside_unreadable(&self, key: &str) -> Result<bool, StoreError> {
        if !self.is("ReadableIsNotSetAside") {
            return Ok(false);
        }
        match self.true_version(key).await {
            Some(version) => self.inner.remove(key, version).await,
            None => Ok(false),
        }
    }
}

// With paused time, waiting for a lock that is never free ends at its deadline immediately.
#[tokio::test(start_paused = true)]
async fn each_broken_requirement_is_reported() {
    // Handles that share nothing have a separate test.
    let requirements =
        CheckedTokenStore::<MemoryStore>::REQUIREMENTS.map(|(requirement, _)| requirement);
    for requirement in requirements
        .into_iter()
        .filter(|requirement| *requirement != "SharedBetweenHandles")
    {
        let store = Broken {
            requirement,
            inner: MemoryStore::new(),
        };
        let broken = broken_requirements(move || store.clone()).await;
        assert!(
            broken.iter().any(|(seen, _)| *seen == requirement),
            "{requirement} is not seen: {broken:?}"
        );
    }
}

#[tokio::test]
#[should_panic(expected = "\nSharedBetweenHandles: ")]
async fn handles_that_share_nothing_are_reported() {
    check_token_store(MemoryStore::new).await;
}
