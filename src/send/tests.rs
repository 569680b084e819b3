//! Attempts and waits of a sender, with scripted failures.

use std::sync::Mutex;
use std::time::{Duration, SystemTime};

use url::Url;
use wiremock::matchers::any;
use wiremock::{Mock, MockServer, ResponseTemplate};

use super::{SenderOptions, SentOperation, Settings};
use crate::auth::{AccessToken, BoxFuture, StoreError, TokenSource};
use crate::error::{Error, ErrorKind, ReplyParts, Result};
use crate::transport::{Clock, Reply, Request, RetryPolicy};

/// An operation that fails with these errors, and succeeds after the last.
struct Failing {
    is_change: bool,
    failures: Mutex<std::vec::IntoIter<Error>>,
}

impl SentOperation for Failing {
    type Value = ();

    fn name(&self) -> &'static str {
        "failing"
    }

    fn kind(&self) -> &'static str {
        "test"
    }

    fn is_change(&self) -> bool {
        self.is_change
    }

    fn decode_reply(&self, _reply: Reply) -> Result<()> {
        self.failures.lock().unwrap().next().map_or(Ok(()), Err)
    }
}

fn http(status: u16) -> Error {
    Error::http(ReplyParts::status_only(status))
}

/// As the service says it.
fn said(status: u16) -> Error {
    let body = br#"{"Message": "no"}"#;
    Error::http(ReplyParts::new(
        status,
        Some("application/json"),
        body,
        None,
    ))
}

fn lost() -> Error {
    Error::no_reply(false, true)
}

/// The result, and how many requests were sent. Each reply has this `Retry-After`.
async fn run(
    is_change: bool,
    failures: Vec<Error>,
    wait: u64,
    clock: &Clock,
) -> (Result<()>, usize) {
    run_with(&Settings::default(), is_change, failures, wait, clock).await
}

async fn run_with(
    settings: &Settings,
    is_change: bool,
    failures: Vec<Error>,
    wait: u64,
    clock: &Clock,
) -> (Result<()>, usize) {
    let server = MockServer::start().await;
    let reply = ResponseTemplate::new(200).insert_header("retry-after", wait.to_string());
    Mock::given(any()).respond_with(reply).mount(&server).await;
    let url = Url::parse(&server.uri()).unwrap();
    let options = SenderOptions {
        retry: RetryPolicy::default().base_wait(Duration::ZERO),
        clock: clock.clone(),
        ..SenderOptions::default()
    };
    let sender = options.build(&url).unwrap();
    let operation = Failing {
        is_change,
        failures: Mutex::new(failures.into_iter()),
    };
    let request = Box::new(Request::get(url));
    let result = sender.send(&operation, request, settings).await;
    (result, server.received_requests().await.unwrap().len())
}

fn clock() -> Clock {
    Clock::manual(SystemTime::UNIX_EPOCH)
}

#[tokio::test]
async fn a_read_is_sent_until_it_succeeds_and_its_error_counts_the_attempts() {
    let (result, sent) = run(false, vec![http(503), lost()], 0, &clock()).await;
    assert!(result.is_ok() && sent == 3);
    let (result, sent) = run(false, vec![http(503); 9], 0, &clock()).await;
    let error = result.unwrap_err();
    assert_eq!((error.attempts(), error.may_have_applied()), (4, false));
    assert_eq!((error.operation(), sent), (Some("failing"), 4));
}

#[tokio::test]
async fn a_change_that_may_have_been_carried_out_is_not_sent_again() {
    let (result, sent) = run(true, vec![lost()], 0, &clock()).await;
    let error = result.unwrap_err();
    assert_eq!((error.attempts(), error.may_have_applied()), (1, true));
    assert_eq!(sent, 1);
}

/// The refusal is of the second request; the first may have been carried out.
#[tokio::test]
async fn a_change_stays_in_doubt_when_its_repetition_is_refused() {
    let settings = Settings {
        idempotent: true,
        ..Settings::default()
    };
    let failures = vec![lost(), said(400)];
    let (result, sent) = run_with(&settings, true, failures, 0, &clock()).await;
    let error = result.unwrap_err();
    assert_eq!((error.http_status(), sent), (Some(400), 2));
    assert!(error.may_have_applied());
}

