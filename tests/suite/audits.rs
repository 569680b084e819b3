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

const ACCEPT: (&str, &str) = ("accept", "application/json");

/// The audits by their ids, and a request that must be accepted.
const MUSTS: &str = r#"
4655 82a3 13ee | {"query": "{ __typename }"}
78d5 2c94 03d4 bf61 | {"query": "{ __type(name: \"Kuh🐄Schaf🐑é\") { name } }"}
b8b3 | {"query": "query Query { __typename }", "operationName": "Query"}
0220 | {"query": "{ __typename }", "variables": null}
0221 | {"query": "{ __typename }", "operationName": null}
0222 | {"query": "{ __typename }", "extensions": null}
28b9 | {"query": "query Type($name: String!) { __type(name: $name) { name } }", "variables": {"name": "sometype"}}
1b7a | {"query": "{ __typename }", "extensions": {"some": "value"}}
"#;

#[tokio::test]
async fn each_must_of_the_audits_is_kept() {
    let fake = start_fake().await;
    let new = "application/graphql-response+json";
    let both = format!("{new}, application/json;q=0.9");
    let utf_8 = ("content-type", "application/json; charset=utf-8");
    for (headers, answer) in [
        (&[JSON][..], "application/json"),
        (&[JSON, ACCEPT], "application/json"),
        (&[utf_8, ACCEPT], "application/json"),
        // On request only.
        (&[JSON, ("accept", &both)], new),
    ] {
        for must in MUSTS.trim().lines() {
            let (_, body) = must.split_once(" | ").unwrap();
            let reply = post(&fake, headers, &serde_json::from_str(body).unwrap()).await;
            assert_eq!(reply.status, 200, "{must}");
            assert_eq!(reply.json()["errors"], Value::Null, "{must}");
            let media_type = reply.header("content-type").unwrap();
            assert!(media_type.starts_with(answer), "{must}: {media_type}");
        }
    }
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
async fn an_unknown_call_is_refused_with_its_name_and_a_hint() {
    let fake = start_fake().await;
    let mut other = fake.graphql_url();
    other.set_path("/v1/consignments");
    for (url, call) in [
        (fake.graphql_url(), "GET /v2/graphql"),
        (other, "GET /v1/consignments"),
    ] {
        let reply = send(&url, "GET", &[], "").await.unwrap();
        assert_eq!(reply.status, 404);
        let body = reply.json();
        assert_eq!(body["call"], call);
        assert!(body["hint"].as_str().unwrap().contains("POST /v2/graphql"));
    }
}

#[tokio::test]
async fn aliases_fragments_defaults_directives_and_introspection_work_together() {
    let fake = start_fake().await;
    let query = "query Q($first: Int = 1, $yes: Boolean!, $no: Boolean = false) {
      one: consignments(envdAccountId: \"envd-100201\", first: $first) {
        __typename total: totalCount edges { node { ...Short status @skip(if: $yes) } }
      }
      two: consignments(envdAccountId: \"envd-100201\", first: 2) { items { number @include(if: $no) id } }
      __schema { queryType { name } } __type(name: \"EFormType\") { kind }
    }
    query Other { userDetails { email } }
    fragment Short on Consignment { no: number ... on Consignment { kind: __typename } }";
    let body = json!({"query": query, "operationName": "Q", "variables": {"yes": true}});
    let reply = post(&fake, &[JSON], &body).await;
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
            "__type": {"kind": "ENUM"},
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
