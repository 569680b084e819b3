//! Two programs that write through one store.

use super::farm::{Farm, load};
use crate::outbox::{Decision, EntryId, EntryState};
use envd_sdk::ErrorKind;

#[tokio::test]
async fn an_entry_of_another_program_is_edited_and_decided_at_once() {
    let farm = Farm::start().await;
    let [one, other] = [farm.outbox(), farm.outbox()];
    one.save(load(1)).await.unwrap();
    // From here on `one` has read the outbox as it was before.
    let written = other.save(load(2)).await.unwrap();

    let edited = one.edit(written.id, load(3)).await.unwrap();
    assert_eq!(edited.id, written.id);
    let shown = other.entry(written.id).await.unwrap().unwrap();
    let [shown, wanted] =
        [shown.input.unwrap(), load(3)].map(|input| serde_json::to_value(input).unwrap());
    assert_eq!(shown, wanted);

    let gone = other.decide(written.id, Decision::Discard).await.unwrap();
    assert_eq!(gone.state, EntryState::Discarded);
    let late = one.decide(written.id, Decision::Discard).await.unwrap_err();
    assert!(late.kind() == ErrorKind::Config, "{late}");
    assert_eq!(one.entries().await.unwrap().len(), 1);

    let never: EntryId = "77".parse().unwrap();
    assert!(one.submit(never).await.unwrap_err().kind() == ErrorKind::Config);
}
