//! Retries: which failures are retried, and after which a mutation may have been applied.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, SystemTime};

use envd_sdk::auth::{AccessToken, BoxFuture, StaticToken, TokenSource};
use envd_sdk::{Call, Client, ClientBuilder, Clock, Outcome, Response, Result, RetryPolicy};
use serde_json::{Value, json};
use tokio::net::TcpListener;
use wiremock::matchers::any;
use wiremock::{Mock, MockServer, ResponseTemplate};

const QUERY: &str = "query A { a }";
const MUTATION: &str = "mutation A { a }";

/// A client that retries without waiting unless the reply has `Retry-After`.
fn client(address: &str) -> ClientBuilder {
    Client::builder(address)
        .token_source(StaticToken::new("a-token").unwrap())
        .clock(Clock::manual(SystemTime::UNIX_EPOCH))
        .retry(RetryPolicy::default().base_wait(Duration::ZERO))
}

/// A server that sends this reply for a number of times, and then a successful one.
async fn serve(failure: ResponseTemplate, times: u64) -> MockServer {
    let server = MockServer::start().await;
    let failing = Mock::given(any()).respond_with(failure);
    failing.up_to_n_times(times).mount(&server).await;
    let success = ResponseTemplate::new(200).set_body_json(json!({"data": {"a": 1}}));
    Mock::given(any())
        .respond_with(success)
        .mount(&server)
        .await;
    server
}

fn call(client: &Client, document: &str) -> Call<Outcome<Value>> {
    client.execute_document(document, "A", &json!({}))
}

fn json_reply(status: u16, body: Value) -> ResponseTemplate {
    ResponseTemplate::new(status).set_body_json(body)
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum RetryOutcome {
    /// Retried with success.
    Retried,
    /// An error, and the change was not applied.
    NotApplied,
    /// An error, and the change may have been applied.
    MayHaveApplied,
}

fn outcome_of<T>(result: &Result<Response<T>>) -> RetryOutcome {
    match result {
        Ok(response) => {
            assert_eq!(response.attempts, 2);
            RetryOutcome::Retried
        }
        Err(error) => {
            assert_eq!(error.attempts(), 1);
            if error.may_have_applied() {
                RetryOutcome::MayHaveApplied
            } else {
                RetryOutcome::NotApplied
            }
        }
    }
}

type Row = (&'static str, ResponseTemplate, Outcomes);

/// The expected results for a query, a mutation, and a mutation marked as idempotent.
type Outcomes = [RetryOutcome; 3];

const LIMIT: Outcomes = [RetryOutcome::Retried; 3];
const REFUSED: Outcomes = [RetryOutcome::NotApplied; 3];
const TRANSIENT: Outcomes = [
    RetryOutcome::Retried,
    RetryOutcome::MayHaveApplied,
    RetryOutcome::Retried,
];
const UNKNOWN: Outcomes = [
    RetryOutcome::NotApplied,
    RetryOutcome::MayHaveApplied,
    RetryOutcome::MayHaveApplied,
];

fn rows() -> Vec<Row> {
    let html = |status| ResponseTemplate::new(status).set_body_raw("<html>", "text/html");
    let with_code =
        |code: &str| json!({"errors": [{"message": "x", "extensions": {"code": code}}]});
    let errors = json!({"data": null, "errors": [{"message": "x"}]});
    vec![
        ("429", html(429), LIMIT),
        (
            "a limit in the body, 200",
            json_reply(200, with_code("RATE_LIMITED")),
            LIMIT,
        ),
        (
            "a limit in the body, 400",
            json_reply(400, with_code("TOO_MANY_REQUESTS")),
            LIMIT,
        ),
        ("502", html(502), TRANSIENT),
        ("503", html(503), TRANSIENT),
        ("504", html(504), TRANSIENT),
        (
            "503 with errors",
            json_reply(503, errors.clone()),
            TRANSIENT,
        ),
        ("500", html(500), UNKNOWN),
        ("400", html(400), UNKNOWN),
        ("403", html(403), UNKNOWN),
        ("404", html(404), UNKNOWN),
        ("413", html(413), REFUSED),
        (
            "a reason",
            json_reply(200, with_code("INVALID_VALUE")),
            REFUSED,
        ),
        (
            "errors without a reason",
            json_reply(200, errors.clone()),
            UNKNOWN,
        ),
        ("an empty reply", ResponseTemplate::new(200), UNKNOWN),
        (
            "a reply cut short",
            ResponseTemplate::new(200).set_body_raw("{\"data\": {", "application/json"),
            UNKNOWN,
        ),
    ]
}

#[tokio::test]
async fn each_failure_is_retried_as_the_table_defines() {
    for (name, failure, [query, mutation, idempotent]) in rows() {
        for (document, marked, expected) in [
            (QUERY, false, &query),
            (MUTATION, false, &mutation),
            (MUTATION, true, &idempotent),
        ] {
            let server = serve(failure.clone(), 1).await;
            let client = client(&server.uri()).build().unwrap();
            let call = call(&client, document);
            let result = if marked {
                call.idempotent().response().await
            } else {
                call.response().await
            };
            assert_eq!(
                &outcome_of(&result),
                expected,
                "{name}: {document}, idempotent: {marked}"
            );
        }
    }
}

/// A server that closes each connection after the first bytes of a request, and its number of requests.
async fn dropping_server() -> (String, Arc<AtomicUsize>) {
    let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
    let (address, received) = (
        listener.local_addr().unwrap(),
        Arc::new(AtomicUsize::new(0)),
    );
    let count = Arc::clone(&received);
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            stream.readable().await.unwrap();
            let _ = stream.try_read(&mut [0; 4_096]);
            count.fetch_add(1, Ordering::SeqCst);
        }
    });
    (format!("http://{address}/"), received)
}

