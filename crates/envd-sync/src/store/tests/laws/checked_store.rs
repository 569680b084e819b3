//! The checks of what is stored and for whom.

use std::pin::Pin;
use std::sync::Arc;

use tokio::task::JoinError;

use super::samples::{TEXTS, all, change, contents, document, row, rows};
use crate::store::rows::{Batch, ChangeRange, Document, Row, RowKeys};
use crate::store::{StoreError, SyncStore};

/// What was observed when a law was broken.
pub(super) struct Violation(pub(super) String);

impl From<&str> for Violation {
    fn from(observed: &str) -> Self {
        Self(observed.to_owned())
    }
}

impl From<String> for Violation {
    fn from(observed: String) -> Self {
        Self(observed)
    }
}

impl From<StoreError> for Violation {
    fn from(error: StoreError) -> Self {
        Self(format!("an error: {error}"))
    }
}

impl From<JoinError> for Violation {
    fn from(error: JoinError) -> Self {
        Self(format!("an error: {error}"))
    }
}

pub(super) type Result<T = ()> = std::result::Result<T, Violation>;

pub(super) fn ensure(holds: bool, observed: &str) -> Result {
    if holds { Ok(()) } else { Err(observed.into()) }
}

/// Checks one law.
type Check<S> =
    for<'a> fn(&'a CheckedStore<S>) -> Pin<Box<dyn Future<Output = Result> + Send + 'a>>;

/// The store with an account that is new to it.
pub(super) struct CheckedStore<S> {
    open: Arc<dyn Fn() -> S + Send + Sync>,
    pub(super) store: S,
    pub(super) account: String,
}

impl<S: SyncStore> CheckedStore<S> {
    /// The laws by name.
    pub(super) fn laws() -> Vec<(&'static str, Check<S>)> {
        vec![
            ("AbsentIsEmpty", |s| Box::pin(s.absent_is_empty())),
            ("ReadsWhatWasWritten", |s| {
                Box::pin(s.reads_what_was_written())
            }),
            ("LargeTextsAreKept", |s| Box::pin(s.large_texts_are_kept())),
            ("NulIsKeptOrRefused", |s| {
                Box::pin(s.nul_is_kept_or_refused())
            }),
            ("NumbersAreKeptOrRefused", |s| {
                Box::pin(s.numbers_are_kept_or_refused())
            }),
            ("SharedBetweenHandles", |s| {
                Box::pin(s.shared_between_handles())
            }),
            ("AccountsAreApart", |s| Box::pin(s.accounts_are_apart())),
            ("VersionsCount", |s| Box::pin(s.versions_count())),
            ("RefusedWritesNothing", |s| {
                Box::pin(s.refused_writes_nothing())
            }),
            ("OneOfManyCommitsWins", |s| {
                Box::pin(s.one_of_many_commits_wins())
            }),
            ("BatchesAreWhole", |s| Box::pin(s.batches_are_whole())),
            ("PartsInOrder", |s| Box::pin(s.parts_in_order())),
            ("RowsAreReplaced", |s| Box::pin(s.rows_are_replaced())),
            ("SeenChangesTheGeneration", |s| {
                Box::pin(s.seen_changes_the_generation())
            }),
            ("OrderIsOfBytes", |s| Box::pin(s.order_is_of_bytes())),
            ("PrefixIsLiteral", |s| Box::pin(s.prefix_is_literal())),
            ("QueriesFindWhatTheySay", |s| {
                Box::pin(s.queries_find_what_they_say())
            }),
            ("PagesGoOn", |s| Box::pin(s.pages_go_on())),
            ("RangesOfChanges", |s| Box::pin(s.ranges_of_changes())),
            ("ForgetsChanges", |s| Box::pin(s.forgets_changes())),
        ]
    }

    pub(super) fn new(open: Arc<dyn Fn() -> S + Send + Sync>) -> Self {
        Self {
            store: open(),
            open,
            account: format!("conformance-{:016x}", fastrand::u64(..)),
        }
    }

    /// Another handle, as another process has it.
    pub(super) fn reopened(&self) -> S {
        (self.open)()
    }

    /// Writes a batch that nothing speaks against.
    pub(super) async fn write(&self, batch: &Batch) -> Result {
        let written = self.store.commit(&self.account, batch).await?;
        ensure(written, "a batch that expects nothing is refused")
    }

    pub(super) async fn contents(&self) -> Result<String> {
        Ok(contents(&self.store, &self.account).await?)
    }

    /// The rows with these ids, ordered by id.
    pub(super) async fn rows(&self, ids: &[&str]) -> Result<Vec<Row>> {
        let ids: Vec<String> = ids.iter().map(|id| (*id).to_owned()).collect();
        let mut rows = self.store.rows(&self.account, &ids).await?;
        rows.sort_by(|one, other| one.id.cmp(&other.id));
        Ok(rows)
    }

