//! Random schedules: edits at any request, programs that end at any commit or await, restarts, clock jumps. The copy and what a consumer
//! was told are compared with the records of the service.

use std::collections::BTreeMap;
use std::future::poll_fn;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use serde_json::{Value, json};

use super::site::{Compared, ListOrder, Records, Site};
use crate::auth::BoxFuture;
use crate::seeded::seed;
use crate::sync::replica::{ChangeKind, LocalRecord, Replica, SyncMode};
use crate::sync::store::faulty_store::FaultyStore;
use crate::sync::store::{MemorySync, Query, SyncStore};

/// What a consumer knows, from nothing but what it was told.
type Known = BTreeMap<String, Value>;

pub(super) struct Schedule {
    site: Site,
    store: Arc<dyn SyncStore>,
    random: fastrand::Rng,
    known: Known,
    last: u64,
}

impl Schedule {
    pub(super) async fn new(number: u64, store: impl SyncStore) -> Self {
        let mut random = fastrand::Rng::with_seed(seed().wrapping_mul(1_000).wrapping_add(number));
        let site = Site::with(random.usize(0..9)).await;
        {
            let mut records = site.lock();
            let orders = [
                ListOrder::NewestFirst,
                ListOrder::OldestFirst,
                ListOrder::Id,
            ];
            records.order = orders[random.usize(0..3)];
            let compared = [
                Compared::Updated,
                Compared::Updated,
                Compared::Created,
                Compared::Moved,
            ];
            records.compared = compared[random.usize(0..4)];
            records.shows_total = random.u8(0..4) > 0;
        }
        Self {
            site,
            store: Arc::new(store),
            random,
            known: Known::new(),
            last: 0,
        }
    }

    pub(super) async fn run(&mut self) {
        for _ in 0..self.random.usize(4..16) {
            self.step().await;
            if self.random.bool() {
                self.read_feed().await;
            }
        }
        // Without further edits, everything is found.
        for _ in 0..4 {
            self.site.clock.advance(Duration::from_secs(86_400));
            self.replica(usize::MAX).sync().await.unwrap();
        }
        self.read_feed().await;
        let service: Known = self.site.now(|site| {
            let records = site.by_id.iter();
            records
                .map(|(id, (_, record))| (id.clone(), record.clone()))
                .collect()
        });
        assert_eq!(self.copy().await, service);
        assert_eq!(without_dates(&self.known), without_dates(&service));
    }

    fn replica(&self, commits: usize) -> Replica {
        self.site.replica(FaultyStore::new(&self.store, commits))
    }

