//! A schema on the test server, and stores in it whose calls block.
//!
//! So a call is one poll, as with the store in memory, and schedules that count polls stay the same in each run.

use std::io::Write;
use std::sync::Once;
use std::time::Duration;

use tokio::runtime::{Builder, Handle, Runtime};

use envd_postgres::deadpool_postgres::Pool;
use envd_postgres::loopback_pool;
use crate::store::PostgresSync;
use crate::store::tests::store_wrapper::{Answered, StoreCall, StoreWrapper};

const URL: &str = "ENVD_SDK_TEST_POSTGRES";

/// Deleted on drop.
pub(crate) struct TestSchema {
    runtime: Runtime,
    url: String,
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
            url,
            pool,
            name,
            store,
        })
    }

    pub(crate) fn block_on<T>(&self, future: impl Future<Output = T>) -> T {
        self.runtime.block_on(future)
    }

    /// Opens stores over pools of their own, as hosts do.
    pub(crate) fn opener(&self) -> impl Fn() -> PostgresSync + Send + Sync + use<> {
        let (url, name) = (self.url.clone(), self.name.clone());
        move || {
            let store = PostgresSync::builder(loopback_pool(&url, 3).unwrap());
            let store = store.schema(&name).time_out(Duration::from_secs(60));
            store.build().unwrap()
        }
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
            let answer = call.forward(&self.store, &account);
            let waiting = scope.spawn(|| self.runtime.block_on(answer));
            waiting.join().unwrap()
        })
    }
}
