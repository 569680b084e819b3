//! What waits: for reception, for a login, for the time that the service names; and what waits in vain.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use super::farm::{
    Farm, MINUTE, SAVE, assert_asks, assert_is, draft, load, now, saved, start, state, submitted,
};
use crate::outbox::{Decision, EntryState, Reason};
use crate::store::tests::faulty_store::Moment;
use envd_sdk::fake::Fault;
use envd_sdk::model::FormType;

/// Holds: failure point 9: connection refused.
#[tokio::test]
async fn without_reception_an_entry_is_tried_again_and_nothing_is_written_each_time() {
    let farm = Farm::start().await;
    let entry = farm.outbox().save(load(24)).await.unwrap();
    let store = farm.faulty(usize::MAX);
    // One program that runs, and one that is started each time.
    let running = farm.unreachable(store.clone());
    let mut waited = Duration::ZERO;
    for _ in 0..20 {
        for outbox in [&running, &farm.unreachable(store.clone())] {
            let (report, due) = outbox.pass().await.unwrap();
            assert_eq!((report.confirmed, report.waiting), (0, 1), "{report}");
            assert!(report.stopped_by.is_some() && due.reconciles_at.is_none());
            assert_is(outbox, entry.id, EntryState::Queued, Reason::NoReception).await;
            let shown = now(outbox, entry.id).await;
            assert!(shown.attempts.is_empty());
        }
        let (_, due) = running.pass().await.unwrap();
        let wait = running.time_until(due.at().unwrap());
        assert!(wait > waited / 2 && wait <= 5 * MINUTE, "{wait:?}");
        waited = wait;
        farm.clock.advance(wait);
    }
    assert_eq!(store.commits(), 0);
    let report = farm.send(&farm.outbox()).await;
    assert_eq!((report.confirmed, farm.loads()), (1, vec![draft(24)]));
}

/// Holds: failure point 10: 429.
#[tokio::test]
async fn too_many_requests_wait_as_told() {
    for operation in ["Consignments", SAVE] {
        let (farm, outbox, entry) = saved().await;
        farm.faults(
            operation,
            Fault::status(429).header("retry-after", "120"),
            1,
        );
        let (report, due) = outbox.pass().await.unwrap();
        assert!(report.stopped_by.is_some());
        assert_eq!(due.at(), Some(farm.clock.now() + 2 * MINUTE), "{operation}");
        assert_eq!(report.next_at, due.at().map(Into::into));
        assert_eq!(state(&outbox, entry.id).await, EntryState::Queued);
        let requests = farm.fake.requests().len();
        farm.clock.advance(Duration::from_secs(2 * 60 - 1));
        let (_, due) = outbox.pass().await.unwrap();
        assert_eq!(due.at(), Some(farm.clock.now() + Duration::from_secs(1)));
        assert_eq!(farm.fake.requests().len(), requests);
        farm.clock.advance(Duration::from_secs(1));
        assert_eq!(farm.send(&outbox).await.confirmed, 1);
        assert_eq!(farm.loads(), [draft(24)]);
        // Nothing is in doubt, so nothing is looked for later.
        assert_eq!(outbox.pass().await.unwrap().1.at(), None);
    }
}