#[tokio::test]
async fn a_retry_waits_on_the_clock_until_retry_after_has_passed() {
    let clock = clock();
    let task = tokio::spawn({
        let clock = clock.clone();
        async move { run(true, vec![http(429)], 20, &clock).await }
    });
    while clock.sleepers() == 0 {
        tokio::task::yield_now().await;
    }
    clock.advance(Duration::from_secs(19));
    for _ in 0..10 {
        tokio::task::yield_now().await;
    }
    assert!(!task.is_finished());
    clock.advance(Duration::from_secs(1));
    assert!(matches!(task.await.unwrap(), (Ok(()), 2)));
}

#[tokio::test]
async fn a_request_without_a_token_is_not_sent() {
    let url = Url::parse("http://127.0.0.1:1/").unwrap();
    let sender = SenderOptions::default().build(&url).unwrap();
    let sender = sender.with_token_source(|| async { Err(Error::login_needed()) });
    let operation = Failing {
        is_change: true,
        failures: Mutex::new(Vec::new().into_iter()),
    };
    let (request, settings) = (Box::new(Request::get(url)), Settings::default());
    let result = sender.send(&operation, request, &settings).await;
    let error = result.unwrap_err();
    assert!(error.is_reauth_required() && !error.may_have_applied());
    assert_eq!(error.attempts(), 0);
}

/// A source with this renewal of its token.
struct Renewal(fn() -> Result<AccessToken>);

impl TokenSource for Renewal {
    fn token(&self) -> BoxFuture<'_, Result<AccessToken>> {
        Box::pin(async { AccessToken::new("old") })
    }

    fn renew(&self, _rejected: &AccessToken) -> BoxFuture<'_, Result<AccessToken>> {
        Box::pin(std::future::ready(self.0()))
    }
}

/// The status of the first error below one, and whether a store failed.
fn below(error: &Error) -> (Option<u16>, bool) {
    let source = std::error::Error::source(error);
    let refusal = source.and_then(|source| source.downcast_ref::<Error>());
    let is_store = source.is_some_and(<dyn std::error::Error>::is::<StoreError>);
    (refusal.and_then(Error::http_status), is_store)
}

#[tokio::test]
async fn a_call_with_a_refused_token_ends_with_the_failure_of_its_renewal_or_with_the_refusal() {
    type Row = (fn() -> Result<AccessToken>, ErrorKind, (Option<u16>, bool));
    let rows: [Row; 6] = [
        (
            || Err(Error::token_unavailable(std::io::Error::other("x"))),
            ErrorKind::TokenUnavailable,
            (Some(401), false),
        ),
        (
            || Err(Error::login_needed()),
            ErrorKind::ReauthRequired,
            (Some(401), false),
        ),
        (
            || Err(Error::config("x")),
            ErrorKind::Config,
            (Some(401), false),
        ),
        // The failure of a store stays the source.
        (
            || Err(StoreError::lock_timeout().into()),
            ErrorKind::Store,
            (None, true),
        ),
        // No other token: the refusal itself.
        (
            || AccessToken::new("old"),
            ErrorKind::Unauthorized,
            (None, false),
        ),
        (
            || AccessToken::new("new"),
            ErrorKind::Unauthorized,
            (None, false),
        ),
    ];
    for (number, (renewal, kind, source)) in rows.into_iter().enumerate() {
        for is_change in [false, true] {
            let server = MockServer::start().await;
            let reply = ResponseTemplate::new(200);
            Mock::given(any()).respond_with(reply).mount(&server).await;
            let url = Url::parse(&server.uri()).unwrap();
            let sender = SenderOptions::default().build(&url).unwrap();
            let sender = sender.with_token_source(Renewal(renewal));
            let operation = Failing {
                is_change,
                failures: Mutex::new(vec![said(401); 2].into_iter()),
            };
            let request = Box::new(Request::get(url));
            let settings = Settings::default();
            let result = sender.send(&operation, request, &settings).await;
            let error = result.unwrap_err();
            assert_eq!((error.kind(), below(&error)), (kind, source), "{error}");
            assert!(!error.may_have_applied());
            let sent = server.received_requests().await.unwrap().len();
            assert_eq!(sent, if number == 5 { 2 } else { 1 }, "{number}");
            if number == 0 {
                assert!(error.is_retryable() && error.report().contains("(application/json)"));
            }
        }
    }
}
