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

impl Failing {
    fn new(is_change: bool, failures: Vec<Error>) -> Self {
        let failures = Mutex::new(failures.into_iter());
        Self {
            is_change,
            failures,
        }
    }
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
    let json = "application/json";
    let body = br#"{"Message": "no"}"#;
    Error::http(ReplyParts::new(status, Some(json), body, None))
}

fn lost() -> Error {
    Error::no_reply(false, true)
}

/// The result, and how many requests were sent.
async fn run(operation: Failing) -> (Result<()>, usize) {
    let clock = Clock::manual(SystemTime::UNIX_EPOCH);
    run_with(&Settings::default(), operation, 0, clock).await
}

/// Each reply has this `Retry-After`.
async fn run_with(
    settings: &Settings,
    operation: Failing,
    wait: u64,
    clock: Clock,
) -> (Result<()>, usize) {
    let (server, url) = server(wait).await;
    let options = SenderOptions {
        retry: RetryPolicy::default().base_wait(Duration::ZERO),
        clock,
        ..SenderOptions::default()
    };
    let sender = options.build(&url).unwrap();
    let request = Box::new(Request::get(url));
    let result = sender.send(&operation, request, settings).await;
    let result = result.map(|exchanged| exchanged.value);
    (result, server.received_requests().await.unwrap().len())
}

async fn server(wait: u64) -> (MockServer, Url) {
    let server = MockServer::start().await;
    let reply = ResponseTemplate::new(200).insert_header("retry-after", wait.to_string());
    Mock::given(any()).respond_with(reply).mount(&server).await;
    let url = Url::parse(&server.uri()).unwrap();
    (server, url)
}

#[tokio::test]
async fn a_read_is_sent_until_it_succeeds_and_a_change_once() {
    let (result, sent) = run(Failing::new(false, vec![http(503), lost()])).await;
    assert!(result.is_ok() && sent == 3);
    let (result, sent) = run(Failing::new(false, vec![http(503); 9])).await;
    let error = result.unwrap_err();
    assert_eq!((error.attempts(), error.may_have_applied()), (4, false));
    assert_eq!((error.operation(), sent), (Some("failing"), 4));
    let (result, sent) = run(Failing::new(true, vec![lost()])).await;
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
    let clock = Clock::manual(SystemTime::UNIX_EPOCH);
    let operation = Failing::new(true, vec![lost(), said(400)]);
    let (result, sent) = run_with(&settings, operation, 0, clock).await;
    let error = result.unwrap_err();
    assert_eq!((error.http_status(), sent), (Some(400), 2));
    assert!(error.may_have_applied());
}

#[tokio::test]
async fn a_retry_waits_on_the_clock_until_retry_after_has_passed() {
    let clock = Clock::manual(SystemTime::UNIX_EPOCH);
    let operation = Failing::new(true, vec![http(429)]);
    let its = clock.clone();
    let task =
        tokio::spawn(async move { run_with(&Settings::default(), operation, 20, its).await });
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
    let operation = Failing::new(true, Vec::new());
    let request = Box::new(Request::get(url));
    let settings = Settings::default();
    let result = sender.send(&operation, request, &settings).await;
    let error = result.err().unwrap();
    assert!(error.is_reauth_required() && !error.may_have_applied());
    assert_eq!(error.attempts(), 0);
}

/// A source whose renewal ends like this one of the rows below.
struct Renewal(usize);

impl TokenSource for Renewal {
    fn token(&self) -> BoxFuture<'_, Result<AccessToken>> {
        Box::pin(async { AccessToken::new("old") })
    }

    fn renew(&self, _rejected: &AccessToken) -> BoxFuture<'_, Result<AccessToken>> {
        let renewed = match self.0 {
            0 => Err(Error::token_unavailable(std::io::Error::other("x"))),
            1 => Err(Error::login_needed()),
            2 => Err(Error::config("x")),
            3 => Err(StoreError::lock_timeout().into()),
            4 => AccessToken::new("old"),
            _ => AccessToken::new("new"),
        };
        Box::pin(std::future::ready(renewed))
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
    for (number, (kind, source)) in [
        (ErrorKind::TokenUnavailable, (Some(401), false)),
        (ErrorKind::ReauthRequired, (Some(401), false)),
        (ErrorKind::Config, (Some(401), false)),
        // The failure of a store stays the source.
        (ErrorKind::Store, (None, true)),
        // No other token: the refusal itself.
        (ErrorKind::Unauthorized, (None, false)),
        (ErrorKind::Unauthorized, (None, false)),
    ]
    .into_iter()
    .enumerate()
    {
        for is_change in [false, true] {
            let (server, url) = server(0).await;
            let sender = SenderOptions::default().build(&url).unwrap();
            let sender = sender.with_token_source(Renewal(number));
            let operation = Failing::new(is_change, vec![said(401); 2]);
            let request = Box::new(Request::get(url));
            let settings = Settings::default();
            let result = sender.send(&operation, request, &settings).await;
            let error = result.err().unwrap();
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
