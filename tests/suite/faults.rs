//! Scripted faults, and the bytes that a client receives.

use std::time::Duration;

use envd_sdk::fake::{Fake, Fault};
use envd_sdk::graphql::generated::{Consignments, UserDetails};
use envd_sdk::ops::ConsignmentFilter;
use envd_sdk::{Client, ErrorKind, RetryPolicy};
use serde_json::{Value, json};

use crate::fixed_date::{manual, start_fake};
use crate::wire::{Raw, send};

const QUERY: &str = r#"{"query": "query UserDetails { userDetails { email } }"}"#;

async fn query(fake: &Fake) -> Option<Raw> {
    let bearer = format!("Bearer {}", fake.access_token().expose());
    let headers = [
        ("authorization", bearer.as_str()),
        ("content-type", "application/json"),
    ];
    send(&fake.graphql_url(), "POST", &headers, QUERY).await
}

fn client(fake: &Fake) -> Client {
    fake.client().build().unwrap()
}

async fn comment(fake: &Fake) -> Result<(), envd_sdk::Error> {
    let input = envd_sdk::model::CommentInput::new("C-900000101", "once");
    let account = client(fake).account(fake.account_id());
    account.create_comment(input).await.map(drop)
}

async fn comments(fake: &Fake) -> usize {
    let account = client(fake).account(fake.account_id());
    account.comments("C-900000101").await.unwrap().value.len()
}

#[tokio::test]
async fn two_503s_are_followed_by_normal_replies() {
    let fake = start_fake().await;
    let fault = Fault::status(503)
        .header("retry-after", "0")
        .json(json!({"message": "later"}));
    fake.on::<UserDetails>().fault(fault).times(2);
    for _ in 0..2 {
        let reply = query(&fake).await.unwrap();
        assert_eq!(
            (reply.status, reply.header("retry-after")),
            (503, Some("0"))
        );
        assert_eq!(reply.json()["message"], "later");
    }
    assert_eq!(query(&fake).await.unwrap().status, 200);
}

#[tokio::test]
async fn html_and_invalid_json_are_errors() {
    let fake = start_fake().await;
    let on = fake.on_operation("UserDetails");
    on.fault(Fault::html(200)).fault(Fault::garbage());
    let page = query(&fake).await.unwrap();
    let media_type = page.header("content-type").unwrap();
    assert!(media_type.starts_with("text/html"));
    let garbage = query(&fake).await.unwrap();
    assert!(serde_json::from_slice::<Value>(&garbage.body).is_err());

    on.fault(Fault::html(200)).fault(Fault::garbage());
    for kind in [ErrorKind::NoAnswer, ErrorKind::Protocol] {
        let call = client(&fake).user_details().retry(RetryPolicy::none());
        let error = call.await.unwrap_err();
        assert_eq!(error.kind(), kind, "{error:?}");
        assert_eq!(error.is_retryable(), kind == ErrorKind::NoAnswer);
        assert_eq!(error.http_status(), Some(200));
        assert!(error.report().contains("body: "), "{error:?}");
    }
}

#[tokio::test]
async fn a_change_is_made_only_if_the_connection_drops_after_it() {
    let fake = start_fake().await;
    let before = comments(&fake).await;
    let error = || Fault::internal_server_error("createComment");
    for (fault, text, made) in [
        (Fault::dropped_before(), None, 0),
        (Fault::dropped_after(), None, 1),
        (Fault::status(502).processed(), None, 2),
        (error(), Some("Internal server error"), 2),
        (error().processed(), Some("Internal server error"), 3),
    ] {
        fake.on_operation("CreateComment").fault(fault);
        let error = comment(&fake).await.unwrap_err();
        assert!(error.may_have_applied(), "{error:?}");
        let said = error.server_errors().first();
        let said = said.map(envd_sdk::model::ServerError::message);
        assert_eq!(said, text);
        assert_eq!(comments(&fake).await, before + made);
    }
}

#[tokio::test]
async fn a_change_can_be_made_after_further_requests() {
    let fake = start_fake().await;
    let before = comments(&fake).await;
    let late = Fault::dropped_before().processed_after(2);
    fake.on_operation("CreateComment").fault(late);
    assert!(comment(&fake).await.unwrap_err().may_have_applied());
    // Made after the reply to the second one.
    for expected in [before, before, before + 1] {
        assert_eq!(comments(&fake).await, expected);
    }

    let never = Fault::status(502).processed_after(usize::MAX);
    let at_once = Fault::status(502).processed_after(0);
    let script = fake.on_operation("CreateComment");
    script.fault(never).times(2).fault(at_once);
    for _ in 0..3 {
        assert!(comment(&fake).await.unwrap_err().may_have_applied());
    }
    assert_eq!(comments(&fake).await, before + 2);
    assert_eq!(fake.levers().process_late_requests(), 2);
    assert_eq!(fake.levers().process_late_requests(), 0);
    assert_eq!(comments(&fake).await, before + 4);
    assert_eq!(fake.request_count("createComment"), 4);
}

