//! Records that look like what was sent.

use serde_json::json;

use super::farm::{Farm, MINUTE, draft, id_of, load, now, other_load, state};
use crate::fake::{Fault, WebsiteEdit};
use crate::sync::outbox::{Decision, EntryState, Reason};

/// Holds: rule 4: creations go one after another, and other lanes go on.
/// Holds: failure point 13: two identical loads.
#[tokio::test]
async fn two_identical_loads_are_both_made_whatever_reply_is_lost() {
    for first_lost in 0..4 {
        for second_lost in 0..4 {
            let farm = Farm::start().await;
            let outbox = farm.outbox();
            let one = outbox.save(load(24)).await.unwrap();
            let other = outbox.save(load(24)).await.unwrap();
            assert_ne!(one.id, other.id);
            let fault = |lost| match lost {
                0 => Fault::none(),
                1 => Fault::dropped_after(),
                2 => Fault::internal_server_error("createOrSaveConsignment").processed(),
                _ => Fault::dropped_before(),
            };
            farm.fault(fault(first_lost));
            if first_lost == 3 {
                farm.fault(Fault::none());
            }
            farm.fault(fault(second_lost));
            let report = farm.send(&outbox).await;
            assert_eq!(
                (report.confirmed, report.waiting),
                (2, 0),
                "{first_lost} {second_lost}: {report}"
            );
            assert_eq!(farm.loads(), [draft(24), draft(24)]);
            let [one, other] = [now(&outbox, one.id).await, now(&outbox, other.id).await];
            let ids: Vec<_> = farm.made().iter().map(id_of).collect();
            assert_eq!(one.consignment.unwrap().as_str(), ids[0]);
            assert_eq!(other.consignment.unwrap().as_str(), ids[1]);
        }
    }
}

/// Holds: rule 3: several records, or one that agrees in part, need a person.
/// Holds: failure point 14: twin made on the website meanwhile.
#[tokio::test]
async fn with_a_twin_from_the_website_a_person_decides_and_nothing_is_submitted_before() {
    let farm = Farm::start().await;
    let outbox = farm.outbox();
    let entry = outbox.save(load(24)).await.unwrap();
    let submit = outbox.submit(entry.id).await.unwrap();
    farm.fault(Fault::dropped_after());
    let account = farm.fake.account_id().to_owned();
    // After the list before the creation.
    farm.fake
        .edit_before_list(&account, 2, WebsiteEdit::insert(load(24)));
    let report = farm.send(&outbox).await;
    assert_eq!((report.needs_attention, report.waiting), (1, 1), "{report}");
    let asked = now(&outbox, entry.id).await;
    assert_eq!(
        (asked.state, asked.reason),
        (EntryState::NeedsAttention, Some(Reason::Candidates))
    );
    let ids: Vec<_> = farm.made().iter().map(id_of).collect();
    let mut candidates: Vec<_> = asked
        .candidates
        .iter()
        .map(|id| id.as_str().to_owned())
        .collect();
    candidates.sort_unstable();
    assert_eq!(candidates, ids);
    farm.clock.advance(MINUTE * 60);
    farm.send(&outbox).await;
    assert_eq!(
        (farm.saves(), state(&outbox, submit.id).await),
        (1, EntryState::Queued)
    );

    let adopted = asked.candidates[0].clone();
    outbox
        .decide(entry.id, Decision::Adopt(adopted.clone()))
        .await
        .unwrap();
    let report = farm.send(&outbox).await;
    assert_eq!((report.confirmed, report.waiting), (1, 0), "{report}");
    let submitted: Vec<_> = farm
        .made()
        .into_iter()
        .filter(|record| record["status"] == "SUBMITTED")
        .collect();
    assert_eq!(submitted.len(), 1);
    assert_eq!(id_of(&submitted[0]), adopted.as_str());
    assert_eq!(farm.saves(), 2);
}

