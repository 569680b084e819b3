//! What an update is compared with when another entry about its record is under way.

use std::time::Duration;

use serde_json::json;

use super::farm::{Farm, draft, id_of, load, now, signed, submitted};
use crate::fake::{Fault, WebsiteEdit};
use crate::model::{ConsignmentInput, Maybe};
use crate::sync::outbox::{Decision, EntryState, Outbox, Reason};

/// A signed declaration, which is never merged.
fn signed_draft(head: u32) -> ConsignmentInput {
    let mut input = signed(head);
    input.status = Maybe::Absent;
    input
}

/// Ends a pass while the reply to a save is on its way.
async fn in_flight(farm: &Farm, outbox: &Outbox) {
    farm.fault(Fault::latency(Duration::from_secs(5)));
    tokio::select! {
        biased;
        () = farm.fake.until_delayed() => {}
        _ = outbox.pass() => panic!("the reply is delayed"),
    }
}

/// The website changes the record after the user has read it, to what an earlier entry had sent.
#[tokio::test]
async fn an_update_keeps_the_base_that_the_user_named() {
    let farm = Farm::start().await;
    let outbox = farm.outbox();
    let id = farm.edit(WebsiteEdit::insert(load(24)));
    let base = farm.read(&outbox, &id).await;
    let first = outbox.update(&base, load(25)).await.unwrap();
    in_flight(&farm, &outbox).await;
    farm.edit(WebsiteEdit::change(&*id, json!({"movementTime": "09:00"})));
    let seen = farm.read(&outbox, &id).await;
    let second = outbox.update(&seen, load(26)).await.unwrap();
    farm.edit(WebsiteEdit::change(&*id, json!({"movementTime": "06:30"})));
    farm.send(&outbox).await;
    assert_eq!(now(&outbox, first.id).await.state, EntryState::Confirmed);
    let second = now(&outbox, second.id).await;
    assert_eq!(second.reason, Some(Reason::Conflict));
    assert_eq!(
        second.conflict.unwrap().base.unwrap()["movementTime"],
        "09:00"
    );
    assert_eq!((farm.loads(), farm.saves()), (vec![draft(25)], 1));
}

#[tokio::test]
async fn an_update_of_what_the_entry_before_it_was_made_of_follows_that_entry() {
    let farm = Farm::start().await;
    let outbox = farm.outbox();
    let id = farm.edit(WebsiteEdit::insert(load(24)));
    let base = farm.read(&outbox, &id).await;
    for head in 25..28 {
        outbox.update(&base, signed_draft(head)).await.unwrap();
    }
    let report = farm.send(&outbox).await;
    assert_eq!(
        (report.confirmed, report.needs_attention),
        (3, 0),
        "{report}"
    );
    assert_eq!(farm.loads(), [draft(27)]);
}

#[tokio::test]
async fn what_waits_behind_an_entry_that_is_kept_is_kept_as_well() {
    for is_edited in [false, true] {
        let farm = Farm::start().await;
        let outbox = farm.outbox();
        let id = farm.edit(WebsiteEdit::insert(load(24)));
        let base = farm.read(&outbox, &id).await;
        let first = outbox.update(&base, signed_draft(25)).await.unwrap();
        outbox.update(&base, load(26)).await.unwrap();
        outbox.submit(first.id).await.unwrap();
        farm.edit(WebsiteEdit::change(&*id, json!({"movementTime": "09:00"})));
        farm.send(&outbox).await;
        let waiting = now(&outbox, first.id).await;
        assert_eq!(waiting.reason, Some(Reason::Conflict));
        if is_edited {
            outbox.edit(first.id, load(26)).await.unwrap();
        } else {
            outbox.decide(first.id, Decision::KeepMine).await.unwrap();
        }
        let report = farm.send(&outbox).await;
        assert_eq!(
            (report.confirmed, report.needs_attention),
            (3, 0),
            "{report}"
        );
        assert_eq!(farm.loads(), [submitted(26)]);
    }
}

/// The user finds the record on the website before the reply is there that says whose it is.
#[tokio::test]
async fn what_was_written_about_a_record_before_it_was_known_goes_before_the_submit_that_waits() {
    for is_submitted_first in [true, false] {
        let farm = Farm::start().await;
        let outbox = farm.outbox();
        let entry = outbox.save(load(24)).await.unwrap();
        let delay = Duration::from_secs(2);
        farm.fault(Fault::latency(delay));
        let mut pass = std::pin::pin!(outbox.pass());
        tokio::select! {
            biased;
            () = farm.fake.until_delayed() => {}
            _ = &mut pass => panic!("the reply is delayed"),
        }
        let id = id_of(&farm.made()[0]);
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
    let farm = Farm::start().await;
    let outbox = farm.outbox();
    let given_up = outbox.save(signed_draft(24)).await.unwrap();
    let edit = outbox.edit(given_up.id, load(25)).await.unwrap();
    outbox.decide(given_up.id, Decision::Discard).await.unwrap();
    outbox.submit(edit.id).await.unwrap();
    outbox.edit(edit.id, load(26)).await.unwrap();
    let report = farm.send(&outbox).await;
    assert_eq!(
        (report.confirmed, report.needs_attention),
        (2, 0),
        "{report}"
    );
    assert_eq!(farm.loads(), [submitted(26)]);
}

#[tokio::test]
async fn what_waits_behind_a_record_that_is_made_anew_is_about_the_new_one() {
    let farm = Farm::start().await;
    let outbox = farm.outbox();
    let made = outbox.save(load(24)).await.unwrap();
    farm.send(&outbox).await;
    let edit = outbox.edit(made.id, load(30)).await.unwrap();
    outbox.submit(made.id).await.unwrap();
    farm.edit(WebsiteEdit::delete(id_of(&farm.made()[0])));
    farm.send(&outbox).await;
    assert_eq!(now(&outbox, edit.id).await.reason, Some(Reason::Gone));
    outbox.decide(edit.id, Decision::KeepMine).await.unwrap();
    let report = farm.send(&outbox).await;
    assert_eq!(
        (report.confirmed, report.needs_attention),
        (2, 0),
        "{report}"
    );
    assert_eq!(farm.loads().last(), Some(&submitted(30)));
}
