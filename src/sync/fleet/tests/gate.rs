//! When requests of a host's accounts are sent.

use std::future::Future;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::{Duration, UNIX_EPOCH};

use crate::error::{Error, Failure, Kind, Received, Unsent};
use crate::send::Gate;
use crate::sync::fleet::gate::{AccountGate, HostGate};
use crate::transport::Clock;

const SECOND: Duration = Duration::from_secs(1);

fn host(per_second: Option<f64>) -> (Clock, Arc<HostGate>) {
    let clock = Clock::manual(UNIX_EPOCH);
    let gate = Arc::new(HostGate::new(clock.clone(), per_second, None));
    gate.hold_until(clock.boot() + SECOND * 3_600);
    (clock, gate)
}

fn refusal(status: u16, wait: Duration) -> Error {
    Error::http(Received::new(status, None, b"", None)).with_retry_after(Some(wait))
}

fn no_reply() -> Error {
    Error::new(Kind::Transport(Failure {
        what: "no connection",
        timeout: false,
        unsent: Unsent::Surely,
        refused_locally: false,
    }))
}

fn poll<T>(future: impl Future<Output = T>) -> Option<T> {
    let mut future = Box::pin(future);
    match future
        .as_mut()
        .poll(&mut Context::from_waker(Waker::noop()))
    {
        Poll::Ready(output) => Some(output),
        Poll::Pending => None,
    }
}

/// How many requests are sent at this moment, of more than there is room for.
fn sent(gate: &AccountGate) -> usize {
    (0..1_000)
        .take_while(|_| poll(gate.enter()).is_some())
        .count()
}

#[test]
fn the_limit_of_a_host_is_that_of_all_its_accounts_and_a_dropped_request_uses_nothing() {
    let (clock, host) = host(Some(5.0));
    let (one, other) = (host.account("one".into()), host.account("other".into()));
    assert_eq!(sent(&one) + sent(&other), 1);
    let mut total = 0;
    for _ in 0..50 {
        clock.advance(SECOND / 10);
        total += sent(&other) + sent(&one);
    }
    assert!((25..=26).contains(&total), "{total}");
}

#[test]
fn nothing_is_sent_when_the_leases_may_be_over_until_they_are_prolonged() {
    let (clock, host) = host(None);
    let gate = host.account("one".into());
    assert_eq!(sent(&gate), 1_000);
    clock.advance(SECOND * 3_600);
    assert_eq!(sent(&gate), 0);
    let mut waiting = Box::pin(gate.enter());
    let mut context = Context::from_waker(Waker::noop());
    assert!(waiting.as_mut().poll(&mut context).is_pending());
    host.hold_until(clock.boot() + SECOND);
    assert!(waiting.as_mut().poll(&mut context).is_ready());
}

#[test]
fn a_closed_gate_fails_what_waits_and_what_comes() {
    let (_, host) = host(Some(1.0));
    let gate = host.account("one".into());
    assert_eq!(sent(&gate), 1);
    let mut waiting = Box::pin(gate.enter());
    let mut context = Context::from_waker(Waker::noop());
    assert!(waiting.as_mut().poll(&mut context).is_pending());
    assert!(gate.refusal().is_none());
    host.close();
    let Poll::Ready(Err(error)) = waiting.as_mut().poll(&mut context) else {
        panic!("it still waits");
    };
    assert!(error.is_transport() && error.is_retryable());
    assert!(gate.refusal().is_some());
}

#[test]
fn the_retry_after_of_one_account_is_for_that_one() {
    let (clock, host) = host(None);
    let (one, other) = (host.account("one".into()), host.account("other".into()));
    one.note(Err(&refusal(429, SECOND * 60)));
    clock.advance(SECOND * 10);
    let refused = one.refusal().unwrap();
    assert!(refused.is_rate_limited());
    assert_eq!(refused.retry_after(), Some(SECOND * 50));
    assert!(other.refusal().is_none() && host.paused_for().is_none());
    clock.advance(SECOND * 50);
    assert!(one.refusal().is_none());
}

#[test]
fn three_accounts_in_a_row_or_maintenance_are_for_all() {
    let accounts = ["a", "b", "c", "d"];
    let (_, host) = host(None);
    let gates = accounts.map(|account| host.account(account.into()));
    gates[0].note(Err(&refusal(429, SECOND * 60)));
    gates[0].note(Err(&refusal(429, SECOND * 60)));
    gates[1].note(Err(&refusal(429, SECOND * 60)));
    // The service answers others.
    gates[3].note(Ok(()));
    gates[2].note(Err(&refusal(429, SECOND * 60)));
    assert!(host.paused_for().is_none() && gates[3].refusal().is_none());
    gates[0].note(Err(&refusal(429, SECOND * 60)));
    gates[1].note(Err(&refusal(429, SECOND * 90)));
    assert_eq!(host.paused_for(), Some(SECOND * 90));
    assert!(gates[3].refusal().is_some());

    let (_, host) = self::host(None);
    let (one, other) = (host.account("one".into()), host.account("other".into()));
    one.note(Err(&refusal(503, Duration::ZERO)));
    one.note(Err(&refusal(500, SECOND * 60)));
    assert!(host.paused_for().is_none());
    one.note(Err(&refusal(503, SECOND * 60)));
    assert!(other.refusal().is_some_and(|error| error.is_unavailable()));
}

#[test]
fn a_host_that_gets_no_reply_for_three_accounts_in_a_row_claims_none_for_a_while() {
    let (clock, host) = host(None);
    let gates = ["a", "b", "c"].map(|account| host.account(account.into()));
    for gate in [&gates[0], &gates[0], &gates[1]] {
        gate.note(Err(&no_reply()));
    }
    // A refusal is a reply as well.
    gates[2].note(Err(&refusal(500, Duration::ZERO)));
    gates[2].note(Err(&no_reply()));
    gates[0].note(Err(&no_reply()));
    assert!(host.cut_off_for().is_none());
    gates[1].note(Err(&no_reply()));
    assert_eq!(host.cut_off_for(), Some(SECOND * 10));
    // Nobody was told to wait.
    assert!(host.paused_for().is_none() && gates[0].refusal().is_none());
    clock.advance(SECOND * 10);
    assert!(host.cut_off_for().is_none());
    // It is still cut off.
    gates[2].note(Err(&no_reply()));
    assert_eq!(host.cut_off_for(), Some(SECOND * 10));
    gates[0].note(Ok(()));
    assert!(host.cut_off_for().is_none());
}
