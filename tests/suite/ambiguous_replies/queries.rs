//! Queries, overrides, and the deadline of a call.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use envd_sdk::auth::{AccessToken, BoxFuture, TokenSource};
use envd_sdk::graphql::generated::{CopyConsignment, copy_consignment};
use envd_sdk::model::{Condition, ServerError};
use envd_sdk::ops::TemplateFilter;
use envd_sdk::{Clock, ErrorKind, Result};
use equipment::script::rows;
use equipment::{Reply, Server};
use serde_json::{Value, json};
use tokio::sync::Notify;

use super::{GRAPHQL, Mutation, Verdict, input, serve, table, verdict};
use crate::profiles::moved;
use crate::scripted::{client, ok, typed};

#[tokio::test]
async fn queries_are_retried_after_pages_502_to_504_and_limits_only_and_cannot_have_applied() {
    for row in table() {
        for status in [200, 400, 500, 502, 503, 504] {
            let body = row.body(Mutation::Create);
            let body = body.replace("createOrSaveConsignment", "consignment");
            let (server, client) = serve(typed(status, row.media_type, body.clone()));
            let result = client.account("envd-1").consignment("c-1").await;
            let received = server.count();
            let context = format!("{}, {status}: {result:?}", row.name);
            let Err(error) = result else {
                assert_eq!(received, 1, "{context}");
                continue;
            };
            assert!(!error.may_have_applied(), "{context}");
            let (limited, refused) = (
                error.kind() == ErrorKind::RateLimited,
                error.kind() == ErrorKind::Unauthorized,
            );
            // Data without the record is a final reply with any status.
            let final_reply = row.media_type == GRAPHQL
                && error.kind() == ErrorKind::Protocol
                && body.contains("data");
            let is_page = error.kind() == ErrorKind::NoAnswer;
            assert_eq!(
                is_page,
                ["nothing", "a page", "a page with media type JSON", "a text"].contains(&row.name)
                    && status != 503,
                "{context}"
            );
            let transient = (status > 500 && !final_reply) || limited || is_page;
            assert_eq!(error.is_retryable(), transient, "{context}");
            let attempts = if error.is_retryable() { 4 } else { 1 };
            assert_eq!(received, attempts + usize::from(refused), "{context}");
        }
    }
}

#[tokio::test]
async fn errors_beside_the_data_of_a_query_do_not_mean_that_it_may_have_applied() {
    let body = json!({"data": {"consignment": {"id": "c-1"}}, "errors": [{"message": "slow"}]});
    let (_, client) = serve(ok(body));
    let read = client.account("envd-1").consignment("c-1").await.unwrap();
    let error = read.strict().unwrap_err();
    assert!(error.is_rejected() && !error.may_have_applied(), "{error}");
}

#[tokio::test]
async fn not_found_requires_an_id_in_the_request() {
    let body = json!({"data": null, "errors": [{
        "message": "Internal server error", "path": ["a"],
        "extensions": {"data": {"Code": "", "OutcomeStatus": "ERROR"}},
    }]});
    let (_, client) = serve(ok(body));
    let account = client.account("envd-1");
    let mut update = input();
    update.id = "c-1".to_owned().into();
    let own = |variables: Value| {
        let client = client.clone();
        async move {
            let call = client.execute_document::<Value>("query A { a }", "A", &variables);
            call.await.unwrap_err()
        }
    };
    let page = account.templates_page(&TemplateFilter::default(), None);
    let with_id = json!({"consignmentId": "c-1"});
    for (error, not_found) in [
        (account.save_consignment(input()).await.unwrap_err(), false),
        (account.save_consignment(update).await.unwrap_err(), true),
        (account.delete_consignment("c-1").await.unwrap_err(), true),
        (account.consignment("c-1").await.unwrap_err(), true),
        (account.comments("C-1").await.unwrap_err(), true),
        (page.await.unwrap_err(), false),
        (client.questions().await.unwrap_err(), false),
        (own(json!({"first": 1})).await, false),
        (own(with_id).await, true),
    ] {
        assert!(error.is_rejected(), "{error}");
        assert_eq!(error.kind() == ErrorKind::NotFound, not_found, "{error}");
        let mut conditions = error.server_errors().iter().map(ServerError::condition);
        let condition = conditions.any(|it| it == Condition::NotFoundOrForbidden);
        assert_eq!(condition, not_found, "{error}");
        let text = error.to_string();
        assert_eq!(text.contains("NotFound"), not_found, "{text}");
    }
}

