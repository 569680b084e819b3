//! Records that look like what was sent.

use envd_sdk::ErrorKind;
use serde_json::json;

use super::farm::{
    MINUTE, assert_asks, assert_candidates, draft, id_of, load, lost, now, other_load, saved,
    saved_with_submit, state,
};
use crate::outbox::{Decision, EntryState, Reason};
use envd_sdk::fake::Fault;

/// Holds: rule 4: creations go one after another, and other lanes go on.
/// Holds: failure point 13: two identical loads.
#[tokio::test]
async fn two_identical_loads_are_both_made_whatever_reply_is_lost() {
    for first_lost in 0..4 {
        for second_lost in 0..4 {
            let (farm, outbox, one) = saved().await;
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
    let (farm, outbox, entry, submit) = saved_with_submit().await;
    farm.fault(Fault::dropped_after());
    // After the list before the creation.
    farm.before_look(load(24));
    let report = farm.send(&outbox).await;
    assert_eq!((report.needs_attention, report.waiting), (1, 1), "{report}");
    assert_candidates(&outbox, entry.id, &[farm.id(0), farm.id(1)]).await;
    farm.clock.advance(MINUTE * 60);
    farm.send(&outbox).await;
    let waits = (farm.saves(), state(&outbox, submit.id).await);
    assert_eq!(waits, (1, EntryState::Queued));
    let adopted = now(&outbox, entry.id).await.candidates.remove(0);
    let decision = Decision::Adopt(adopted.clone());
    outbox.decide(entry.id, decision).await.unwrap();
    farm.done(&outbox, 1).await;
    let mut submitted = farm.made();
    submitted.retain(|record| record["status"] == "SUBMITTED");
    assert_eq!(submitted.len(), 1);
    assert_eq!(id_of(&submitted[0]), adopted.as_str());
    assert_eq!(farm.saves(), 2);
}

#[tokio::test]
async fn a_twin_alone_is_adopted_and_nothing_is_sent_again_unasked() {
    let (farm, outbox, _) = saved().await;
    farm.fault(Fault::dropped_before());
    farm.before_look(load(24));
    farm.send(&outbox).await;
    assert_eq!((farm.loads(), farm.saves()), (vec![draft(24)], 1));
}

#[tokio::test]
async fn a_person_may_send_it_again_and_what_was_ruled_out_stays_so() {
    let (farm, outbox, entry) = saved().await;
    farm.fault(Fault::dropped_before());
    farm.fault(Fault::dropped_after());
    for _ in 0..2 {
        farm.before_look(load(24));
    }
    farm.send(&outbox).await;
    assert_eq!(state(&outbox, entry.id).await, EntryState::NeedsAttention);
    outbox.decide(entry.id, Decision::Resend).await.unwrap();
    farm.send(&outbox).await;
    let entry = now(&outbox, entry.id).await;
    assert_eq!(entry.state, EntryState::Confirmed, "{entry:?}");
    assert_eq!(farm.loads(), [draft(24), draft(24), draft(24)]);
    assert_eq!(entry.consignment.unwrap().as_str(), farm.id(2));
}

/// Holds: records of others never disturb, and a twin is never a reason to send again.
#[tokio::test]
async fn records_of_others_with_other_forms_days_or_places_never_disturb() {
    for was_applied in [false, true] {
        let (farm, outbox, entry) = saved().await;
        farm.fault(lost(was_applied));
        for (field, value) in [
            ("forms", json!(["LPAC1", "MSAC1"])),
            ("movementDate", json!("2026-11-24")),
            ("destination", json!({"pic": "QDZZ3333"})),
        ] {
            let mut other = serde_json::to_value(load(24)).unwrap();
            other[field] = value;
            farm.before_look(other);
        }
        farm.before_look(other_load(24));
        farm.done(&outbox, 1).await;
        let made = now(&outbox, entry.id).await.consignment.unwrap();
        let mut own = farm.made();
        own.retain(|record| id_of(record) == made.as_str());
        assert_eq!(own[0]["destination"]["pic"], "QCZZ8888");
        assert_eq!(farm.made().len(), 5);
        assert_eq!(farm.saves(), if was_applied { 1 } else { 2 });
    }
}

/// Somebody has changed the number of head of the record, or has made another one: only a person knows.
#[tokio::test]
async fn with_a_record_that_agrees_in_part_a_person_decides() {
    let (farm, outbox, entry) = saved().await;
    farm.fault(Fault::dropped_before());
    farm.before_look(load(25));
    farm.send(&outbox).await;
    assert_candidates(&outbox, entry.id, &[farm.id(0)]).await;
    assert_eq!(farm.saves(), 1);
    outbox.decide(entry.id, Decision::Resend).await.unwrap();
    farm.send(&outbox).await;
    assert_eq!(farm.loads(), [draft(25), draft(24)]);
}

#[tokio::test]
async fn a_record_of_another_entry_is_not_adopted() {
    let (farm, outbox, one) = saved().await;
    farm.send(&outbox).await;
    let taken = now(&outbox, one.id).await.consignment.unwrap();
    let other = outbox.save(load(24)).await.unwrap();
    farm.lose(&outbox).await;
    let error = outbox.decide(other.id, Decision::Adopt(taken)).await;
    assert!(error.unwrap_err().kind() == ErrorKind::Config);
    farm.send(&outbox).await;
    assert_eq!(farm.loads(), [draft(24), draft(24)]);
}

/// The copy of the account does not have the first record yet when the second one is sent.
#[tokio::test]
async fn a_record_of_an_entry_that_was_pruned_is_never_taken_for_that_of_another_one() {
    let (farm, outbox, _) = saved().await;
    farm.send(&outbox).await;
    farm.clock.advance(MINUTE);
    assert_eq!(outbox.prune(farm.clock.now()).await.unwrap(), 1);
    outbox.save(load(24)).await.unwrap();
    farm.fault(Fault::dropped_before());
    farm.done(&outbox, 1).await;
    assert_eq!(
        (farm.loads(), farm.saves()),
        (vec![draft(24), draft(24)], 3)
    );
}

/// Its own request did nothing, and the late one of an equal load has made a record after it was sent: each load has one.
#[tokio::test]
async fn what_an_equal_load_has_in_doubt_is_not_told_as_one_too_many() {
    let (farm, outbox, one) = saved().await;
    farm.fault(Fault::dropped_before().processed_after(usize::MAX));
    farm.send(&outbox).await;
    let other = outbox.save(load(24)).await.unwrap();
    farm.lose(&outbox).await;
    assert_eq!(farm.fake.process_late_requests(), 1);

    let next = farm.outbox();
    let report = farm.send(&next).await;
    assert_eq!(
        (report.confirmed, report.late_duplicates),
        (1, 0),
        "{report}"
    );
    assert_eq!(farm.loads(), [draft(24), draft(24)]);
    assert!(now(&next, other.id).await.is_adopted);
    assert!(now(&next, one.id).await.late_duplicates.is_empty());
}

/// A person has not yet decided which record the first one is when its own one is listed at last.
#[tokio::test]
async fn a_record_that_an_undecided_equal_load_may_have_made_is_not_adopted() {
    let (farm, outbox, one) = saved().await;
    farm.fault(Fault::dropped_before().processed_after(usize::MAX));
    let mut alike = serde_json::to_value(load(24)).unwrap();
    alike["movementTime"] = json!("23:45");
    farm.before_look(alike);
    farm.send(&outbox).await;
    assert_asks(&outbox, one.id, Reason::Candidates).await;
    let other = outbox.save(load(24)).await.unwrap();
    farm.lose(&outbox).await;
    assert_eq!(farm.fake.process_late_requests(), 1);

    farm.send(&outbox).await;
    let other = now(&outbox, other.id).await;
    assert_eq!(
        (other.reason, other.consignment),
        (Some(Reason::Candidates), None)
    );
}
