//! Edits of what waits, is in flight, was refused or is signed.

use serde_json::json;

use super::farm::{
    MINUTE, SAVE, assert_asks, assert_is, draft, load, now, saved, saved_with_submit, signed,
    start, state, submitted,
};
use crate::outbox::{Decision, EntryKind, EntryState, Reason};
use envd_sdk::fake::{Fault, WebsiteEdit};

/// Holds: rule 5: edits that wait become one; what is in flight or signed stays as it is.
#[tokio::test]
async fn edits_that_wait_become_one_entry() {
    let (farm, outbox, entry) = saved().await;
    for head in 25..30 {
        assert_eq!(
            outbox.edit(entry.id, load(head)).await.unwrap().id,
            entry.id
        );
    }
    let id = farm.edit(WebsiteEdit::insert(load(40)));
    let base = farm.read(&outbox, &id).await;
    let update = outbox.update(&base, load(41)).await.unwrap();
    assert_eq!(outbox.update(&base, load(42)).await.unwrap().id, update.id);
    assert_eq!(outbox.save(load(43).id(&*id)).await.unwrap().id, update.id);
    farm.send(&outbox).await;
    assert_eq!(
        (farm.loads(), farm.saves()),
        (vec![draft(43), draft(29)], 2)
    );
}

/// With a service that cannot be reached, nothing was sent.
#[tokio::test]
async fn an_entry_that_surely_was_not_sent_still_takes_an_edit() {
    let (farm, outbox, entry) = saved().await;
    farm.fault(Fault::status(429).header("retry-after", "1"));
    outbox.pass().await.unwrap();
    assert_eq!(
        (farm.saves(), state(&outbox, entry.id).await),
        (1, EntryState::Queued)
    );
    assert_eq!(outbox.edit(entry.id, load(25)).await.unwrap().id, entry.id);
    farm.clock.advance(MINUTE);
    farm.send(&outbox).await;
    assert_eq!((farm.loads(), farm.saves()), (vec![draft(25)], 2));
    // The audit trail has both times.
    assert_eq!(now(&outbox, entry.id).await.attempts.len(), 2);
}

/// Holds: what is submitted is what the user wrote last.
/// Holds: failure point 15: edit during flight.
#[tokio::test]
async fn an_edit_of_an_entry_in_flight_is_the_next_save_and_goes_before_the_submit() {
    for was_applied in [true, false] {
        let (farm, outbox, entry, submit) = saved_with_submit().await;
        let expected = if was_applied {
            farm.interrupt(&outbox).await;
            EntryState::Sending
        } else {
            farm.lose(&outbox).await;
            EntryState::Unconfirmed
        };
        assert_eq!(state(&outbox, entry.id).await, expected);
        let first = farm.sent().remove(0);
        let edit = outbox.edit(entry.id, load(30)).await.unwrap();
        assert_ne!(edit.id, entry.id);
        farm.done(&outbox, 3).await;
        assert_eq!(farm.loads(), [submitted(30)]);
        // The first bytes are not touched.
        let sent = farm.sent();
        assert_eq!(sent.len(), if was_applied { 3 } else { 4 });
        assert_eq!(
            sent.iter().filter(|sent| **sent == first).count(),
            sent.len() - 2
        );
        for id in [entry.id, edit.id, submit.id] {
            assert_eq!(
                now(&outbox, id).await.consignment.unwrap().as_str(),
                farm.id(0)
            );
        }
    }
}

#[tokio::test]
async fn a_signed_entry_is_never_replaced() {
    let (farm, outbox) = start().await;
    let mut input = signed(24);
    input.status = envd_sdk::model::Maybe::Absent;
    let written = serde_json::to_string(&input).unwrap();
    let entry = outbox.save(input).await.unwrap();
    let edit = outbox.edit(entry.id, load(25)).await.unwrap();
    assert_ne!(edit.id, entry.id);
    farm.send(&outbox).await;
    assert_eq!(
        farm.sent()[0],
        format!(
            r#"{},"status":"DRAFT"}}"#,
            written.strip_suffix('}').unwrap()
        )
    );
    assert_eq!((farm.loads(), farm.saves()), (vec![draft(25)], 2));
}

/// Holds: failure point 11: refused.
#[tokio::test]
async fn a_refused_entry_keeps_the_findings_stops_its_lane_and_goes_on_when_it_is_corrected() {
    let (farm, outbox) = start().await;
    let mut wrong = load(24);
    wrong.origin.pic = "not a PIC".into();
    let entry = outbox.save(wrong).await.unwrap();
    let submit = outbox.submit(entry.id).await.unwrap();
    outbox.save(load(25)).await.unwrap();
    let report = farm.send(&outbox).await;
    assert_eq!(
        (report.confirmed, report.refused, report.waiting),
        (1, 1, 1),
        "{report}"
    );
    assert_eq!(farm.loads(), [draft(25)]);
    let refused = now(&farm.outbox(), entry.id).await;
    assert_eq!(
        (refused.state, refused.reason),
        (EntryState::Refused, Some(Reason::Refused))
    );
    assert!(!refused.findings.is_empty());
    assert_is(
        &outbox,
        submit.id,
        EntryState::Queued,
        Reason::WaitsForEarlier,
    )
    .await;
    // It is not sent again by itself.
    farm.send(&outbox).await;
    assert_eq!(farm.saves(), 2);

    assert_eq!(outbox.edit(entry.id, load(24)).await.unwrap().id, entry.id);
    farm.done(&outbox, 2).await;
    assert_eq!(farm.loads(), [draft(25), submitted(24)]);
    let corrected = now(&outbox, entry.id).await;
    assert_eq!(
        (corrected.attempts.len(), corrected.earlier_inputs.len()),
        (2, 1)
    );
    // Nothing of it can still arrive, so nothing is looked for.
    assert_eq!(outbox.pass().await.unwrap().1.at(), None);
}

