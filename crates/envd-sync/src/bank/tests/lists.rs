//! The stored data of lists.

use std::time::Duration;

use serde_json::json;

use super::sample::{bank, banks, cattle, newer, now, received};
use crate::store::MemorySync;
use envd_sdk::model::{FormType, Timestamp};

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

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
    let unknown = banks.bank(bank(&json!([])).content_hash()).await;
    assert!(unknown.unwrap().is_none());
}
