//! The laws of stores of copies.

use envd_sdk::auth::sealed::SealingKey;
use envd_sdk::sync::store::{PostgresSync, SealedSync};

use super::database::{self, Database, pool};
use crate::stores::sync_laws::assert_laws;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_store_of_copies_keeps_the_laws() {
    let (database, _) = Database::new_sync().await;
    let schema = database.schema.clone();
    // A new pool for each store: only the server is shared.
    assert_laws(move || database::sync(&pool(3), &schema)).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_sealed_store_of_copies_keeps_the_laws() {
    let (_database, store) = Database::new_sync().await;
    assert_laws(move || sealed(store.clone())).await;
}

/// Connections of the pooler are not those of the pool, so nothing may rest on what an earlier transaction has set.
#[cfg(unix)]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn behind_transaction_pooling_the_store_of_copies_keeps_the_laws() {
    let (database, _) = Database::new_sync().await;
    let pooler = super::pooler::Pooler::start("transaction").await;
    let pool = pooler.pool(16);
    let store = database::sync(&pool, &database.schema);
    store.migrate().await.unwrap();
    assert_laws(move || store.clone()).await;
    for _ in 0..16 {
        let connection = pool.get().await.unwrap();
        for (setting, value) in [("enable_sort", "on"), ("lock_timeout", "0")] {
            let row = connection
                .query_typed_one(&format!("SHOW {setting}"), &[])
                .await;
            assert_eq!(row.unwrap().get::<_, &str>(0), value);
        }
    }
}

fn sealed(store: PostgresSync) -> SealedSync<PostgresSync> {
    SealedSync::new(store, SealingKey::new("test", &[42; 32]), &[7; 32])
}
