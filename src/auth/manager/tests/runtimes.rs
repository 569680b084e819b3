//! Runtimes that end, callers that are dropped at any step, and calls outside a runtime.

use std::future::poll_fn;
use std::io::ErrorKind as IoErrorKind;
use std::pin::pin;
use std::sync::atomic::Ordering;
use std::task::{Context, Poll, Waker};

use tokio::runtime::Runtime;

use super::bench::{Bench, DAY, SECOND, advance_until, call, refusal, token, yields};
use crate::auth::store::{HookedStore, StoreCall};
use crate::error::ErrorKind;
use test_support::seeded::seed;

/// Row 11.
#[tokio::test]
async fn a_thousand_callers_dropped_after_any_number_of_steps_lose_nothing() {
    let (bench, manager) = Bench::in_use().await;
    let mut random = fastrand::Rng::with_seed(seed());
    for _ in 0..1_000 {
        // A refresh takes about ten steps.
        let steps = random.u32(0..20);
        bench.clock.advance(DAY);
        {
            let mut caller = pin!(manager.access_token());
            for _ in 0..steps {
                let polled = poll_fn(|context| Poll::Ready(caller.as_mut().poll(context)));
                if polled.await.is_ready() {
                    break;
                }
                yields(1).await;
            }
        }
        token(&manager).await;
    }
    assert_eq!(bench.idp.refreshes(), 1_000);
    assert!(!bench.idp.session_over());
}

/// Row 13. Row 18.
#[test]
fn a_runtime_that_ends_during_a_refresh_leaves_a_mark_for_the_next_start() {
    let program = Runtime::new().unwrap();
    let bench = program.block_on(async {
        let bench = Bench::expired().await;
        let held = bench.idp.hold();
        call(&bench.manager());
        held.arrived().await;
        bench
    });
    drop(program);
    Runtime::new().unwrap().block_on(async {
        let mark = bench.record().await.record.refresh_mark;
        assert_eq!(mark.unwrap().generation, 1);
        // The first request was processed, so the second is refused. The error names the reason.
        let error = refusal(&bench.manager()).await;
        assert!(error.is_reauth_required() && error.to_string().contains("lost"));
    });
}

/// Row 50. Row 13.
#[test]
fn the_lock_outlives_the_runtime_and_ends_with_the_manager() {
    let runtime = || Runtime::new().unwrap();
    for is_dropped in [false, true] {
        let (bench, is_full, manager) = runtime().block_on(async {
            let bench = Bench::expired().await;
            let is_new = |call: StoreCall<'_>| matches!(call, StoreCall::Swap(new) if new.tokens().generation() > 1);
            let (store, is_full) =
                HookedStore::failing(&bench.store, IoErrorKind::StorageFull, is_new);
            let manager = bench.manager_on(store);
            assert_eq!(token(&manager).await, "at-2");
            (bench, is_full, manager)
        });
        // The tokens are still in memory.
        assert!(!runtime().block_on(bench.lock_is_free()));
        is_full.store(false, Ordering::SeqCst);
        if is_dropped {
            drop(manager);
            assert!(runtime().block_on(bench.lock_is_free()));
            continue;
        }
        runtime().block_on(async {
            // The next check of the store finds them, and starts the saving task.
            bench.clock.advance(60 * SECOND);
            assert_eq!(token(&manager).await, "at-2");
            advance_until(&bench, async || bench.lock_is_free().await).await;
            assert_eq!(bench.stored_refresh_token().await.unwrap(), "rt-2");
        });
    }
}

#[test]
fn outside_of_a_runtime_there_is_an_error_and_no_panic() {
    let manager = Bench::new().manager();
    let future = pin!(manager.access_token());
    let mut context = Context::from_waker(Waker::noop());
    let Poll::Ready(result) = future.poll(&mut context) else {
        panic!("it waits")
    };
    assert!(result.unwrap_err().kind() == ErrorKind::Config);
}
