//! What is kept of lists, and what is written.

use envd_sdk::ErrorKind;
use std::time::Duration;

use serde_json::json;

use super::sample::{TODAY, bank, banks, cattle, draft, input, newer, now, on, received};
use crate::bank::Banks;
use crate::store::rows::Batch;
use crate::store::tests::faulty_store::{FaultyStore, Moment};
use crate::store::{MemorySync, SyncStore};
use crate::tests::shown;
use envd_sdk::model::{FormType, Timestamp};
use envd_sdk::validate::ContentHash;

const ACCOUNT: &str = "envd-100201";
const DAY: Duration = Duration::from_secs(24 * 60 * 60);

async fn hashes(banks: &Banks) -> Vec<ContentHash> {
    let index = banks.load().await.unwrap().value;
    index.lists.iter().map(|list| list.content_hash).collect()
}

#[tokio::test]
async fn a_list_is_kept_as_it_was_received_and_earlier_ones_stay() {
    let (banks, clock) = banks(MemorySync::new());
    let odd = cattle(|list| list[0]["later"] = json!({"unknown": [1.50]}));
    let first = banks.receive(&odd).await;
    assert!(first.changed);
    assert_eq!(first.bank.json(), received(&odd).1);
    assert_eq!(first.bank.forms(), [FormType::Lpac1]);
    clock.advance(3 * DAY);
    let second = banks.receive(&newer()).await;
    assert!(second.changed);

    let latest = banks.latest().await.unwrap().unwrap();
    assert_eq!(latest.content_hash(), second.bank.content_hash());
    assert_eq!(latest.received_at(), &Timestamp::from(now() + 3 * DAY));
    let stored = banks.bank(first.bank.content_hash()).await.unwrap();
    let stored = stored.unwrap();
    assert_eq!(stored.json(), first.bank.json());
    assert_eq!(stored.received_at(), &Timestamp::from(now()));
    assert_eq!(stored.age(now() + 5 * DAY), 5 * DAY);
    assert_eq!(stored.age(now() - DAY), Duration::ZERO);
    assert_eq!(
        hashes(&banks).await,
        [first.bank.content_hash(), second.bank.content_hash()]
    );
    let unknown = banks.bank(bank(&json!([])).content_hash()).await;
    assert!(unknown.unwrap().is_none());
}

#[tokio::test]
async fn the_same_list_is_confirmed_once_a_day_and_not_written_otherwise() {
    let store = FaultyStore::new(&MemorySync::new(), usize::MAX);
    let (banks, clock) = banks(store.clone());
    banks.receive(&cattle(|_| ())).await;
    assert_eq!(store.commits(), 1);
    for _ in 0..10 {
        clock.advance(DAY / 11);
        let later = cattle(|list| list[0]["later"] = json!(1));
        let same = banks.receive(&later).await;
        assert!(!same.changed && same.bank.confirmed_at() == same.bank.received_at());
    }
    assert_eq!(store.commits(), 1);
    clock.advance(DAY);
    let same = banks.receive(&cattle(|_| ())).await;
    assert!(!same.changed);
    assert_eq!(same.bank.age(clock.now()), Duration::ZERO);
    assert_eq!(same.bank.received_at(), &Timestamp::from(now()));
    assert_eq!(store.commits(), 2);
    // The clock was wrong, and is set back.
    clock.set_wall(now() - 2 * DAY);
    let same = banks.receive(&cattle(|_| ())).await;
    assert_eq!(same.bank.confirmed_at(), &Timestamp::from(now() - 2 * DAY));
}

#[tokio::test]
async fn an_earlier_list_that_comes_again_is_the_latest_one() {
    let (banks, clock) = banks(MemorySync::new());
    let first = banks.receive(&cattle(|_| ())).await.bank;
    banks.receive(&newer()).await;
    clock.advance(Duration::from_secs(60));
    let again = banks.receive(&cattle(|_| ())).await;
    assert!(again.changed);
    let latest = banks.latest().await.unwrap().unwrap();
    assert_eq!(latest.content_hash(), first.content_hash());
    assert_eq!(latest.received_at(), &Timestamp::from(now()));
    assert_eq!(latest.age(clock.now()), Duration::ZERO);
    assert_eq!(hashes(&banks).await.len(), 2);
}

