//! What later entries of a lane are compared with, and what they send.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use serde_json::json;

use super::farm::{
    Farm, MINUTE, assert_asks, load, now, processed_if, saved, saved_with_submit, signed, start,
    state, submitted,
};
use crate::outbox::{Decision, EntryState, Reason};
use crate::store::tests::faulty_store::Moment;
use envd_sdk::fake::Fault;

#[tokio::test]
async fn an_update_that_takes_the_place_of_a_save_keeps_its_base() {
    let (farm, outbox) = start().await;
    let (id, base) = farm.listed(&outbox).await;
    let save = outbox.save(load(25).id(&*id)).await.unwrap();
    let update = outbox.update(&base, load(26)).await.unwrap();
    assert_eq!(save.id, update.id);
    farm.change(&id, json!({"movementTime": "09:00"}));
    farm.send(&outbox).await;
    let shown = now(&outbox, update.id).await;
    assert_eq!((shown.reason, farm.saves()), (Some(Reason::Conflict), 0));
}

/// Somebody submits the draft between the save and the read that follows it.
#[tokio::test]
async fn a_record_that_is_no_draft_any_more_is_no_base() {
    let (farm, outbox, entry) = saved().await;
    farm.fault(Fault::latency(Duration::from_secs(1)));
    let on_website = async {
        farm.fake.until_delayed().await;
        let id = farm.id(0);
        farm.change(&id, json!({"status": "SUBMITTED"}));
        farm.clock.advance(Duration::from_secs(1));
    };
    let (passed, ()) = tokio::join!(outbox.pass(), on_website);
    assert_eq!(passed.unwrap().0.confirmed, 1);
    let edit = outbox.edit(entry.id, load(30)).await.unwrap();
    farm.send(&outbox).await;
    let edit = now(&outbox, edit.id).await;
    assert_eq!((edit.reason, farm.saves()), (Some(Reason::NotADraft), 1));
}

#[tokio::test]
async fn a_submit_that_is_sent_again_comes_after_what_was_written_meanwhile() {
    let (farm, outbox, entry, submit) = saved_with_submit().await;
    farm.fault(Fault::none());
    farm.lose(&outbox).await;
    assert_eq!(state(&outbox, submit.id).await, EntryState::Unconfirmed);
    let edit = outbox.edit(entry.id, load(30)).await.unwrap();
    farm.all_done(&outbox).await;
    assert_eq!(farm.loads(), [submitted(30)]);
    assert_eq!(state(&outbox, edit.id).await, EntryState::Confirmed);
    assert_eq!(farm.saves(), 4);
}

/// The submit is a conflict, and the user edits the declaration before they decide.
#[tokio::test]
async fn a_submit_that_is_kept_follows_what_was_written_last() {
    let (farm, outbox, entry) = saved().await;
    farm.send(&outbox).await;
    let submit = outbox.submit(entry.id).await.unwrap();
    let id = farm.id(0);
    farm.change(&id, json!({"movementTime": "09:00"}));
    farm.send(&outbox).await;
    assert_asks(&outbox, submit.id, Reason::Conflict).await;
    let base = farm.read(&outbox, &id).await;
    let edit = outbox.update(&base, load(30)).await.unwrap();
    outbox.decide(submit.id, Decision::KeepMine).await.unwrap();
    farm.all_done(&outbox).await;
    assert_eq!(farm.loads(), [submitted(30)]);
    assert_eq!(state(&outbox, edit.id).await, EntryState::Confirmed);
}

/// The limit passes while the list is read.
#[tokio::test]
async fn a_limit_that_passes_during_the_reads_before_a_save_is_kept() {
    for number in 1.. {
        let farm = Farm::start().await;
        let store = farm.faulty(usize::MAX);
        let limit = farm.clock.now() + MINUTE;
        let outbox = farm.outbox_on(store.clone()).not_after(limit);
        let entry = outbox.save(load(24)).await.unwrap();
        let clock = farm.clock.clone();
        let commits = store.commits();
        store.at(Moment::BeforeCommit(number), async move {
            clock.advance(MINUTE * 2);
        });
        outbox.pass().await.unwrap();
        let entry = now(&outbox, entry.id).await;
        let limit = Some(limit);
        assert!(
            entry
                .attempts
                .iter()
                .all(|attempt| attempt.at.to_time() <= limit),
            "commit {number}: {entry:?}"
        );
        if store.commits() < commits + number {
            assert!(number > 3 && farm.saves() == 1, "{number}");
            return;
        }
    }
}

