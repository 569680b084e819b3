//! What stands around the table: statuses of proxies, reads, overrides, and the end of a call's time.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use envd_sdk::auth::{AccessToken, BoxFuture, TokenSource};
use envd_sdk::graphql::generated::{CopyConsignment, copy_consignment};
use envd_sdk::model::Condition;
use envd_sdk::ops::TemplateFilter;
use envd_sdk::{Clock, Result};
use serde_json::{Value, json};
use tokio::sync::Notify;
use wiremock::ResponseTemplate;

use super::{Change, GRAPHQL, JSON, Verdict, input, rows, serve, serve_to};

/// What the statuses of proxies say of a change, with bodies that are not of the interface.
#[tokio::test]
async fn a_status_means_that_a_change_was_refused_only_by_its_definition() {
    let bodies = [
        ("", JSON),
        ("<html>Sample", "text/html"),
        (r#"{"message": "Sample"}"#, JSON),
        ("{}", GRAPHQL),
        (r#"{"errors": [{"mess"#, GRAPHQL),
    ];
    for (status, wanted) in [
        (301, Verdict::Doubt),
        (302, Verdict::Doubt),
        (303, Verdict::Doubt),
        (304, Verdict::Doubt),
        (307, Verdict::Doubt),
        (400, Verdict::Doubt),
        (401, Verdict::Token),
        (403, Verdict::Doubt),
        (404, Verdict::Doubt),
        (405, Verdict::Doubt),
        (409, Verdict::Doubt),
        (413, Verdict::Refused),
        (418, Verdict::Doubt),
        (429, Verdict::Limit),
        (499, Verdict::Doubt),
        (500, Verdict::Doubt),
        (520, Verdict::Doubt),
        (599, Verdict::Doubt),
    ] {
        for (body, media_type) in bodies {
            let reply = ResponseTemplate::new(status).set_body_raw(body, media_type);
            for change in [Change::Create, Change::Own] {
                let (server, client) = serve(reply.clone()).await;
                let result = change.send(&client).await;
                let received = server.received_requests().await.unwrap().len();
                assert_eq!(
                    Verdict::of(&result, received),
                    Ok(wanted),
                    "{status}, {body}"
                );
            }
        }
    }
}

#[tokio::test]
async fn an_error_body_on_403_is_a_refusal_whatever_its_words() {
    let body = r#"{"errors": [{"message": "not you"}]}"#;
    for (status, wanted) in [(403, Verdict::Refused), (404, Verdict::Doubt)] {
        let reply = ResponseTemplate::new(status).set_body_raw(body, JSON);
        let (server, client) = serve(reply).await;
        let result = Change::Create.send(&client).await;
        let received = server.received_requests().await.unwrap().len();
        assert_eq!(Verdict::of(&result, received), Ok(wanted), "{status}");
    }
}

#[tokio::test]
async fn a_read_is_never_in_doubt_and_sent_again_after_502_to_504_and_limits_only() {
    for row in rows() {
        for status in [200, 400, 500, 502, 503, 504] {
            let body = (row.body)(Change::Create).replace("createOrSaveConsignment", "consignment");
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
            // Data without the record is an answer, whatever the status.
            let answered =
                row.media_type == GRAPHQL && error.is_protocol() && body.contains("data");
            let transient = (status > 500 && !answered) || limited;
            assert_eq!(error.is_retryable(), transient, "{context}");
            let attempts = if error.is_retryable() { 4 } else { 1 };
            assert_eq!(received, attempts + usize::from(refused), "{context}");
        }
    }
}

#[tokio::test]
async fn problems_beside_the_data_of_a_read_are_no_doubt() {
    let body = json!({"data": {"consignment": {"id": "c-1"}}, "errors": [{"message": "slow"}]});
    let (_server, client) = serve(ResponseTemplate::new(200).set_body_json(body)).await;
    let read = client.account("envd-1").consignment("c-1").await.unwrap();
    let error = read.strict().unwrap_err();
    assert!(error.is_rejected() && !error.may_have_applied(), "{error}");
}

#[tokio::test]
async fn a_record_is_not_found_only_where_the_request_named_one() {
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
}

/// A document of the caller's may select the record without the wrapper.
#[tokio::test]
async fn an_override_gives_the_record_with_and_without_its_wrapper() {
    let document = "mutation Copy($envdAccountId: ID!, $id: ID!) {
        copyConsignment: copy(a: $envdAccountId, b: $id) { id } }";
    for (result, pointer, wanted) in [
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
        // The caller says that the record is there.
        (
            json!({"number": "C9"}),
            Some("/copyConsignment"),
            Verdict::Value,
        ),
        (json!({"number": "C9"}), None, Verdict::Doubt),
        (json!({"id": ""}), None, Verdict::Doubt),
        (json!({"id": null}), None, Verdict::Doubt),
        (json!(true), None, Verdict::Doubt),
        (json!([{"id": "c-9"}]), None, Verdict::Doubt),
        (json!({"id": "c-9"}), Some("/elsewhere"), Verdict::Doubt),
        (json!({}), Some("/copyConsignment"), Verdict::Doubt),
    ] {
        let body = json!({"data": {"copyConsignment": result}});
        let reply = ResponseTemplate::new(200).set_body_json(&body);
        let (server, client) = serve_to(reply).await;
        let client = match pointer {
            None => client.override_operation("copyConsignment", document),
            Some(at) => client.override_operation_at("copyConsignment", document, at),
        };
        let result = Change::Copy.send(&client.build().unwrap()).await;
        let received = server.received_requests().await.unwrap().len();
        assert_eq!(
            Verdict::of(&result, received),
            Ok(wanted),
            "{body}, {pointer:?}"
        );
        if let Err(error) = result {
            assert_eq!(error.raw_data(), Some(&body["data"]), "{body}");
        }
    }
}

#[tokio::test]
async fn an_operation_that_is_executed_by_its_type_has_its_record_in_its_place() {
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

/// Notifies the test of a renewal, which never ends.
struct Stuck(Arc<Notify>);

impl TokenSource for Stuck {
    fn token(&self) -> BoxFuture<'_, Result<AccessToken>> {
        Box::pin(async { AccessToken::new("old") })
    }

    fn renew(&self, _rejected: &AccessToken) -> BoxFuture<'_, Result<AccessToken>> {
        self.0.notify_one();
        Box::pin(std::future::pending())
    }
}

#[tokio::test]
async fn a_change_that_was_refused_is_not_in_doubt_when_its_time_ends_at_the_renewal() {
    let (_server, client) = serve_to(ResponseTemplate::new(401)).await;
    let (clock, asked) = (
        Clock::manual(SystemTime::UNIX_EPOCH),
        Arc::new(Notify::new()),
    );
    let client = client
        .token_source(Stuck(Arc::clone(&asked)))
        .clock(clock.clone());
    let call = client
        .build()
        .unwrap()
        .execute_document::<Value>("mutation A { a }", "A", &json!({}))
        .deadline(Duration::from_secs(5));
    let running = tokio::spawn(call.into_future());
    asked.notified().await;
    clock.advance(Duration::from_secs(5));
    let error = running.await.unwrap().unwrap_err();
    assert!(error.is_timeout() && !error.may_have_applied(), "{error}");
    assert_eq!(error.attempts(), 1);
}
