//! The requirements of [`TokenStore`].

use std::collections::HashSet;
use std::error::Error;
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use serde_json::json;
use tokio::task::{JoinSet, yield_now};

use crate::auth::{Record, StoreErrorKind, StoreGuard, TokenStore, Version};

/// Longer than any requirement takes with a store over a slow network.
const LIMIT: Duration = Duration::from_secs(60);

/// Checks the requirements of [`TokenStore`] for your own store, one by one. Call it from a test inside a tokio runtime.
///
/// The token manager relies on each requirement: if one is broken, two processes may use the same refresh token, or a user may get no
/// tokens or those of another user.
///
/// ```
/// use envd_sdk::auth::MemoryStore;
/// use envd_sdk::fake::check_token_store;
///
/// # test_support::example(async {
/// let store = MemoryStore::new();
/// check_token_store(move || store.clone()).await;
/// # Ok(()) });
/// ```
///
/// In your test, pass a closure that opens your store again, as another process would: with two connections to one database, or
/// two handles on one file. It writes accounts that begin with `conformance`; you can check the same store repeatedly. A test
/// in one process cannot detect locks that outlive a killed process, or locks that end while their holder lives: a store with
/// such locks leaves [`lock_survives_faults`](TokenStore::lock_survives_faults) at `false`.
///
/// | requirement | requirement |
/// | --- | --- |
/// | `AbsentIsNone` | an account without a record reads as `None`, and removing it changes nothing |
/// | `ReadsWhatWasWritten` | a record is read back unchanged, with the version that the write returned |
/// | `SharedBetweenHandles` | one handle reads the writes of another |
/// | `AccountsAreApart` | accounts with different keys have separate records |
/// | `FirstWriteExpectsNone` | a first write succeeds only if there is no record |
/// | `SwapComparesVersions` | a write with a version other than the stored one changes nothing, and reports it |
/// | `VersionsNeverRepeat` | no version occurs twice, even after the record was removed |
/// | `RemoveComparesVersions` | a removal with a version other than the stored one changes nothing, and reports it |
/// | `OneOfManySwapsWins` | of concurrent writes with the same expected version, one succeeds |
/// | `LockExcludes` | taking a held lock fails with [`StoreError::lock_timeout`] if `wait` is zero, also through another handle |
/// | `LockWaits` | a waiter gets the lock if it is released before the deadline |
/// | `LockIsPerAccount` | the lock of one account does not block another |
/// | `LockEndsWithItsGuard` | a lock is free as soon as its guard is dropped |
/// | `CancelledWaitTakesNoLock` | a cancelled wait does not take the lock later |
/// | `LockStopsNoWrites` | reads, writes and removals work while the account's lock is held, because its holder performs them |
/// | `ReadableIsNotSetAside` | a readable record is never set aside |
///
/// # Cancel safety
///
/// If the future is dropped, records of accounts that begin with `conformance` may remain in the store.
///
/// # Panics
///
/// With one line per broken requirement, and the observation.
///
/// [`StoreError::lock_timeout`]: crate::auth::StoreError::lock_timeout
pub async fn check_token_store<S: TokenStore>(open: impl Fn() -> S + Send + Sync + 'static) {
    let broken = broken_requirements(open).await;
    let lines = broken
        .iter()
        .map(|(requirement, observed)| format!("\n{requirement}: {observed}"));
    let lines: String = lines.collect();
    assert!(broken.is_empty(), "the store breaks requirements{lines}");
}

/// The broken requirements with their observations, on a store that `open` reopens each time.
pub(super) async fn broken_requirements<S: TokenStore>(
    open: impl Fn() -> S + Send + Sync + 'static,
) -> Vec<(&'static str, String)> {
    let open: Arc<dyn Fn() -> S + Send + Sync> = Arc::new(open);
    let mut broken = Vec::new();
    for (requirement, check) in CheckedTokenStore::REQUIREMENTS {
        let store = CheckedTokenStore::new(open.clone());
        let checked = async {
            check(&store).await?;
            store.clean_up().await
        };
        let checked = tokio::time::timeout(LIMIT, checked).await;
        let checked = checked.unwrap_or_else(|_| Err("it takes more than a minute".into()));
        broken.extend(
            checked
                .err()
                .map(|observed| (requirement, observed.to_string())),
        );
    }
    broken
}

