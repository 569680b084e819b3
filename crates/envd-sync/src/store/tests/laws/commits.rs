//! The checks of batches.

use std::future::poll_fn;
use std::sync::Arc;
use std::task::Poll;

use tokio::task::JoinSet;

use super::checked_store::{CheckedStore, Result, ensure};
use super::samples::{all, change, document, row, rows};
use crate::store::SyncStore;
use crate::store::rows::{Batch, ChangeRange, Query, Row};

const WRITERS: u64 = 8;
const ROUNDS: u64 = 20;

impl<S: SyncStore> CheckedStore<S> {
    async fn version(&self, name: &str) -> Result<u64> {
        let documents = self.store.documents(&self.account, name).await?;
        let named = documents.iter().find(|document| document.name == name);
        Ok(named.map_or(0, |document| document.version))
    }

    pub(super) async fn versions_count(&self) -> Result {
        for version in 1..=3 {
            self.write(&document("a", "text")).await?;
            let counted = self.version("a").await? == version;
            ensure(counted, "a write does not add 1 to the version")?;
        }
        let removal = Batch {
            expected: vec![("a".to_owned(), 3)],
            documents: vec![("a".to_owned(), None)],
            ..Batch::default()
        };
        self.write(&removal).await?;
        let gone = self.version("a").await? == 0;
        ensure(gone, "a document that was removed is there")?;
        let again = Batch {
            expected: vec![("a".to_owned(), 0)],
            ..document("a", "text")
        };
        self.write(&again).await?;
        let first = self.version("a").await? == 1;
        ensure(first, "after it was removed, the first version is not 1")
    }

    pub(super) async fn refused_writes_nothing(&self) -> Result {
        let mut batch = document("a", "text");
        batch.documents.push(("b".to_owned(), Some(String::new())));
        batch.rows.push(row("a", 1));
        batch.changes.push(change("a", 1, 0));
        self.write(&batch).await?;
        let before = self.contents().await?;
        let other = Batch {
            expected: Vec::new(),
            documents: vec![
                ("a".to_owned(), Some("other".to_owned())),
                ("b".to_owned(), None),
                ("c".to_owned(), Some(String::new())),
            ],
            rows: vec![row("a", 2), row("b", 3)],
            seen: Some((9, vec!["a".to_owned()])),
            removed: vec!["a".to_owned()],
            changes: vec![change("a", 2, 1)],
            forget_changes: Some(1),
        };
        let expected = |versions: &[(&str, u64)]| -> Vec<(String, u64)> {
            let versions = versions.iter();
            versions
                .map(|(name, version)| ((*name).to_owned(), *version))
                .collect()
        };
        for wrong in [
            expected(&[("a", 0)]),
            expected(&[("a", 2)]),
            expected(&[("a", 1), ("b", 1), ("d", 1)]),
            expected(&[("a", 1), ("b", 0)]),
            expected(&[("", 1)]),
        ] {
            let mut refused = other.clone();
            refused.expected.clone_from(&wrong);
            let written = self.store.commit(&self.account, &refused).await?;
            ensure(!written, &format!("{wrong:?} is taken for what is there"))?;
            let same = self.contents().await? == before;
            ensure(same, "a batch that was refused wrote something")?;
        }
        let right = Batch {
            expected: expected(&[("a", 1), ("b", 1), ("d", 0)]),
            ..other
        };
        let written = self.store.commit(&self.account, &right).await?;
        ensure(written, "a batch with the right versions is refused")
    }

    pub(super) async fn one_of_many_commits_wins(&self) -> Result {
        self.write(&document("a", "")).await?;
        for round in 1..=ROUNDS {
            let mut writers = JoinSet::new();
            for writer in 0..WRITERS {
                let (store, account) = (self.reopened(), self.account.clone());
                let batch = Batch {
                    expected: vec![("a".to_owned(), round)],
                    rows: vec![row(&format!("{round}-{writer}"), round * WRITERS + writer)],
                    ..document("a", &writer.to_string())
                };
                writers.spawn(async move { store.commit(&account, &batch).await });
            }
            let mut won = 0;
            while let Some(written) = writers.join_next().await {
                won += u64::from(written??);
            }
            ensure(
                won == 1,
                &format!("{won} commits with one expected version succeed"),
            )?;
            let rows = self.store.count(&self.account, &all()).await?;
            ensure(rows == round, "a commit that was refused wrote rows")?;
        }
        Ok(())
    }

    pub(super) async fn batches_are_whole(&self) -> Result {
        let batch = |number: u64| {
            let text = number.to_string();
            let mut batch = document("a", &text);
            batch.documents.push(("b".to_owned(), Some(text.clone())));
            for id in ["a", "b"] {
                let mut row = row(id, number);
                text.repeat(10_000).clone_into(&mut row.payload);
                batch.rows.push(row);
            }
            batch
        };
        let (store, account) = (Arc::new(self.reopened()), self.account.clone());
        let writer = tokio::spawn(async move {
            for number in 1..=ROUNDS {
                let batch = batch(number);
                let mut commit = store.commit(&account, &batch);
                if number % 2 == 0 {
                    commit.await?;
                } else {
                    // Dropped in the middle, unless it was done at once.
                    poll_fn(|context| {
                        let _ = commit.as_mut().poll(context);
                        Poll::Ready(())
                    })
                    .await;
                }
            }
            Ok::<(), crate::store::StoreError>(())
        });
        while !writer.is_finished() {
            let documents = self.store.documents(&self.account, "").await?;
            let whole = match &*documents {
                [] => true,
                [a, b] => a.text == b.text && a.version == b.version,
                _ => false,
            };
            ensure(whole, "documents of one batch are read half")?;
            let rows = self.store.query(&self.account, &all()).await?;
            let whole = match &*rows {
                [] => true,
                [a, b] => a.sequence == b.sequence && a.payload == b.payload,
                _ => false,
            };
            ensure(whole, "rows of one batch are read half")?;
            tokio::task::yield_now().await;
        }
        Ok(writer.await??)
    }

