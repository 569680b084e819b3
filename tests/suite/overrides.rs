//! Documents of the caller that replace ours, for a live schema that differs from the assumed one.

use envd_sdk::model::CommentInput;
use envd_sdk::ops::ConsignmentFilter;
use envd_sdk::{ClientBuilder, ErrorKind};
use equipment::Server;
use serde_json::{Value, json};

use crate::fixed_date::start_fake;
use crate::pages::collect_up_to;
use crate::profiles::moved;
use crate::scripted::{self, client_at, ok};

fn serve(body: Value) -> (Server, ClientBuilder) {
    let server = Server::script([ok(body)]);
    let client = scripted::client(&server);
    (server, client)
}

/// The body of the last request.
fn sent(server: &Server) -> Value {
    scripted::body(server.requests().last().unwrap())
}

#[tokio::test]
async fn aliases_preserve_our_types_and_paging() {
    let fake = start_fake().await;
    let document = "query Mine($envdAccountId: String!, $first: Int, $after: String) {
        consignments: consignments(envdAccountId: $envdAccountId, first: $first, after: $after) {
            pageInfo { hasNextPage endCursor }
            edges { cursor node { number: id } }
        }
    }";
    let client = fake
        .client()
        .override_operation("consignments", document)
        .build()
        .unwrap();
    let account = client.account(fake.account_id());
    let mut items = account
        .consignments(&ConsignmentFilter::default().page_size(4))
        .items();
    let mut numbers = Vec::new();
    collect_up_to(&mut items, 7, &mut numbers).await.unwrap();
    assert_eq!(numbers.len(), 7);
    assert!(
        numbers
            .iter()
            .all(|record| record.number.is_some() && record.id.is_none())
    );
}

#[tokio::test]
async fn a_filter_that_the_document_lacks_is_an_error_and_nothing_is_sent() {
    let fake = start_fake().await;
    let document = "query($envdAccountId: String!) {
        consignments(envdAccountId: $envdAccountId) { pageInfo { hasNextPage } edges { node { id } } } }";
    let client = fake
        .client()
        .override_operation("consignments", document)
        .build()
        .unwrap();
    let account = client.account(fake.account_id());
    let filter = ConsignmentFilter::default();
    let _ = account.consignments_page(&filter, None).await.unwrap();
    let error = account
        .consignments_page(&filter.page_size(3), None)
        .await
        .unwrap_err();
    assert!(error.kind() == ErrorKind::Config);
    assert_eq!(error.attempts(), 0);
    assert!(error.to_string().contains("$first"), "{error}");
}

#[tokio::test]
async fn a_result_without_the_data_wrapper_is_found_by_its_pointer() {
    let (server, client) =
        serve(json!({"data": {"copy": {"result": [{"id": "c-9", "number": "C9"}]}}}));
    let document = "mutation Copy($envdAccountId: ID!, $id: ID!) { copy(a: $envdAccountId, b: $id) { result { id } } }";
    let client = client
        .profile(&moved("copyConsignment", document, "/copy/result/0"))
        .build()
        .unwrap();
    let copied = client
        .account("envd-1")
        .copy_consignment("c-1")
        .await
        .unwrap();
    assert_eq!(copied.value.id.unwrap(), "c-9");
    let body = sent(&server);
    assert_eq!(body["query"], document);
    assert_eq!(body["operationName"], "Copy");
    assert_eq!(
        body["variables"],
        json!({"envdAccountId": "envd-1", "id": "c-1"})
    );
}

#[tokio::test]
async fn server_errors_and_unexpected_records_are_reported_as_without_an_override() {
    let document =
        "mutation($envdAccountId: ID!, $id: ID!) { copy(a: $envdAccountId, b: $id) { id } }";
    let of = |client: ClientBuilder| {
        let client = client.profile(&moved("copyConsignment", document, "/copy"));
        client.build().unwrap().account("envd-1")
    };
    let (_, client) = serve(json!({"data": null, "errors": [{"message": "no"}]}));
    let error = of(client).copy_consignment("c-1").await.unwrap_err();
    assert!(error.is_rejected());
    assert_eq!(error.operation(), Some("copyConsignment"));

    let (_, client) =
        serve(json!({"data": {"copy": {"id": []}}, "errors": [{"message": "partial"}]}));
    let error = of(client).copy_consignment("c-1").await.unwrap_err();
    assert!(error.kind() == ErrorKind::Decode && error.may_have_applied());
    assert_eq!(error.server_errors().len(), 1);

    let (server, client) = serve(json!({"data": {"elsewhere": {"id": "c-9"}}}));
    let error = of(client).copy_consignment("c-1").await.unwrap_err();
    assert!(error.kind() == ErrorKind::Protocol);
    // A document without a name is sent without one.
    assert_eq!(sent(&server).get("operationName"), None);
}

