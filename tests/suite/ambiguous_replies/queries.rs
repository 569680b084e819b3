//! Queries, overrides, and the deadline of a call.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use envd_sdk::auth::{AccessToken, BoxFuture, TokenSource};
use envd_sdk::graphql::generated::{CopyConsignment, copy_consignment};
use envd_sdk::ops::ConsignmentFilter;
use envd_sdk::{Clock, ErrorKind, Result};
use serde_json::{Value, json};
use test_support::{Reply, Server};
use tokio::sync::Notify;

use super::{GRAPHQL, table};
use crate::calls::Calls;
use crate::scripted::{client, ok, typed};

#[tokio::test]
async fn queries_are_retried_after_pages_502_to_504_and_limits_only_and_cannot_have_applied() {
    for row in table() {
        for status in [200, 400, 500, 502, 503, 504] {
            let body = row.body("consignment");
            let reply = typed(status, row.media_type, body.clone());
            let calls = Calls::after(reply, &["with token old/new", "consignment c-1"]).await;
            let context = format!("{}, {status}: {}", row.name, calls.verdict());
            if calls.value().is_some() {
                assert_eq!(calls.sent(), 1, "{context}");
                continue;
            }
            let error = calls.error();
            assert!(!error.may_have_applied(), "{context}");
            let kind = error.kind();
            // Data without the record is a final reply with any status.
            let is_graphql = row.media_type == GRAPHQL && body.contains("data");
            let is_final = is_graphql && kind == ErrorKind::Protocol;
            let pages = ["nothing", "a page", "a page with media type JSON", "a text"];
            let is_page = pages.contains(&row.name) && status != 503;
            assert_eq!(kind == ErrorKind::NoAnswer, is_page, "{context}");
            let transient =
                (status > 500 && !is_final) || kind == ErrorKind::RateLimited || is_page;
            assert_eq!(error.is_retryable(), transient, "{context}");
            let attempts = if transient { 4 } else { 1 };
            let renewals = usize::from(kind == ErrorKind::Unauthorized);
            assert_eq!(calls.sent(), attempts + renewals, "{context}");
        }
    }
}

#[tokio::test]
async fn errors_beside_the_data_of_a_query_do_not_mean_that_it_may_have_applied() {
    let body = json!({"data": {"consignment": {"id": "c-1"}}, "errors": [{"message": "slow"}]});
    let client = client(&Server::script([ok(body)])).build().unwrap();
    let read = client.account("envd-1").consignment("c-1").await.unwrap();
    let error = read.strict().unwrap_err();
    assert!(
        !error.server_errors().is_empty() && !error.may_have_applied(),
        "{error}"
    );
}

/// The fault is in the second reply, and the client detects it at different stages.
#[tokio::test]
async fn what_is_found_in_a_reply_counts_the_attempts_for_it() {
    let second = |body: Value| {
        let server = Server::script([typed(503, "text/html", "<html>"), ok(body)]);
        (client(&server).build().unwrap(), server)
    };
    let beside = json!({"data": {"consignment": {"id": "c-1"}}, "errors": [{"message": "slow"}]});
    let (client, _server) = second(beside);
    let read = client.account("envd-1").consignment("c-1").await.unwrap();
    let strict = read.strict().unwrap_err();

    let (client, _server) = second(json!({"data": {"consignment": {"id": "c-2"}}}));
    let read = client.account("envd-1").consignment("c-1").await;
    let other_record = read.unwrap_err();

    let list = json!({"data": {"consignments": {"pageInfo": {"hasNextPage": true},
        "edges": [{"node": {"id": "c-1"}}, {"node": {"id": {"x": 1}}}]}}});
    let (client, _server) = second(list);
    let account = client.account("envd-1");
    let mut pager = account
        .consignments(&ConsignmentFilter::default())
        .look_ahead(0);
    let page = pager.next_page().await.unwrap().unwrap();
    let unreadable = page.unreadable[0].clone();
    let stalled = pager.next_page().await.unwrap_err();

    for (error, kind) in [
        (strict, ErrorKind::Rejected),
        (other_record, ErrorKind::Protocol),
        (unreadable, ErrorKind::UnreadableRecord),
        (stalled, ErrorKind::Stalled),
    ] {
        assert_eq!((error.kind(), error.attempts()), (kind, 2), "{error}");
    }
}

#[tokio::test]
async fn an_operation_executed_by_its_type_returns_the_unwrapped_record() {
    let body = json!({"data": {"copyConsignment": {"id": "c-9"}}});
    let client = client(&Server::script([ok(body)])).build().unwrap();
    let variables = copy_consignment::Variables {
        envd_account_id: "envd-1".into(),
        id: "c-1".into(),
    };
    let data = client
        .execute::<CopyConsignment>(variables)
        .await
        .unwrap()
        .value;
    let copied = data.copy_consignment.unwrap().data.unwrap();
    assert_eq!(copied.id.unwrap(), "c-9");
}

/// A source whose renewal never completes; it notifies the test of the call.
struct PendingRenewal(Arc<Notify>);

impl TokenSource for PendingRenewal {
    fn token(&self) -> BoxFuture<'_, Result<AccessToken>> {
        Box::pin(async { AccessToken::new("old") })
    }

    fn renew(&self, _rejected: &AccessToken) -> BoxFuture<'_, Result<AccessToken>> {
        self.0.notify_one();
        Box::pin(std::future::pending())
    }
}

#[tokio::test]
async fn a_refused_mutation_cannot_have_applied_if_its_deadline_passes_during_the_renewal() {
    let server = Server::script([Reply::new(401)]);
    let clock = Clock::manual(SystemTime::UNIX_EPOCH);
    let renewal_begun = Arc::new(Notify::new());
    let client = client(&server)
        .token_source(PendingRenewal(Arc::clone(&renewal_begun)))
        .clock(clock.clone());
    let call = client
        .build()
        .unwrap()
        .execute_document::<Value>("mutation A { a }", "A", &json!({}))
        .deadline(Duration::from_secs(5));
    let running = tokio::spawn(call.into_future());
    renewal_begun.notified().await;
    clock.advance(Duration::from_secs(5));
    let error = running.await.unwrap().unwrap_err();
    assert!(
        error.kind() == ErrorKind::Timeout && !error.may_have_applied(),
        "{error}"
    );
    assert_eq!(error.attempts(), 1);
}
