//! The HTTP statuses of spec 7.1 and replies of other media types, as errors of the client.

use envd_sdk::auth::{AccessToken, BoxFuture, TokenSource};
use envd_sdk::model::Condition;
use envd_sdk::{Client, Error, HttpOptions, RetryPolicy};
use serde_json::{Value, json};
use wiremock::matchers::any;
use wiremock::{Mock, MockServer, ResponseTemplate};

use crate::conditions::fixture;
use crate::fixed_date::start_fake;

/// Returns the refused token again.
struct Stubborn;

impl TokenSource for Stubborn {
    fn token(&self) -> BoxFuture<'_, envd_sdk::Result<AccessToken>> {
        Box::pin(std::future::ready(AccessToken::new("refused-token")))
    }

    fn renew(&self, _rejected: &AccessToken) -> BoxFuture<'_, envd_sdk::Result<AccessToken>> {
        self.token()
    }
}

fn client(server: &MockServer) -> Client {
    Client::builder(server.uri())
        .token_source(Stubborn)
        .retry(RetryPolicy::none())
        .http(HttpOptions::default().max_body_bytes(10_000))
        .build()
        .unwrap()
}

async fn query(reply: ResponseTemplate) -> envd_sdk::Result<envd_sdk::Outcome<Value>> {
    let server = MockServer::start().await;
    Mock::given(any()).respond_with(reply).mount(&server).await;
    let client = client(&server);
    client
        .execute_document("query Q { comments }", "Q", &json!({}))
        .await
}

fn page(status: u16, text: &str, media_type: &str) -> ResponseTemplate {
    ResponseTemplate::new(status).set_body_raw(text, media_type)
}

#[tokio::test]
async fn each_status_of_the_table_has_its_predicate() {
    type Predicate = fn(&Error) -> bool;
    let rows: [(u16, Predicate); 7] = [
        (304, Error::is_not_modified),
        (400, Error::is_bad_request),
        (401, Error::is_unauthorized),
        (403, Error::is_forbidden),
        (404, Error::is_not_found),
        (500, Error::is_internal),
        (503, Error::is_unavailable),
    ];
    for (status, is) in rows {
        let bodies = [
            page(status, "", "text/plain"),
            page(status, "<html>Sam Sample</html>", "text/html"),
            page(status, r#"{"Message": "Sam Sample"}"#, "application/json"),
            page(
                status,
                r#"{"errors": [{"message": "Sam Sample"}]}"#,
                "application/json",
            ),
            page(
                status,
                r#"{"errors": [{"message": "Sam Sample"}]}"#,
                "application/graphql-response+json",
            ),
            page(status, "{}", "application/graphql-response+json"),
        ];
        for (i, body) in bodies.into_iter().enumerate() {
            let error = query(body).await.unwrap_err();
            assert_eq!(error.http_status(), Some(status), "body {i}");
            for (other, predicate) in rows {
                assert_eq!(
                    predicate(&error),
                    other == status,
                    "{status}, body {i}: {other}"
                );
            }
            assert!(is(&error));
            let shown = format!("{error} {error:?}");
            assert!(!shown.contains("Sample"), "{shown}");
        }
    }
}

#[tokio::test]
async fn a_created_record_keeps_its_notices() {
    let body = fixture("required-answer-missing.json");
    for status in [200, 201] {
        let outcome = query(ResponseTemplate::new(status).set_body_json(&body))
            .await
            .unwrap();
        assert_eq!(outcome.http_status(), status);
        assert_eq!(
            outcome.value["createOrSaveConsignment"]["data"]["status"],
            "DRAFT"
        );
        assert_eq!(outcome.problems.len(), 2);
    }
}

#[tokio::test]
async fn a_200_with_a_refusal_is_an_error_with_the_reason() {
    let reply = ResponseTemplate::new(200).set_body_json(fixture("mixed-species.json"));
    let error = query(reply).await.unwrap_err();
    assert!(error.is_rejected());
    assert!(error.has(Condition::MixedSpecies));
    assert_eq!(error.http_status(), Some(200));
}

#[tokio::test]
async fn bodies_of_other_media_types_are_named() {
    for (body, media_type, expected) in [
        ("", "application/json", "HTTP 502 with an empty body"),
        (
            "<!DOCTYPE html><p>Bad gateway",
            "text/html",
            "HTTP 502 with an HTML page",
        ),
        ("\n<HTML>", "application/json", "an HTML page"),
        (
            "<?xml version=\"1.0\"?><Error/>",
            "application/xml",
            "an XML document",
        ),
        (
            "try later",
            "text/plain",
            "not of the interface (text/plain)",
        ),
        (
            "{\"Message\": \"x\"}",
            "application/json",
            "the server refused with HTTP 502 (application/json)",
        ),
    ] {
        let error = query(page(502, body, media_type)).await.unwrap_err();
        assert!(error.to_string().contains(expected), "{error}");
        assert_eq!(error.body_excerpt(), Some(body));
        assert_eq!(error.media_type(), Some(media_type));
        assert!(error.is_retryable() && !error.is_protocol());
    }
}

#[tokio::test]
async fn an_excerpt_is_bounded_and_a_body_over_the_limit_is_not_read() {
    let error = query(page(500, &"x".repeat(9_000), "text/plain"))
        .await
        .unwrap_err();
    assert_eq!(error.body_excerpt().unwrap().len(), 2_048);
    let error = query(page(200, &"x".repeat(10_001), "application/json"))
        .await
        .unwrap_err();
    assert!(error.is_transport() && !error.is_retryable(), "{error}");
}

#[tokio::test]
async fn a_token_that_is_refused_in_the_body_is_renewed_like_one_refused_by_401() {
    use wiremock::matchers::header;

    let fake = start_fake().await;
    let provider = fake.provider().build().unwrap();
    let manager = envd_sdk::auth::TokenManager::builder(provider.clone())
        .store(envd_sdk::auth::MemoryStore::new())
        .account("one")
        .build()
        .unwrap();
    let login = provider.authorization().start().unwrap();
    let callback = fake.consent(login.url()).unwrap();
    manager
        .complete_login(login, callback.as_str())
        .await
        .unwrap();
    let first = envd_sdk::auth::TokenSource::token(&manager).await.unwrap();

    let server = MockServer::start().await;
    let old = format!("Bearer {}", first.expose());
    // HTTP 200: only the body has the refusal (spec 7.2, row 1).
    Mock::given(header("authorization", old.as_str()))
        .respond_with(ResponseTemplate::new(200).set_body_json(fixture("invalid-token.json")))
        .expect(1)
        .with_priority(1)
        .mount(&server)
        .await;
    Mock::given(any())
        .respond_with(ResponseTemplate::new(200).set_body_json(json!({"data": {"comments": []}})))
        .expect(1)
        .with_priority(2)
        .mount(&server)
        .await;
    let client = Client::builder(server.uri())
        .token_source(manager)
        .build()
        .unwrap();
    let variables = json!({});
    let outcome: envd_sdk::Outcome<Value> = client
        .execute_document("query Q { comments }", "Q", &variables)
        .await
        .unwrap();
    assert!(outcome.problems.is_empty());
}
