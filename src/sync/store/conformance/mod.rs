//! The laws of [`SyncStore`], checked on a store of yours.
//!
//! The replica relies on each of them: if one is broken, a change is never told, a record is missing in the copy, or accounts
//! see each other's records.
//!
//! ```
//! use envd_sdk::sync::store::{MemorySync, conformance};
//!
//! # equipment::example(async {
//! let store = MemorySync::new();
//! let report = conformance::check(move || store.clone()).await;
//! report.assert_kept();
//! # Ok(()) });
//! ```
//!
//! In a test of yours, pass a closure that opens your store once more, as another process would: two connections to one
//! database, two handles on one file. Apart from one with an empty name, whose documents are removed again, the accounts that
//! it writes begin with `conformance`; a store that was checked before is fine. It needs the feature `fake`. No test in one
//! process can see whether a commit survives the loss of power.
//!
//! | law | what it demands |
//! | --- | --- |
//! | `AbsentIsEmpty` | an account that was never written has nothing, and removing from it changes nothing |
//! | `ReadsWhatWasWritten` | documents, rows and changes read as they were written: quotes, any letters, empty texts, `None` |
//! | `LargeTextsAreKept` | payloads and documents of five megabytes are kept |
//! | `NulIsKeptOrRefused` | a text with a NUL character is kept whole, or the commit fails and writes nothing |
//! | `NumbersAreKeptOrRefused` | a number above [`i64::MAX`] is kept, or the commit fails and writes nothing |
//! | `SharedBetweenHandles` | one handle reads what another one writes |
//! | `AccountsAreApart` | accounts whose names differ in any way have nothing in common |
//! | `VersionsCount` | a document has version 1 at first, one more with each write, and 1 again after it was removed |
//! | `RefusedWritesNothing` | a batch of which one document does not have its expected version writes nothing |
//! | `OneOfManyCommitsWins` | of concurrent commits with the same expected version, one succeeds |
//! | `BatchesAreWhole` | a read at any time sees all that a batch wrote or nothing, also of one whose future was dropped |
//! | `PartsInOrder` | the parts of a batch are applied in the order of the fields |
//! | `RowsAreReplaced` | a row that is written again is found by its new keys only |
//! | `SeenChangesTheGeneration` | rows that were seen change in their generation only, and none appears |
//! | `OrderIsOfBytes` | ids and names are ordered by their bytes in UTF-8 |
//! | `PrefixIsLiteral` | the prefix of document names is compared letter by letter |
//! | `QueriesFindWhatTheySay` | each condition, alone and with another one, in each order, finds what [`MemorySync`] finds; so does `count` |
//! | `PagesGoOn` | pages that begin after a row show each other row once, while rows are written and removed |
//! | `RangesOfChanges` | both ranges of changes are those that [`MemorySync`] has |
//! | `ForgetsChanges` | changes are forgotten up to a number, and nothing else is |
//!
//! [`MemorySync`]: super::MemorySync

mod checked_store;
mod commits;
mod queries;
mod samples;

#[cfg(test)]
mod tests;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use self::checked_store::CheckedStore;
use super::SyncStore;

/// Longer than any law takes on a store behind a slow network.
const LIMIT: Duration = Duration::from_secs(120);

/// Checks all laws, one after the other, on a store that `open` opens anew each time. Runs inside a tokio runtime with time.
pub async fn check<S: SyncStore>(open: impl Fn() -> S + Send + Sync + 'static) -> Report {
    let open: Arc<dyn Fn() -> S + Send + Sync> = Arc::new(open);
    let mut report = Report(Vec::new());
    for (law, check) in CheckedStore::laws() {
        let store = CheckedStore::new(open.clone());
        let checked = tokio::time::timeout(LIMIT, check(&store)).await;
        let checked = checked.unwrap_or_else(|_| Err("it takes more than two minutes".into()));
        report
            .0
            .push((law, checked.err().map(|violation| violation.0)));
    }
    report
}

/// Which laws a [`SyncStore`] keeps and breaks. Its `Display` has a line for each, with what was observed.
///
/// The [module](self) has an example.
#[derive(Clone, Debug)]
#[must_use]
pub struct Report(Vec<(&'static str, Option<String>)>);

impl Report {
    /// The laws that the store breaks.
    #[must_use]
    pub fn broken(&self) -> Vec<&'static str> {
        let broken = self.0.iter().filter(|(_, observed)| observed.is_some());
        broken.map(|(law, _)| *law).collect()
    }

    /// For tests: does nothing if the store keeps all laws.
    ///
    /// # Panics
    ///
    /// With the whole report, if the store breaks a law.
    pub fn assert_kept(&self) {
        assert!(self.broken().is_empty(), "the store breaks laws\n{self}");
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