#[tokio::test]
async fn a_connection_lost_after_sending_is_retried_for_queries_only() {
    for (document, requests) in [(QUERY, 4), (MUTATION, 1)] {
        let (address, received) = dropping_server().await;
        let client = client(&address).build().unwrap();
        let error = call(&client, document).await.unwrap_err();
        assert!(error.is_transport() && !error.is_connect(), "{error}");
        assert_eq!(error.may_have_applied(), document == MUTATION);
        assert_eq!(
            (error.attempts(), received.load(Ordering::SeqCst)),
            (requests, requests as usize)
        );
    }
}

#[tokio::test]
async fn an_unsent_request_is_retried_for_any_operation() {
    let free = TcpListener::bind(("127.0.0.1", 0))
        .await
        .unwrap()
        .local_addr()
        .unwrap();
    let client = client(&format!("http://{free}/")).build().unwrap();
    for document in [QUERY, MUTATION] {
        let error = call(&client, document).await.unwrap_err();
        assert!(error.is_connect() && !error.may_have_applied() && error.is_retryable());
        assert_eq!(error.attempts(), 4);
    }
}

#[tokio::test]
async fn an_earlier_attempt_that_may_have_applied_is_reported() {
    let server = MockServer::start().await;
    let first = ResponseTemplate::new(503).set_body_raw("<html>", "text/html");
    Mock::given(any())
        .respond_with(first)
        .up_to_n_times(1)
        .mount(&server)
        .await;
    let refused = json_reply(200, json!({"errors": [{"message": "no"}]}));
    Mock::given(any())
        .respond_with(refused)
        .mount(&server)
        .await;
    let client = client(&server.uri()).build().unwrap();
    let error = call(&client, MUTATION).idempotent().await.unwrap_err();
    assert!(error.is_rejected() && error.may_have_applied());
    assert_eq!(error.attempts(), 2);
}

#[tokio::test]
async fn retries_can_be_turned_off_for_a_call() {
    let server = serve(ResponseTemplate::new(503), 1).await;
    let client = client(&server.uri()).build().unwrap();
    let error = call(&client, QUERY)
        .retry(RetryPolicy::none())
        .await
        .unwrap_err();
    assert_eq!((error.http_status(), error.attempts()), (Some(503), 1));
    assert!(error.is_retryable());
}

