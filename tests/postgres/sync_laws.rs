//! The laws of stores of copies.

use envd_sdk::auth::sealed::SealingKey;
use envd_sdk::sync::store::conformance::check;
use envd_sdk::sync::store::{PostgresSync, SealedSync};

use super::database::{self, Database, pool};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_store_of_copies_keeps_the_laws() {
    let Some(database) = Database::new().await else {
        return;
    };
    database.sync().migrate().await.unwrap();
    let schema = database.schema.clone();
    // A new pool for each store: only the server is shared.
    let report = check(move || database::sync(&pool(3), &schema)).await;
    report.assert_kept();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_sealed_store_of_copies_keeps_the_laws() {
    let Some(database) = Database::new().await else {
        return;
    };
    let store = database.sync();
    store.migrate().await.unwrap();
    let report = check(move || sealed(store.clone())).await;
    report.assert_kept();
}

pub(super) fn sealed(store: PostgresSync) -> SealedSync<PostgresSync> {
    SealedSync::new(store, SealingKey::new("test", &[42; 32]), &[7; 32])
}