    async fn absent_is_empty(&self) -> Result {
        ensure(self.contents().await? == "[] [] []", "it has something")?;
        let none = self.rows(&["a", ""]).await?.is_empty();
        ensure(none, "it has rows")?;
        let count = self.store.count(&self.account, &all()).await?;
        ensure(count == 0, "it counts rows")?;
        let removal = Batch {
            expected: vec![("a".to_owned(), 0)],
            documents: vec![("a".to_owned(), None)],
            seen: Some((7, vec!["a".to_owned()])),
            removed: vec!["a".to_owned()],
            forget_changes: Some(7),
            ..Batch::default()
        };
        self.write(&removal).await?;
        self.write(&Batch::default()).await?;
        let empty = self.contents().await? == "[] [] []";
        ensure(empty, "a removal from nothing left something")
    }

    async fn reads_what_was_written(&self) -> Result {
        let mut batch = Batch::default();
        for (number, text) in (1..).zip(TEXTS) {
            let own = |name| Some(format!("{name}{text}"));
            batch.rows.push(Row {
                id: text.to_owned(),
                sequence: number,
                generation: 3,
                keys: RowKeys {
                    status: own("s"),
                    species: own(""),
                    number: None,
                    origin_pic: own("o"),
                    destination_pic: own(""),
                    movement_day: own("m"),
                    updated_at: own(""),
                },
                payload: text.to_owned(),
            });
            let written = (text.to_owned(), Some(text.to_owned()));
            batch.documents.push(written);
            let mut change = change(text, number, 0);
            text.clone_into(&mut change.payload);
            batch.changes.push(change);
        }
        batch.rows.push(Row {
            id: "without keys".to_owned(),
            sequence: 0,
            ..Row::default()
        });
        self.write(&batch).await?;
        for row in &batch.rows {
            let read = self.rows(&[&row.id]).await?;
            let same = read == [row.clone()];
            ensure(same, &format!("a row reads otherwise: {:?}", row.id))?;
        }
        let ids = ["", "no such id", "0123"];
        ensure(
            self.rows(&ids).await?.len() == 2,
            "rows by id are not those asked for",
        )?;
        let range = ChangeRange::After(0);
        let changes = self.store.changes(&self.account, range, 100).await?;
        ensure(changes == batch.changes, "a change reads otherwise")?;
        let documents = self.store.documents(&self.account, "").await?;
        let mut written = batch.documents;
        written.sort();
        let written = written.into_iter().map(|(name, text)| Document {
            name,
            version: 1,
            text: text.unwrap_or_default(),
        });
        ensure(
            documents.into_iter().eq(written),
            "a document reads otherwise",
        )
    }

    async fn large_texts_are_kept(&self) -> Result {
        let text = "ü{\"5\"}\n".repeat(5_000_000 / 8);
        let mut batch = document("large", &text);
        let mut large = row("large", 1);
        large.payload.clone_from(&text);
        batch.rows.push(large);
        let mut change = change("large", 1, 0);
        change.payload.clone_from(&text);
        batch.changes.push(change);
        self.write(&batch).await?;
        let same = self.rows(&["large"]).await? == batch.rows;
        ensure(same, "a large payload was changed")?;
        let range = ChangeRange::After(0);
        let changes = self.store.changes(&self.account, range, 1).await?;
        ensure(changes == batch.changes, "a large change was changed")?;
        let documents = self.store.documents(&self.account, "large").await?;
        let same = documents.iter().any(|document| document.text == text);
        ensure(same, "a large document was changed")?;
        let removal = Batch {
            documents: vec![("large".to_owned(), None)],
            removed: vec!["large".to_owned()],
            forget_changes: Some(1),
            ..Batch::default()
        };
        self.write(&removal).await
    }

    /// A batch that a store may refuse for a part of it. What is there afterwards must be all of it or nothing.
    async fn kept_or_refused(&self, batch: &Batch, part: &str) -> Result {
        let before = self.contents().await?;
        let memory = crate::store::MemorySync::new();
        memory.commit("", batch).await?;
        let after = match self.store.commit(&self.account, batch).await {
            Ok(written) => {
                ensure(
                    written,
                    &format!("{part}: a batch without expectations is refused"),
                )?;
                contents(&memory, "").await?
            }
            Err(_) => before,
        };
        let same = self.contents().await? == after;
        ensure(same, &format!("{part}: neither kept nor refused"))?;
        let empty = Batch {
            documents: batch
                .documents
                .iter()
                .map(|(name, _)| (name.clone(), None))
                .collect(),
            removed: batch.rows.iter().map(|row| row.id.clone()).collect(),
            forget_changes: Some(u64::MAX),
            ..Batch::default()
        };
        self.write(&empty).await
    }