#[tokio::test]
async fn a_reply_does_not_replace_a_list_that_another_process_received_meanwhile() {
    let store = FaultyStore::new(&MemorySync::new(), usize::MAX);
    let (ours, _) = banks(store.clone());
    let base = ours.load().await.unwrap();
    let (theirs, _) = banks(store.clone());
    store.at(Moment::BeforeCommit(1), async move {
        theirs.receive(&newer()).await;
    });
    let (list, json) = received(&cattle(|_| ()));
    let kept = ours.keep(base, &list, &json).await.unwrap();
    assert!(kept.is_none(), "the questions are to be requested again");
    let latest = ours.latest().await.unwrap().unwrap();
    assert_eq!(latest.content_hash(), bank(&newer()).content_hash());

    // The same list from both is one.
    let (theirs, _) = banks(store.clone());
    store.at(Moment::BeforeCommit(1), async move {
        theirs.receive(&cattle(|_| ())).await;
    });
    let base = ours.load().await.unwrap();
    let (list, json) = received(&cattle(|_| ()));
    let kept = ours.keep(base, &list, &json).await.unwrap();
    assert!(kept.unwrap().changed);
    assert_eq!(hashes(&ours).await.len(), 2);
}

#[tokio::test]
async fn only_what_nothing_needs_is_removed_and_only_on_request() {
    let (banks, _) = banks(MemorySync::new());
    let lists = [1, 2, 3, 4].map(|order| cattle(|list| list[0]["order"] = json!(order)));
    let mut hashes_of = Vec::new();
    for list in &lists {
        hashes_of.push(banks.receive(list).await.bank.content_hash());
    }
    let pinned = banks.bank(hashes_of[0]).await.unwrap().unwrap();
    let saved = draft(&pinned, &input(FormType::Lpac1));
    let draft = banks.create_draft("1", &saved).await.unwrap();
    assert_eq!(banks.prune([hashes_of[1]]).await.unwrap(), [hashes_of[2]]);
    assert_eq!(
        hashes(&banks).await,
        [hashes_of[0], hashes_of[1], hashes_of[3]]
    );
    assert!(banks.bank(hashes_of[2]).await.unwrap().is_none());
    banks.remove_draft(&draft).await.unwrap();
    assert_eq!(hashes(&banks).await.len(), 3);
    assert_eq!(banks.prune([]).await.unwrap(), hashes_of[..2]);
    assert_eq!(banks.prune([]).await.unwrap(), []);
    let gone = banks.open(saved, &on(TODAY)).await.unwrap_err();
    assert!(
        gone.kind() == ErrorKind::Config && gone.to_string().contains(&hashes_of[0].to_string())
    );
}

#[tokio::test]
async fn a_damaged_list_is_told_and_received_anew() {
    let store = MemorySync::new();
    let (banks, _) = banks(store.clone());
    let kept = banks.receive(&cattle(|_| ())).await.bank;
    let name = format!("bank/list/{}", kept.content_hash());
    for damaged in ["{", "{}", newer().to_string().as_str(), "null"] {
        let batch = Batch {
            documents: vec![(name.clone(), Some(damaged.to_owned()))],
            ..Batch::default()
        };
        assert!(store.commit(ACCOUNT, &batch).await.unwrap());
        assert!(banks.latest().await.unwrap_err().kind() == ErrorKind::Store);
        let saved = draft(&kept, &input(FormType::Lpac1));
        let opened = banks.open(saved, &on(TODAY)).await;
        assert!(opened.unwrap_err().kind() == ErrorKind::Store);
        assert!(!banks.receive(&cattle(|_| ())).await.changed);
        assert!(banks.latest().await.unwrap().is_some());
    }
}

#[tokio::test]
async fn an_index_of_a_newer_version_is_left_alone() {
    let store = MemorySync::new();
    let (banks, _) = banks(store.clone());
    for (text, told) in [
        (r#"{"format": 2}"#, "update this program"),
        ("7", "cannot be read"),
    ] {
        let batch = Batch {
            documents: vec![("bank/index".to_owned(), Some(text.to_owned()))],
            ..Batch::default()
        };
        store.commit(ACCOUNT, &batch).await.unwrap();
        let error = banks.latest().await.unwrap_err();
        assert!(
            error.kind() == ErrorKind::Store && shown(&error).contains(told),
            "{error:?}"
        );
        assert!(
            banks.refresh().await.unwrap_err().kind() == ErrorKind::Store,
            "before any request"
        );
        let documents = store.documents(ACCOUNT, "").await.unwrap();
        assert_eq!(documents.len(), 1);
        assert_eq!(documents[0].text, text);
    }
}
