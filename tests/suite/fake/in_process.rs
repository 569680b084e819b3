//! A service in the client's process, without a socket: the results of calls.

use std::future::{pending, ready};
use std::pin::pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Waker};
use std::time::{Duration, UNIX_EPOCH};

use envd_sdk::auth::{Provider, StaticToken};
use envd_sdk::fake::{InProcess, InProcessReply, NoReply};
use envd_sdk::model::Pic;
use envd_sdk::{AccountClient, ClientBuilder, Clock, ErrorKind, HttpOptions, RetryPolicy};
use serde_json::json;
use tokio::task::yield_now;

use crate::scripted::client_at;
use crate::scripted::register_at;

const ENDPOINT: &str = "https://api.example.com/query";

fn http(service: InProcess) -> HttpOptions {
    HttpOptions::default().in_process(service)
}

fn builder(service: InProcess) -> ClientBuilder {
    client_at(ENDPOINT)
        .http(http(service))
        .token_source(StaticToken::new("s3cr3t-token").unwrap())
        .retry(RetryPolicy::none())
}

fn account(service: InProcess) -> AccountClient {
    builder(service).build().unwrap().account("envd-1")
}

#[tokio::test]
async fn an_error_without_a_reply_says_whether_the_change_may_have_applied() {
    for (no_reply, kind, may_have_applied, times) in [
        (NoReply::Unreachable, ErrorKind::Connect, false, 4),
        (NoReply::ConnectionLost, ErrorKind::Transport, true, 1),
        (NoReply::TimedOut, ErrorKind::Timeout, true, 1),
    ] {
        let sent = Arc::new(AtomicUsize::new(0));
        let counter = Arc::clone(&sent);
        let service = InProcess::new(move |_| {
            counter.fetch_add(1, Ordering::Relaxed);
            ready(Err(no_reply))
        });
        let retry = RetryPolicy::default().base_wait(Duration::ZERO);
        let client = builder(service).retry(retry).build().unwrap();
        let account = client.account("envd-1");
        let change = account.copy_consignment("C-1").await.unwrap_err();
        assert_eq!(change.kind(), kind, "{no_reply:?}");
        assert_eq!(change.may_have_applied(), may_have_applied, "{no_reply:?}");
        assert_eq!(change.attempts(), times, "{no_reply:?}");
        assert_eq!(sent.load(Ordering::Relaxed), times as usize, "{no_reply:?}");
        let read = account.comments("C-1").await.unwrap_err();
        assert!(read.kind() == kind && !read.may_have_applied());
    }
}

/// The number of steps that the service completes if the call is dropped after `polls` polls.
fn steps_of(polls: usize) -> usize {
    let steps = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&steps);
    let service = InProcess::new(move |_| {
        let counter = Arc::clone(&counter);
        async move {
            for _ in 0..4 {
                counter.fetch_add(1, Ordering::Relaxed);
                yield_now().await;
            }
            Err(NoReply::ConnectionLost)
        }
    });
    let mut call = account(service).copy_consignment("C-1").into_future();
    let mut context = Context::from_waker(Waker::noop());
    for _ in 0..polls {
        if pin!(&mut call).poll(&mut context).is_ready() {
            return usize::MAX;
        }
    }
    drop(call);
    steps.load(Ordering::Relaxed)
}

#[tokio::test]
async fn a_call_that_is_dropped_at_its_nth_poll_ends_at_the_same_step_in_each_run() {
    for _ in 0..2 {
        let steps: Vec<usize> = (0..6).map(steps_of).collect();
        assert_eq!(steps, [0, 1, 2, 3, 4, usize::MAX]);
    }
}

