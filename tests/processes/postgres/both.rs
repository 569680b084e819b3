//! The common behaviour of the two stores: each has its own tables in a schema with one owner, and migrations.

use std::time::Duration;

use envd_postgres::deadpool_postgres::Pool;
use envd_postgres::{PostgresStore, PostgresSync};
use envd_sdk::auth::{StoreError, StoreErrorKind, TokenStore, Version};
use envd_sync::store::SyncStore;

use super::copies::{self, ACCOUNT, batch};
use super::database::{self, chain};
use super::faults::record;
use crate::stores::sessions::KEY;

pub(super) enum Store {
    Tokens(PostgresStore),
    Copies(PostgresSync),
}

impl Store {
    pub(super) fn both(pool: &Pool, schema: &str) -> [Self; 2] {
        Self::both_of(pool, schema, "")
    }

    /// Both stores, in a schema of this owner.
    pub(super) fn both_of(pool: &Pool, schema: &str, owner: &str) -> [Self; 2] {
        let tokens = database::settings(pool, schema).owner(owner);
        let copies = database::sync_settings(pool, schema).owner(owner);
        let tokens = tokens.build().unwrap();
        let copies = copies.build().unwrap();
        [Self::Tokens(tokens), Self::Copies(copies)]
    }

    /// The prefix of its table names.
    pub(super) fn prefix(&self) -> &'static str {
        match self {
            Self::Tokens(_) => "tokens",
            Self::Copies(_) => "sync",
        }
    }

    pub(super) async fn migrate(&self) -> Result<(), StoreError> {
        match self {
            Self::Tokens(store) => store.migrate().await,
            Self::Copies(store) => store.migrate().await,
        }
    }

    pub(super) fn script(&self) -> String {
        match self {
            Self::Tokens(store) => store.migration_sql(),
            Self::Copies(store) => store.migration_sql(),
        }
    }

    /// Writes again, over the existing data.
    pub(super) async fn write(&self) -> Result<(), StoreError> {
        let is_written = match self {
            Self::Tokens(store) => {
                let before = generation(store).await?;
                let version = store.load(KEY).await?.map(|stored| stored.version);
                let written = store.swap(KEY, version, &record(before + 1)).await?;
                written.is_some()
            }
            Self::Copies(store) => {
                let walk = store.documents(ACCOUNT, "walk").await?.pop();
                let before = walk.map_or(0, |walk| walk.version);
                store.commit(ACCOUNT, &batch(before)).await?
            }
        };
        assert!(is_written);
        Ok(())
    }

    /// The number of writes so far.
    pub(super) async fn written(&self) -> u64 {
        match self {
            Self::Tokens(store) => generation(store).await.unwrap(),
            Self::Copies(store) => copies::contents(store)
                .await
                .1
                .first()
                .map_or(0, |row| row.sequence),
        }
    }

    /// Runs each operation that reads or writes, and returns the results.
    async fn try_all(&self) -> Vec<Result<(), StoreError>> {
        match self {
            Self::Tokens(store) => vec![
                store.load(KEY).await.map(drop),
                store.swap(KEY, None, &record(1)).await.map(drop),
                store.lock(KEY, Duration::ZERO).await.map(drop),
                store.remove(KEY, Version::new(1)).await.map(drop),
            ],
            Self::Copies(store) => vec![
                store.documents(ACCOUNT, "").await.map(drop),
                store.commit(ACCOUNT, &batch(0)).await.map(drop),
            ],
        }
    }

    /// Checks that every operation fails with this error.
    pub(super) async fn refuses(&self, kind: StoreErrorKind, part: &str) {
        for result in self.try_all().await {
            let error = result.expect_err(part);
            let text = chain(&error);
            assert!(error.kind() == kind && text.contains(part), "{text}");
        }
    }

    pub(super) async fn refuses_to_migrate(&self, kind: StoreErrorKind) {
        database::is_of(&self.migrate().await.unwrap_err(), kind);
    }

    /// Uses each operation.
    pub(super) async fn use_everything(&self) -> Result<(), StoreError> {
        self.migrate().await?;
        self.migrate().await?;
        match self {
            Self::Tokens(store) => use_tokens(store).await,
            Self::Copies(store) => copies::use_everything(store).await,
        }
    }
}

async fn generation(store: &PostgresStore) -> Result<u64, StoreError> {
    let stored = store.load(KEY).await?;
    Ok(stored.map_or(0, |stored| stored.record.tokens().generation()))
}

/// Also checks that locks exclude each other and that connections keep no state.
async fn use_tokens(store: &PostgresStore) -> Result<(), StoreError> {
    let first = store.swap(KEY, None, &record(1)).await?;
    assert!(first.is_some());
    assert!(store.swap(KEY, None, &record(2)).await?.is_none());
    let (guard, stored) = store.lock_and_load(KEY, Duration::ZERO).await?;
    assert_eq!(stored.unwrap().record.tokens().generation(), 1);
    let excluded = store.lock(KEY, Duration::ZERO).await.unwrap_err();
    let is_timeout = excluded.kind() == StoreErrorKind::LockTimeout;
    assert!(is_timeout, "{}", chain(&excluded));
    let other = store.lock("another account", Duration::ZERO).await?;
    let second = store.swap(KEY, first, &record(2)).await?.unwrap();
    drop((guard, other));
    assert!(store.swap(KEY, first, &record(3)).await?.is_none());
    let stored = store.load(KEY).await?.unwrap();
    assert_eq!(stored.record.tokens().generation(), 2);
    assert!(store.load("another account").await?.is_none());
    assert!(store.remove(KEY, second).await?);
    Ok(())
}
