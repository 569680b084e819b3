//! What an update is compared with when another entry about its record is under way.

use std::time::Duration;

use serde_json::json;

use super::farm::{assert_asks, draft, load, now, saved, signed, start, submitted};
use crate::outbox::{Decision, EntryState, Reason};
use envd_sdk::fake::{Fault, WebsiteEdit};
use envd_sdk::model::{ConsignmentInput, Maybe};

/// A signed declaration, which is never merged.
fn signed_draft(head: u32) -> ConsignmentInput {
    let mut input = signed(head);
    input.status = Maybe::Absent;
    input
}

/// The website changes the record after the user has read it, to what an earlier entry had sent.
#[tokio::test]
async fn an_update_keeps_the_base_that_the_user_named() {
    let (farm, outbox) = start().await;
    let (id, base) = farm.listed(&outbox).await;
    let first = outbox.update(&base, load(25)).await.unwrap();
    farm.interrupt(&outbox).await;
    farm.change(&id, json!({"movementTime": "09:00"}));
    let seen = farm.read(&outbox, &id).await;
    let second = outbox.update(&seen, load(26)).await.unwrap();
    farm.change(&id, json!({"movementTime": "06:30"}));
    farm.send(&outbox).await;
    assert_eq!(now(&outbox, first.id).await.state, EntryState::Confirmed);
    assert_asks(&outbox, second.id, Reason::Conflict).await;
    let second = now(&outbox, second.id).await;
    assert_eq!(
        second.conflict.unwrap().base.unwrap()["movementTime"],
        "09:00"
    );
    assert_eq!((farm.loads(), farm.saves()), (vec![draft(25)], 1));
}

#[tokio::test]
async fn an_update_of_what_the_entry_before_it_was_made_of_follows_that_entry() {
    let (farm, outbox) = start().await;
    let (_, base) = farm.listed(&outbox).await;
    for head in 25..28 {
        outbox.update(&base, signed_draft(head)).await.unwrap();
    }
    farm.done(&outbox, 3).await;
    assert_eq!(farm.loads(), [draft(27)]);
}

#[tokio::test]
async fn what_waits_behind_an_entry_that_is_kept_is_kept_as_well() {
    for is_edited in [false, true] {
        let (farm, outbox) = start().await;
        let (id, base) = farm.listed(&outbox).await;
        let first = outbox.update(&base, signed_draft(25)).await.unwrap();
        outbox.update(&base, load(26)).await.unwrap();
        outbox.submit(first.id).await.unwrap();
        farm.change(&id, json!({"movementTime": "09:00"}));
        farm.send(&outbox).await;
        assert_asks(&outbox, first.id, Reason::Conflict).await;
        if is_edited {
            outbox.edit(first.id, load(26)).await.unwrap();
        } else {
            outbox.decide(first.id, Decision::KeepMine).await.unwrap();
        }
        farm.done(&outbox, 3).await;
        assert_eq!(farm.loads(), [submitted(26)]);
    }
}

/// The user finds the record on the website before the reply is there that says whose it is.
#[tokio::test]
async fn what_was_written_about_a_record_before_it_was_known_goes_before_the_submit_that_waits() {
    for is_submitted_first in [true, false] {
        let (farm, outbox, entry) = saved().await;
        let delay = Duration::from_secs(2);
        farm.fault(Fault::latency(delay));
        let mut pass = std::pin::pin!(outbox.pass());
        farm.until_delayed(&mut pass).await;
        let id = farm.id(0);
        if is_submitted_first {
            outbox.submit(entry.id).await.unwrap();
        }
        let seen = farm.read(&outbox, &id).await;
        outbox.update(&seen, load(30)).await.unwrap();
        if !is_submitted_first {
            outbox.submit(entry.id).await.unwrap();
        }
        farm.clock.advance(delay);
        let (report, _) = pass.await.unwrap();
        assert_eq!((report.waiting, report.needs_attention), (0, 0), "{report}");
        assert_eq!((farm.loads(), farm.saves()), (vec![submitted(30)], 3));
    }
}

#[tokio::test]
async fn an_edit_that_becomes_a_record_of_its_own_goes_before_the_submit_that_waits_for_it() {
    let (farm, outbox) = start().await;
    let given_up = outbox.save(signed_draft(24)).await.unwrap();
    let edit = outbox.edit(given_up.id, load(25)).await.unwrap();
    outbox.decide(given_up.id, Decision::Discard).await.unwrap();
    outbox.submit(edit.id).await.unwrap();
    outbox.edit(edit.id, load(26)).await.unwrap();
    farm.done(&outbox, 2).await;
    assert_eq!(farm.loads(), [submitted(26)]);
}

#[tokio::test]
async fn what_waits_behind_a_record_that_is_made_anew_is_about_the_new_one() {
    let (farm, outbox, made) = saved().await;
    farm.send(&outbox).await;
    let edit = outbox.edit(made.id, load(30)).await.unwrap();
    outbox.submit(made.id).await.unwrap();
    farm.edit(WebsiteEdit::delete(farm.id(0)));
    farm.send(&outbox).await;
    assert_asks(&outbox, edit.id, Reason::Gone).await;
    outbox.decide(edit.id, Decision::KeepMine).await.unwrap();
    farm.done(&outbox, 2).await;
    assert_eq!(farm.loads().last(), Some(&submitted(30)));
}
