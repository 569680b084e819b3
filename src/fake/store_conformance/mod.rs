//! The laws of [`TokenStore`].

mod checked_store;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use self::checked_store::CheckedStore;
use crate::auth::TokenStore;

/// Longer than any law takes on a store behind a slow network.
const LIMIT: Duration = Duration::from_secs(60);

/// Checks the laws of [`TokenStore`] on a store of yours, one after the other, in a test inside a tokio runtime.
///
/// The token manager relies on each of them: if one is broken, two processes use one refresh token, or a user gets no
/// tokens, or the tokens of another user.
///
/// ```
/// use envd_sdk::auth::MemoryStore;
/// use envd_sdk::fake::check_token_store;
///
/// # equipment::example(async {
/// let store = MemoryStore::new();
/// check_token_store(move || store.clone()).await;
/// # Ok(()) });
/// ```
///
/// In a test of yours, pass a closure that opens your store once more, as another process would: two connections to one
/// database, two handles on one file. The accounts that it writes begin with `conformance`; a store that was checked
/// before is fine. No test in one process can see locks that outlive a process that was killed, and locks that end while
/// their holder lives: a store with such locks leaves
/// [`lock_survives_faults`](TokenStore::lock_survives_faults) at `false`.
///
/// | law | what it demands |
/// | --- | --- |
/// | `AbsentIsNone` | an account without a record reads as `None`, and removing it changes nothing |
/// | `ReadsWhatWasWritten` | a record reads as it was written, under the version that the write returned |
/// | `SharedBetweenHandles` | one handle reads what another one writes |
/// | `AccountsAreApart` | accounts whose keys differ in any way have separate records |
/// | `FirstWriteExpectsNone` | a first write succeeds only if there is no record |
/// | `SwapComparesVersions` | a write with a version that is not the stored one changes nothing, and reports it |
/// | `VersionsNeverRepeat` | no version occurs twice, not even after the record was removed |
/// | `RemoveComparesVersions` | a removal with a version that is not the stored one changes nothing, and reports it |
/// | `OneOfManySwapsWins` | of concurrent writes with the same expected version, one succeeds |
/// | `LockExcludes` | a lock that is held fails with [`StoreError::lock_timeout`] if `wait` is zero, also on another handle |
/// | `LockWaits` | a waiter gets the lock when it is freed before the deadline |
/// | `LockIsPerAccount` | the lock of one account does not block another |
/// | `LockEndsWithItsGuard` | a lock is free as soon as its guard is dropped |
/// | `CancelledWaitTakesNoLock` | a wait that was cancelled does not take the lock later |
/// | `LockStopsNoWrites` | reads, writes and removals work while the account's lock is held, for its holder makes them |
/// | `ReadableIsNotSetAside` | a record that can be read is never set aside |
///
/// # Panics
///
/// With a line for each law and what was observed, if the store breaks one.
///
/// [`StoreError::lock_timeout`]: crate::auth::StoreError::lock_timeout
pub async fn check_token_store<S: TokenStore>(open: impl Fn() -> S + Send + Sync + 'static) {
    let report = observe(open).await;
    assert!(
        report.broken().is_empty(),
        "the store breaks laws\n{report}"
    );
}

/// Checks all laws on a store that `open` opens anew each time.
pub(super) async fn observe<S: TokenStore>(open: impl Fn() -> S + Send + Sync + 'static) -> Report {
    let open: Arc<dyn Fn() -> S + Send + Sync> = Arc::new(open);
    let mut report = Report(Vec::new());
    for (law, check) in CheckedStore::LAWS {
        let store = CheckedStore::new(open.clone());
        let checked = tokio::time::timeout(LIMIT, check(&store)).await;
        let checked = checked.unwrap_or_else(|_| Err("it takes more than a minute".into()));
        report
            .0
            .push((law, checked.err().map(|violation| violation.0)));
    }
    report
}

/// Which laws a [`TokenStore`] keeps and breaks. Its `Display` has a line for each, with what was observed.
pub(super) struct Report(pub(super) Vec<(&'static str, Option<String>)>);

impl Report {
    /// The laws that the store breaks.
    pub(super) fn broken(&self) -> Vec<&'static str> {
        let broken = self.0.iter().filter(|(_, observed)| observed.is_some());
        broken.map(|(law, _)| *law).collect()
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (law, broken) in &self.0 {
            match broken {
                None => writeln!(f, "kept    {law}")?,
                Some(observed) => writeln!(f, "BROKEN  {law}: {observed}")?,
            }
        }
        Ok(())
    }
}
