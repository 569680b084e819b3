//! Backpressure: pauses after `Retry-After` of the register.

use std::time::{Duration, SystemTime};

use envd_sdk::register::Register;
use envd_sdk::{Clock, RetryPolicy};
use equipment::{Reply, Server};

use super::{page, pic};
use crate::scripted::register_at;
use crate::scripted::{take_turns, until};

fn busy(seconds: &str) -> (Server, Register, Clock) {
    let busy = Reply::new(429).header("retry-after", seconds);
    let server = Server::script([busy, page(0, 0, &[])]);
    let clock = Clock::manual(SystemTime::UNIX_EPOCH);
    let builder = register_at(server.url()).clock(clock.clone());
    (server, builder.build().unwrap(), clock)
}

#[tokio::test]
async fn calls_fail_during_a_long_pause() {
    let (server, register, clock) = busy("600");
    let refused = register.lookup(&pic("QAZZ7777")).await.unwrap_err();
    assert_eq!(refused.retry_after(), Some(Duration::from_secs(600)));
    assert_eq!((refused.http_status(), refused.attempts()), (Some(429), 1));
    assert_eq!(refused.operation(), Some("PICRegister"));
    clock.advance(Duration::from_secs(100));
    let answers = register.lookup_many(["QBZZ2222", "QCZZ8888"]);
    for answer in answers.collect().await {
        let error = answer.result.unwrap_err();
        assert_eq!((error.http_status(), error.attempts()), (Some(429), 0));
        assert_eq!(error.retry_after(), Some(Duration::from_secs(500)));
    }
    assert_eq!(server.count(), 1);
    clock.advance(Duration::from_secs(500));
    assert!(register.lookup(&pic("QBZZ2222")).await.is_ok());
}

/// Two calls that wait for a pause: when its time is over, and when the caller ends it while the clock stands still.
#[tokio::test]
async fn all_calls_wait_for_a_short_pause() {
    for is_ended in [false, true] {
        let (server, register, clock) = busy("20");
        let many = ["QAZZ7777", "QBZZ2222"];
        let mut answers = register.lookup_many(many).concurrency(1);
        let other = register.clone();
        let first = tokio::spawn(async move { answers.next().await.unwrap().result });
        until(|| register.paused_for().is_some()).await;
        let second = tokio::spawn(async move { other.lookup(&pic("QCZZ8888")).await });
        take_turns().await;
        assert!(!first.is_finished() && !second.is_finished());
        assert_eq!(server.count(), 1);
        if is_ended {
            // The first one has its own wait after its own reply.
            first.abort();
            register.end_pause();
            assert_eq!(register.paused_for(), None);
        } else {
            clock.advance(Duration::from_secs(20));
            assert!(first.await.unwrap().is_ok());
        }
        assert!(second.await.unwrap().is_ok());
    }
}

#[tokio::test]
async fn a_client_without_retries_fails_at_once_during_a_pause() {
    let (server, _, clock) = busy("20");
    let builder = register_at(server.url()).clock(clock);
    let register = builder.retry(RetryPolicy::none()).build().unwrap();
    assert!(register.lookup(&pic("QAZZ7777")).await.is_err());
    let error = register.lookup(&pic("QAZZ7777")).await.unwrap_err();
    assert!(error.is_retryable());
    assert_eq!(server.count(), 1);
}

#[tokio::test]
async fn a_pause_lasts_an_hour_at_most() {
    for wait in ["Fri, 31 Dec 9999 23:59:59 GMT", "18446744073709551615"] {
        let (server, register, clock) = busy(wait);
        assert_eq!(register.paused_for(), None);
        let refused = register.lookup(&pic("QAZZ7777")).await.unwrap_err();
        // The error has the register's Retry-After; the pause is limited.
        assert!(refused.retry_after() > Some(Duration::from_secs(3_600)));
        assert_eq!(register.paused_for(), Some(Duration::from_secs(3_600)));
        clock.advance(Duration::from_secs(3_000));
        let deferred = register.lookup(&pic("QAZZ7777")).await.unwrap_err();
        assert_eq!(deferred.retry_after(), Some(Duration::from_secs(600)));
        assert_eq!((deferred.attempts(), server.count()), (0, 1));
        clock.advance(Duration::from_secs(600));
        assert_eq!(register.paused_for(), None);
        assert!(register.lookup(&pic("QAZZ7777")).await.is_ok());
    }
}
