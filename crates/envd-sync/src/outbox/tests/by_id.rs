//! Updates, submits and deletes: compared before, and settled by reading.

use envd_sdk::ErrorKind;
use serde_json::json;

use super::farm::{
    Farm, MINUTE, assert_asks, draft, load, lost, now, signed, start, state, submitted,
};
use crate::outbox::{ChangedBy, Decision, EntryState, Outbox, Reason};
use envd_sdk::fake::{Assumptions, Deleted, Fault, WebsiteEdit};

/// A farm with a draft of 24 head, its id, and the outbox that made it.
async fn with_draft() -> (Farm, Outbox, String) {
    with_draft_assuming(Assumptions::default()).await
}

async fn with_draft_assuming(assumptions: Assumptions) -> (Farm, Outbox, String) {
    let farm = Farm::assuming(assumptions).await;
    let id = farm.edit(WebsiteEdit::insert(load(24)));
    let outbox = farm.outbox();
    (farm, outbox, id)
}

/// Holds: rule 6: a save by id is compared before.
/// Holds: failure point 16: draft edited on the website.
#[tokio::test]
async fn a_draft_that_was_edited_on_the_website_is_a_conflict_and_nothing_is_sent() {
    let (farm, outbox, id) = with_draft().await;
    let base = farm.read(&outbox, &id).await;
    let entry = outbox.update(&base, load(30)).await.unwrap();
    farm.change(&id, json!({"movementTime": "07:45"}));
    let report = farm.send(&outbox).await;
    assert_eq!((report.needs_attention, report.waiting), (1, 0), "{report}");
    assert_eq!(farm.saves(), 0);
    assert_asks(&outbox, entry.id, Reason::Conflict).await;
    let entry = now(&outbox, entry.id).await;
    let conflict = entry.conflict.unwrap();
    let fields: Vec<_> = conflict
        .fields
        .iter()
        .map(|field| (&*field.path, field.changed_by))
        .collect();
    assert_eq!(
        fields,
        [
            ("answers.3[0]", ChangedBy::Mine),
            ("movementTime", ChangedBy::Theirs)
        ]
    );
    assert_eq!(
        (&conflict.fields[0].base, &conflict.fields[0].mine),
        (&json!("24"), &json!("30"))
    );
    assert_eq!(
        (&conflict.fields[1].base, &conflict.fields[1].theirs),
        (&json!("06:30"), &json!("07:45"))
    );
}

/// Holds: a decision holds for what was there when it was made.
#[tokio::test]
async fn a_decision_holds_for_what_was_there_when_it_was_made() {
    let (farm, outbox, id) = with_draft().await;
    let base = farm.read(&outbox, &id).await;
    let entry = outbox.update(&base, load(30)).await.unwrap();
    farm.change(&id, json!({"movementTime": "07:45"}));
    farm.send(&outbox).await;
    outbox.decide(entry.id, Decision::KeepMine).await.unwrap();
    farm.change(&id, json!({"movementTime": "08:00"}));
    farm.send(&outbox).await;
    let again = now(&outbox, entry.id).await;
    assert_eq!((again.reason, farm.saves()), (Some(Reason::Conflict), 0));
    assert_eq!(again.conflict.unwrap().theirs["movementTime"], "08:00");
    outbox.decide(entry.id, Decision::KeepMine).await.unwrap();
    let report = farm.send(&outbox).await;
    assert_eq!((report.confirmed, farm.saves()), (1, 1));
    assert_eq!(farm.loads(), [draft(30)]);
    assert_eq!(farm.made()[0]["movementTime"], "06:30");
}

