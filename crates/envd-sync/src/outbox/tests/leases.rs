//! Several processes on one store.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use super::farm::{Farm, MINUTE, draft, load, signed, state, submitted};
use crate::outbox::EntryState;
use crate::store::tests::faulty_store::Moment;
use envd_sdk::fake::Fault;
use equipment::schedules::count;

/// Holds: rule 7: one sender, and who takes over looks first.
/// Holds: failure point 22: two processes, lease expired, holder frozen.
#[tokio::test]
async fn of_two_processes_one_sends_at_a_time_and_each_entry_is_sent_once() {
    let farm = Farm::start().await;
    let one = farm.outbox();
    let other = farm.outbox();
    for head in 1..=6 {
        let writer = if head % 2 == 0 { &one } else { &other };
        let entry = writer.save(signed(head)).await.unwrap();
        writer.submit(entry.id).await.unwrap();
    }
    let (first, second) = tokio::join!(one.pass(), other.pass());
    let confirmed = first.unwrap().0.confirmed + second.unwrap().0.confirmed;
    let left = farm.send(&one).await;
    assert_eq!((confirmed + left.confirmed, left.waiting), (12, 0));
    assert_eq!(farm.loads(), (1..=6).map(submitted).collect::<Vec<_>>());
    assert_eq!(farm.saves(), 12);
}

#[tokio::test]
async fn who_takes_over_waits_for_the_end_of_the_lease_and_looks_first() {
    let farm = Farm::start().await;
    let dying = farm.outbox();
    let entry = dying.save(load(24)).await.unwrap();
    farm.interrupt(&dying).await;
    let taker = farm.outbox();
    let requests = farm.fake.requests().len();
    let (_, due) = taker.pass().await.unwrap();
    let lease_ends = due.reconciles_at.unwrap();
    assert!(
        lease_ends > farm.clock.now() && lease_ends <= farm.clock.now() + Duration::from_secs(10)
    );
    assert_eq!(farm.fake.requests().len(), requests);
    assert_eq!(state(&taker, entry.id).await, EntryState::Sending);
    let report = farm.send(&taker).await;
    assert_eq!((report.confirmed, farm.saves()), (1, 1), "{report}");
    assert_eq!(farm.loads(), [draft(24)]);
}

/// A process is suspended before or after each of its commits; another one takes over and does all; the first one wakes up.
#[tokio::test]
async fn a_process_that_is_suspended_anywhere_sends_nothing_that_another_one_has_taken_over() {
    let moments = |n| [(n, Moment::BeforeCommit(n)), (n, Moment::AfterCommit(n))];
    // Each commit once; with a larger number of schedules both ways.
    let step = if count(1) > 1 { 1 } else { 3 };
    for (number, moment) in (1..).flat_map(moments).step_by(step) {
        let farm = Arc::new(Farm::start().await);
        let writer = farm.outbox();
        let entry = writer.save(signed(24)).await.unwrap();
        writer.submit(entry.id).await.unwrap();
        writer.save(load(25)).await.unwrap();
        let store = farm.faulty(usize::MAX);
        let suspended = farm.outbox_on(store.clone());
        let others = Arc::clone(&farm);
        store.at(moment, async move {
            others.clock.advance(MINUTE);
            let report = others.send(&others.outbox()).await;
            assert_eq!((report.waiting, report.needs_attention), (0, 0), "{report}");
        });
        suspended.pass().await.unwrap();
        let report = farm.send(&suspended).await;
        assert_eq!(
            (report.waiting, report.needs_attention),
            (0, 0),
            "{moment:?}: {report}"
        );
        let mut loads = farm.loads();
        loads.sort();
        assert_eq!(loads, [draft(25), submitted(24)], "suspended {moment:?}");
        assert_eq!(farm.saves(), 3, "suspended {moment:?}");
        if store.commits() < number {
            assert!(
                number > 8,
                "it has at least a mark and an end for each request"
            );
            return;
        }
    }
}

/// Between any two reads of a pass, another process sends what this one is about to send, and hears nothing of it.
#[tokio::test]
async fn what_another_process_has_sent_meanwhile_is_looked_for_and_not_sent_again() {
    for number in 1.. {
        let farm = Arc::new(Farm::start().await);
        let store = farm.faulty(usize::MAX);
        let outbox = farm.outbox_on(store.clone());
        let entry = outbox.save(load(24)).await.unwrap();
        let (other, has_sent) = (farm.outbox(), Arc::new(AtomicBool::new(false)));
        farm.fault(Fault::dropped_before());
        let sent = Arc::clone(&has_sent);
        store.at(Moment::BeforeRead(number), async move {
            let is_queued = state(&other, entry.id).await == EntryState::Queued;
            sent.store(is_queued, Ordering::SeqCst);
            other.pass().await.unwrap();
        });
        outbox.pass().await.unwrap();
        // The second look is not due yet.
        assert_eq!(
            (farm.saves(), state(&outbox, entry.id).await),
            (1, EntryState::Unconfirmed),
            "before the read {number}"
        );
        if !has_sent.load(Ordering::SeqCst) {
            assert!(number > 5);
            return;
        }
    }
}

#[tokio::test]
async fn a_process_that_works_keeps_the_lease() {
    let farm = Farm::start().await;
    let slow = farm.outbox();
    slow.save(load(24)).await.unwrap();
    farm.fault(Fault::latency(MINUTE));
    let mut pass = std::pin::pin!(slow.pass());
    farm.until_delayed(&mut pass).await;
    for _ in 0..10 {
        farm.clock.advance(Duration::from_secs(4));
        // The lease is prolonged.
        for _ in 0..50 {
            assert!(futures_util::poll!(&mut pass).is_pending());
            tokio::task::yield_now().await;
        }
        let (report, due) = farm.outbox().pass().await.unwrap();
        assert_eq!((report.confirmed, report.requests), (0, 0));
        assert!(due.reconciles_at > Some(farm.clock.now()));
    }
    farm.clock.advance(MINUTE);
    let (report, _) = pass.await.unwrap();
    assert_eq!((report.confirmed, farm.saves()), (1, 1), "{report}");
}
