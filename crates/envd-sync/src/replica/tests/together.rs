//! Several accounts over one store.

use std::sync::Arc;

use super::site::{Site, copied, delivered};
use crate::replica::Replica;
use crate::store::MemorySync;

/// Holds: one store keeps accounts apart.
#[tokio::test]
async fn one_store_keeps_accounts_apart() {
    let site = Site::with(3);
    let store = MemorySync::new();
    let one = site.replica(store.clone());
    one.sync().await.unwrap();
    site.lock().save("r004", |_| {});
    let two = Replica::new(&site.account("envd-2"), store.clone());
    assert_eq!(two.sync().await.unwrap().appeared, 4);
    assert_eq!(copied(&store).await.len(), 3);
    assert_eq!(delivered(&two, "a").await.len(), 4);
    assert_eq!(delivered(&one, "a").await.len(), 3);
    // A store behind a pointer can be shared as well.
    let shared = Arc::new(store);
    let three = Replica::new(&site.account("envd-1"), Arc::clone(&shared));
    assert_eq!(three.sync().await.unwrap().appeared, 1);
}