/// A document of the caller may select the record without the `data` wrapper.
#[tokio::test]
async fn an_override_returns_the_record_with_and_without_its_wrapper() {
    let document = "mutation Copy($envdAccountId: ID!, $id: ID!) {
        copyConsignment: copy(a: $envdAccountId, b: $id) { id } }";
    // The last column: the caller sets the location of the record.
    for row in rows(
        r#"
        {"id": "c-9"}                | record |
        {"data": {"id": "c-9"}}      | record |
        {"data": null, "id": "c-9"}  | record |
        {"id": "c-9"}                | record | /copyConsignment
        {"data": {"id": "c-9"}}      | record | /copyConsignment
        {"number": "C9"}             | value  | /copyConsignment
        {"number": "C9"}             | doubt  |
        {"id": ""}                   | doubt  |
        {"id": null}                 | doubt  |
        true                         | doubt  |
        [{"id": "c-9"}]              | doubt  |
        {"id": "c-9"}                | doubt  | /elsewhere
        {}                           | doubt  | /copyConsignment
        "#,
    ) {
        let result: Value = serde_json::from_str(row[0]).unwrap();
        let (expected, pointer) = (verdict(row[1]), row[2]);
        let body = json!({"data": {"copyConsignment": result}});
        let server = Server::script([ok(body.clone())]);
        let client = match pointer {
            "" => client(&server).override_operation("copyConsignment", document),
            at => client(&server).profile(&moved("copyConsignment", document, at)),
        };
        let result = Mutation::Copy.send(&client.build().unwrap()).await;
        let verdict = Verdict::of(&result, server.count());
        assert_eq!(verdict, Ok(expected), "{body}, {pointer:?}");
        if let Err(error) = result {
            assert_eq!(error.raw_data(), Some(&body["data"]), "{body}");
        }
    }
}

#[tokio::test]
async fn a_query_without_its_record_keeps_the_reply() {
    let elsewhere = r#""mine": {"id": "c-9"}"#;
    for (body, is_rejected, data) in [
        (
            format!(r#"{{"data": {{{elsewhere}}}}}"#),
            false,
            json!({"mine": {"id": "c-9"}}),
        ),
        (
            format!(r#"{{"data": {{{elsewhere}}}, "errors": [{{"message": "s3cr3t"}}]}}"#),
            true,
            json!({"mine": {"id": "c-9"}}),
        ),
        // As its text: no value holds the number.
        (
            r#"{"data": {"mine": 1e999}}"#.to_owned(),
            false,
            json!(r#"{"mine": 1e999}"#),
        ),
    ] {
        let (_server, client) = serve(Reply::json(200, &body));
        let error = client
            .account("envd-1")
            .consignment("c-1")
            .await
            .unwrap_err();
        assert_eq!(error.is_rejected(), is_rejected, "{body}");
        assert_eq!(error.raw_data(), Some(&data), "{body}");
        assert_eq!(error.http_status(), Some(200), "{body}");
        assert!(!error.may_have_applied(), "{body}");
        let shown = format!("{error} {error:?}");
        assert!(
            !shown.contains("c-9") && !shown.contains("s3cr3t"),
            "{shown}"
        );
    }
}

#[tokio::test]
async fn an_operation_executed_by_its_type_returns_the_unwrapped_record() {
    let body = json!({"data": {"copyConsignment": {"id": "c-9"}}});
    let (_, client) = serve(ok(body));
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
