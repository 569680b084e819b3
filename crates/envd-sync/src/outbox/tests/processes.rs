//! Several processes on one store, loops that are stopped, expired logins and lost networks.

use std::sync::Arc;
use std::time::Duration;

use super::farm::{Farm, MINUTE, SAVE, load, now, signed, state};
use crate::outbox::{DeclarationState, Outbox, Reason};
use crate::store::tests::faulty_store::Moment;
use crate::tests::script::within;
use envd_sdk::Clock;
use envd_sdk::fake::Fault;
use test_support::refusing_address;

/// A farm with two processes.
async fn two() -> (Farm, [Outbox; 2]) {
    let farm = Farm::start().await;
    let both = [farm.outbox(), farm.outbox()];
    (farm, both)
}

/// Failure point 22: two processes, and the holder of an expired lease is suspended.
#[tokio::test]
async fn of_two_processes_one_sends_at_a_time_and_each_declaration_is_sent_once() {
    let (farm, both) = two().await;
    for head in 1..=6_u32 {
        both[head as usize % 2].submit(signed(head)).await.unwrap();
    }
    let (first, second) = tokio::join!(both[0].passed(), both[1].passed());
    let confirmed = first.unwrap().0.confirmed + second.unwrap().0.confirmed;
    let left = farm.send(&both[0]).await;
    assert_eq!((confirmed + left.confirmed, left.waiting), (6, 0));
    let expected: Vec<String> = (1..=6).map(|head| format!("submitted {head}")).collect();
    assert_eq!((farm.loads(), farm.saves()), (expected, 12));
}

#[tokio::test]
async fn a_process_that_works_keeps_the_lease() {
    let (farm, [slow, other]) = two().await;
    slow.save(load(24)).await.unwrap();
    farm.fault(Fault::latency(MINUTE));
    let mut pass = Box::pin(slow.passed());
    tokio::select! { biased; () = farm.delayed() => {}, _ = &mut pass => panic!("the reply is delayed") }
    for _ in 0..10 {
        farm.clock.advance(Duration::from_secs(4));
        // The lease is renewed.
        for _ in 0..50 {
            assert!(futures_util::poll!(&mut pass).is_pending());
            tokio::task::yield_now().await;
        }
        let (report, next) = other.passed().await.unwrap();
        assert_eq!((report.confirmed, report.requests), (0, 0));
        // The lease is still far from its end.
        assert!(other.time_until(next.searches_at.unwrap()) > Duration::from_secs(7));
    }
    farm.clock.advance(MINUTE);
    let (report, _) = pass.await.unwrap();
    assert_eq!((report.confirmed, farm.saves()), (1, 1), "{report}");
}

/// Another process takes the lease between a read of this one and one of its first two commits: that of the list, and that of the
/// mark.
#[tokio::test]
async fn a_process_that_is_overtaken_before_it_writes_leaves_the_lease() {
    for number in [1, 2] {
        let farm = Arc::new(Farm::start().await);
        let store = farm.faulty(usize::MAX);
        let late = farm.outbox_on(store.clone());
        let id = late.save(load(24)).await.unwrap().id;
        farm.fault(Fault::latency(MINUTE));
        let others = Arc::clone(&farm);
        store.at(Moment::BeforeCommit(number), async move {
            let other = others.outbox();
            tokio::spawn(async move { other.passed().await });
            others.delayed().await;
        });
        let (report, _) = late.passed().await.unwrap();
        assert_eq!(
            (report.confirmed, farm.saves()),
            (0, 1),
            "{number}: {report}"
        );
        assert_eq!(
            state(&late, id).await,
            DeclarationState::Sending,
            "{number}"
        );
    }
}

#[tokio::test]
async fn a_loop_that_is_stopped_leaves_its_lease_to_others() {
    let (farm, [outbox, other]) = two().await;
    let id = outbox.save(load(10)).await.unwrap().id;
    farm.fault(Fault::latency(Duration::from_secs(1)));
    let sending = outbox.run();
    let handle = sending.handle();
    let sending = tokio::spawn(sending.into_future());
    farm.delayed().await;
    assert_eq!(state(&outbox, id).await, DeclarationState::Sending);
    handle.stop();
    within("a loop that is stopped", sending).await.unwrap();

    // Another process continues at once, and finds the request that was under way.
    let (report, _) = other.passed().await.unwrap();
    assert_eq!((report.confirmed, report.waiting), (1, 0));
    assert!(now(&other, id).await.is_adopted);
    assert_eq!((farm.saves(), farm.loads().len()), (1, 1));
}

#[tokio::test]
async fn a_lease_is_never_longer_than_its_limit() {
    let (farm, [outbox, other]) = two().await;
    let outbox = outbox.lease(Duration::from_secs(3_600));
    outbox.save(load(10)).await.unwrap();
    farm.fault(Fault::latency(Duration::from_secs(1)));
    let frozen = tokio::spawn(async move { outbox.passed().await });
    farm.delayed().await;
    let (report, next) = other.passed().await.unwrap();
    assert_eq!((report.waiting, report.requests), (1, 0));
    assert!(other.time_until(next.searches_at.unwrap()) > Duration::from_secs(500));
    frozen.abort();
}

