//! Drafts in a store that encrypts.

use std::sync::Arc;

use super::drafts::is_kept_until_the_next_day;
use crate::auth::sealed::SealingKey;
use crate::sync::store::{MemorySync, RowStore, SealedSync};

#[tokio::test]
async fn a_form_in_a_sealed_store_is_opened_unchanged_and_not_in_the_clear() {
    let inner = MemorySync::new();
    let open = || SealedSync::new(inner.clone(), SealingKey::new("1", &[1; 32]), &[2; 32]);
    is_kept_until_the_next_day(|| Arc::new(open())).await;
    let stored = open().stored_account("envd-100201");
    let documents = inner.documents(&stored, "bank/").await.unwrap();
    assert_eq!(documents.len(), 3);
    for document in documents {
        for secret in ["QAZZ7777", "Angus", "paddock", "Bred here"] {
            assert!(
                !document.text.contains(secret),
                "{secret} in {}",
                document.name
            );
        }
    }
}
