//! A schema on the test server, and stores in it whose calls block.
//!
//! So a call is one poll, as with the store in memory, and schedules that count polls stay the same in each run.

use std::io::Write;
use std::sync::Once;
use std::time::Duration;

use tokio::runtime::{Builder, Handle, Runtime};

use envd_postgres::deadpool_postgres::Pool;
use envd_postgres::{PostgresSync, loopback_pool};
// The store is built against the library, and these tests against the crate as it is built for its tests.
use envd_sync::store::SyncStore as _;
use envd_sync::store::rows as library;

use crate::store::Order;
use crate::store::rows::{
    Batch, ChangeRange, ChangeRow, Document, LocalPosition, Query, Row, RowKeys,
};
use crate::store::tests::store_wrapper::{Answered, StoreAnswer, StoreCall, StoreWrapper};

/// A struct of the one build from that of the other, which has the same fields.
macro_rules! same {
    ($from:ty => $to:path { $($field:ident),+ }, $value:expr) => {{
        let value: $from = $value;
        $to { $($field: value.$field),+ }
    }};
}

const URL: &str = "ENVD_SDK_TEST_POSTGRES";

/// Deleted on drop.
pub(crate) struct TestSchema {
    runtime: Runtime,
    pool: Pool,
    name: String,
    store: PostgresSync,
}

impl TestSchema {
    /// With tables; `None`, after a note, if no server is configured.
    pub(crate) fn new() -> Option<Self> {
        static NOTE: Once = Once::new();
        let Ok(url) = std::env::var(URL) else {
            // Written directly: the test harness captures the output of passing tests.
            NOTE.call_once(|| {
                let note = "NOT RUN: the laws and schedules on Postgres";
                let _ = writeln!(
                    std::io::stderr(),
                    "\n{note}. Set {URL} to a connection string.\n"
                );
            });
            return None;
        };
        let mut runtime = Builder::new_multi_thread();
        let runtime = runtime.enable_all().build().unwrap();
        let pool = loopback_pool(&url, 8).unwrap();
        // Not from the seed: several runs may share a server.
        let random = std::collections::hash_map::RandomState::new();
        let number = std::hash::BuildHasher::hash_one(&random, 0);
        let name = format!("EnvdSchedules_{number:016x}");
        let store = PostgresSync::builder(pool.clone()).schema(&name);
        let store = store.time_out(Duration::from_secs(60)).build().unwrap();
        runtime.block_on(store.migrate()).unwrap();
        Some(Self {
            runtime,
            pool,
            name,
            store,
        })
    }

    /// A store that is empty unless it was requested before with the same number.
    pub(crate) fn store(&self, number: u64) -> BlockingStore {
        BlockingStore {
            runtime: self.runtime.handle().clone(),
            store: self.store.clone(),
            number,
        }
    }
}

impl Drop for TestSchema {
    fn drop(&mut self) {
        self.runtime.block_on(async {
            let client = self.pool.get().await.unwrap();
            let drop = format!("DROP SCHEMA \"{}\" CASCADE", self.name);
            client.batch_execute(&drop).await.unwrap();
        });
    }
}

#[derive(Clone)]
pub(crate) struct BlockingStore {
    runtime: Handle,
    store: PostgresSync,
    number: u64,
}

impl StoreWrapper for BlockingStore {
    /// On a thread of its own, for the caller's may drive another runtime.
    async fn call(&self, account: &str, call: StoreCall<'_>) -> Answered {
        let account = format!("{}/{account}", self.number);
        std::thread::scope(|scope| {
            let answer = forward(&self.store, &account, call);
            let waiting = scope.spawn(|| self.runtime.block_on(answer));
            waiting.join().unwrap()
        })
    }
}

async fn forward(store: &PostgresSync, account: &str, call: StoreCall<'_>) -> Answered {
    Ok(match call {
        StoreCall::Documents(prefix) => {
            let found = store.documents(account, prefix).await?.into_iter();
            let document = |it| same!(library::Document => Document { name, version, text }, it);
            StoreAnswer::Documents(found.map(document).collect())
        }
        StoreCall::Rows(ids) => StoreAnswer::Rows(rows(store.rows(account, ids).await?)),
        StoreCall::Query(it) => StoreAnswer::Rows(rows(store.query(account, &query(it)).await?)),
        StoreCall::Count(it) => StoreAnswer::Count(store.count(account, &query(it)).await?),
        StoreCall::Changes(it, limit) => {
            let found = store.changes(account, range(it), limit).await?.into_iter();
            let change =
                |it| same!(library::ChangeRow => ChangeRow { sequence, previous, id, payload }, it);
            StoreAnswer::Changes(found.map(change).collect())
        }
        StoreCall::Commit(it) => StoreAnswer::Written(store.commit(account, &batch(it)).await?),
    })
}

fn rows(found: Vec<library::Row>) -> Vec<Row> {
    let row = |it: library::Row| {
        let keys = same!(library::RowKeys => RowKeys {
            status, species, number, origin_pic, destination_pic, movement_day, updated_at
        }, it.keys);
        Row {
            id: it.id,
            sequence: it.sequence,
            generation: it.generation,
            keys,
            payload: it.payload,
        }
    };
    found.into_iter().map(row).collect()
}

fn to_row(row: &Row) -> library::Row {
    let it = row.clone();
    let keys = same!(RowKeys => library::RowKeys {
        status, species, number, origin_pic, destination_pic, movement_day, updated_at
    }, it.keys);
    library::Row {
        id: it.id,
        sequence: it.sequence,
        generation: it.generation,
        keys,
        payload: it.payload,
    }
}

fn query(query: &Query) -> library::Query {
    let it = query.clone();
    library::Query {
        status: it.status,
        species: it.species,
        number: it.number,
        pic: it.pic,
        movement_from: it.movement_from,
        movement_to: it.movement_to,
        updated_from: it.updated_from,
        before_generation: it.before_generation,
        up_to_sequence: it.up_to_sequence,
        order: match it.order {
            Order::Id => library::Order::Id,
            Order::LastUpdated => library::Order::LastUpdated,
            Order::Sequence => library::Order::Sequence,
        },
        after: it.after.map(
            |it| same!(LocalPosition => library::LocalPosition { id, sequence, updated_at }, it),
        ),
        limit: it.limit,
    }
}

fn range(range: ChangeRange) -> library::ChangeRange {
    match range {
        ChangeRange::After(after) => library::ChangeRange::After(after),
        ChangeRange::Replacing { after, up_to } => library::ChangeRange::Replacing { after, up_to },
    }
}

fn batch(batch: &Batch) -> library::Batch {
    let it = batch.clone();
    let change =
        |it| same!(ChangeRow => library::ChangeRow { sequence, previous, id, payload }, it);
    library::Batch {
        expected: it.expected,
        documents: it.documents,
        rows: it.rows.iter().map(to_row).collect(),
        seen: it.seen,
        removed: it.removed,
        changes: it.changes.into_iter().map(change).collect(),
        forget_changes: it.forget_changes,
    }
}