#[tokio::test]
async fn the_retries_of_a_client_are_limited() {
    let server = serve(ResponseTemplate::new(503), 1_000).await;
    let policy = RetryPolicy::default()
        .base_wait(Duration::ZERO)
        .max_retries(100);
    let client = client(&server.uri()).retry(policy).build().unwrap();
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
        let refusal = ResponseTemplate::new(429).insert_header("retry-after", value);
        let server = serve(refusal, 1).await;
        let clock = Clock::manual(SystemTime::UNIX_EPOCH);
        let policy = RetryPolicy::default()
            .base_wait(Duration::ZERO)
            .deadline(Duration::from_secs(86_400));
        let client = client(&server.uri())
            .clock(clock.clone())
            .retry(policy)
            .build()
            .unwrap();
        let (result, waited) = timed(call(&client, MUTATION), &clock).await;
        let response = result.unwrap();
        // The date is compared with the time of the reply, some seconds after the start.
        assert!(
            response.attempts == 2 && response.elapsed.as_secs() + 60 >= seconds,
            "{value}"
        );
        assert!(waited + 60 >= seconds, "{value}: {waited}");
        assert!(value != "20" || waited >= 20, "{waited}");
    }
}

#[tokio::test]
async fn a_wait_beyond_the_deadline_is_not_begun() {
    let server = serve(
        ResponseTemplate::new(429).insert_header("retry-after", "91"),
        1,
    )
    .await;
    let client = client(&server.uri()).build().unwrap();
    let error = call(&client, QUERY).await.unwrap_err();
    assert_eq!(error.retry_after(), Some(Duration::from_secs(91)));
    assert!(error.is_rate_limited() && error.attempts() == 1);
}

#[tokio::test]
async fn the_deadline_of_a_call_ends_a_running_request() {
    for (document, in_doubt) in [(QUERY, false), (MUTATION, true)] {
        let server = serve(
            ResponseTemplate::new(200).set_delay(Duration::from_secs(3_600)),
            9,
        )
        .await;
        let clock = Clock::manual(SystemTime::UNIX_EPOCH);
        let client = client(&server.uri()).clock(clock.clone()).build().unwrap();
        let call = call(&client, document).deadline(Duration::from_secs(5));
        let running = tokio::spawn(call.into_future());
        while server.received_requests().await.unwrap().is_empty() {
            tokio::task::yield_now().await;
        }
        clock.advance(Duration::from_secs(5));
        let error = running.await.unwrap().unwrap_err();
        assert!(error.is_timeout() && !error.is_connect(), "{error}");
        assert_eq!((error.attempts(), error.may_have_applied()), (1, in_doubt));
    }
}

/// A source whose first token is refused.
struct Renewing;

impl TokenSource for Renewing {
    fn token(&self) -> BoxFuture<'_, Result<AccessToken>> {
        Box::pin(async { AccessToken::new("old") })
    }

    fn renew(&self, _rejected: &AccessToken) -> BoxFuture<'_, Result<AccessToken>> {
        Box::pin(async { AccessToken::new("new") })
    }
}

#[tokio::test]
async fn a_token_that_the_status_or_the_body_refuses_is_renewed_once() {
    let body = json!({"data": null, "errors": [{
        "message": "The access token is invalid.", "path": ["a"], "extensions": {"data": {"Code": "Unauthorized"}}}]});
    for refusal in [ResponseTemplate::new(401), json_reply(200, body)] {
        for document in [QUERY, MUTATION] {
            let server = serve(refusal.clone(), 1).await;
            let client = client(&server.uri())
                .token_source(Renewing)
                .build()
                .unwrap();
            call(&client, document).await.unwrap();
            let requests = server.received_requests().await.unwrap();
            let tokens: Vec<_> = requests
                .iter()
                .map(|request| &request.headers["authorization"])
                .collect();
            assert_eq!(tokens, ["Bearer old", "Bearer new"]);

            let server = serve(refusal.clone(), 9).await;
            let client = client_of(&server);
            let error = call(&client, document).await.unwrap_err();
            assert!(error.is_unauthorized() && !error.may_have_applied());
            assert_eq!(server.received_requests().await.unwrap().len(), 2);
        }
    }
}

fn client_of(server: &MockServer) -> Client {
    client(&server.uri())
        .token_source(Renewing)
        .build()
        .unwrap()
}
