//! An invalid instant is an error of the call that takes it, and nothing is removed, written or sent.

use std::time::{Duration, UNIX_EPOCH};

use envd_sdk::ErrorKind;
use envd_sdk::fake::Fake;
use envd_sdk::model::{ConsignmentInput, FormType, PartyInput};
use envd_sync::store::MemorySync;
use envd_sync::{Outbox, Replica};

fn input() -> ConsignmentInput {
    let origin = PartyInput::new("QAZZ7777");
    let destination = PartyInput::new("QDZZ3333");
    ConsignmentInput::new([FormType::Lpac1], origin, destination)
}

#[tokio::test]
async fn the_history_stays_and_nothing_is_written() {
    let fake = Fake::start().await;
    let account = fake.client().build().unwrap().account(fake.account_id());
    let replica = Replica::new(&account, MemorySync::new());
    let outbox = Outbox::new(&replica);
    let sent = outbox.save(input()).await.unwrap();
    outbox.send().await.unwrap();
    let waiting = outbox.save(input()).await.unwrap();
    let shown = outbox.declarations().await.unwrap();

    for text in test_support::UNREADABLE_INSTANTS.split('|') {
        let limited = outbox.clone().not_after(text);
        let errors = [
            outbox.prune(text).await.map(drop),
            limited.save(input()).await.map(drop),
            limited.submit(input()).await.map(drop),
            limited.submit_saved(sent.id).await.map(drop),
            limited.edit(waiting.id, input()).await.map(drop),
            limited.edit(sent.id, input()).await.map(drop),
            limited.edit(sent.id, input()).submit().await.map(drop),
            limited.withdraw(waiting.id).await.map(drop),
            limited.delete(waiting.id).await.map(drop),
            limited.delete_record("c-1").await.map(drop),
            replica
                .consignments()
                .updated_since(text)
                .list()
                .await
                .map(drop),
            replica
                .consignments()
                .updated_since(text)
                .count()
                .await
                .map(drop),
        ];
        for (number, error) in errors.into_iter().enumerate() {
            let error = error.unwrap_err();
            assert!(
                error.kind() == ErrorKind::Config,
                "{text}, {number}: {error}"
            );
        }
    }
    assert_eq!(outbox.history(None).await.unwrap().declarations.len(), 1);
    let waiting = outbox.declarations().await.unwrap();
    assert_eq!(format!("{waiting:?}"), format!("{shown:?}"));
    // Before year 1; on Windows time begins in 1601.
    let years = |seconds| UNIX_EPOCH.checked_sub(Duration::from_secs(seconds));
    let far = years(94_000_000_000).or(years(11_644_473_600)).unwrap();
    assert_eq!(outbox.prune(far).await.unwrap(), 0);
    assert_eq!(outbox.history(None).await.unwrap().declarations.len(), 1);
}
