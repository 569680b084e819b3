//! Saves that are written down with their submit.

use super::farm::{Farm, load, start, state, submitted};
use crate::outbox::{EntryKind, EntryState};
use envd_sdk::ErrorKind;
use envd_sdk::model::ConsignmentInput;

#[tokio::test]
async fn a_save_and_its_submit_are_written_at_once_or_not_at_all() {
    let farm = Farm::start().await;
    let failing = farm.outbox_on(farm.faulty(0));
    let failed = failing.save_and_submit(load(10)).await;
    assert!(failed.unwrap_err().kind() == ErrorKind::Store);
    assert_eq!(farm.outbox().entries().await.unwrap().len(), 0);
    // One commit is enough.
    let once = farm.outbox_on(farm.faulty(1));
    let saved = once.save_and_submit(load(10)).await;
    assert_eq!(saved.unwrap().kind, EntryKind::Save);
    let outbox = farm.outbox();
    let entries = outbox.entries().await.unwrap();
    let kinds: Vec<EntryKind> = entries.iter().map(|entry| entry.kind).collect();
    assert_eq!(kinds, [EntryKind::Save, EntryKind::Submit]);
    assert_eq!(farm.send(&outbox).await.confirmed, 2);
    assert_eq!(farm.loads(), [submitted(10)]);
}

#[tokio::test]
async fn an_update_and_its_submit_are_compared_with_the_base() {
    let (farm, outbox) = start().await;
    outbox.save(load(10)).await.unwrap();
    farm.send(&outbox).await;
    let base = farm.read(&outbox, &farm.id(0)).await;
    let submit_same = async || {
        let same = ConsignmentInput::from(&base);
        outbox.update_and_submit(&base, same).await.unwrap()
    };
    let entry = submit_same().await;
    let names = (&entry.consignment, &entry.number);
    assert_eq!(names, (&base.id, &base.number));
    farm.done(&outbox, 2).await;
    assert_eq!(farm.loads(), [submitted(10)]);
    // It is no draft any more, so the same update is a conflict, and nothing is submitted.
    let entry = submit_same().await;
    farm.send(&outbox).await;
    assert_eq!(state(&outbox, entry.id).await, EntryState::NeedsAttention);
}

#[tokio::test]
async fn changes_that_leave_the_state_are_left_out() {
    let (farm, outbox) = start().await;
    let (mut all, mut states) = (outbox.events(), outbox.events());
    outbox.save(load(10)).await.unwrap();
    // Merged: the entry changes, and still waits.
    let id = outbox.entries().await.unwrap()[0].id;
    outbox.edit(id, load(11)).await.unwrap();
    farm.send(&outbox).await;
    drop(outbox);
    let mut written = 0;
    while all.next().await.is_some() {
        written += 1;
    }
    let mut seen = Vec::new();
    while let Some(entry) = states.next_state().await {
        seen.push(entry.state);
    }
    assert_eq!(
        seen,
        [
            EntryState::Queued,
            EntryState::Sending,
            EntryState::Confirmed
        ]
    );
    assert!(written > seen.len(), "{written}");
}