#[tokio::test]
async fn an_edit_with_a_later_limit_is_sent_and_so_is_the_submit_behind_it() {
    for by_decision in [false, true] {
        let (farm, outbox) = start().await;
        let limited = outbox.clone().not_after(farm.clock.now() + MINUTE);
        let entry = limited.save_and_submit(load(24)).await.unwrap();
        farm.clock.advance(MINUTE * 2);
        farm.send(&outbox).await;
        assert_asks(&outbox, entry.id, Reason::NotAfterPassed).await;

        let limit = farm.clock.now() + MINUTE;
        let later = outbox.clone().not_after(limit);
        if by_decision {
            let edit = Decision::Edit(Box::new(load(25).into()));
            later.decide(entry.id, edit).await.unwrap();
        } else {
            later.edit(entry.id, load(25)).await.unwrap();
        }
        let limit = Some(limit.into());
        let entries = outbox.entries().await.unwrap();
        assert!(entries.iter().all(|entry| entry.not_after == limit));
        farm.done(&outbox, 2).await;
        assert_eq!(farm.loads(), [submitted(25)]);
    }
}

/// The save was in time, and its submit was not.
#[tokio::test]
async fn a_submit_whose_limit_has_passed_is_sent_after_an_edit_with_a_later_one() {
    let (farm, outbox, entry) = saved().await;
    farm.send(&outbox).await;
    let limited = outbox.clone().not_after(farm.clock.now());
    let submit = limited.submit(entry.id).await.unwrap();
    farm.clock.advance(MINUTE);
    farm.send(&outbox).await;
    assert_asks(&outbox, submit.id, Reason::NotAfterPassed).await;
    let later = outbox.clone().not_after(farm.clock.now() + MINUTE);
    later.edit(entry.id, load(25)).await.unwrap();
    farm.done(&outbox, 2).await;
    assert_eq!(farm.loads(), [submitted(25)]);
}

/// The service says that it has carried the submit out, and does not say that the record is submitted.
#[tokio::test]
async fn a_submit_whose_reply_shows_no_submitted_record_is_read() {
    for status in [json!("DRAFT"), json!(null)] {
        for was_applied in [true, false] {
            let (farm, outbox) = start().await;
            let entry = outbox.save(signed(24)).await.unwrap();
            farm.send(&outbox).await;
            let id = farm.id(0);
            let submit = outbox.submit(entry.id).await.unwrap();
            let saved = json!({"id": id, "number": null, "status": status});
            let reply = json!({"data": {"createOrSaveConsignment": {"data": saved}}});
            let fault = Fault::status(200).json(reply);
            farm.fault(processed_if(was_applied, fault));
            let (report, _) = outbox.pass().await.unwrap();
            let shown = now(&outbox, submit.id).await;
            if was_applied {
                assert_eq!(shown.state, EntryState::Confirmed, "{report}");
                assert!(shown.is_adopted);
            } else {
                assert_eq!(shown.state, EntryState::Unconfirmed, "{report}");
                farm.send(&outbox).await;
            }
            assert_eq!(farm.loads(), [submitted(24)]);
            assert_eq!(farm.saves(), if was_applied { 2 } else { 3 });
        }
    }
}

/// Holds: the history stays until it is pruned, and what was pruned stays so.
///
/// Another process prunes the history at any moment of a pass.
#[tokio::test]
async fn an_entry_that_was_pruned_meanwhile_stays_pruned() {
    for number in 1.. {
        let farm = Farm::start().await;
        let store = farm.faulty(usize::MAX);
        let outbox = farm.outbox_on(store.clone());
        let entry = outbox.save(load(24)).await.unwrap();
        let (other, commits) = (farm.outbox(), store.commits());
        let pruned = Arc::new(AtomicU64::new(0));
        let count = Arc::clone(&pruned);
        store.at(Moment::BeforeCommit(number), async move {
            let removed = other.prune("2030-01-01T00:00:00Z").await.unwrap();
            count.store(removed, Ordering::SeqCst);
        });
        let (report, _) = outbox.pass().await.unwrap();
        assert_eq!((report.confirmed, farm.saves()), (1, 1), "{report}");
        let is_there = farm.outbox().entry(entry.id).await.unwrap().is_some();
        let was_pruned = pruned.load(Ordering::SeqCst) > 0;
        assert_ne!(is_there, was_pruned, "commit {number}");
        if store.commits() < commits + number {
            assert!(number > 3, "{number}");
            return;
        }
    }
}