#[tokio::test]
async fn a_twin_alone_is_adopted_and_nothing_is_sent_again_unasked() {
    let farm = Farm::start().await;
    let outbox = farm.outbox();
    outbox.save(load(24)).await.unwrap();
    farm.fault(Fault::dropped_before());
    let account = farm.fake.account_id().to_owned();
    farm.fake
        .edit_before_list(&account, 2, WebsiteEdit::insert(load(24)));
    farm.send(&outbox).await;
    assert_eq!((farm.loads(), farm.saves()), (vec![draft(24)], 1));
}

#[tokio::test]
async fn a_person_may_send_it_again_and_what_was_ruled_out_stays_so() {
    let farm = Farm::start().await;
    let outbox = farm.outbox();
    let entry = outbox.save(load(24)).await.unwrap();
    farm.fault(Fault::dropped_before());
    farm.fault(Fault::dropped_after());
    let account = farm.fake.account_id().to_owned();
    for _ in 0..2 {
        farm.fake
            .edit_before_list(&account, 2, WebsiteEdit::insert(load(24)));
    }
    farm.send(&outbox).await;
    assert_eq!(state(&outbox, entry.id).await, EntryState::NeedsAttention);
    outbox.decide(entry.id, Decision::Resend).await.unwrap();
    farm.send(&outbox).await;
    let entry = now(&outbox, entry.id).await;
    assert_eq!(entry.state, EntryState::Confirmed, "{entry:?}");
    assert_eq!(farm.loads(), [draft(24), draft(24), draft(24)]);
    assert_eq!(entry.consignment.unwrap().as_str(), id_of(&farm.made()[2]));
}

/// Holds: records of others never disturb, and a twin is never a reason to send again.
#[tokio::test]
async fn records_of_others_with_other_forms_days_or_places_never_disturb() {
    for was_applied in [false, true] {
        let farm = Farm::start().await;
        let outbox = farm.outbox();
        let entry = outbox.save(load(24)).await.unwrap();
        let fault = Fault::dropped_before();
        farm.fault(if was_applied {
            fault.processed()
        } else {
            fault
        });
        let account = farm.fake.account_id().to_owned();
        let mut other_form = serde_json::to_value(load(24)).unwrap();
        other_form["forms"] = json!(["LPAC1", "MSAC1"]);
        let mut other_day = serde_json::to_value(load(24)).unwrap();
        other_day["movementDate"] = json!("2026-11-24");
        let mut other_place = serde_json::to_value(load(24)).unwrap();
        other_place["destination"] = json!({"pic": "QDZZ3333"});
        for input in [other_form, other_day, other_place] {
            farm.fake
                .edit_before_list(&account, 2, WebsiteEdit::insert(input));
        }
        farm.fake
            .edit_before_list(&account, 2, WebsiteEdit::insert(other_load(24)));
        let report = farm.send(&outbox).await;
        assert_eq!((report.confirmed, report.waiting), (1, 0), "{report}");
        let made = now(&outbox, entry.id).await.consignment.unwrap();
        let made: Vec<_> = farm
            .made()
            .into_iter()
            .filter(|record| id_of(record) == made.as_str())
            .collect();
        assert_eq!(made[0]["destination"]["pic"], "QCZZ8888");
        assert_eq!(farm.made().len(), 5);
        assert_eq!(farm.saves(), if was_applied { 1 } else { 2 });
    }
}

/// Somebody has changed the number of head of the record, or has made another one: only a person knows.
#[tokio::test]
async fn with_a_record_that_agrees_in_part_a_person_decides() {
    let farm = Farm::start().await;
    let outbox = farm.outbox();
    let entry = outbox.save(load(24)).await.unwrap();
    farm.fault(Fault::dropped_before());
    let account = farm.fake.account_id().to_owned();
    farm.fake
        .edit_before_list(&account, 2, WebsiteEdit::insert(load(25)));
    farm.send(&outbox).await;
    let entry = now(&outbox, entry.id).await;
    assert_eq!(entry.reason, Some(Reason::Candidates), "{entry:?}");
    assert_eq!(entry.candidates, [id_of(&farm.made()[0]).as_str()]);
    assert_eq!(farm.saves(), 1);
    outbox.decide(entry.id, Decision::Resend).await.unwrap();
    farm.send(&outbox).await;
    assert_eq!(farm.loads(), [draft(25), draft(24)]);
}

