//! A schema on the test server, and stores in it whose calls block.
//!
//! So a call is one poll, as with the store in memory, and schedules that count polls stay the same in each run.

use std::io::Write;
use std::sync::{Arc, Mutex, Once};
use std::time::Duration;

use tokio::runtime::{Builder, Handle, Runtime};

use crate::auth::postgres::deadpool_postgres::Pool;
use crate::auth::postgres::loopback_pool;
use crate::sync::store::{
    Batch, ChangeRange, ChangeRow, Document, PostgresSync, Query, Row, StoreFuture, SyncStore,
};

const URL: &str = "ENVD_SDK_TEST_POSTGRES";

/// Deleted on drop.
pub(in crate::sync) struct TestSchema {
    runtime: Runtime,
    pool: Pool,
    name: String,
    store: PostgresSync,
}

impl TestSchema {
    /// With tables; `None`, after a note, if no server is configured.
    pub(in crate::sync) fn new() -> Option<Self> {
        static NOTE: Once = Once::new();
        let Ok(url) = std::env::var(URL) else {
            // Written directly: the test harness captures the output of passing tests.
            NOTE.call_once(|| {
                let note = "NOT RUN: the schedules on Postgres";
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
    pub(in crate::sync) fn store(&self, number: u64) -> BlockingStore {
        BlockingStore {
            runtime: self.runtime.handle().clone(),
            store: self.store.clone(),
            number,
            calls: Arc::default(),
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
pub(in crate::sync) struct BlockingStore {
    runtime: Handle,
    store: PostgresSync,
    number: u64,
    calls: Arc<Mutex<Vec<&'static str>>>,
}

impl BlockingStore {
    /// The methods that were called since this was.
    pub(in crate::sync) fn take_calls(&self) -> Vec<&'static str> {
        std::mem::take(&mut *self.calls.lock().unwrap())
    }

    fn named(&self, account: &str) -> String {
        format!("{}/{account}", self.number)
    }

    /// On a thread of its own, for the caller's may drive another runtime.
    fn wait<T: Send>(&self, call: &'static str, future: impl Future<Output = T> + Send) -> T {
        self.calls.lock().unwrap().push(call);
        std::thread::scope(|scope| {
            let waiting = scope.spawn(|| self.runtime.block_on(future));
            waiting.join().unwrap()
        })
    }
}

impl SyncStore for BlockingStore {
    fn documents<'a>(
        &'a self,
        account: &'a str,
        prefix: &'a str,
    ) -> StoreFuture<'a, Vec<Document>> {
        Box::pin(async move {
            self.wait(
                "documents",
                self.store.documents(&self.named(account), prefix),
            )
        })
    }

    fn rows<'a>(&'a self, account: &'a str, ids: &'a [String]) -> StoreFuture<'a, Vec<Row>> {
        Box::pin(async move { self.wait("rows", self.store.rows(&self.named(account), ids)) })
    }

    fn query<'a>(&'a self, account: &'a str, query: &'a Query) -> StoreFuture<'a, Vec<Row>> {
        Box::pin(async move { self.wait("query", self.store.query(&self.named(account), query)) })
    }

    fn count<'a>(&'a self, account: &'a str, query: &'a Query) -> StoreFuture<'a, u64> {
        Box::pin(async move { self.wait("count", self.store.count(&self.named(account), query)) })
    }

    fn changes<'a>(
        &'a self,
        account: &'a str,
        range: ChangeRange,
        limit: usize,
    ) -> StoreFuture<'a, Vec<ChangeRow>> {
        Box::pin(async move {
            self.wait(
                "changes",
                self.store.changes(&self.named(account), range, limit),
            )
        })
    }

    fn commit<'a>(&'a self, account: &'a str, batch: &'a Batch) -> StoreFuture<'a, bool> {
        Box::pin(async move { self.wait("commit", self.store.commit(&self.named(account), batch)) })
    }

    fn announce<'a>(&'a self, account: &'a str) -> StoreFuture<'a, ()> {
        Box::pin(async move { self.wait("announce", self.store.announce(&self.named(account))) })
    }
}
