//! Stores that an earlier version of this crate wrote.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::farm::Farm;
use crate::outbox::{DeclarationState, Outbox};
use crate::store::rows::Batch;
use crate::store::{MemorySync, SyncStore};

/// Fills a store with documents of format 6: one declaration in each state.
async fn filled(store: &impl SyncStore, account: &str) {
    let documents: BTreeMap<String, String> =
        serde_json::from_str(include_str!("format-6.json")).unwrap();
    let batch = Batch {
        documents: documents
            .into_iter()
            .map(|(name, text)| (name, Some(text)))
            .collect(),
        ..Batch::default()
    };
    // The rows number lists by the version of the head, which was at most 50.
    for _ in 0..50 {
        assert!(store.commit(account, &batch).await.unwrap());
    }
}

async fn opens_and_continues(farm: &Farm, store: impl SyncStore + Clone) {
    use DeclarationState::{
        Confirmed, Discarded, NeedsAttention, OutcomeUnknown, Queued, Refused, Sending,
    };

    filled(&store, farm.fake.account_id()).await;
    // The program that was sending declaration 5 was killed some time ago.
    farm.clock.advance(super::farm::MINUTE);
    let outbox = farm.outbox_on(store.clone());
    let states = |outbox: Outbox| async move {
        let mut states = Vec::new();
        for id in 1..=9 {
            let id = id.to_string().parse().unwrap();
            let shown = outbox.declaration(id).await.unwrap().unwrap();
            assert!(shown.key.is_none() && !shown.history.is_empty());
            states.push(shown.state);
        }
        states
    };
    let expected = [
        Confirmed,
        Discarded,
        Refused,
        NeedsAttention,
        Sending,
        Confirmed,
        Queued,
        Queued,
        OutcomeUnknown,
    ];
    assert_eq!(states(outbox.clone()).await, expected);
    // Reading alone writes nothing, so the earlier version can still read the store.
    let head = || async {
        let head = store.documents(farm.fake.account_id(), "outbox/head").await;
        let head: serde_json::Value = serde_json::from_str(&head.unwrap()[0].text).unwrap();
        head["format"].clone()
    };
    assert_eq!(head().await, 6);
    outbox
        .save(super::farm::other_load(24))
        .key("k")
        .await
        .unwrap();
    assert_eq!(head().await, 7);
    // The old declarations continue. Their records do not exist on this service, so each ends or becomes a question.
    farm.run(&outbox, 60 * super::farm::MINUTE).await;
    let left = outbox.declarations().await.unwrap();
    let is_settled = |state| matches!(state, Confirmed | Discarded | Refused | NeedsAttention);
    assert!(left.iter().all(|one| is_settled(one.state)), "{left:?}");
}

#[tokio::test]
async fn a_store_of_format_6_opens_and_goes_on_in_memory() {
    let farm = Farm::start().await;
    opens_and_continues(&farm, Arc::new(MemorySync::new())).await;
}

#[cfg(feature = "sqlite")]
#[tokio::test]
async fn a_store_of_format_6_opens_and_goes_on_in_sqlite() {
    let farm = Farm::start().await;
    let folder = test_support::TestFolder::new();
    let store = crate::store::SqliteSync::open(folder.path().join("farm.db")).unwrap();
    opens_and_continues(&farm, store).await;
}