    pub(super) async fn parts_in_order(&self) -> Result {
        let ids = |ids: &[&str]| ids.iter().map(|id| (*id).to_owned()).collect();
        let batch = Batch {
            rows: vec![row("a", 1), row("b", 2), row("c", 3)],
            seen: Some((9, ids(&["a", "b"]))),
            removed: ids(&["b"]),
            changes: vec![change("a", 1, 0), change("b", 2, 0)],
            forget_changes: Some(1),
            ..Batch::default()
        };
        self.write(&batch).await?;
        let mut seen = row("a", 1);
        seen.generation = 9;
        let rows = self.store.query(&self.account, &all()).await?;
        ensure(
            rows == [seen, row("c", 3)],
            "rows, seen and removed are not applied in this order",
        )?;
        let range = ChangeRange::After(0);
        let changes = self.store.changes(&self.account, range, 9).await?;
        let forgotten = changes == [change("b", 2, 0)];
        ensure(
            forgotten,
            "changes are not added before others are forgotten",
        )
    }

    pub(super) async fn rows_are_replaced(&self) -> Result {
        self.write(&rows(vec![row("a", 1), row("b", 2)])).await?;
        let bare = Row {
            id: "a".to_owned(),
            sequence: 3,
            ..Row::default()
        };
        self.write(&rows(vec![bare.clone()])).await?;
        let found = self.store.query(&self.account, &all()).await?;
        ensure(found == [bare, row("b", 2)], "the row reads otherwise")?;
        let old = row("a", 1).keys;
        for query in [
            Query {
                status: old.status,
                ..all()
            },
            Query {
                species: old.species,
                ..all()
            },
            Query {
                number: old.number,
                ..all()
            },
            Query {
                pic: old.origin_pic,
                ..all()
            },
            Query {
                pic: old.destination_pic,
                ..all()
            },
        ] {
            let found = self.store.query(&self.account, &query).await?;
            ensure(
                found.is_empty(),
                "the row is found by a key that it had before",
            )?;
        }
        let dated = Query {
            movement_from: old.movement_day,
            ..all()
        };
        let found = self.store.query(&self.account, &dated).await?;
        ensure(
            found == [row("b", 2)],
            "the row is found by a day that it had before",
        )
    }

    pub(super) async fn seen_changes_the_generation(&self) -> Result {
        self.write(&rows(vec![row("a", 1), row("b", 2)])).await?;
        let seen = Batch {
            seen: Some((5, vec!["b".to_owned(), "no such id".to_owned()])),
            ..Batch::default()
        };
        self.write(&seen).await?;
        let mut expected = row("b", 2);
        expected.generation = 5;
        let rows = self.store.query(&self.account, &all()).await?;
        ensure(
            rows == [row("a", 1), expected],
            "more or less than the generation changes",
        )?;
        let before = Query {
            before_generation: Some(5),
            ..all()
        };
        let found = self.store.query(&self.account, &before).await?;
        ensure(
            found == [row("a", 1)],
            "a search by generation does not see it",
        )
    }

    pub(super) async fn ranges_of_changes(&self) -> Result {
        let memory = crate::store::MemorySync::new();
        let mut random = fastrand::Rng::with_seed(4711);
        let mut last = [0; 12];
        let mut batch = Batch::default();
        for sequence in (1..400).step_by(3) {
            let record = random.usize(..last.len());
            batch
                .changes
                .push(change(&record.to_string(), sequence, last[record]));
            last[record] = sequence;
        }
        self.write(&batch).await?;
        memory.commit("", &batch).await?;
        for _ in 0..200 {
            let (after, up_to) = (random.u64(..420), random.u64(..420));
            for range in [
                ChangeRange::After(after),
                ChangeRange::Replacing { after, up_to },
            ] {
                for limit in [0, 1, 10, 1_000] {
                    let found = self.store.changes(&self.account, range, limit).await?;
                    let expected = memory.changes("", range, limit).await?;
                    ensure(
                        found == expected,
                        &format!("{range:?} with limit {limit} differs"),
                    )?;
                }
            }
        }
        let most = ChangeRange::After(u64::MAX);
        let none = self.store.changes(&self.account, most, 10).await?;
        ensure(
            none.is_empty(),
            "there are changes after the greatest number",
        )
    }

    pub(super) async fn forgets_changes(&self) -> Result {
        let mut batch = document("a", "");
        batch.rows.push(row("a", 30));
        batch.changes = vec![change("a", 10, 0), change("a", 20, 10), change("a", 30, 20)];
        self.write(&batch).await?;
        for (up_to, left) in [(0, 3), (9, 3), (20, 1), (u64::MAX, 0)] {
            let forget = Batch {
                forget_changes: Some(up_to),
                ..Batch::default()
            };
            self.write(&forget).await?;
            let range = ChangeRange::After(0);
            let changes = self.store.changes(&self.account, range, 9).await?;
            let expected = batch.changes.get(3 - left..).unwrap_or_default();
            ensure(
                changes == expected,
                &format!("other changes are left up to {up_to}"),
            )?;
        }
        let kept = self.rows(&["a"]).await? == batch.rows && self.version("a").await? == 1;
        ensure(kept, "rows or documents were forgotten as well")
    }
}