#[tokio::test]
async fn the_fields_of_an_input_may_be_variables_of_their_own() {
    let plain =
        json!({"envdAccountId": "envd-1", "consignmentNumber": "C-1", "commentText": "once"});
    let input = json!({"consignmentNumber": "C-1", "commentText": "once"});
    let both = json!({"envdAccountId": "envd-1", "input": input, "consignmentNumber": "C-1"});
    for (variables, sent_or_why) in [
        (
            "$envdAccountId: ID!, $consignmentNumber: String!, $commentText: String!",
            Ok(plain.clone()),
        ),
        (
            "$envdAccountId: ID!, $consignmentNumber: Int, $commentText: T, $mood: M",
            Ok(plain),
        ),
        (
            "$envdAccountId: ID!, $input: T!, $consignmentNumber: String!",
            Ok(both),
        ),
        (
            "$envdAccountId: ID!, $consignmentNumber: String!",
            Err("does not declare $commentText"),
        ),
        (
            "$consignmentNumber: String!, $commentText: String!",
            Err("does not declare $envdAccountId"),
        ),
        (
            "$envdAccountId: ID!, $input: T!, $mood: M!",
            Err("requires $mood, which has no value"),
        ),
    ] {
        let (server, client) = serve(json!({"data": {"createComment": {"commentId": "k-9"}}}));
        let document = format!("mutation({variables}) {{ createComment(a: $a) {{ commentId }} }}");
        let client = client
            .override_operation("createComment", document)
            .build()
            .unwrap();
        let comment = CommentInput::new("C-1", "once");
        let made = client.account("envd-1").create_comment(comment).await;
        match sent_or_why {
            Ok(expected) => {
                assert_eq!(made.unwrap().value.comment_id.unwrap(), "k-9");
                assert_eq!(sent(&server)["variables"], expected);
            }
            Err(why) => {
                let error = made.unwrap_err();
                assert!(
                    error.kind() == ErrorKind::Config && error.to_string().contains(why),
                    "{error}"
                );
                assert_eq!(server.count(), 0);
            }
        }
    }
}

#[tokio::test]
async fn a_delete_is_done_where_the_server_only_says_true() {
    for (result, is_done) in [
        (json!(true), true),
        (json!({"data": true}), true),
        (json!(false), false),
        (json!({"data": false}), false),
        (json!("true"), false),
        (json!(1), false),
        (json!(null), false),
        (json!({}), false),
    ] {
        for (name, pointer) in [
            ("deleteConsignment", None),
            ("deleteTemplate", None),
            ("deleteConsignment", Some("/deleteConsignment")),
            ("copyConsignment", None),
        ] {
            let (_server, client) = serve(json!({"data": {name: result}}));
            let document = format!("mutation($envdAccountId: ID!, $id: ID!) {{ {name}(a: $a) }}");
            let client = match pointer {
                None => client.override_operation(name, document),
                Some(pointer) => client.profile(&moved(name, &document, pointer)),
            };
            let account = client.build().unwrap().account("envd-1");
            let done = match name {
                "deleteTemplate" => account.delete_template("t-1").await.map(|_| ()),
                "copyConsignment" => account.copy_consignment("c-1").await.map(|_| ()),
                _ => account.delete_consignment("c-1").await.map(|_| ()),
            };
            // A copy has an id, which its caller needs.
            let is_done = is_done && name != "copyConsignment";
            match done {
                Ok(()) => assert!(is_done, "{name} {result}"),
                Err(error) => {
                    assert!(!is_done, "{name} {result}: {error}");
                    assert!(
                        error.kind() == ErrorKind::Protocol
                            || pointer.is_some()
                            || name == "copyConsignment",
                        "{name} {result}: {error}"
                    );
                    assert!(error.may_have_applied(), "{name} {result}");
                }
            }
        }
    }
}

#[tokio::test]
async fn a_document_of_the_caller_with_the_same_name_is_not_replaced() {
    let (server, client) = serve(json!({"data": {"a": 1}}));
    let client = client
        .override_operation("questions", "{ questions { id } }")
        .build()
        .unwrap();
    let invalid = client_at(server.url()).override_operation("questions", "mutation { a }");
    assert!(invalid.build().unwrap_err().kind() == ErrorKind::Config);
    let mine = "query Questions { a }";
    let data: Value = client
        .execute_document(mine, "Questions", &json!({}))
        .await
        .unwrap()
        .value;
    assert_eq!(data["a"], 1);
    assert_eq!(sent(&server)["query"], mine);
}
