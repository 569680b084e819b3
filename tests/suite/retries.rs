//! Retries: which failures are retried, and after which a mutation may have been applied.

use std::iter::repeat_n;
use std::time::{Duration, SystemTime};

use envd_sdk::{Call, Client, Clock, ErrorKind, Outcome, Response, Result, RetryPolicy};
use equipment::{Reply, Server, refusing_address};
use serde_json::{Value, json};

use crate::scripted::client_at;
use crate::scripted::{Renewing, client, ok, typed, until};

const QUERY: &str = "query A { a }";
const MUTATION: &str = "mutation A { a }";

/// A server that sends this reply for a number of times, and then a successful one.
fn serve(failure: Reply, times: usize) -> Server {
    let success = ok(json!({"data": {"a": 1}}));
    Server::script(repeat_n(failure, times).chain([success]))
}

fn busy(status: u16, retry_after: &str) -> Reply {
    Reply::new(status).header("retry-after", retry_after)
}

fn call(client: &Client, document: &str) -> Call<Outcome<Value>> {
    client.execute_document(document, "A", &json!({}))
}

#[tokio::test]
async fn an_unsent_request_is_retried_for_any_operation() {
    let server = format!("http://{}", refusing_address());
    let client = client_at(format!("{server}/path?secret"))
        .token_source(Renewing)
        .retry(RetryPolicy::default().base_wait(Duration::ZERO))
        .build()
        .unwrap();
    for document in [QUERY, MUTATION] {
        let error = call(&client, document).await.unwrap_err();
        assert!(
            error.kind() == ErrorKind::Connect && !error.may_have_applied() && error.is_retryable()
        );
        // The report names the server, and no path or query.
        let report = error.report();
        assert!(
            report.contains(&format!("caused by: at {server}\n")),
            "{report}"
        );
        assert!(
            !report.contains("path") && !report.contains("secret"),
            "{report}"
        );
        assert_eq!(error.attempts(), 4);
    }
}

#[tokio::test]
async fn an_earlier_attempt_that_may_have_applied_is_reported() {
    let refused = ok(json!({"errors": [{"message": "no"}]}));
    let server = Server::script([typed(503, "text/html", "<html>"), refused]);
    let client = client(&server).build().unwrap();
    let error = call(&client, MUTATION).idempotent().await.unwrap_err();
    assert!(error.is_rejected() && error.may_have_applied());
    assert_eq!(error.attempts(), 2);
}

#[tokio::test]
async fn retries_are_turned_off_for_a_call_and_limited_for_a_client() {
    let client = client(&serve(Reply::new(503), 1_000));
    let policy = RetryPolicy::default().base_wait(Duration::ZERO);
    let client = client.retry(policy.max_retries(100)).build().unwrap();
    let once = call(&client, QUERY).retry(RetryPolicy::none());
    let error = once.await.unwrap_err();
    assert_eq!((error.http_status(), error.attempts()), (Some(503), 1));
    assert!(error.is_retryable());
    assert_eq!(call(&client, QUERY).await.unwrap_err().attempts(), 21);
    assert_eq!(call(&client, QUERY).await.unwrap_err().attempts(), 1);
}

/// Runs a call while the clock advances; returns by how many seconds it advanced.
async fn timed<T: Send + 'static>(call: Call<T>, clock: &Clock) -> (Result<Response<T>>, u64) {
    let running = tokio::spawn(call.response());
    let start = clock.now();
    while !running.is_finished() {
        for _ in 0..50 {
            tokio::task::yield_now().await;
        }
        clock.advance(Duration::from_secs(1));
    }
    let waited = clock.now().duration_since(start).unwrap().as_secs();
    (running.await.unwrap(), waited)
}

#[tokio::test]
async fn retry_after_is_read_in_seconds_and_as_a_date() {
    for (value, seconds) in [
        ("20", 20),
        ("Thu, 01 Jan 1970 00:30:00 GMT", 1_800),
        ("nonsense", 0),
    ] {
        let server = serve(busy(429, value), 1);
        let clock = Clock::manual(SystemTime::UNIX_EPOCH);
        let policy = RetryPolicy::default()
            .base_wait(Duration::ZERO)
            .deadline(Duration::from_secs(86_400));
        let client = client(&server).clock(clock.clone()).retry(policy);
        let client = client.build().unwrap();
        let (result, waited) = timed(call(&client, MUTATION), &clock).await;
        let response = result.unwrap();
        // The date is compared with the time of the reply, some seconds after the start.
        assert!(response.attempts == 2 && response.elapsed.as_secs() + 60 >= seconds);
        assert!(waited + 60 >= seconds, "{value}: {waited}");
        assert!(value != "20" || waited >= 20, "{waited}");
    }
}

#[tokio::test]
async fn a_wait_beyond_the_deadline_is_not_begun() {
    let client = client(&serve(busy(429, "91"), 1)).build().unwrap();
    let error = call(&client, QUERY).await.unwrap_err();
    assert_eq!(error.retry_after(), Some(Duration::from_secs(91)));
    assert!(error.kind() == ErrorKind::RateLimited && error.attempts() == 1);
}

#[tokio::test]
async fn the_deadline_of_a_call_ends_a_running_request() {
    for (document, in_doubt) in [(QUERY, false), (MUTATION, true)] {
        let server = Server::start(|_| std::future::pending());
        let clock = Clock::manual(SystemTime::UNIX_EPOCH);
        let client = client(&server).clock(clock.clone()).build().unwrap();
        let call = call(&client, document).deadline(Duration::from_secs(5));
        let running = tokio::spawn(call.into_future());
        until(|| server.count() > 0).await;
        clock.advance(Duration::from_secs(5));
        let error = running.await.unwrap().unwrap_err();
        assert!(
            error.kind() == ErrorKind::Timeout && error.kind() != ErrorKind::Connect,
            "{error}"
        );
        assert_eq!((error.attempts(), error.may_have_applied()), (1, in_doubt));
    }
}

#[tokio::test]
async fn a_token_that_the_status_or_the_body_refuses_is_renewed_once() {
    let body = json!({"data": null, "errors": [{
        "message": "The access token is invalid.", "path": ["a"], "extensions": {"data": {"Code": "Unauthorized"}}}]});
    let bearer = Reply::new(401).header("www-authenticate", "Bearer error=\"invalid_token\"");
    for refusal in [bearer, Reply::json(401, json!({"Message": "x"})), ok(body)] {
        for document in [QUERY, MUTATION] {
            let server = serve(refusal.clone(), 1);
            let renewing = client(&server).token_source(Renewing).build().unwrap();
            let _ = call(&renewing, document).await.unwrap();
            let requests = server.requests();
            let tokens = requests.iter().map(|sent| sent.header("authorization"));
            let expected = [Some("Bearer old"), Some("Bearer new")];
            assert_eq!(tokens.collect::<Vec<_>>(), expected);

            let server = serve(refusal.clone(), 9);
            let refused = client(&server).token_source(Renewing).build().unwrap();
            let error = call(&refused, document).await.unwrap_err();
            assert!(error.kind() == ErrorKind::Unauthorized && !error.may_have_applied());
            assert_eq!(server.count(), 2);
        }
    }
}

#[tokio::test]
async fn a_token_is_renewed_once_in_all_attempts_of_a_call() {
    let server = Server::script(
        [401, 503, 401, 503].map(|status| Reply::new(status).header("www-authenticate", "Bearer")),
    );
    let client = client(&server).token_source(Renewing).build().unwrap();
    assert!(call(&client, QUERY).await.unwrap_err().kind() == ErrorKind::Unauthorized);
    assert_eq!(server.count(), 3);
}
