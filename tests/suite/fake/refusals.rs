//! Errors before execution, and features of GraphQL.

use envd_sdk::Secret;
use envd_sdk::fake::Fake;
use envd_sdk::model::{Condition, ServerError};
use serde_json::{Value, json};

use super::http::{call, fixture, post};
use crate::fixed_date::start_fake;

const SAVE: &str = "mutation Save($envdAccountId: String!, $input: CreateOrSaveConsignmentInput!) {
  createOrSaveConsignment(envdAccountId: $envdAccountId, input: $input) { data { id } }
}";

async fn assert_refused(fake: &Fake, query: &str, variables: Value, file: &str) {
    let response = call(fake, query, variables).await;
    assert_eq!(
        response.body,
        fixture(&format!("errors/{file}.json")),
        "{query}"
    );
    assert_eq!(response.status, 400, "{query}");
}

#[tokio::test]
async fn documents_that_do_not_fit_the_schema_get_the_literal_bodies() {
    let fake = start_fake().await;
    let list = |fields: &str| {
        format!(
            "query Consignments {{\n  consignments(envdAccountId: \"envd-100201\") {{\n    totalCount\n    edges {{\n      cursor\n      node {{\n        {fields}\n      }}\n    }}\n  }}\n}}"
        )
    };
    for (file, query) in [
        ("schema-unknown-field", list("colour")),
        ("schema-two-errors", list("colour\n        size")),
    ] {
        assert_refused(&fake, &query, json!({}), file).await;
    }
}

/// The texts are the compiler's; the code and the section are what a client reads.
#[tokio::test]
async fn other_documents_that_do_not_fit_the_schema_are_refused() {
    let fake = start_fake().await;
    for (query, code) in [
        ("query {\n  consignments(\n", "SYNTAX_ERROR"),
        ("{", "SYNTAX_ERROR"),
        ("nonsense", "SYNTAX_ERROR"),
        (
            "{ consignments(envdAccountId: \"\" colour: 1) { totalCount } }",
            "VALIDATION_ERROR",
        ),
        ("{ consignments { totalCount } }", "VALIDATION_ERROR"),
        (
            "{ consignments(envdAccountId: \"\") { pageInfo } }",
            "SCALAR_LEAFS",
        ),
        (
            "{ consignments(envdAccountId: $id) { totalCount } }",
            "VALIDATION_ERROR",
        ),
        ("subscription { a }", "VALIDATION_ERROR"),
        ("fragment F on Consignment { id }", "VALIDATION_ERROR"),
    ] {
        let mut response = call(&fake, query, json!({})).await;
        assert_eq!(response.status, 400, "{query}");
        let error: ServerError = serde_json::from_value(response.body["errors"][0].take()).unwrap();
        assert_eq!(error.schema_code(), Some(code), "{query}");
        assert_eq!(error.condition(), Condition::SchemaMismatch, "{query}");
    }
}

#[tokio::test]
async fn variables_that_do_not_fit_get_the_literal_bodies() {
    let fake = start_fake().await;
    let good = fixture("consignments/lpac1.json");
    let changed = |pointer: &str, value: Value| {
        let mut variables = good.clone();
        *variables.pointer_mut(pointer).unwrap() = value;
        variables
    };
    for (file, variables) in [
        ("schema-variable-missing", json!({"input": good["input"]})),
        (
            "schema-variable-null",
            changed("/envdAccountId", Value::Null),
        ),
        (
            "schema-object-expected",
            changed("/input/origin", json!("QAZZ7777")),
        ),
        ("unknown-form", changed("/input/forms", json!(["LPAC9"]))),
    ] {
        assert_refused(&fake, SAVE, variables, file).await;
    }
    let mut colourful = good.clone();
    colourful["input"]["colour"] = json!("red");
    assert_refused(&fake, SAVE, colourful, "schema-unknown-input-field").await;
    let list = "query($d: DateTime) { consignments(envdAccountId: \"envd-100201\", fromDate: $d) { totalCount } }";
    for (query, variables, said) in [
        (
            SAVE,
            changed("/input/origin", Value::Null),
            "Variable '$input.origin' is invalid. Received a null input for a non-null variable.",
        ),
        (
            list,
            json!({"d": "soon"}),
            "Variable '$d' is invalid. Unable to convert 'soon' to 'DateTime'",
        ),
    ] {
        let response = call(&fake, query, variables).await;
        assert_eq!(response.body["errors"][0]["message"], said);
    }
}

#[tokio::test]
async fn bodies_that_are_no_request_get_the_literal_bodies() {
    let fake = start_fake().await;
    let token = fake.access_token();
    let send = |body: &'static str| post(fake.graphql_url(), &token, body);
    for (body, file) in [
        ("{not json", "schema-json-invalid"),
        ("[]", "schema-json-invalid"),
        ("{}", "schema-query-missing"),
        ("{\"query\": \"\"}", "schema-query-missing"),
        (
            "{\"query\": \"query A { questions { items { id } } }\", \"operationName\": \"Save\"}",
            "schema-unknown-operation-name",
        ),
    ] {
        let response = send(body).await;
        assert_eq!(response.status, 400, "{body}");
        let expected = fixture(&format!("errors/{file}.json"));
        assert_eq!(response.body, expected, "{body}");
    }
}

#[tokio::test]
async fn every_operation_needs_a_valid_token() {
    let fake = start_fake().await;
    let body = json!({"query": "{ consignments(envdAccountId: \"envd-100201\") { totalCount } }"})
        .to_string();
    for token in ["", "wrong"] {
        let response = post(fake.graphql_url(), &Secret::new(token), body.clone()).await;
        assert_eq!(response.status, 401);
        assert_eq!(response.body, fixture("errors/invalid-token.json"));
    }
    fake.expire_access_tokens();
    let response = post(
        fake.graphql_url(),
        &fake.access_token(),
        json!({"query": "{ q: questions { items { id } } }"}).to_string(),
    )
    .await;
    assert_eq!(response.status, 401);
    assert_eq!(response.body["data"], json!({"q": null}));
    assert_eq!(response.body["errors"][0]["path"], json!(["q"]));
}

#[tokio::test]
async fn root_fields_of_a_mutation_run_in_order_and_fail_alone() {
    let fake = start_fake().await;
    let response = call(
        &fake,
        "mutation { one: deleteConsignment(envdAccountId: \"envd-100201\", id: \"C-900000101\") { data { status } }
           two: deleteConsignment(envdAccountId: \"envd-100201\", id: \"C-900000101\") { data { status } } }",
        json!({}),
    )
    .await;
    assert_eq!(response.status, 200);
    assert_eq!(
        response.body["data"],
        json!({"one": {"data": {"status": "DELETED"}}, "two": null})
    );
    assert_eq!(response.body["errors"][0]["path"], json!(["two"]));
}

#[tokio::test]
async fn an_account_of_another_user_is_refused() {
    let fake = start_fake().await;
    let response = call(
        &fake,
        "{ templates(envdAccountId: \"envd-100301\") { totalCount } }",
        json!({}),
    )
    .await;
    assert_eq!(response.status, 403);
    assert_eq!(response.body["errors"][0]["message"], "Access denied");
    let mixed =
        "{ templates(envdAccountId: \"envd-100301\") { totalCount } userDetails { email } }";
    assert_eq!(call(&fake, mixed, json!({})).await.status, 200);
}