    async fn step(&mut self) {
        for _ in 0..self.random.usize(0..3) {
            let edit = self.edit();
            self.site.now(edit);
        }
        self.site.lock().edits.clear();
        let is_edited = self.random.u8(0..3) == 0;
        if is_edited {
            let edit = self.edit();
            self.site.before_request(self.random.usize(1..6), edit);
        }
        if self.random.u8(0..4) == 0 {
            let jump = Duration::from_secs(self.random.u64(0..200_000));
            self.site.clock.set_wall(self.site.clock.now() - jump);
        }
        self.site
            .clock
            .advance(Duration::from_secs(self.random.u64(0..50_000)));
        let ends = self.random.u8(0..3) == 0;
        let commits = if ends {
            self.random.usize(0..6)
        } else {
            usize::MAX
        };
        let replica = self.replica(commits);
        let is_full = self.random.u8(0..5) == 0;
        let polls = if self.random.u8(0..4) == 0 {
            self.random.usize(0..40)
        } else {
            usize::MAX
        };
        let sync: BoxFuture<'_, _> = if is_full {
            Box::pin(replica.sync_full())
        } else {
            Box::pin(replica.sync())
        };
        let report = match dropped_after(polls, sync).await {
            None => return,
            Some(Ok(report)) => report,
            Some(Err(error)) => return assert!(ends, "{error}"),
        };
        let compared = self.site.lock().compared;
        assert!(
            report.mode == SyncMode::Full || compared == Compared::Updated,
            "{report}"
        );
        let edits_left = std::mem::take(&mut self.site.lock().edits);
        // A walk that began earlier may have passed what changed since.
        if report.clean && !report.resumed && (!is_edited || !edits_left.is_empty()) {
            let copy = self.copy().await;
            for (id, (_, record)) in &self.site.lock().by_id {
                assert_eq!(copy.get(id), Some(record), "{report}");
            }
        }
    }

    fn edit(&mut self) -> impl FnOnce(&mut Records) + Send + 'static {
        let (kind, pick, heads) = (
            self.random.u8(0..8),
            self.random.usize(..),
            self.random.u16(..),
        );
        let pause = if self.random.u8(0..3) == 0 {
            self.random.u64(0..90_000)
        } else {
            0
        };
        move |site: &mut Records| {
            site.now += pause;
            let ids: Vec<String> = site.by_id.keys().cloned().collect();
            let id = ids.get(pick % ids.len().max(1));
            match (kind, id) {
                (0 | 1, _) | (_, None) => site.save(&format!("n{heads:05}-{pick}"), |_| {}),
                (2, Some(id)) => site.delete(id),
                (3, Some(id)) => site.save(id, |_| {}),
                (4, Some(id)) => site.save(id, |record| {
                    record["movementDate"] = json!(format!("2026-11-{:02}", 10 + heads % 20));
                }),
                (_, Some(id)) => site.save(id, |record| record["heads"] = json!(heads)),
            }
        }
    }

    async fn copy(&self) -> Known {
        let query = Query {
            limit: usize::MAX,
            ..Query::default()
        };
        let rows = self.store.query("envd-1", &query).await.unwrap();
        let value = |payload: &str| LocalRecord::from_payload("", payload).unwrap().value();
        rows.iter()
            .map(|row| (row.id.clone(), value(&row.payload)))
            .collect()
    }

    /// Applies what a consumer is told, each change to what it knows of the record.
    async fn read_feed(&mut self) {
        let replica = self.replica(usize::MAX);
        let mut feed = replica.changes("a");
        while let Some(change) = feed.next().await.unwrap() {
            assert!(change.sequence > self.last, "{change:?}");
            self.last = change.sequence;
            let id = change.id.as_str().to_owned();
            match &change.kind {
                ChangeKind::Appeared { record } => {
                    assert!(self.known.insert(id, record.value()).is_none());
                }
                ChangeKind::Changed { before, after, .. } => {
                    let known = self.known.insert(id, after.value());
                    let known = known.map(|known| without_date(&known));
                    assert_eq!(known, Some(without_date(&before.value())));
                }
                ChangeKind::Gone { .. } => {
                    assert!(!self.site.lock().by_id.contains_key(&id), "{change:?}");
                    assert!(self.known.remove(&id).is_some());
                }
            }
            feed.acknowledge(&change).await.unwrap();
        }
    }
}

/// The result, unless the future is dropped before, after this many polls.
async fn dropped_after<T>(polls: usize, mut sync: BoxFuture<'_, T>) -> Option<T> {
    let mut left = polls;
    poll_fn(move |context| {
        if left == 0 {
            return Poll::Ready(None);
        }
        left -= 1;
        sync.as_mut().poll(context).map(Some)
    })
    .await
}

fn without_date(record: &Value) -> Value {
    let mut record = record.clone();
    record.as_object_mut().unwrap().remove("updatedAt");
    record
}

fn without_dates(records: &Known) -> Known {
    let records = records.iter();
    records
        .map(|(id, record)| (id.clone(), without_date(record)))
        .collect()
}

#[tokio::test]
async fn the_copy_and_the_feed_equal_the_service_after_any_schedule() {
    for number in 0..100 {
        println!("schedule {number}"); // Shown when it fails.
        let mut schedule = Schedule::new(number, MemorySync::new()).await;
        schedule.run().await;
    }
}
