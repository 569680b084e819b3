//! Errors before execution, and features of GraphQL.

use serde_json::{Value, json};

use super::http::{call, data, fixture, get, post, start_fake};
use crate::fake::Fake;
use crate::secret::Secret;

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
    assert_refused(&fake, &list("colour"), json!({}), "schema-unknown-field").await;
    assert_refused(
        &fake,
        &list("colour\n        size"),
        json!({}),
        "schema-two-errors",
    )
    .await;
    let query = "query {\n  consignments(envdAccountId: \"100201\" colour: 1) { totalCount }\n}";
    assert_refused(&fake, query, json!({}), "schema-unknown-argument").await;
    assert_refused(
        &fake,
        "{\n  consignments { totalCount }\n}",
        json!({}),
        "schema-argument-missing",
    )
    .await;
    let query = "query Q {\n  consignments(envdAccountId: \"envd-100201\") {\n    totalCount\n    pageInfo\n  }\n}";
    assert_refused(&fake, query, json!({}), "schema-sub-selection-missing").await;
    assert_refused(
        &fake,
        "subscription { a }",
        json!({}),
        "schema-invalid-operation",
    )
    .await;
    assert_refused(
        &fake,
        "fragment F on Consignment { id }",
        json!({}),
        "schema-no-operation",
    )
    .await;
}

#[tokio::test]
async fn an_undefined_variable_is_reported_with_use_and_operation() {
    let fake = start_fake().await;
    let query = "query Consignments($envdAccountId: String!) {\n  consignments(envdAccountId: $envdAccountId, after:  $after) { totalCount }\n}";
    assert_refused(&fake, query, json!({}), "schema-undefined-variable").await;
}

#[tokio::test]
async fn a_syntax_error_is_reported() {
    let fake = start_fake().await;
    for query in ["query {\n  consignments(\n", "{", "nonsense"] {
        let response = call(&fake, query, json!({})).await;
        assert_eq!(response.status, 400);
        let error = &response.body["errors"][0];
        assert_eq!(error["extensions"]["code"], "SYNTAX_ERROR", "{query}");
        assert!(
            error["message"]
                .as_str()
                .unwrap()
                .starts_with("Error parsing query: ")
        );
        assert!(error["locations"][0]["line"].is_u64(), "{query}: {error}");
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
    let without_account = json!({"input": good["input"]});
    assert_refused(&fake, SAVE, without_account, "schema-variable-missing").await;
    assert_refused(
        &fake,
        SAVE,
        changed("/envdAccountId", Value::Null),
        "schema-variable-null",
    )
    .await;
    assert_refused(
        &fake,
        SAVE,
        changed("/input/origin", json!("QAZZ7777")),
        "schema-object-expected",
    )
    .await;
    assert_refused(
        &fake,
        SAVE,
        changed("/input/forms", json!(["LPAC9"])),
        "unknown-form",
    )
    .await;
    let mut colourful = good.clone();
    colourful["input"]["colour"] = json!("red");
    assert_refused(&fake, SAVE, colourful, "schema-unknown-input-field").await;
    let response = call(&fake, SAVE, changed("/input/origin", Value::Null)).await;
    assert_eq!(
        response.body["errors"][0]["message"],
        "Variable '$input.origin' is invalid. Received a null input for a non-null variable."
    );
    let response = call(&fake, "query($d: DateTime) { consignments(envdAccountId: \"envd-100201\", fromDate: $d) { totalCount } }", json!({"d": "soon"})).await;
    assert_eq!(
        response.body["errors"][0]["message"],
        "Variable '$d' is invalid. Unable to convert 'soon' to 'DateTime'"
    );
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
    ] {
        let response = send(body).await;
        assert_eq!(response.status, 400, "{body}");
        assert_eq!(
            response.body,
            fixture(&format!("errors/{file}.json")),
            "{body}"
        );
    }
    let response = send(
        "{\"query\": \"query A { questions { items { id } } }\", \"operationName\": \"Save\"}",
    )
    .await;
    assert_eq!(
        response.body,
        fixture("errors/schema-unknown-operation-name.json")
    );
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
async fn aliases_fragments_directives_and_introspection_work() {
    let fake = start_fake().await;
    let query = "query A($no: Boolean!) {
      __typename a: consignment(id: \"C-900000101\", envdAccountId: \"envd-100201\") { ...F status @skip(if: $no) }
      b: consignment(id: \"C-900000102\", envdAccountId: \"envd-100201\") { ... on Consignment { number } }
      questions @include(if: $no) { items { id } }
      __schema { queryType { name } } __type(name: \"EFormType\") { enumValues { name } } }
      fragment F on Consignment { __typename number }
      query B { userDetails { email } }";
    let body =
        json!({"query": query, "operationName": "A", "variables": {"no": false}}).to_string();
    let response = post(fake.graphql_url(), &fake.access_token(), body).await;
    let data = &response.body["data"];
    assert_eq!(data["__typename"], "Query");
    assert_eq!(
        data["a"],
        json!({"__typename": "Consignment", "number": "C-900000101", "status": "DRAFT"})
    );
    assert_eq!(data["b"]["number"], "C-900000102");
    assert!(data.get("questions").is_none());
    assert_eq!(data["__schema"]["queryType"]["name"], "Query");
    assert_eq!(data["__type"]["enumValues"].as_array().unwrap().len(), 14);
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

#[tokio::test]
async fn an_unknown_call_is_refused_with_its_name_and_a_hint() {
    let fake = start_fake().await;
    let mut url = fake.graphql_url();
    url.set_path("/v1/consignments");
    let response = get(url).await;
    assert_eq!(response.status, 404);
    assert_eq!(response.body["call"], "GET /v1/consignments");
    assert!(
        response.body["hint"]
            .as_str()
            .unwrap()
            .contains("/v2/graphql")
    );
}

#[tokio::test]
async fn every_operation_of_the_crate_is_a_valid_document() {
    let fake = start_fake().await;
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/graphql");
    let read = |folder: &str| -> Vec<String> {
        let files = std::fs::read_dir(format!("{root}/{folder}")).unwrap();
        files
            .map(|file| std::fs::read_to_string(file.unwrap().path()).unwrap())
            .collect()
    };
    // A file may contain several; each starts a line.
    let text = format!("\n{}", read("fragments").join("\n"));
    let fragments: Vec<&str> = text.split("\nfragment ").skip(1).collect();
    for operation in read("operations") {
        let mut document = operation.clone();
        // Adds the used fragments, and those that they use, until none is missing.
        loop {
            let missing = fragments.iter().find(|fragment| {
                let name = fragment.split(' ').next();
                let mut spreads = document.split("...").skip(1);
                spreads.any(|rest| rest.split_whitespace().next() == name)
                    && !document.contains(&format!("fragment {} ", name.unwrap()))
            });
            let Some(missing) = missing else { break };
            document.extend(["\nfragment ", missing]);
        }
        let response = call(&fake, &document, json!({})).await;
        let errors = response.body["errors"].as_array();
        for error in errors.into_iter().flatten() {
            // The only errors may be those of missing variables.
            assert!(
                error["message"]
                    .as_str()
                    .unwrap()
                    .contains("No value provided"),
                "{operation}: {error}"
            );
        }
    }
    data(&fake, "{ questions { items { id } } }", json!({})).await;
}