/// The clock of another machine is behind by a second, and then by hours.
#[tokio::test]
async fn clock_differences_shorten_neither_waits_nor_watches() {
    let (farm, [outbox, other]) = two().await;
    let id = outbox.save(load(24)).await.unwrap().id;
    farm.fault(Fault::dropped_before().processed_after(usize::MAX));
    outbox.passed().await.unwrap();
    let behind = Clock::manual(farm.clock.now() - Duration::from_secs(1));
    let other = other.clock(behind.clone());
    let before = farm.fake.requests().len();
    let (report, next) = other.passed().await.unwrap();
    assert_eq!(farm.fake.requests().len(), before, "{report}");
    let wait = other.time_until(next.searches_at.unwrap());
    assert!(wait > MINUTE, "{wait:?}");

    farm.send(&outbox).await;
    assert_eq!(state(&outbox, id).await, DeclarationState::Confirmed);
    behind.set_wall(farm.clock.now() - 600 * MINUTE);
    farm.outbox().clock(behind).passed().await.unwrap();
    farm.fake.controls().process_late_requests();
    let report = farm.send(&farm.outbox()).await;
    assert_eq!(report.late_duplicates, 1, "{report}");
}

/// Failure point 9: the connection is refused.
#[tokio::test]
async fn tries_without_reception_write_nothing() {
    let farm = Farm::start().await;
    let id = farm.outbox().save(load(24)).await.unwrap().id;
    let store = farm.faulty(usize::MAX);
    // One program keeps running, and another is started each time.
    let running = farm.unreachable(store.clone());
    let mut waited = Duration::ZERO;
    for _ in 0..20 {
        for outbox in [&running, &farm.unreachable(store.clone())] {
            let (report, next) = outbox.passed().await.unwrap();
            assert_eq!((report.confirmed, report.waiting), (0, 1), "{report}");
            assert!(report.stopped_by.is_some() && next.searches_at.is_none());
            let shown = now(outbox, id).await;
            let seen = (shown.state, shown.reason, shown.attempts);
            assert_eq!(
                seen,
                (DeclarationState::Queued, Some(Reason::NoReception), 0)
            );
        }
        let (_, next) = running.passed().await.unwrap();
        let wait = running.time_until(next.at().unwrap());
        assert!(wait > waited / 2 && wait <= 5 * MINUTE, "{wait:?}");
        waited = wait;
        farm.clock.advance(wait);
    }
    assert_eq!(store.commits(), 0);
    farm.done(&farm.outbox(), 1).await;
}

#[tokio::test]
async fn the_cause_of_a_failed_connection_is_shown_at_once_and_in_the_pause() {
    let farm = Farm::start().await;
    let outbox = farm.refused_by(refusing_address());
    let id = outbox.save(load(24)).await.unwrap().id;
    for _ in 0..2 {
        let (report, _) = outbox.passed().await.unwrap();
        let shown = now(&outbox, id).await;
        let trouble = "no connection could be made: the server's machine refuses the connection";
        assert_eq!(shown.trouble.as_deref(), Some(trouble));
        let sentence = shown.sentence();
        assert!(
            sentence.starts_with("Waiting: ") && sentence.ends_with(trouble),
            "{sentence}"
        );
        assert!(report.stopped_by.unwrap().contains(trouble));
    }
    farm.done(&farm.outbox(), 1).await;
    assert_eq!(now(&outbox, id).await.trouble, None);
}

/// Failure point 12: the login has expired. That stops reads and saves.
#[tokio::test]
async fn a_dead_login_stops_reads_and_saves_alike_and_goes_on_after_a_login() {
    for is_fresh in [false, true] {
        let farm = Farm::start().await;
        let manager = farm.fake.token_manager().await.unwrap();
        let outbox = farm.outbox_of(manager.clone());
        if is_fresh {
            // The list is recent, so the save itself is refused.
            outbox.save(load(1)).await.unwrap();
            farm.send(&outbox).await;
        }
        let base = farm.read(&outbox, &farm.before[0]).await;
        let ids = [
            outbox.save(load(24)).await,
            outbox.update(&base, load(30)).await,
        ];
        let ids = ids.map(|written| written.unwrap().id);
        let saves = farm.saves();
        farm.fake.revoke_logins();
        farm.fake.expire_access_tokens();
        let report = farm.send(&outbox).await;
        assert!(report.login_needed, "{report}");
        let left = (report.refused, report.needs_attention, report.waiting);
        assert_eq!((report.confirmed, left), (0, (0, 0, 2)));
        for id in ids {
            let shown = now(&outbox, id).await;
            let seen = (shown.state, shown.reason);
            assert_eq!(seen, (DeclarationState::Queued, Some(Reason::LoginNeeded)));
        }
        let login = manager.provider().authorization().start().unwrap();
        let callback = farm.fake.consent(login.url()).unwrap();
        let login = manager.complete_login(login, callback.as_str());
        login.await.unwrap();
        farm.done(&outbox, 2).await;
        assert!(farm.fake.request_count(SAVE) >= saves + 2);
    }
}