/// Holds: a dead login stops reads and saves alike.
/// Holds: failure point 12: login dead.
#[tokio::test]
async fn a_dead_login_stops_reads_and_saves_alike_and_goes_on_after_a_login() {
    for is_fresh in [false, true] {
        let farm = Farm::start().await;
        let manager = farm.fake.token_manager().await.unwrap();
        let outbox = farm.outbox_of(manager.clone());
        if is_fresh {
            // The list was read just before, so the save itself is refused.
            outbox.save(load(1)).await.unwrap();
            farm.send(&outbox).await;
        }
        let entry = outbox.save(load(24)).await.unwrap();
        let update = outbox
            .save(load(30).id("00000000-0000-4000-8000-000000000101"))
            .await
            .unwrap();
        farm.fake.revoke_logins();
        farm.fake.expire_access_tokens();
        let report = farm.send(&outbox).await;
        assert!(report.login_needed, "{report}");
        assert_eq!(
            (
                report.confirmed,
                report.refused,
                report.needs_attention,
                report.waiting
            ),
            (0, 0, 0, 2)
        );
        for id in [entry.id, update.id] {
            assert_is(&outbox, id, EntryState::Queued, Reason::LoginNeeded).await;
        }
        let login = manager.provider().authorization().start().unwrap();
        let callback = farm.fake.consent(login.url()).unwrap();
        manager
            .complete_login(login, callback.as_str())
            .await
            .unwrap();
        let report = farm.send(&outbox).await;
        assert_eq!(
            (report.confirmed, report.login_needed),
            (2, false),
            "{report}"
        );
        assert_eq!(farm.loads().last(), Some(&draft(24)));
    }
}

#[tokio::test]
async fn an_access_token_that_cannot_be_renewed_needs_a_login() {
    let (farm, outbox, entry) = saved().await;
    farm.fake.expire_access_tokens();
    let report = farm.send(&outbox).await;
    assert!(report.login_needed, "{report}");
    assert_eq!(state(&outbox, entry.id).await, EntryState::Queued);
}

/// Holds: rule 8: what cannot be sent any more needs a person, and nothing is sent after its limit.
#[tokio::test]
async fn nothing_is_sent_after_its_limit() {
    for is_lost in [false, true] {
        let farm = Farm::start().await;
        let limit = farm.clock.now() + MINUTE / 2;
        let outbox = farm.outbox().not_after(limit);
        let entry = outbox.save(load(24)).await.unwrap();
        if is_lost {
            // Looked for, and not sent again.
            farm.fault(Fault::dropped_before());
            farm.send(&outbox).await;
        } else {
            farm.clock.advance(MINUTE / 2 + Duration::from_millis(1));
            farm.send(&outbox).await;
        }
        assert_asks(&outbox, entry.id, Reason::NotAfterPassed).await;
        assert_eq!(farm.saves(), usize::from(is_lost));
        // An edit does not change that.
        outbox.edit(entry.id, load(25)).await.unwrap();
        farm.send(&outbox).await;
        assert_eq!(farm.saves(), usize::from(is_lost));
        outbox.decide(entry.id, Decision::Discard).await.unwrap();
        assert!(outbox.entries().await.unwrap().is_empty());
    }
}

/// The clock passes the limit after each commit of a pass: the mark is given back.
#[tokio::test]
async fn nothing_is_sent_whose_limit_passes_while_it_is_marked() {
    for number in 1.. {
        let farm = Arc::new(Farm::start().await);
        let limit = farm.clock.now() + MINUTE;
        let entry = farm.outbox().not_after(limit).save(load(24)).await.unwrap();
        let store = farm.faulty(usize::MAX);
        let saves = Arc::new(AtomicUsize::new(usize::MAX));
        let (others, sent) = (Arc::clone(&farm), Arc::clone(&saves));
        store.at(Moment::AfterCommit(number), async move {
            sent.store(others.saves(), Ordering::SeqCst);
            others.clock.advance(2 * MINUTE);
        });
        let outbox = farm.outbox_on(store);
        farm.send(&outbox).await;
        let saves = saves.load(Ordering::SeqCst);
        let shown = now(&outbox, entry.id).await;
        assert!(shown.attempts.iter().all(|attempt| !attempt.in_doubt));
        if saves > 0 {
            assert_eq!(shown.state, EntryState::Confirmed);
            assert!(number > 2, "the mark is one of the commits");
            return;
        }
        assert_eq!(
            (farm.saves(), shown.state, shown.reason),
            (0, EntryState::NeedsAttention, Some(Reason::NotAfterPassed)),
            "after the commit {number}"
        );
    }
}

#[tokio::test]
async fn until_its_limit_an_entry_is_sent() {
    let farm = Farm::start().await;
    let outbox = farm.outbox().not_after(farm.clock.now());
    outbox.save(load(24)).await.unwrap();
    assert_eq!(farm.send(&outbox).await.confirmed, 1);
}