#[tokio::test]
async fn a_request_that_is_never_answered_ends_with_the_deadline_of_its_call() {
    let clock = Clock::manual(UNIX_EPOCH);
    let client = builder(InProcess::new(|_| pending())).clock(clock.clone());
    let account = client.build().unwrap().account("envd-1");
    let copy = account.copy_consignment("C-1");
    let copy = copy.deadline(Duration::from_secs(10)).into_future();
    let (copied, ()) = tokio::join!(copy, async {
        while clock.sleepers() == 0 {
            yield_now().await;
        }
        clock.advance(Duration::from_secs(10));
    });
    let error = copied.unwrap_err();
    assert!(error.kind() == ErrorKind::Timeout && error.may_have_applied());
    assert_eq!(clock.sleepers(), 0);
}

#[tokio::test]
async fn clients_registers_and_providers_may_have_one_service() {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let log = Arc::clone(&seen);
    let service = InProcess::new(move |request| {
        let address = request.url().as_str().to_owned();
        let call = format!("{} {address}", request.method());
        log.lock().unwrap().push(call);
        ready(Err(NoReply::ConnectionLost))
    });
    let client = builder(service.clone()).build().unwrap();
    assert!(client.user_details().await.unwrap_err().kind() == ErrorKind::Transport);

    let register = register_at("https://register.example.com");
    let register = register
        .http(http(service.clone()))
        .retry(RetryPolicy::none());
    let found = register
        .build()
        .unwrap()
        .lookup(&Pic::parse("QAZZ7777").unwrap())
        .await;
    assert!(found.unwrap_err().kind() == ErrorKind::Transport);

    let provider = Provider::builder("app").http(http(service));
    let provider = provider
        .authorize_url("https://sso.example.com/authorize")
        .token_url("https://sso.example.com/oauth/token")
        .revoke_url("https://sso.example.com/oauth/revoke")
        .redirect_uri("https://app.example.com/callback");
    let revoked = provider.build().unwrap().revoke(&"a-token".into()).await;
    assert!(revoked.is_err());

    let seen = seen.lock().unwrap();
    assert_eq!(
        *seen,
        [
            "POST https://api.example.com/query",
            "GET https://register.example.com/api/v2/PICRegister/(PIC=QAZZ7777)",
            "POST https://sso.example.com/oauth/revoke",
        ]
    );
}

#[tokio::test]
async fn nothing_shows_a_token_or_a_body() {
    let shown = Arc::new(Mutex::new(String::new()));
    let log = Arc::clone(&shown);
    let service = InProcess::new(move |request| {
        assert_eq!(request.header("authorization"), Some("Bearer s3cr3t-token"));
        assert_eq!(request.operation().as_deref(), Some("CopyConsignment"));
        let reply = InProcessReply::status(500)
            .header("x-token", "s3cr3t-header")
            .json(json!({"s3cr3t-name": 1}));
        *log.lock().unwrap() = format!("{request:#?} {reply:#?}");
        ready(Ok(reply))
    });
    let options = format!("{:?} {service:?}", http(service.clone()));
    assert!(options.contains("in_process: true"), "{options}");
    let error = account(service).copy_consignment("s3cr3t-number").await;
    let error = error.unwrap_err();
    assert_eq!(
        (error.http_status(), error.may_have_applied()),
        (Some(500), true)
    );
    let shown = format!("{options} {} {error} {error:?}", shown.lock().unwrap());
    assert!(shown.contains("CopyConsignment"), "{shown}");
    assert!(!shown.contains("s3cr3t"), "{shown}");
}

#[tokio::test]
async fn a_reply_over_the_size_limit_is_refused() {
    let reply = |_| {
        ready(Ok(
            InProcessReply::status(200).body("text/plain", [b' '; 11])
        ))
    };
    for (limit, is_read) in [(10, false), (11, true)] {
        let service = InProcess::new(reply);
        let client = builder(service.clone()).http(http(service).max_body_bytes(limit));
        let account = client.build().unwrap().account("envd-1");
        let error = account.comments("C-1").await.unwrap_err();
        assert_eq!(error.kind() == ErrorKind::Transport, !is_read, "{limit}");
        assert_eq!(error.http_status().is_some(), is_read, "{limit}");
    }
}

#[test]
#[should_panic(expected = "199 is not an HTTP status")]
fn a_reply_has_a_final_status() {
    let _ = InProcessReply::status(199);
}
