//! Statuses of proxies, queries, overrides, and the deadline of a call.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use envd_sdk::auth::{AccessToken, BoxFuture, TokenSource};
use envd_sdk::graphql::generated::{CopyConsignment, copy_consignment};
use envd_sdk::model::Condition;
use envd_sdk::ops::TemplateFilter;
use envd_sdk::{Clock, Error, Result};
use serde_json::{Value, json};
use tokio::sync::Notify;
use wiremock::ResponseTemplate;

use super::{GRAPHQL, JSON, Mutation, Verdict, input, rows, serve, serve_to};

/// The verdicts on mutations for statuses of proxies, with bodies that do not follow the interface.
#[tokio::test]
async fn only_statuses_that_are_defined_as_refusals_mean_a_refused_mutation() {
    let bodies = [
        ("", JSON),
        ("<html>Sample", "text/html"),
        (r#"{"message": "Sample"}"#, JSON),
        ("{}", GRAPHQL),
        (r#"{"errors": [{"mess"#, GRAPHQL),
    ];
    for (status, expected) in [
        (301, Verdict::MayHaveApplied),
        (302, Verdict::MayHaveApplied),
        (303, Verdict::MayHaveApplied),
        (304, Verdict::MayHaveApplied),
        (307, Verdict::MayHaveApplied),
        (400, Verdict::MayHaveApplied),
        (401, Verdict::Token),
        (403, Verdict::MayHaveApplied),
        (404, Verdict::MayHaveApplied),
        (405, Verdict::MayHaveApplied),
        (409, Verdict::MayHaveApplied),
        (413, Verdict::Refused),
        (418, Verdict::MayHaveApplied),
        (429, Verdict::Limit),
        (499, Verdict::MayHaveApplied),
        (500, Verdict::MayHaveApplied),
        (520, Verdict::MayHaveApplied),
        (599, Verdict::MayHaveApplied),
    ] {
        for (body, media_type) in bodies {
            let reply = ResponseTemplate::new(status).set_body_raw(body, media_type);
            for mutation in [Mutation::Create, Mutation::Custom] {
                let (server, client) = serve(reply.clone()).await;
                let result = mutation.send(&client).await;
                let received = server.received_requests().await.unwrap().len();
                assert_eq!(
                    Verdict::of(&result, received),
                    Ok(expected),
                    "{status}, {body}"
                );
            }
        }
    }
}

#[tokio::test]
async fn an_error_body_on_403_is_a_refusal_with_any_message() {
    let body = r#"{"errors": [{"message": "not you"}]}"#;
    for (status, expected) in [(403, Verdict::Refused), (404, Verdict::MayHaveApplied)] {
        let reply = ResponseTemplate::new(status).set_body_raw(body, JSON);
        let (server, client) = serve(reply).await;
        let result = Mutation::Create.send(&client).await;
        let received = server.received_requests().await.unwrap().len();
        assert_eq!(Verdict::of(&result, received), Ok(expected), "{status}");
    }
}

#[tokio::test]
async fn queries_are_retried_after_502_to_504_and_limits_only_and_cannot_have_applied() {
    for row in rows() {
        for status in [200, 400, 500, 502, 503, 504] {
            let body =
                (row.body)(Mutation::Create).replace("createOrSaveConsignment", "consignment");
            let reply = ResponseTemplate::new(status).set_body_raw(body.clone(), row.media_type);
            let (server, client) = serve(reply).await;
            let result = client.account("envd-1").consignment("c-1").await;
            let received = server.received_requests().await.unwrap().len();
            let context = format!("{}, {status}: {result:?}", row.name);
            let Err(error) = result else {
                assert_eq!(received, 1, "{context}");
                continue;
            };
            assert!(!error.may_have_applied(), "{context}");
            let (limited, refused) = (error.is_rate_limited(), error.is_unauthorized());
            // Data without the record is a final reply with any status.
            let final_reply =
                row.media_type == GRAPHQL && error.is_protocol() && body.contains("data");
            let transient = (status > 500 && !final_reply) || limited;
            assert_eq!(error.is_retryable(), transient, "{context}");
            let attempts = if error.is_retryable() { 4 } else { 1 };
            assert_eq!(received, attempts + usize::from(refused), "{context}");
        }
    }
}

#[tokio::test]
async fn errors_beside_the_data_of_a_query_do_not_mean_that_it_may_have_applied() {
    let body = json!({"data": {"consignment": {"id": "c-1"}}, "errors": [{"message": "slow"}]});
    let (_server, client) = serve(ResponseTemplate::new(200).set_body_json(body)).await;
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
    let (_server, client) = serve(ResponseTemplate::new(200).set_body_json(body)).await;
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
    for (name, error, not_found) in [
        (
            "create",
            account.save_consignment(input()).await.unwrap_err(),
            false,
        ),
        (
            "update",
            account.save_consignment(update).await.unwrap_err(),
            true,
        ),
        (
            "delete",
            account.delete_consignment("c-1").await.unwrap_err(),
            true,
        ),
        ("read", account.consignment("c-1").await.unwrap_err(), true),
        ("comments", account.comments("C-1").await.unwrap_err(), true),
        (
            "list",
            account
                .templates_page(&TemplateFilter::default(), None)
                .await
                .unwrap_err(),
            false,
        ),
        ("questions", client.questions().await.unwrap_err(), false),
        ("own", own(json!({"first": 1})).await, false),
        (
            "own with an id",
            own(json!({"consignmentId": "c-1"})).await,
            true,
        ),
    ] {
        assert_not_found(name, &error, not_found);
    }
}

fn assert_not_found(name: &str, error: &Error, not_found: bool) {
    assert!(error.is_rejected(), "{name}");
    assert_eq!(error.is_not_found(), not_found, "{name}");
    assert_eq!(
        error.has(Condition::NotFoundOrForbidden),
        not_found,
        "{name}"
    );
    assert_eq!(
        error.to_string().contains("NotFound"),
        not_found,
        "{name}: {error}"
    );
}

/// A document of the caller may select the record without the `data` wrapper.
#[tokio::test]
async fn an_override_returns_the_record_with_and_without_its_wrapper() {
    let document = "mutation Copy($envdAccountId: ID!, $id: ID!) {
        copyConsignment: copy(a: $envdAccountId, b: $id) { id } }";
    for (result, pointer, expected) in [
        (json!({"id": "c-9"}), None, Verdict::Record),
        (json!({"data": {"id": "c-9"}}), None, Verdict::Record),
        (json!({"data": null, "id": "c-9"}), None, Verdict::Record),
        (
            json!({"id": "c-9"}),
            Some("/copyConsignment"),
            Verdict::Record,
        ),
        (
            json!({"data": {"id": "c-9"}}),
            Some("/copyConsignment"),
            Verdict::Record,
        ),
        // The caller sets the location of the record.
        (
            json!({"number": "C9"}),
            Some("/copyConsignment"),
            Verdict::Value,
        ),
        (json!({"number": "C9"}), None, Verdict::MayHaveApplied),
        (json!({"id": ""}), None, Verdict::MayHaveApplied),
        (json!({"id": null}), None, Verdict::MayHaveApplied),
        (json!(true), None, Verdict::MayHaveApplied),
        (json!([{"id": "c-9"}]), None, Verdict::MayHaveApplied),
        (
            json!({"id": "c-9"}),
            Some("/elsewhere"),
            Verdict::MayHaveApplied,
        ),
        (json!({}), Some("/copyConsignment"), Verdict::MayHaveApplied),
    ] {
        let body = json!({"data": {"copyConsignment": result}});
        let reply = ResponseTemplate::new(200).set_body_json(&body);
        let (server, client) = serve_to(reply).await;
        let client = match pointer {
            None => client.override_operation("copyConsignment", document),
            Some(at) => client.override_operation_at("copyConsignment", document, at),
        };
        let result = Mutation::Copy.send(&client.build().unwrap()).await;
        let received = server.received_requests().await.unwrap().len();
        assert_eq!(
            Verdict::of(&result, received),
            Ok(expected),
            "{body}, {pointer:?}"
        );
        if let Err(error) = result {
            assert_eq!(error.raw_data(), Some(&body["data"]), "{body}");
        }
    }
}

#[tokio::test]
async fn an_operation_executed_by_its_type_returns_the_unwrapped_record() {
    let body = json!({"data": {"copyConsignment": {"id": "c-9"}}});
    let (_server, client) = serve(ResponseTemplate::new(200).set_body_json(body)).await;
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
    let (_server, client) = serve_to(ResponseTemplate::new(401)).await;
    let (clock, renewal_begun) = (
        Clock::manual(SystemTime::UNIX_EPOCH),
        Arc::new(Notify::new()),
    );
    let client = client
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
    assert!(error.is_timeout() && !error.may_have_applied(), "{error}");
    assert_eq!(error.attempts(), 1);
}