#[tokio::test]
async fn a_record_of_another_entry_is_not_adopted() {
    let farm = Farm::start().await;
    let outbox = farm.outbox();
    let one = outbox.save(load(24)).await.unwrap();
    farm.send(&outbox).await;
    let taken = now(&outbox, one.id).await.consignment.unwrap();
    let other = outbox.save(load(24)).await.unwrap();
    farm.fault(Fault::dropped_before());
    outbox.pass().await.unwrap();
    let error = outbox
        .decide(other.id, Decision::Adopt(taken))
        .await
        .unwrap_err();
    assert!(error.is_config(), "{error}");
    farm.send(&outbox).await;
    assert_eq!(farm.loads(), [draft(24), draft(24)]);
}

/// The copy of the account does not have the first record yet when the second one is sent.
#[tokio::test]
async fn a_record_of_an_entry_that_was_pruned_is_never_taken_for_that_of_another_one() {
    let farm = Farm::start().await;
    let outbox = farm.outbox();
    outbox.save(load(24)).await.unwrap();
    farm.send(&outbox).await;
    farm.clock.advance(MINUTE);
    assert_eq!(outbox.prune(farm.clock.now()).await.unwrap(), 1);
    outbox.save(load(24)).await.unwrap();
    farm.fault(Fault::dropped_before());
    let report = farm.send(&outbox).await;
    assert_eq!((report.confirmed, report.waiting), (1, 0), "{report}");
    assert_eq!(
        (farm.loads(), farm.saves()),
        (vec![draft(24), draft(24)], 3)
    );
}

/// Its own request did nothing, and the late one of an equal load has made a record after it was sent.
#[tokio::test]
async fn a_stray_that_was_told_is_not_adopted_by_an_equal_load() {
    let farm = Farm::start().await;
    let outbox = farm.outbox();
    let one = outbox.save(load(24)).await.unwrap();
    farm.fault(Fault::dropped_before().processed_after(usize::MAX));
    farm.send(&outbox).await;
    let other = outbox.save(load(24)).await.unwrap();
    farm.fault(Fault::dropped_before());
    outbox.pass().await.unwrap();
    assert_eq!(farm.fake.process_late_requests(), 1);

    let next = farm.outbox();
    assert_eq!(farm.send(&next).await.needs_attention, 1);
    let other = now(&next, other.id).await;
    assert_eq!(other.reason, Some(Reason::Candidates));
    assert_eq!(now(&next, one.id).await.strays, other.candidates);
}

/// A person has not yet decided which record the first one is when its own one is listed at last.
#[tokio::test]
async fn a_record_that_an_undecided_equal_load_may_have_made_is_not_adopted() {
    let farm = Farm::start().await;
    let outbox = farm.outbox();
    let one = outbox.save(load(24)).await.unwrap();
    farm.fault(Fault::dropped_before().processed_after(usize::MAX));
    let mut alike = serde_json::to_value(load(24)).unwrap();
    alike["movementTime"] = json!("23:45");
    farm.fake
        .edit_before_list(farm.fake.account_id(), 2, WebsiteEdit::insert(alike));
    farm.send(&outbox).await;
    assert_eq!(now(&outbox, one.id).await.reason, Some(Reason::Candidates));
    let other = outbox.save(load(24)).await.unwrap();
    farm.fault(Fault::dropped_before());
    outbox.pass().await.unwrap();
    assert_eq!(farm.fake.process_late_requests(), 1);

    farm.send(&outbox).await;
    let other = now(&outbox, other.id).await;
    assert_eq!(
        (other.reason, other.consignment),
        (Some(Reason::Candidates), None)
    );
}