/// Holds: failure point 17: draft submitted or locked there.
#[tokio::test]
async fn a_draft_that_was_submitted_or_locked_there_is_a_conflict() {
    for status in ["SUBMITTED", "LOCKED"] {
        for submits in [false, true] {
            let (farm, outbox, id) = with_draft().await;
            let base = farm.read(&outbox, &id).await;
            let mut entry = outbox.update(&base, load(30)).await.unwrap();
            if submits {
                farm.send(&outbox).await;
                entry = outbox.submit(entry.id).await.unwrap();
            }
            farm.change(&id, json!({"status": status}));
            let before = farm.saves();
            farm.send(&outbox).await;
            assert_asks(&outbox, entry.id, Reason::NotADraft).await;
            let shown = now(&outbox, entry.id).await;
            assert!(shown.conflict.is_some());
            assert_eq!(farm.saves(), before);
            outbox.decide(entry.id, Decision::TakeTheirs).await.unwrap();
            assert_eq!(state(&outbox, entry.id).await, EntryState::Discarded);
            assert_eq!(farm.send(&outbox).await.needs_attention, 0);
        }
    }
}

/// Holds: failure point 18: draft deleted there.
#[tokio::test]
async fn a_draft_that_was_deleted_there_is_gone_and_the_user_decides() {
    for deleted in [Deleted::Filtered, Deleted::Hidden, Deleted::Listed] {
        for keep in [false, true] {
            let (farm, outbox, id) =
                with_draft_assuming(Assumptions::default().deleted(deleted)).await;
            let base = farm.read(&outbox, &id).await;
            farm.send(&outbox).await;
            let entry = outbox.update(&base, load(30)).await.unwrap();
            let submit = outbox.submit(entry.id).await.unwrap();
            farm.edit(WebsiteEdit::delete(&*id));
            let report = farm.send(&outbox).await;
            assert_eq!(report.needs_attention, 1, "{deleted:?} {report}");
            assert_asks(&outbox, entry.id, Reason::Gone).await;
            assert_eq!(farm.saves(), 0, "{deleted:?}");
            if keep {
                // It is made anew, and submitted.
                outbox.decide(entry.id, Decision::KeepMine).await.unwrap();
                let report = farm.send(&outbox).await;
                assert_eq!(
                    (report.confirmed, report.waiting),
                    (2, 0),
                    "{deleted:?} {report}"
                );
                let loads = farm.loads();
                assert_eq!(loads.last(), Some(&submitted(30)), "{deleted:?}");
                assert_ne!(
                    now(&outbox, submit.id).await.consignment.unwrap().as_str(),
                    id
                );
            } else {
                outbox.decide(entry.id, Decision::Discard).await.unwrap();
                assert_asks(&outbox, submit.id, Reason::EarlierGivenUp).await;
                farm.send(&outbox).await;
                assert_eq!(farm.saves(), 0, "{deleted:?}");
            }
        }
    }
}

/// Holds: rule 2: what names its record is settled by reading it.
/// Holds: failure point 19: reply to a submit lost.
#[tokio::test]
async fn a_submit_whose_reply_is_lost_is_read_by_id_and_not_sent_again_if_it_is_submitted() {
    for fault in [
        Fault::dropped_after(),
        Fault::status(502).processed(),
        Fault::cut(20),
        Fault::internal_server_error("createOrSaveConsignment").processed(),
    ] {
        let (farm, outbox) = start().await;
        let entry = outbox.save(signed(24)).await.unwrap();
        let submit = outbox.submit(entry.id).await.unwrap();
        farm.fault(Fault::none());
        farm.fault(fault);
        farm.done(&outbox, 2).await;
        assert_eq!((farm.loads(), farm.saves()), (vec![submitted(24)], 2));
        assert!(now(&outbox, submit.id).await.is_adopted);
    }
}

/// Holds: rule 1: created only as a draft, submitted only by the id of its record.
#[tokio::test]
async fn a_submit_that_was_lost_is_sent_again_after_two_looks() {
    let (farm, outbox) = start().await;
    let entry = outbox.save(signed(24)).await.unwrap();
    let submit = outbox.submit(entry.id).await.unwrap();
    farm.fault(Fault::none());
    farm.fault(Fault::dropped_before());
    let (_, due) = outbox.pass().await.unwrap();
    assert_eq!(due.reconciles_at, Some(farm.clock.now() + MINUTE));
    assert_eq!(state(&outbox, submit.id).await, EntryState::Unconfirmed);
    farm.send(&outbox).await;
    assert_eq!((farm.loads(), farm.saves()), (vec![submitted(24)], 3));
    // Every save after the first names the record.
    let id = farm.id(0);
    assert!(farm.sent()[1..].iter().all(|sent| sent.contains(&id)));
}

