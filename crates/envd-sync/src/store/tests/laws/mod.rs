//! The laws of [`SyncStore`]. The replica relies on each of them: if one is broken, a change is never told, a record is missing in
//! the copy, or accounts see each other's records.
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

mod broken;
mod checked_store;
mod commits;
mod queries;
mod samples;

use std::fmt::Write;
use std::sync::Arc;
use std::time::Duration;

use crate::store::{MemorySync, SyncStore};

use self::checked_store::CheckedStore;

/// Longer than any law takes on a store behind a slow network.
const LIMIT: Duration = Duration::from_secs(120);

/// Checks all laws, one after the other, on a store that `open` opens anew each time, as another process does. The accounts that it
/// writes begin with `conformance`; a store that was checked before is fine.
async fn assert_laws<S: SyncStore>(open: impl Fn() -> S + Send + Sync + 'static) {
    let report = report(open).await;
    assert!(
        !report.contains("BROKEN"),
        "the store breaks laws\n{report}"
    );
}

/// A line for each law, with what was observed.
async fn report<S: SyncStore>(open: impl Fn() -> S + Send + Sync + 'static) -> String {
    let open: Arc<dyn Fn() -> S + Send + Sync> = Arc::new(open);
    let mut report = String::new();
    for (law, check) in CheckedStore::laws() {
        let store = CheckedStore::new(open.clone());
        let checked = tokio::time::timeout(LIMIT, check(&store)).await;
        let checked = checked.unwrap_or_else(|_| Err("it takes more than two minutes".into()));
        match checked {
            Ok(()) => writeln!(report, "kept    {law}").unwrap(),
            Err(violation) => writeln!(report, "BROKEN  {law}: {}", violation.0).unwrap(),
        }
    }
    report
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_store_in_memory_keeps_all_laws() {
    let store = MemorySync::new();
    assert_laws(move || store.clone()).await;
}

#[cfg(feature = "sqlite")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_store_in_a_file_keeps_all_laws() {
    use crate::store::SqliteSync;
    use crate::store::sqlite::tests::folder::Folder;

    let folder = Folder::new();
    let file = folder.file();
    assert_laws(move || SqliteSync::open(&file).unwrap()).await;
}