/// The service refuses the submit: the user corrects the declaration, by either entry.
#[tokio::test]
async fn a_refused_submit_is_corrected_by_an_edit() {
    for by_submit in [false, true] {
        let (farm, outbox, entry, submit) = saved_with_submit().await;
        farm.fault(Fault::none());
        farm.fake
            .on_operation(SAVE)
            .refuse("X", "an answer is missing");
        let report = farm.send(&outbox).await;
        assert_eq!((report.confirmed, report.refused), (1, 1), "{report}");
        assert_eq!(farm.loads(), [draft(24)]);
        outbox
            .edit(if by_submit { submit.id } else { entry.id }, load(30))
            .await
            .unwrap();
        farm.all_done(&outbox).await;
        assert_eq!(farm.loads(), [submitted(30)]);
        assert_eq!(state(&outbox, submit.id).await, EntryState::Confirmed);
    }
}

/// A creation is refused while a later edit waits: what the user wrote last is what stays.
#[tokio::test]
async fn a_correction_is_not_undone_by_an_earlier_edit() {
    let (farm, outbox, entry) = saved().await;
    farm.lose(&outbox).await;
    outbox.edit(entry.id, load(25)).await.unwrap();
    farm.fake.on_operation(SAVE).refuse("X", "refused");
    farm.send(&outbox).await;
    assert_eq!(state(&outbox, entry.id).await, EntryState::Refused);
    outbox.edit(entry.id, load(26)).await.unwrap();
    farm.all_done(&outbox).await;
    assert_eq!(farm.loads(), [draft(26)]);
}

#[tokio::test]
async fn an_edit_after_the_end_is_compared_with_the_record_as_it_was_saved() {
    for is_edited in [false, true] {
        let (farm, outbox, entry) = saved().await;
        farm.send(&outbox).await;
        let id = farm.id(0);
        if is_edited {
            farm.change(&id, json!({"movementTime": "09:00"}));
        }
        let edit = outbox.edit(entry.id, load(30)).await.unwrap();
        let report = farm.send(&outbox).await;
        if is_edited {
            assert_eq!((report.needs_attention, farm.saves()), (1, 1), "{report}");
            let conflict = now(&outbox, edit.id).await.conflict.unwrap();
            assert!(
                conflict
                    .fields
                    .iter()
                    .any(|field| field.path == "movementTime")
            );
        } else {
            assert_eq!(
                (report.confirmed, farm.loads()),
                (1, vec![draft(30)]),
                "{report}"
            );
        }
    }
}

/// Between the save and the next one of the lane.
#[tokio::test]
async fn an_edit_behind_a_save_does_not_overwrite_what_the_website_changed_meanwhile() {
    let (farm, outbox, entry, submit) = saved_with_submit().await;
    farm.interrupt(&outbox).await;
    let id = farm.id(0);
    farm.change(&id, json!({"movementTime": "09:00"}));
    let report = farm.send(&outbox).await;
    // It agrees in part, or the submit is a conflict: a person decides.
    assert_eq!(report.needs_attention, 1, "{report}");
    assert_eq!((farm.loads(), farm.saves()), (vec![draft(24)], 1));
    assert_eq!(state(&outbox, submit.id).await, EntryState::Queued);
    assert_asks(&outbox, entry.id, Reason::Candidates).await;
}

#[tokio::test]
async fn a_submit_that_is_wanted_twice_is_one() {
    let (farm, outbox, entry, submit) = saved_with_submit().await;
    assert_eq!(outbox.submit(entry.id).await.unwrap().id, submit.id);
    farm.fault(Fault::none());
    farm.interrupt(&outbox).await;
    assert_eq!(state(&outbox, submit.id).await, EntryState::Sending);
    assert_eq!(outbox.submit(entry.id).await.unwrap().id, submit.id);
    farm.all_done(&outbox).await;
    assert_eq!((farm.loads(), farm.saves()), (vec![submitted(24)], 2));
}

#[tokio::test]
async fn what_was_written_on_an_entry_that_is_given_up_can_be_made_a_record_of_its_own() {
    let (farm, outbox) = start().await;
    let entry = outbox.save(signed(24)).await.unwrap();
    let edit = outbox.edit(entry.id, load(25)).await.unwrap();
    let submit = outbox.submit(entry.id).await.unwrap();
    outbox.decide(entry.id, Decision::Discard).await.unwrap();
    for behind in [edit.id, submit.id] {
        assert_asks(&outbox, behind, Reason::EarlierGivenUp).await;
    }
    farm.send(&outbox).await;
    assert_eq!(farm.saves(), 0);
    outbox.edit(edit.id, load(26)).await.unwrap();
    let report = farm.send(&outbox).await;
    assert_eq!(
        (report.confirmed, report.needs_attention),
        (1, 1),
        "{report}"
    );
    assert_eq!(farm.loads(), [draft(26)]);
    assert_eq!(now(&outbox, submit.id).await.kind, EntryKind::Submit);
}

/// A screen keeps the number of the first entry.
#[tokio::test]
async fn each_edit_after_the_end_is_made_of_what_the_last_one_left() {
    let (farm, outbox, entry) = saved().await;
    farm.send(&outbox).await;
    for head in 25..28 {
        outbox.edit(entry.id, load(head)).await.unwrap();
        farm.done(&outbox, 1).await;
        assert_eq!(farm.loads(), [draft(head)]);
    }
    outbox.submit(entry.id).await.unwrap();
    farm.done(&outbox, 1).await;
    assert_eq!(farm.loads(), [submitted(27)]);
}
