//! Creations without a clear answer.

use serde_json::json;

use super::farm::{
    MINUTE, SAVE, assert_is, draft, load, now, saved, saved_with_submit, start, state, submitted,
};
use crate::outbox::{EntryState, Reason};
use envd_sdk::fake::Fault;
use equipment::schedules::count;

/// Replies that say nothing clear, of a request that was not processed.
fn unclear() -> Vec<Fault> {
    let errors =
        json!({"errors": [{"message": "something failed", "path": ["createOrSaveConsignment"]}]});
    let empty = json!({"data": {"createOrSaveConsignment": null}});
    vec![
        Fault::dropped_before(),
        Fault::garbage(),
        Fault::html(200),
        Fault::html(500),
        Fault::status(500),
        Fault::status(502),
        Fault::html(503),
        Fault::status(504),
        Fault::status(500).json(errors),
        Fault::internal_server_error("createOrSaveConsignment"),
        Fault::status(200).json(empty),
        Fault::status(200).json(json!({"data": {"createOrSaveConsignment": {"data": {}}}})),
        Fault::status(200).json(json!({"data": null})),
    ]
}

/// Holds: rule 3: without a clear answer the record is looked for, and sent again after two looks that find nothing.
/// Holds: failure point 5: reply lost, applied.
/// Holds: failure point 8: every kind of unclear reply.
#[tokio::test]
async fn a_creation_whose_reply_is_lost_is_found_and_not_sent_again() {
    for (number, fault) in unclear().into_iter().enumerate() {
        let (farm, outbox, entry, _) = saved_with_submit().await;
        farm.fault(fault.processed());
        let report = farm.send(&outbox).await;
        assert_eq!(
            (report.confirmed, report.waiting),
            (2, 0),
            "fault {number}: {report}"
        );
        assert_eq!(farm.loads(), [submitted(24)], "fault {number}");
        assert_eq!(farm.saves(), 2, "fault {number}");
        let entry = now(&outbox, entry.id).await;
        assert!(
            entry.is_adopted && entry.attempts.len() == 1,
            "fault {number}: {entry:?}"
        );
        assert_eq!(entry.consignment.unwrap().as_str(), farm.id(0));
    }
}

/// Holds: failure point 6: reply lost, not applied.
#[tokio::test]
async fn a_creation_that_was_not_carried_out_is_sent_again_once_after_two_looks() {
    for (number, fault) in unclear().into_iter().enumerate() {
        let (farm, outbox, entry, _) = saved_with_submit().await;
        farm.fault(fault);
        let (report, due) = outbox.pass().await.unwrap();
        assert_eq!(
            (report.confirmed, report.waiting),
            (0, 2),
            "fault {number}: {report}"
        );
        assert_eq!(
            state(&outbox, entry.id).await,
            EntryState::Unconfirmed,
            "fault {number}"
        );
        assert_eq!(
            due.reconciles_at,
            Some(farm.clock.now() + MINUTE),
            "fault {number}"
        );
        // Not a moment before the settle time.
        farm.clock.advance(std::time::Duration::from_millis(59_999));
        outbox.pass().await.unwrap();
        assert_eq!(farm.saves(), 1, "fault {number}");
        let report = farm.send(&outbox).await;
        assert_eq!(
            (report.confirmed, report.waiting),
            (2, 0),
            "fault {number}: {report}"
        );
        assert_eq!(farm.loads(), [submitted(24)], "fault {number}");
        assert_eq!(farm.saves(), 3, "fault {number}");
    }
}

#[tokio::test]
async fn a_reply_that_ends_after_any_byte_leaves_one_draft() {
    // `.ci/run` tries each byte.
    let step = if count(1) > 1 { 1 } else { 23 };
    for bytes in (0..).step_by(step) {
        let (farm, outbox) = start().await;
        let mut were_adopted = 0;
        for (head, fault) in [(1, Fault::cut(bytes)), (2, Fault::truncated(bytes))] {
            let entry = outbox.save(load(head)).await.unwrap();
            farm.fault(fault);
            let report = farm.send(&outbox).await;
            assert_eq!(
                (report.confirmed, report.waiting),
                (1, 0),
                "{bytes} bytes: {report}"
            );
            were_adopted += usize::from(now(&outbox, entry.id).await.is_adopted);
        }
        assert_eq!(farm.loads(), [draft(1), draft(2)], "{bytes} bytes");
        assert_eq!(farm.saves(), 2, "{bytes} bytes");
        if were_adopted == 0 {
            assert!(bytes > 100, "a reply has more than {bytes} bytes");
            return;
        }
    }
}