const WRITERS: u64 = 8;
const LOCK_WAIT: Duration = Duration::from_secs(30);

/// The error describes the observation that broke a requirement.
type Observation<T = ()> = Result<T, Box<dyn Error + Send + Sync>>;

fn ensure(holds: bool, observed: &str) -> Observation {
    if holds { Ok(()) } else { Err(observed.into()) }
}

/// A record with every field, in realistic sizes.
fn record(generation: u64) -> Observation<Record> {
    let text = json!({
        "form": 1,
        "tokens": {
            "access_token": format!("at-{generation}-{}", "x".repeat(1_500)),
            "refresh_token": format!("rt-{generation}-\"\\/"),
            "id_token": format!("it-{generation}-{}", "y".repeat(1_000)),
            "subject": "auth0|Zoë \u{1f404}",
            "scopes": ["openid", "offline_access"],
            "issued_at_ms": 1_795_000_000_123_u64,
            "lifetime_ms": 86_400_000,
            "generation": generation,
            "session_ends_at_ms": 1_797_592_000_123_u64,
        },
        "intent": {"generation": generation, "at_ms": 1_795_000_000_456_u64, "owner": u64::MAX},
        "ended": "refused",
    });
    Ok(Record::from_secret_json(&text.to_string().into())?)
}

/// The lock, or `None` if it is held.
async fn try_lock<S: TokenStore>(store: &S, key: &str) -> Observation<Option<StoreGuard>> {
    match store.lock(key, Duration::ZERO).await {
        Ok(guard) => Ok(Some(guard)),
        Err(error) if error.kind() == StoreErrorKind::LockTimeout => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// Checks one requirement.
type TokenRequirement<S> =
    for<'a> fn(&'a CheckedTokenStore<S>) -> Pin<Box<dyn Future<Output = Observation> + Send + 'a>>;

macro_rules! requirements {
    ($($requirement:ident: $check:ident,)*) => {
        [$((stringify!($requirement), |store| Box::pin(store.$check()))),*]
    };
}

/// The store, with an account that it does not have yet.
pub(super) struct CheckedTokenStore<S> {
    open: Arc<dyn Fn() -> S + Send + Sync>,
    store: S,
    key: String,
}

impl<S: TokenStore> CheckedTokenStore<S> {
    /// The requirements by name.
    pub(super) const REQUIREMENTS: [(&'static str, TokenRequirement<S>); 16] = requirements! {
        AbsentIsNone: absent_is_none,
        ReadsWhatWasWritten: reads_what_was_written,
        SharedBetweenHandles: shared_between_handles,
        AccountsAreApart: accounts_are_apart,
        FirstWriteExpectsNone: first_write_expects_none,
        SwapComparesVersions: swap_compares_versions,
        VersionsNeverRepeat: versions_never_repeat,
        RemoveComparesVersions: remove_compares_versions,
        OneOfManySwapsWins: one_of_many_swaps_wins,
        LockExcludes: lock_excludes,
        LockWaits: lock_waits,
        LockIsPerAccount: lock_is_per_account,
        LockEndsWithItsGuard: lock_ends_with_its_guard,
        CancelledWaitTakesNoLock: cancelled_wait_takes_no_lock,
        LockStopsNoWrites: lock_stops_no_writes,
        ReadableIsNotSetAside: readable_is_not_set_aside,
    };

    pub(super) fn new(open: Arc<dyn Fn() -> S + Send + Sync>) -> Self {
        Self {
            store: open(),
            open,
            key: format!("conformance-{:016x}", fastrand::u64(..)),
        }
    }

    /// Another handle, as in another process.
    fn reopened(&self) -> S {
        (self.open)()
    }

    async fn insert(&self, generation: u64) -> Observation<Version> {
        let written = self.swap(None, generation).await?;
        written.ok_or_else(|| "a first write is refused".into())
    }

    /// Replaces the stored version, which must succeed.
    async fn update(&self, stored: Version, generation: u64) -> Observation<Version> {
        let written = self.swap(Some(stored), generation).await?;
        written.ok_or_else(|| "a write with the stored version is refused".into())
    }

    async fn swap(
        &self,
        expected: Option<Version>,
        generation: u64,
    ) -> Observation<Option<Version>> {
        let record = record(generation)?;
        Ok(self.store.swap(&self.key, expected, &record).await?)
    }

    /// The stored generation and version.
    async fn stored(&self) -> Observation<Option<(u64, Version)>> {
        let stored = self.store.load(&self.key).await?;
        Ok(stored.map(|stored| (stored.record.tokens().generation(), stored.version)))
    }

    async fn clean_up(&self) -> Observation {
        if let Some((_, version)) = self.stored().await? {
            self.store.remove(&self.key, version).await?;
        }
        Ok(())
    }

    async fn lock(&self) -> Observation<StoreGuard> {
        Ok(self.store.lock(&self.key, LOCK_WAIT).await?)
    }

    async fn absent_is_none(&self) -> Observation {
        let none = self.stored().await?.is_none();
        ensure(none, "an account that was never written has a record")?;
        let removed = self.store.remove(&self.key, Version::new(1)).await?;
        ensure(!removed, "a removal without a record reports success")?;
        ensure(self.stored().await?.is_none(), "a removal left a record")
    }

    async fn reads_what_was_written(&self) -> Observation {
        let version = self.insert(7).await?;
        let stored = self.store.load(&self.key).await?;
        let stored = stored.ok_or("the record is missing")?;
        let same = stored.version == version;
        ensure(same, "it is stored under another version")?;
        let read = stored.record.to_secret_json();
        let written = record(7)?.to_secret_json();
        ensure(read.matches(written.expose()), "the record was changed")
    }

    async fn shared_between_handles(&self) -> Observation {
        let other = self.reopened();
        let version = self.insert(1).await?;
        let read = other.load(&self.key).await?;
        let read = read.ok_or("another handle does not see the record")?;
        let same = read.version == version;
        ensure(same, "another handle sees another version")?;
        let written = other.swap(&self.key, Some(version), &record(2)?).await?;
        written.ok_or("another handle cannot write")?;
        let generation = self.stored().await?.map(|(generation, _)| generation);
        ensure(generation == Some(2), "its write is not seen")
    }

    async fn accounts_are_apart(&self) -> Observation {
        // Keys that differ by case, by a space, by a character with a meaning in paths or patterns, or by a non-ASCII
        // character.
        let mut keys = vec![self.key.clone()];
        keys.extend(["a", "A", " a", "a ", "a/b", "a%2Fb", ".."].map(|end| self.key.clone() + end));
        keys.extend(["*", "%", "_", "'", "ä", "|\u{1f404}"].map(|end| self.key.clone() + end));
        let mut versions = Vec::new();
        for (key, generation) in keys.iter().zip(1..) {
            let written = self.store.swap(key, None, &record(generation)?).await?;
            let shared = || format!("the key {key:?} shares the record of another key");
            versions.push(written.ok_or_else(shared)?);
        }
        for (key, generation) in keys.iter().zip(1..) {
            let stored = self.store.load(key).await?;
            let read = stored.map(|stored| stored.record.tokens().generation());
            ensure(read == Some(generation), "a key reads another record")?;
        }
        for (key, version) in keys.iter().zip(versions) {
            let removed = self.store.remove(key, version).await?;
            ensure(removed, "a removal removed the record of another key")?;
        }
        Ok(())
    }

    async fn first_write_expects_none(&self) -> Observation {
        let written = self.swap(Some(Version::new(1)), 1).await?;
        let refused = written.is_none() && self.stored().await?.is_none();
        ensure(refused, "a write with a version inserts a record")?;
        let version = self.insert(1).await?;
        let written = self.swap(None, 2).await?;
        let refused = written.is_none() && self.stored().await? == Some((1, version));
        ensure(refused, "a write that expects no record replaces one")
    }

    async fn swap_compares_versions(&self) -> Observation {
        let first = self.insert(1).await?;
        let second = self.update(first, 2).await?;
        let written = self.stored().await? == Some((2, second));
        ensure(written, "a write with the stored version is lost")?;
        let refused = self.swap(Some(first), 3).await?.is_none();
        ensure(refused, "a write with an old version succeeds")?;
        let same = self.stored().await? == Some((2, second));
        ensure(same, "a write with an old version changed the record")
    }

    async fn versions_never_repeat(&self) -> Observation {
        let mut seen = HashSet::new();
        for _ in 0..3 {
            let mut version = self.insert(1).await?;
            for generation in 2..5 {
                ensure(seen.insert(version), "a version occurs twice")?;
                version = self.update(version, generation).await?;
            }
            ensure(seen.insert(version), "a version occurs twice")?;
            self.clean_up().await?;
        }
        Ok(())
    }

    async fn remove_compares_versions(&self) -> Observation {
        let first = self.insert(1).await?;
        let second = self.update(first, 2).await?;
        let removed = self.store.remove(&self.key, first).await?;
        let refused = !removed && self.stored().await? == Some((2, second));
        ensure(refused, "a removal with an old version succeeds")?;
        let removed = self.store.remove(&self.key, second).await?;
        let gone = removed && self.stored().await?.is_none();
        ensure(gone, "a removal with the stored version fails")
    }

    async fn one_of_many_swaps_wins(&self) -> Observation {
        let mut expected = None;
        for _ in 0..10 {
            let mut writers = JoinSet::new();
            for writer in 0..WRITERS {
                let store = self.reopened();
                let key = self.key.clone();
                writers.spawn(async move {
                    let version = store.swap(&key, expected, &record(writer)?).await?;
                    Observation::Ok(version.map(|version| (writer, version)))
                });
            }
            let mut winners = Vec::new();
            while let Some(written) = writers.join_next().await {
                winners.extend(written??);
            }
            let [winner] = winners[..] else {
                let count = winners.len();
                return Err(format!("{count} of {WRITERS} writes succeed").into());
            };
            let same = self.stored().await? == Some(winner);
            ensure(same, "a refused write is stored")?;
            expected = Some(winner.1);
        }
        Ok(())
    }

    async fn lock_excludes(&self) -> Observation {
        let _held = self.lock().await?;
        for store in [&self.store, &self.reopened()] {
            let refused = try_lock(store, &self.key).await?.is_none();
            ensure(refused, "one lock has two holders")?;
        }
        Ok(())
    }

    async fn lock_waits(&self) -> Observation {
        let held = self.lock().await?;
        let store = self.reopened();
        let key = self.key.clone();
        let waiting = tokio::spawn(async move { store.lock(&key, LOCK_WAIT).await.map(drop) });
        for _ in 0..100 {
            yield_now().await;
        }
        ensure(!waiting.is_finished(), "it does not wait for a held lock")?;
        drop(held);
        Ok(waiting.await??)
    }

    async fn lock_is_per_account(&self) -> Observation {
        let _held = self.lock().await?;
        let other = try_lock(&self.store, &format!("{}-other", self.key)).await?;
        ensure(other.is_some(), "another account is locked as well")
    }

    async fn lock_ends_with_its_guard(&self) -> Observation {
        for _ in 0..10 {
            for store in [&self.store, &self.reopened()] {
                let taken = try_lock(store, &self.key).await?.is_some();
                ensure(taken, "a lock without a holder is refused")?;
            }
        }
        Ok(())
    }

    async fn cancelled_wait_takes_no_lock(&self) -> Observation {
        let held = self.lock().await?;
        for polls in 1..5 {
            let mut cancelled = self.store.lock(&self.key, LOCK_WAIT);
            for _ in 0..polls {
                let polled = poll_fn(|context| Poll::Ready(cancelled.as_mut().poll(context))).await;
                ensure(polled.is_pending(), "one lock has two holders")?;
                yield_now().await;
            }
        }
        drop(held);
        self.reopened().lock(&self.key, LOCK_WAIT).await?;
        Ok(())
    }

    async fn lock_stops_no_writes(&self) -> Observation {
        let _held = self.lock().await?;
        let version = self.insert(1).await?;
        let written = self.swap(Some(version), 2).await?;
        ensure(written.is_some(), "the holder of the lock cannot write")
    }

    async fn readable_is_not_set_aside(&self) -> Observation {
        let set_aside = self.store.set_aside_unreadable(&self.key).await?;
        ensure(!set_aside, "setting aside without a record reports success")?;
        let version = self.insert(1).await?;
        let set_aside = self.store.set_aside_unreadable(&self.key).await?;
        let kept = !set_aside && self.stored().await? == Some((1, version));
        ensure(kept, "a record that can be read was set aside")
    }
}