/// The first request arrives after both looks, and before the second is sent.
#[tokio::test]
async fn an_update_that_arrives_late_is_found_before_it_is_sent_again() {
    let (farm, outbox, id) = with_draft().await;
    let base = farm.read(&outbox, &id).await;
    let entry = outbox.update(&base, load(30)).await.unwrap();
    // It is processed with the second look, after that has read.
    farm.fault(Fault::dropped_before().processed_after(2));
    farm.done(&outbox, 1).await;
    assert_eq!((farm.loads(), farm.saves()), (vec![draft(30)], 1));
    assert!(now(&outbox, entry.id).await.is_adopted);
}

#[tokio::test]
async fn a_delete_whose_reply_is_lost_is_read_by_id() {
    for deleted in [Deleted::Filtered, Deleted::Hidden] {
        for was_applied in [false, true] {
            let (farm, outbox, id) =
                with_draft_assuming(Assumptions::default().deleted(deleted)).await;
            let entry = outbox.delete(&*id).await.unwrap();
            farm.faults("DeleteConsignment", lost(was_applied), 1);
            let report = farm.send(&outbox).await;
            assert_eq!(
                (report.confirmed, report.waiting),
                (1, 0),
                "{deleted:?} {report}"
            );
            assert_eq!(
                farm.fake.request_count("DeleteConsignment"),
                if was_applied { 1 } else { 2 }
            );
            assert!(farm.loads().iter().all(|(status, _)| status == "DELETED"));
            assert_eq!(state(&outbox, entry.id).await, EntryState::Confirmed);
        }
    }
}

/// A failure inside the service has the text of "not found".
#[tokio::test]
async fn a_read_that_fails_is_no_record_that_is_gone() {
    let (farm, outbox, id) = with_draft().await;
    let base = farm.read(&outbox, &id).await;
    let entry = outbox.update(&base, load(30)).await.unwrap();
    farm.faults(
        "Consignment",
        Fault::internal_server_error("consignment"),
        3,
    );
    farm.send(&outbox).await;
    farm.send(&outbox).await;
    farm.clock.advance(MINUTE);
    let report = farm.send(&outbox).await;
    assert_eq!(report.needs_attention, 0, "{report}");
    assert_eq!(state(&outbox, entry.id).await, EntryState::Confirmed);
    assert_eq!(farm.loads(), [draft(30)]);
}

#[tokio::test]
async fn without_a_base_a_draft_is_saved_and_anything_else_is_not() {
    for status in ["DRAFT", "SUBMITTED"] {
        let (farm, outbox, id) = with_draft().await;
        farm.change(&id, json!({"status": status}));
        let entry = outbox.save(load(30).id(id)).await.unwrap();
        farm.send(&outbox).await;
        let expected = if status == "DRAFT" {
            EntryState::Confirmed
        } else {
            EntryState::NeedsAttention
        };
        assert_eq!(state(&outbox, entry.id).await, expected);
        assert_eq!(farm.saves(), usize::from(status == "DRAFT"));
    }
}

#[tokio::test]
async fn an_input_that_names_its_record_by_the_number_alone_is_not_taken_for_a_new_one() {
    let (_farm, outbox, _) = with_draft().await;
    let error = outbox
        .save(load(30).number("C-900000101"))
        .await
        .unwrap_err();
    assert!(
        error.kind() == ErrorKind::Config && error.to_string().contains("id"),
        "{error}"
    );
    assert!(outbox.entries().await.unwrap().is_empty());
}
