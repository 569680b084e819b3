//! Backpressure: pauses after `Retry-After` of the register.

use std::time::{Duration, SystemTime};

use envd_sdk::register::Register;
use envd_sdk::{Clock, RetryPolicy};
use wiremock::matchers::any;
use wiremock::{Mock, MockServer, ResponseTemplate};

use super::{page, pic};

async fn busy(seconds: &str) -> (MockServer, Register, Clock) {
    let server = MockServer::start().await;
    let busy = ResponseTemplate::new(429).insert_header("retry-after", seconds);
    Mock::given(any())
        .respond_with(busy)
        .up_to_n_times(1)
        .mount(&server)
        .await;
    Mock::given(any())
        .respond_with(page(0, 0, &[]))
        .mount(&server)
        .await;
    let clock = Clock::manual(SystemTime::UNIX_EPOCH);
    let builder = Register::builder(server.uri()).clock(clock.clone());
    (server, builder.build().unwrap(), clock)
}

async fn requests(server: &MockServer) -> usize {
    server.received_requests().await.unwrap().len()
}

#[tokio::test]
async fn calls_fail_during_a_long_pause() {
    let (server, register, clock) = busy("600").await;
    let refused = register.lookup(&pic("QAZZ7777")).await.unwrap_err();
    assert_eq!((refused.http_status(), refused.attempts()), (Some(429), 1));
    clock.advance(Duration::from_secs(100));
    let answers = register
        .lookup_many(["QBZZ2222", "QCZZ8888"])
        .collect()
        .await;
    for answer in answers {
        let error = answer.result.unwrap_err();
        assert_eq!((error.http_status(), error.attempts()), (Some(429), 0));
        assert_eq!(error.retry_after(), Some(Duration::from_secs(500)));
    }
    assert_eq!(requests(&server).await, 1);
    clock.advance(Duration::from_secs(500));
    assert!(register.lookup(&pic("QBZZ2222")).await.is_ok());
}

#[tokio::test]
async fn all_calls_wait_for_a_short_pause() {
    let (server, register, clock) = busy("20").await;
    let mut answers = register
        .lookup_many(["QAZZ7777", "QBZZ2222"])
        .concurrency(1);
    let other = register.clone();
    let ask = tokio::spawn(async move { answers.next().await.unwrap().result });
    while register.paused_for().is_none() {
        tokio::task::yield_now().await;
    }
    let second = tokio::spawn(async move { other.lookup(&pic("QCZZ8888")).await });
    for _ in 0..50 {
        tokio::task::yield_now().await;
    }
    assert!(!ask.is_finished() && !second.is_finished());
    assert_eq!(requests(&server).await, 1);
    clock.advance(Duration::from_secs(20));
    assert!(ask.await.unwrap().is_ok() && second.await.unwrap().is_ok());
}

#[tokio::test]
async fn a_client_without_retries_fails_at_once_during_a_pause() {
    let (server, _, clock) = busy("20").await;
    let builder = Register::builder(server.uri())
        .clock(clock)
        .retry(RetryPolicy::none());
    let register = builder.build().unwrap();
    assert!(register.lookup(&pic("QAZZ7777")).await.is_err());
    assert!(
        register
            .lookup(&pic("QAZZ7777"))
            .await
            .unwrap_err()
            .is_retryable()
    );
    assert_eq!(requests(&server).await, 1);
}

#[tokio::test]
async fn a_pause_lasts_an_hour_at_most() {
    for wait in ["Fri, 31 Dec 9999 23:59:59 GMT", "18446744073709551615"] {
        let (server, register, clock) = busy(wait).await;
        assert_eq!(register.paused_for(), None);
        let refused = register.lookup(&pic("QAZZ7777")).await.unwrap_err();
        // The error has the register's Retry-After; the pause is limited.
        assert!(refused.retry_after() > Some(Duration::from_secs(3_600)));
        assert_eq!(register.paused_for(), Some(Duration::from_secs(3_600)));
        clock.advance(Duration::from_secs(3_000));
        let deferred = register.lookup(&pic("QAZZ7777")).await.unwrap_err();
        assert_eq!(deferred.retry_after(), Some(Duration::from_secs(600)));
        assert_eq!((deferred.attempts(), requests(&server).await), (0, 1));
        clock.advance(Duration::from_secs(600));
        assert_eq!(register.paused_for(), None);
        assert!(register.lookup(&pic("QAZZ7777")).await.is_ok());
    }
}

#[tokio::test]
async fn the_caller_can_end_a_pause_for_waiting_calls() {
    let (server, register, _clock) = busy("20").await;
    let (first, second) = (register.clone(), register.clone());
    let first = tokio::spawn(async move { first.lookup(&pic("QAZZ7777")).await });
    while register.paused_for().is_none() {
        tokio::task::yield_now().await;
    }
    first.abort();
    let second = tokio::spawn(async move { second.lookup(&pic("QAZZ7777")).await });
    for _ in 0..50 {
        tokio::task::yield_now().await;
    }
    assert!(!second.is_finished());
    assert_eq!(requests(&server).await, 1);
    register.end_pause();
    assert_eq!(register.paused_for(), None);
    // The clock stands still.
    assert!(second.await.unwrap().is_ok());
}
