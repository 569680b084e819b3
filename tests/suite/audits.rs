//! The fake as a GraphQL-over-HTTP server: each MUST of the audits of the npm package graphql-http 1.23.1 by its id, and
//! further features of the fake.

use envd_sdk::fake::Fake;
use serde_json::{Value, json};

use crate::fixed_date::start_fake;
use crate::wire::{Raw, send};

const JSON: (&str, &str) = ("content-type", "application/json");

async fn post(fake: &Fake, headers: &[(&str, &str)], body: &Value) -> Raw {
    let bearer = format!("Bearer {}", fake.access_token().expose());
    let mut headers = headers.to_vec();
    headers.push(("authorization", &bearer));
    let url = fake.graphql_url();
    send(&url, "POST", &headers, &body.to_string())
        .await
        .unwrap()
}

async fn assert_accepted(headers: &[(&str, &str)], body: Value) -> Raw {
    let fake = start_fake().await;
    let reply = post(&fake, headers, &body).await;
    assert_eq!(reply.status, 200, "{body}");
    assert_eq!(reply.json()["errors"], Value::Null, "{body}");
    reply
}

const ACCEPT: (&str, &str) = ("accept", "application/json");

#[tokio::test]
async fn audit_4655_accepts_application_json_and_matches_the_content_type() {
    let reply = assert_accepted(&[JSON, ACCEPT], json!({"query": "{ __typename }"})).await;
    assert!(
        reply
            .header("content-type")
            .unwrap()
            .contains("application/json")
    );
}

#[tokio::test]
async fn audit_82a3_responds_in_utf_8() {
    let reply = assert_accepted(&[JSON], json!({"query": "{ __typename }"})).await;
    assert!(String::from_utf8(reply.body).is_ok());
}

#[tokio::test]
async fn audit_bf61_accepts_a_request_in_utf_8() {
    let headers = [("content-type", "application/json; charset=utf-8")];
    assert_accepted(
        &headers,
        json!({"query": "{ __type(name: \"Kuh🐄Schaf🐑\") { name } }"}),
    )
    .await;
}

#[tokio::test]
async fn audits_78d5_2c94_03d4_accept_a_post_of_application_json_without_an_encoding() {
    assert_accepted(
        &[JSON],
        json!({"query": "{ __type(name: \"é\") { name } }"}),
    )
    .await;
}

#[tokio::test]
async fn audits_13ee_b8b3_allow_a_query_and_an_operation_name() {
    assert_accepted(&[JSON, ACCEPT], json!({"query": "{ __typename }"})).await;
    let named = json!({"operationName": "Query", "query": "query Query { __typename }"});
    assert_accepted(&[JSON, ACCEPT], named).await;
}

#[tokio::test]
async fn audits_0220_0221_0222_allow_parameters_that_are_null() {
    for parameter in ["variables", "operationName", "extensions"] {
        let mut body = json!({"query": "{ __typename }"});
        body[parameter] = Value::Null;
        assert_accepted(&[JSON, ACCEPT], body).await;
    }
}

#[tokio::test]
async fn audits_28b9_1b7a_allow_maps_of_variables_and_extensions() {
    let query = "query Type($name: String!) { __type(name: $name) { name } }";
    assert_accepted(
        &[JSON, ACCEPT],
        json!({"query": query, "variables": {"name": "sometype"}}),
    )
    .await;
    let body = json!({"query": "{ __typename }", "extensions": {"some": "value"}});
    assert_accepted(&[JSON, ACCEPT], body).await;
}

#[tokio::test]
async fn the_new_media_type_is_sent_on_request() {
    let accept = (
        "accept",
        "application/graphql-response+json, application/json;q=0.9",
    );
    let reply = assert_accepted(&[JSON, accept], json!({"query": "{ __typename }"})).await;
    assert_eq!(
        reply.header("content-type"),
        Some("application/graphql-response+json")
    );
}

#[tokio::test]
async fn extensions_that_are_not_a_map_are_refused() {
    let fake = start_fake().await;
    for extensions in [json!(0), json!(false), json!("text"), json!(["list"])] {
        let body = json!({"query": "{ __typename }", "extensions": extensions});
        assert_eq!(post(&fake, &[JSON], &body).await.status, 400);
    }
}

#[tokio::test]
async fn a_get_of_the_endpoint_is_refused_with_a_hint() {
    let fake = start_fake().await;
    let reply = send(&fake.graphql_url(), "GET", &[], "").await.unwrap();
    assert_eq!(reply.status, 404);
    let body = reply.json();
    assert_eq!(body["call"], "GET /v2/graphql");
    assert!(body["hint"].as_str().unwrap().contains("POST /v2/graphql"));
}

#[tokio::test]
async fn aliases_fragments_defaults_directives_and_introspection_work_together() {
    let fake = start_fake().await;
    let query = "query Q($first: Int = 1, $yes: Boolean!, $no: Boolean = false) {
      one: consignments(envdAccountId: \"envd-100201\", first: $first) {
        __typename total: totalCount edges { node { ...Short status @skip(if: $yes) } }
      }
      two: consignments(envdAccountId: \"envd-100201\", first: 2) { items { number @include(if: $no) id } }
      __schema { queryType { name } }
    }
    fragment Short on Consignment { no: number ... on Consignment { kind: __typename } }";
    let reply = post(
        &fake,
        &[JSON],
        &json!({"query": query, "variables": {"yes": true}}),
    )
    .await;
    assert_eq!(
        reply.json()["data"],
        json!({
            "one": {
                "__typename": "ConsignmentConnection",
                "total": 8,
                "edges": [{"node": {"no": "C-900000108", "kind": "Consignment"}}],
            },
            "two": {"items": [
                {"id": "00000000-0000-4000-8000-000000000108"},
                {"id": "00000000-0000-4000-8000-000000000107"},
            ]},
            "__schema": {"queryType": {"name": "Query"}},
        })
    );
}

#[tokio::test]
async fn an_operation_outside_the_schema_is_an_error_with_a_hint() {
    let fake = start_fake().await;
    let body = json!({"query": "query HerdReport { herdReport }"});
    let reply = post(&fake, &[JSON], &body).await;
    assert_eq!(reply.status, 400);
    assert_eq!(reply.json()["errors"][0]["extensions"]["number"], "5.3.1");
    let hint = reply.header("x-fake-hint").unwrap();
    assert!(
        hint.contains("HerdReport") && hint.contains("fake.on_own_operation"),
        "{hint}"
    );
}

#[tokio::test]
async fn a_head_request_has_no_body_and_the_connection_stays_usable() {
    let fake = start_fake().await;
    let reply = send(&fake.graphql_url(), "HEAD", &[], "").await.unwrap();
    assert_eq!((reply.status, reply.body.len()), (404, 0));
}