    async fn nul_is_kept_or_refused(&self) -> Result {
        let text = "before\0after";
        let mut payload = row("a", 1);
        text.clone_into(&mut payload.payload);
        let mut key = row("a", 1);
        key.keys.status = Some(text.to_owned());
        for (part, mut batch) in [
            ("the text of a document", document("a", text)),
            ("the name of a document", document(text, "a")),
            ("an id", rows(vec![row(text, 1)])),
            ("a payload", rows(vec![payload])),
            ("a key", rows(vec![key])),
        ] {
            batch.rows.insert(0, row("first", 7));
            self.kept_or_refused(&batch, part).await?;
        }
        Ok(())
    }

    async fn numbers_are_kept_or_refused(&self) -> Result {
        for number in [1 << 53, i64::MAX as u64, i64::MAX as u64 + 1, u64::MAX] {
            let mut generation = row("a", 1);
            generation.generation = number;
            let seen = Batch {
                seen: Some((number, vec!["first".to_owned()])),
                ..Batch::default()
            };
            let changes = |sequence, previous| Batch {
                changes: vec![change("first", 1, 0), change("a", sequence, previous)],
                ..Batch::default()
            };
            for (part, mut batch) in [
                ("the sequence of a row", rows(vec![row("a", number)])),
                ("a generation", rows(vec![generation])),
                ("a generation that is seen", seen),
                ("the sequence of a change", changes(number, 0)),
                ("a previous change", changes(2, number)),
            ] {
                batch.rows.insert(0, row("first", 7));
                self.kept_or_refused(&batch, &format!("{part} of {number}"))
                    .await?;
            }
            let batch = Batch {
                expected: vec![("a".to_owned(), number)],
                ..document("b", "")
            };
            let written = self.store.commit(&self.account, &batch).await;
            let written = written.unwrap_or_default();
            ensure(
                !written,
                "a version that was never written is taken for that of no document",
            )?;
        }
        Ok(())
    }

    async fn shared_between_handles(&self) -> Result {
        let mut batch = document("a", "text");
        batch.rows.push(row("a", 1));
        batch.changes.push(change("a", 1, 0));
        self.write(&batch).await?;
        let other = self.reopened();
        let same = contents(&other, &self.account).await? == self.contents().await?;
        ensure(same, "another handle reads something else")?;
        let next = Batch {
            expected: vec![("a".to_owned(), 1)],
            ..document("a", "next")
        };
        let written = other.commit(&self.account, &next).await?;
        ensure(written, "another handle does not know the version")?;
        let written = self.store.commit(&self.account, &next).await?;
        ensure(
            !written,
            "the first handle does not see that the version is another one",
        )
    }

    async fn accounts_are_apart(&self) -> Result {
        let base = &self.account;
        let mut accounts = vec![String::new()];
        for ending in [
            "", "a", "A", "a ", "%", "_", "'", "\"", "\\", "/a", "é", "e\u{301}",
        ] {
            accounts.push(format!("{base}{ending}"));
        }
        // In case an earlier check was stopped.
        self.clear("").await?;
        for (number, account) in (1..).zip(&accounts) {
            let mut batch = document("a", account);
            batch.expected.push(("a".to_owned(), 0));
            let mut own = row("a", number);
            account.clone_into(&mut own.payload);
            batch.rows.push(own);
            batch.changes.push(change("a", number, 0));
            let written = self.store.commit(account, &batch).await?;
            ensure(
                written,
                &format!("{account:?} has a document of another account"),
            )?;
        }
        for (number, account) in (1..).zip(&accounts) {
            let ids = ["a".to_owned()];
            let rows = self.store.rows(account, &ids).await?;
            let own = rows
                .iter()
                .all(|row| row.sequence == number && row.payload == *account);
            let found = self.store.query(account, &all()).await?;
            let count = self.store.count(account, &all()).await?;
            let own = own && rows.len() == 1 && found == rows && count == 1;
            ensure(own, &format!("{account:?} has other rows than its own"))?;
            let range = ChangeRange::After(0);
            let changes = self.store.changes(account, range, 100).await?;
            let own = changes == [change("a", number, 0)];
            ensure(own, &format!("{account:?} has other changes than its own"))?;
            self.clear(account).await?;
        }
        Ok(())
    }

    async fn clear(&self, account: &str) -> Result {
        let batch = Batch {
            documents: vec![("a".to_owned(), None)],
            removed: vec!["a".to_owned()],
            forget_changes: Some(100),
            ..Batch::default()
        };
        self.store.commit(account, &batch).await?;
        let left = contents(&self.store, account).await?;
        ensure(
            left == "[] [] []",
            &format!("{account:?} is not empty after removal"),
        )
    }
}
