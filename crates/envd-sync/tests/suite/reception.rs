//! An outbox while the service is away.

use std::time::{Duration, UNIX_EPOCH};

use envd_sdk::fake::Fake;
use envd_sdk::model::{ConsignmentInput, FormType, PartyInput};
use envd_sdk::{Clock, RetryPolicy};
use envd_sync::store::MemorySync;
use envd_sync::{Outbox, Replica};
use serde_json::Value;

use crate::NOON;

#[tokio::test]
async fn an_outbox_sends_once_what_was_written_while_it_was_stopped() {
    let clock = Clock::manual(UNIX_EPOCH + NOON);
    let fake = Fake::builder().clock(clock).start().await.unwrap();
    let client = fake.client().retry(RetryPolicy::none()).build().unwrap();
    let outbox = Outbox::new(&Replica::new(
        &client.account(fake.account_id()),
        MemorySync::new(),
    ));
    assert!(client.user_details().await.is_ok());
    fake.stop().await;
    let (from, to) = (PartyInput::new("QAZZ7777"), PartyInput::new("QDZZ3333"));
    let input = ConsignmentInput::new([FormType::Lpac1], from, to);
    outbox
        .save(input.movement("2026-11-27", "05:15"))
        .await
        .unwrap();
    assert_eq!(outbox.send().await.unwrap().waiting, 1);

    fake.start_again().await;
    fake.clock().advance(Duration::from_secs(600));
    assert_eq!(outbox.send().await.unwrap().confirmed, 1);
    assert_eq!(fake.request_count("CreateOrSaveConsignment"), 1);
    assert_eq!(fake.consignments::<Value>(fake.account_id()).len(), 9);
}