/// Holds: a movement whose day has passed needs attention before anything is sent.
/// Holds: failure point 20: movement time passed, form retired.
///
/// In Western Australia the day ends at 16:00 UTC.
#[tokio::test]
async fn a_movement_whose_day_is_over_needs_a_person_before_anything_is_sent() {
    let (farm, outbox) = start().await;
    let today = load(24).movement("2026-11-20", "06:30");
    farm.clock.advance(Duration::from_secs(4 * 60 * 60 - 1));
    outbox.save(today.clone()).await.unwrap();
    let submitted_late = outbox.save(today.clone()).await.unwrap();
    farm.send(&outbox).await;
    assert_eq!(farm.saves(), 2);
    let submit = outbox.submit(submitted_late.id).await.unwrap();
    let late = outbox.save(today).await.unwrap();
    farm.clock.advance(Duration::from_secs(1));
    let report = farm.send(&outbox).await;
    assert_eq!((report.needs_attention, farm.saves()), (2, 2), "{report}");
    for id in [late.id, submit.id] {
        assert_asks(&outbox, id, Reason::MovementPassed).await;
    }
    // The person corrects the day of one, and wants the other one sent anyway.
    outbox.edit(submitted_late.id, load(25)).await.unwrap();
    outbox.decide(late.id, Decision::KeepMine).await.unwrap();
    farm.send(&outbox).await;
    assert_eq!(farm.saves(), 5);
    assert!(farm.loads().contains(&submitted(25)));
}

#[tokio::test]
async fn a_form_that_is_retired_needs_a_person_before_anything_is_sent() {
    let (farm, outbox) = start().await;
    let mut input = load(24);
    input.forms = vec![FormType::Lpag2];
    let entry = outbox.save(input).await.unwrap();
    farm.send(&outbox).await;
    assert_asks(&outbox, entry.id, Reason::FormRetired).await;
    assert_eq!(farm.saves(), 0);
    outbox.edit(entry.id, load(24)).await.unwrap();
    assert_eq!(farm.send(&outbox).await.confirmed, 1);
}

#[tokio::test]
async fn an_account_that_is_lost_needs_a_person() {
    let (farm, outbox, create) = saved().await;
    let update = outbox
        .save(load(30).id("00000000-0000-4000-8000-000000000101"))
        .await
        .unwrap();
    farm.fake.withdraw_account(farm.fake.account_id());
    let report = farm.send(&outbox).await;
    assert_eq!((report.needs_attention, report.waiting), (2, 0), "{report}");
    farm.fake.restore_account(farm.fake.account_id());
    farm.send(&outbox).await;
    assert_eq!(farm.saves(), 0);
    for id in [create.id, update.id] {
        assert_asks(&outbox, id, Reason::Forbidden).await;
        outbox.decide(id, Decision::Resend).await.unwrap();
    }
    assert_eq!(farm.send(&outbox).await.confirmed, 2);
}

#[tokio::test]
async fn a_clock_that_is_set_back_stops_nothing_for_long() {
    let (farm, outbox) = start().await;
    let year_before = farm.clock.now() - Duration::from_secs(365 * 24 * 3_600);
    // A pause, a look and a lease from before.
    outbox.save(load(24)).await.unwrap();
    farm.faults("Consignments", Fault::status(503), 1);
    outbox.pass().await.unwrap();
    farm.clock.set_wall(year_before + MINUTE * 2);
    farm.fault(Fault::dropped_before());
    let (report, due) = outbox.pass().await.unwrap();
    assert!(
        report.stopped_by.is_none() && due.reconciles_at.is_some(),
        "{report}"
    );
    farm.clock.set_wall(year_before);
    let report = farm.send(&farm.outbox()).await;
    assert_eq!((report.confirmed, farm.saves()), (1, 2), "{report}");
    assert_eq!(farm.loads(), [draft(24)]);
}
