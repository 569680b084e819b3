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
    Batch, ChangeRange, ChangeRow, Document, LocalPosition, Query, RecordRow, RowKeys,
};
use crate::store::tests::store_wrapper::{Answered, StoreAnswer, StoreCall, StoreWrapper};

/// The value of the other build, which has the same fields.
trait Twin<T> {
    fn twin(self) -> T;
}

macro_rules! twins {
    ($($plain:ty),+; $($name:ident { $($field:ident),+ })+) => {
        $(impl Twin<$plain> for $plain {
            fn twin(self) -> $plain {
                self
            }
        })+
        $(impl Twin<library::$name> for $name {
            fn twin(self) -> library::$name {
                library::$name { $($field: self.$field.twin()),+ }
            }
        }
        impl Twin<$name> for library::$name {
            fn twin(self) -> $name {
                $name { $($field: self.$field.twin()),+ }
            }
        })+
    };
}

twins! {
    String, u64, usize;
    Document { name, version, text }
    RowKeys { status, species, number, origin_pic, destination_pic, movement_day, updated_at }
    RecordRow { id, sequence, generation, keys, payload }
    ChangeRow { sequence, previous, id, payload }
    LocalPosition { id, sequence, updated_at }
    Query {
        status, species, number, pic, movement_from, movement_to, updated_from,
        before_generation, up_to_sequence, order, after, limit
    }
    Batch { expected, documents, rows, seen, removed, changes, forget_changes }
}

impl<T: Twin<U>, U> Twin<Option<U>> for Option<T> {
    fn twin(self) -> Option<U> {
        self.map(Twin::twin)
    }
}

impl<T: Twin<U>, U> Twin<Vec<U>> for Vec<T> {
    fn twin(self) -> Vec<U> {
        self.into_iter().map(Twin::twin).collect()
    }
}

impl<T: Twin<U>, U, V: Twin<W>, W> Twin<(U, W)> for (T, V) {
    fn twin(self) -> (U, W) {
        (self.0.twin(), self.1.twin())
    }
}

macro_rules! twin_orders {
    ($from:ty => $to:ty) => {
        impl Twin<$to> for $from {
            fn twin(self) -> $to {
                match self {
                    Self::Id => <$to>::Id,
                    Self::LastUpdated => <$to>::LastUpdated,
                    Self::Sequence => <$to>::Sequence,
                }
            }
        }
    };
}

twin_orders! { Order => library::Order }
twin_orders! { library::Order => Order }

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
            StoreAnswer::Documents(store.documents(account, prefix).await?.twin())
        }
        StoreCall::Rows(ids) => StoreAnswer::Rows(store.rows(account, ids).await?.twin()),
        StoreCall::Query(it) => {
            StoreAnswer::Rows(store.query(account, &it.clone().twin()).await?.twin())
        }
        StoreCall::Count(it) => StoreAnswer::Count(store.count(account, &it.clone().twin()).await?),
        StoreCall::Changes(range, limit) => {
            let range = match range {
                ChangeRange::After(after) => library::ChangeRange::After(after),
                ChangeRange::Replacing { after, up_to } => {
                    library::ChangeRange::Replacing { after, up_to }
                }
            };
            StoreAnswer::Changes(store.changes(account, range, limit).await?.twin())
        }
        StoreCall::Commit(it) => {
            StoreAnswer::Written(store.commit(account, &it.clone().twin()).await?)
        }
    })
}
