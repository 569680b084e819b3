//! What a person may decide, and when.

use envd_sdk::ErrorKind;
use serde_json::json;

use super::farm::{
    Farm, SAVE, assert_asks, draft, load, now, saved, saved_with_submit, start, state,
};
use crate::outbox::{Decision, EntryId, EntryState, Outbox, Reason};
use envd_sdk::fake::{Fault, WebsiteEdit};

fn all() -> Vec<Decision> {
    vec![
        Decision::KeepMine,
        Decision::TakeTheirs,
        Decision::Resend,
        Decision::Adopt("00000000-0000-4000-8000-000000000101".into()),
        Decision::Discard,
    ]
}

/// The decisions that fit, by their `Debug`; each is tried on a farm of its own.
async fn fitting(prepare: impl AsyncFn(&Farm, &Outbox) -> EntryId) -> Vec<String> {
    let mut fitting = Vec::new();
    for decision in all() {
        let (farm, outbox) = start().await;
        let id = prepare(&farm, &outbox).await;
        let before = now(&outbox, id).await;
        let name = format!("{decision:?}");
        // Candidates alone can be chosen by name.
        let is_adopt = matches!(decision, Decision::Adopt(_));
        let is_offered = before.decisions().iter().any(|it| it.to_string() == name);
        let is_listed = is_offered || (is_adopt && before.candidates.is_empty());
        match outbox.decide(id, decision).await {
            Ok(_) => {
                assert!(is_listed, "{name}");
                fitting.push(name);
            }
            Err(error) => {
                assert!(!is_offered, "{name}");
                assert!(error.kind() == ErrorKind::Config, "{error}");
                assert!(
                    error.to_string().contains(&name) || before.state.is_final(),
                    "{error}"
                );
                assert_eq!(now(&outbox, id).await.state, before.state);
            }
        }
    }
    fitting
}

#[tokio::test]
async fn a_decision_that_does_not_fit_is_an_error_and_changes_nothing() {
    let queued = fitting(async |_, outbox| outbox.save(load(24)).await.unwrap().id);
    assert_eq!(queued.await, ["discard"]);
    let confirmed = fitting(async |farm, outbox| {
        let id = outbox.save(load(24)).await.unwrap().id;
        farm.send(outbox).await;
        id
    });
    assert!(confirmed.await.is_empty());
    let refused = fitting(async |farm, outbox| {
        let id = outbox.save(load(24)).await.unwrap().id;
        farm.fake.on_operation(SAVE).refuse("X", "refused");
        farm.send(outbox).await;
        id
    });
    assert_eq!(refused.await, ["resend", "discard"]);
    let unconfirmed = fitting(async |farm, outbox| {
        let id = outbox.save(load(24)).await.unwrap().id;
        farm.lose(outbox).await;
        id
    });
    assert_eq!(unconfirmed.await, ["resend", "adopt", "discard"]);
    let gone = fitting(async |farm, outbox| {
        let id = farm.edit(WebsiteEdit::insert(load(24)));
        let entry = outbox.save(load(25).id(&*id)).await.unwrap().id;
        farm.edit(WebsiteEdit::delete(&*id));
        farm.send(outbox).await;
        entry
    });
    assert_eq!(
        gone.await,
        ["keep mine", "take theirs", "resend", "discard"]
    );
    let error = Farm::start()
        .await
        .outbox()
        .decide("7".parse().unwrap(), Decision::Discard)
        .await;
    assert!(error.unwrap_err().kind() == ErrorKind::Config);
}

#[tokio::test]
async fn what_was_given_up_is_never_sent() {
    let (farm, outbox, entry, _) = saved_with_submit().await;
    let entry = outbox.decide(entry.id, Decision::Discard).await.unwrap();
    assert_eq!(
        (entry.state, entry.reason),
        (EntryState::Discarded, Some(Reason::GivenUp))
    );
    farm.send(&outbox).await;
    assert_eq!(farm.fake.requests().len(), 0);
    for error in [
        outbox.edit(entry.id, load(25)).await,
        outbox.submit(entry.id).await,
    ] {
        assert!(error.unwrap_err().kind() == ErrorKind::Config);
    }
}

#[tokio::test]
async fn what_waits_behind_an_update_that_was_given_up_can_be_kept() {
    let (farm, outbox) = start().await;
    let id = farm.edit(WebsiteEdit::insert(load(24)));
    let mut wrong = load(25);
    wrong.origin.pic = "not a PIC".into();
    let entry = outbox.save(wrong.id(&*id)).await.unwrap();
    let submit = outbox.submit(entry.id).await.unwrap();
    farm.send(&outbox).await;
    assert_eq!(state(&outbox, entry.id).await, EntryState::Refused);
    outbox.decide(entry.id, Decision::Discard).await.unwrap();
    assert_asks(&outbox, submit.id, Reason::EarlierGivenUp).await;
    let saves = farm.saves();
    farm.send(&outbox).await;
    assert_eq!(farm.saves(), saves);
    outbox.decide(submit.id, Decision::KeepMine).await.unwrap();
    farm.send(&outbox).await;
    // It submits what it was written with, and that is refused again.
    assert_eq!(
        (state(&outbox, submit.id).await, farm.saves()),
        (EntryState::Refused, saves + 1)
    );
    outbox.decide(submit.id, Decision::Discard).await.unwrap();
    assert_eq!(farm.loads(), [draft(24)]);
}

/// The edit that was given up was a conflict, and so is what was written on top of it: nobody has seen it beside theirs.
#[tokio::test]
async fn what_waits_behind_a_conflict_that_was_given_up_is_a_conflict_as_well() {
    for given_up in [Decision::Discard, Decision::TakeTheirs] {
        let (farm, outbox) = start().await;
        let (id, base) = farm.listed(&outbox).await;
        let entry = outbox.update(&base, load(30)).await.unwrap();
        let submit = outbox.submit(entry.id).await.unwrap();
        farm.change(&id, json!({"movementTime": "07:45"}));
        farm.send(&outbox).await;
        outbox.decide(entry.id, given_up).await.unwrap();
        outbox.decide(submit.id, Decision::KeepMine).await.unwrap();
        farm.send(&outbox).await;
        let submit = now(&outbox, submit.id).await;
        assert_eq!((submit.reason, farm.saves()), (Some(Reason::Conflict), 0));
        let theirs = submit.conflict.unwrap().theirs;
        assert_eq!(theirs["movementTime"], "07:45");
        // Now they have seen it.
        outbox.decide(submit.id, Decision::KeepMine).await.unwrap();
        farm.send(&outbox).await;
        assert_eq!(
            (state(&outbox, submit.id).await, farm.saves()),
            (EntryState::Confirmed, 1)
        );
    }
}

/// A creation that was given up while it was in flight, and arrives all the same.
#[tokio::test]
async fn what_arrives_after_it_was_given_up_is_told() {
    let (farm, outbox, entry) = saved().await;
    farm.fault(Fault::dropped_before().processed_after(usize::MAX));
    outbox.pass().await.unwrap();
    outbox.decide(entry.id, Decision::Discard).await.unwrap();
    farm.fake.process_late_requests();
    let report = farm.send(&farm.outbox()).await;
    assert_eq!(report.late_duplicates, 1, "{report}");
    assert_eq!(now(&outbox, entry.id).await.late_duplicates.len(), 1);
    assert_eq!(farm.saves(), 1);
}
