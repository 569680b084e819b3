//! Settings and arguments at their limits, and a store that fails during a request.

use std::time::{Duration, UNIX_EPOCH};

use super::farm::{Farm, MINUTE, load, state};
use crate::outbox::{Decision, DeclarationState};
use crate::store::tests::faulty_store::FaultyStore;
use crate::tests::script::within;
use envd_sdk::ErrorKind;
use envd_sdk::fake::Fault;

/// Any `Duration` is a valid setting.
#[tokio::test]
async fn every_setting_takes_every_duration() {
    for time in [Duration::ZERO, Duration::from_nanos(1), Duration::MAX] {
        for is_lease in [false, true] {
            let farm = Farm::start().await;
            let outbox = farm.outbox();
            let outbox = if is_lease {
                outbox.lease(time)
            } else {
                outbox.reconcile_after(time)
            };
            let id = outbox.save(load(24)).await.unwrap().id;
            farm.fault(Fault::dropped_before());
            let (_, next) = outbox.passed().await.unwrap();
            let in_doubt = DeclarationState::OutcomeUnknown;
            assert_eq!(state(&outbox, id).await, in_doubt, "{time:?}");
            assert!(next.at() > Some(farm.clock.now()), "{time:?} {next:?}");
            let requests = farm.fake.requests().len();
            outbox.passed().await.unwrap();
            assert_eq!(farm.fake.requests().len(), requests, "{time:?}");
        }
    }
}

/// RFC 9110 section 10.2.3. The store keeps whole seconds, and our clock, which counts if the reply has no date, is some milliseconds
/// past a second.
#[tokio::test]
async fn no_process_sends_anything_before_the_date_of_a_retry_after() {
    let farm = Farm::start().await;
    let outbox = farm.outbox();
    let id = outbox.save(load(24)).await.unwrap().id;
    let date = UNIX_EPOCH + Duration::from_secs(1_795_176_120);
    let refusal = Fault::status(429).header("retry-after", "Fri, 20 Nov 2026 12:02:00 GMT");
    farm.fault(refusal.header("date", "unknown"));
    outbox.passed().await.unwrap();
    let requests = farm.fake.requests().len();
    let almost = date - Duration::from_millis(1);
    let left = almost.duration_since(farm.clock.now()).unwrap();
    farm.clock.advance(left);
    let next = farm.outbox();
    next.passed().await.unwrap();
    assert_eq!(farm.fake.requests().len(), requests);
    farm.clock.advance(Duration::from_millis(1));
    next.passed().await.unwrap();
    assert_eq!(state(&next, id).await, DeclarationState::Confirmed);
}

/// `adopt` takes any valid id. Anything else is an error at once.
#[tokio::test]
async fn an_invalid_id_is_refused_at_once() {
    let farm = Farm::start().await;
    let outbox = farm.outbox();
    let id = outbox.save(load(24)).await.unwrap().id;
    farm.fault(Fault::dropped_before());
    outbox.passed().await.unwrap();
    for name in ["", " ", "a b", "a\n", &"a".repeat(201)] {
        let adopted = outbox.decide(id, Decision::Adopt(name.into())).await;
        assert_eq!(adopted.unwrap_err().kind(), ErrorKind::Config, "{name:?}");
        let deleted = outbox.delete_record(name).await;
        assert_eq!(deleted.unwrap_err().kind(), ErrorKind::Config, "{name:?}");
    }
    assert_eq!(outbox.declarations().await.unwrap().len(), 1);
    let adopted = outbox.decide(id, Decision::Adopt("load/7".into())).await;
    assert_eq!(adopted.unwrap().state, DeclarationState::OutcomeUnknown);
}

/// A failed commit ends the run with its error, but only after the reply to the request under way.
#[tokio::test]
async fn a_store_that_fails_during_a_request_ends_the_run_after_its_reply() {
    for works_again in [false, true] {
        let farm = Farm::start().await;
        let store = FaultyStore::new(&farm.store, usize::MAX);
        let outbox = farm.outbox_on(store.clone());
        let id = outbox.save(load(24)).await.unwrap().id;
        farm.fault(Fault::latency(MINUTE));
        let sending = {
            let outbox = outbox.clone();
            tokio::spawn(async move { Box::pin(outbox.pass()).await })
        };
        farm.delayed().await;
        store.allow(0);
        // More than a third of the lease, so it is renewed before the reply arrives.
        farm.clock.advance(Duration::from_secs(8));
        for _ in 0..50 {
            tokio::task::yield_now().await;
        }
        if works_again {
            store.allow(usize::MAX);
        }
        farm.clock.advance(MINUTE);
        let ended = within("the pass", sending).await.unwrap();
        assert_eq!(ended.unwrap_err().kind(), ErrorKind::Store);
        assert_eq!((farm.saves(), farm.loads().len()), (1, 1));
        store.allow(usize::MAX);
        let shown = state(&farm.outbox(), id).await;
        let confirmed = [DeclarationState::Sending, DeclarationState::Confirmed];
        assert!(confirmed.contains(&shown), "{shown:?}");
        farm.clock.advance(MINUTE);
        farm.send(&farm.outbox()).await;
        assert_eq!(state(&farm.outbox(), id).await, DeclarationState::Confirmed);
        assert_eq!(farm.saves(), 1);
    }
}
