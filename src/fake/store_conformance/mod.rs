//! The laws of [`TokenStore`], checked on a store of yours.
//!
//! The token manager relies on each of them: where one is broken, two processes use one refresh token, or a user is
//! handed nothing, or the tokens of somebody else.
//!
//! ```
//! use envd_sdk::auth::MemoryStore;
//! use envd_sdk::fake::store_conformance;
//!
//! # tokio::runtime::Runtime::new()?.block_on(async {
//! let store = MemoryStore::new();
//! let report = store_conformance::check(move || store.clone()).await;
//! report.assert_kept();
//! # });
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! In a test of yours, give it what opens your store once more, as another process would: two connections to one
//! database, two handles on one file. The accounts that it writes begin with `conformance`; a store that was checked
//! before is fine. What no test in one process can see are locks that outlive a process that was killed, and locks that
//! end while their holder lives: a store with such locks leaves
//! [`lock_survives_faults`](crate::auth::TokenStore::lock_survives_faults) at `false`.

mod change;
mod lock;
mod read;
mod report;
mod sample;

use std::sync::Arc;
use std::time::Duration;

pub use self::report::{Law, Report};

use self::sample::Bench;
use crate::auth::{BoxFuture, TokenStore};

/// Longer than any law takes on a store that is far away.
const LIMIT: Duration = Duration::from_secs(60);

type Verdict = Result<(), String>;
type Check<S> = fn(Arc<Bench<S>>) -> BoxFuture<'static, Verdict>;

/// Checks all laws, one after the other, on a store that `open` opens anew each time. Runs inside a tokio runtime.
pub async fn check<S: TokenStore>(open: impl Fn() -> S + Send + Sync + 'static) -> Report {
    let open: Arc<dyn Fn() -> S + Send + Sync> = Arc::new(open);
    let laws: [(Law, Check<S>); 16] = [
        (Law::AbsentIsNone, read::absent_is_none),
        (Law::ReadsWhatWasWritten, read::reads_what_was_written),
        (Law::SharedBetweenHandles, read::shared_between_handles),
        (Law::AccountsAreApart, read::accounts_are_apart),
        (Law::FirstWriteExpectsNone, change::first_write_expects_none),
        (Law::SwapComparesVersions, change::swap_compares_versions),
        (Law::VersionsNeverRepeat, change::versions_never_repeat),
        (
            Law::RemoveComparesVersions,
            change::remove_compares_versions,
        ),
        (Law::OneOfManySwapsWins, change::one_of_many_swaps_wins),
        (Law::LockExcludes, lock::lock_excludes),
        (Law::LockWaits, lock::lock_waits),
        (Law::LockIsPerAccount, lock::lock_is_per_account),
        (Law::LockEndsWithItsGuard, lock::lock_ends_with_its_guard),
        (Law::LockIsNotTakenByWhoLeft, lock::not_taken_by_who_left),
        (Law::LockStopsNoWrites, lock::lock_stops_no_writes),
        (Law::ReadableIsNotSetAside, read::readable_is_not_set_aside),
    ];
    let mut report = Report::default();
    for (law, check) in laws {
        let bench = Arc::new(Bench::new(open.clone()));
        let checked = tokio::time::timeout(LIMIT, check(bench)).await;
        let verdict = checked.unwrap_or_else(|_| Err("it takes more than a minute".to_owned()));
        report.add(law, verdict.err());
    }
    report
}