/// Holds: a stray is told.
/// Holds: failure point 7: applied after settling.
///
/// The service carries the first request out after it was given up.
#[tokio::test]
async fn a_request_that_arrives_after_the_settle_time_leaves_a_stray_that_is_told() {
    let (farm, outbox, entry, _) = saved_with_submit().await;
    farm.fault(Fault::dropped_before().processed_after(usize::MAX));
    let report = farm.send(&outbox).await;
    assert_eq!(
        (report.confirmed, report.late_duplicates),
        (2, 0),
        "{report}"
    );
    assert_eq!(farm.fake.process_late_requests(), 1);
    assert_eq!(farm.loads(), [submitted(24), draft(24)]);

    // The next program that runs tells it.
    let next = farm.outbox();
    let report = farm.send(&next).await;
    assert_eq!(
        (report.confirmed, report.late_duplicates),
        (0, 1),
        "{report}"
    );
    let entry = now(&next, entry.id).await;
    assert_eq!(entry.late_duplicates, [farm.id(1).as_str()]);
    assert_eq!(entry.consignment.unwrap().as_str(), farm.id(0));
    // Once.
    farm.clock.advance(MINUTE * 61);
    assert_eq!(farm.send(&next).await.late_duplicates, 0);
    assert_eq!(farm.send(&farm.outbox()).await.late_duplicates, 0);
    // Not for ever.
    farm.clock.advance(MINUTE * 60 * 24);
    farm.send(&next).await;
    let before = farm.fake.requests().len();
    farm.clock.advance(MINUTE * 61);
    farm.send(&farm.outbox()).await;
    assert_eq!(farm.fake.requests().len(), before);
}

/// Holds: a reading that fails is no look.
#[tokio::test]
async fn a_look_that_fails_is_no_look() {
    let (farm, outbox, entry) = saved().await;
    farm.fault(Fault::dropped_after());
    farm.faults_after_one("Consignments", 5);
    for _ in 0..5 {
        let (report, due) = outbox.pass().await.unwrap();
        assert!(report.stopped_by.is_some() && due.reconciles_at.is_none());
        assert_is(
            &outbox,
            entry.id,
            EntryState::Unconfirmed,
            Reason::NoClearAnswer,
        )
        .await;
        farm.clock.advance(
            due.retries_at
                .unwrap()
                .duration_since(farm.clock.now())
                .unwrap(),
        );
    }
    let report = farm.send(&outbox).await;
    assert_eq!((report.confirmed, farm.saves()), (1, 1), "{report}");
    assert_eq!(farm.loads(), [draft(24)]);
}

/// The list shows a change two lists later, longer than the second look takes.
#[tokio::test]
async fn other_lanes_go_on_while_a_creation_is_looked_for() {
    let (farm, outbox) = start().await;
    let record = farm.read(&outbox, "C-900000101").await;
    let entry = outbox.save(load(24)).await.unwrap();
    let second = outbox.save(load(25)).await.unwrap();
    let update = outbox.update(&record, load(77)).await.unwrap();
    farm.fault(Fault::dropped_before());
    let (report, _) = outbox.pass().await.unwrap();
    assert_eq!((report.confirmed, report.waiting), (1, 2), "{report}");
    assert_eq!(state(&outbox, update.id).await, EntryState::Confirmed);
    assert_eq!(state(&outbox, entry.id).await, EntryState::Unconfirmed);
    assert_is(
        &outbox,
        second.id,
        EntryState::Queued,
        Reason::WaitsForEarlier,
    )
    .await;
    assert_eq!(farm.fake.request_count(SAVE), 2);
    farm.send(&outbox).await;
    assert_eq!(farm.loads(), [draft(24), draft(25)]);
}