#[test]
#[should_panic(expected = "only a fault that replaces the reply")]
fn a_real_reply_cannot_come_before_the_processing() {
    let _ = Fault::cut(3).processed_after(1);
}

#[tokio::test]
async fn a_truncated_body_is_valid_http_and_a_cut_or_dropped_one_is_not() {
    let fake = start_fake().await;
    fake.on_operation("UserDetails")
        .fault(Fault::truncated(10))
        .fault(Fault::cut(10));
    let truncated = query(&fake).await.unwrap();
    assert_eq!(
        (truncated.body.len(), truncated.header("content-length")),
        (10, Some("10"))
    );
    let cut = query(&fake).await.unwrap();
    let announced: usize = cut.header("content-length").unwrap().parse().unwrap();
    assert_eq!(cut.body.len(), 10);
    assert!(announced > 10);
    assert_eq!(cut.header("x-fake-delivery"), None);

    fake.on_path("/v2/graphql").fault(Fault::dropped_before());
    assert!(query(&fake).await.is_none());
    assert!(query(&fake).await.is_some());
    fake.on::<UserDetails>().fault(Fault::cut(20)).forever();
    let error = client(&fake).user_details().await.unwrap_err();
    assert!(error.kind() == ErrorKind::Transport);
}

#[tokio::test]
async fn latency_ends_when_the_clock_is_moved() {
    let (fake, clock) = manual();
    let fake = fake.start().await.unwrap();
    fake.on_operation("UserDetails")
        .fault(Fault::latency(Duration::from_secs(30)));
    let advance = async {
        fake.until_delayed().await;
        clock.advance(Duration::from_secs(30));
    };
    let (reply, ()) = tokio::join!(query(&fake), advance);
    assert_eq!(reply.unwrap().status, 200);
}

#[tokio::test]
async fn a_slow_body_arrives_complete_in_chunks() {
    let (fake, clock) = manual();
    let fake = fake.start().await.unwrap();
    let fast = query(&fake).await.unwrap().body;
    fake.on_operation("UserDetails")
        .fault(Fault::slow(30, Duration::from_secs(1)));
    let mut moves = 0;
    let mut slow = std::pin::pin!(query(&fake));
    let reply = loop {
        tokio::select! {
            reply = &mut slow => break reply.unwrap(),
            () = fake.until_delayed() => {
                moves += 1;
                clock.advance(Duration::from_secs(1));
                tokio::task::yield_now().await;
            }
        }
    };
    assert_eq!(reply.body, fast);
    assert!(moves >= fast.len().div_ceil(30), "{moves}");
}

#[tokio::test]
async fn one_invalid_element_of_a_list_does_not_fail_the_client() {
    let fake = start_fake().await;
    let fault = Fault::replaced(
        "/data/consignments/edges/1",
        json!({"cursor": 7, "node": "?"}),
    );
    fake.on::<Consignments>().fault(fault);
    let account = client(&fake).account(fake.account_id());
    let filter = ConsignmentFilter::default();
    let outcome = account.consignments_page(&filter, None).await.unwrap();
    assert_eq!((&outcome.value.edges[1].node, outcome.nulls()), (&None, 0));
    assert!(outcome.value.edges.len() > 2);
    let error = outcome.unreadable().next().unwrap();
    assert!(error.kind() == ErrorKind::UnreadableRecord);
    assert!(error.json_path().unwrap().contains("edges[1]"), "{error:?}");
    assert_eq!(error.raw_data(), Some(&json!({"cursor": 7, "node": "?"})));
}

#[tokio::test]
async fn paths_of_the_provider_and_the_register_support_faults() {
    let fake = start_fake().await;
    fake.on_path("/api/v2/PICRegister")
        .fault(Fault::status(429).header("retry-after", "1"));
    let mut url = fake.register_url();
    url.set_path("/api/v2/PICRegister");
    url.set_query(Some("PIC=QAZZ7777"));
    assert_eq!(send(&url, "GET", &[], "").await.unwrap().status, 429);
    assert_eq!(send(&url, "GET", &[], "").await.unwrap().status, 200);
    let token = async || {
        let reply = send(&fake.token_url(), "POST", &[], "").await;
        reply.unwrap().status
    };
    fake.on_path("/oauth/token")
        .fault(Fault::html(503))
        .forever();
    for _ in 0..3 {
        assert_eq!(token().await, 503);
    }
    fake.clear_scripts();
    assert_eq!(token().await, 401);
}

#[test]
#[should_panic(expected = "invalid header no spaces")]
fn a_header_that_http_forbids_is_refused_at_once() {
    let _ = Fault::status(200).header("no spaces", "x");
}

#[test]
#[should_panic(expected = "99 is not an HTTP status")]
fn an_invalid_status_is_refused_at_once() {
    let _ = Fault::status(99);
}
