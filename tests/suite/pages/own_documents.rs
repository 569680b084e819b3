//! Lists of the caller's own documents.

use envd_sdk::model::Connection;
use envd_sdk::{ErrorKind, Items, Pager};
use graphql_client::{GraphQLQuery, QueryBody};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{Records, account, assert_resumes, more, ok, page, placed, serve};
use crate::fixed_date::start_fake;

/// What the derive of `graphql_client` makes of a document.
struct Numbers;

#[derive(Default, Serialize)]
struct Variables {
    account: String,
    after: Option<String>,
}

#[derive(Deserialize)]
struct Data {
    consignments: Option<List>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct List {
    total_count: Option<i64>,
    page_info: Value,
    edges: Vec<Option<Edge>>,
}

#[derive(Deserialize)]
struct Edge {
    cursor: Option<String>,
    node: Option<Node>,
}

#[derive(Deserialize)]
struct Node {
    number: String,
}

impl GraphQLQuery for Numbers {
    type Variables = Variables;
    type ResponseData = Data;

    fn build_query(variables: Variables) -> QueryBody<Variables> {
        QueryBody {
            variables,
            query: "query Numbers($account: String!, $after: String) {
                consignments(envdAccountId: $account, first: 3, after: $after) {
                    totalCount pageInfo { hasNextPage endCursor } edges { cursor node { number } }
                }
            }",
            operation_name: "Numbers",
        }
    }
}

fn numbers(client: &envd_sdk::Client, account: &str) -> Pager<Node> {
    let account = account.to_owned();
    let pager = client.pager::<Numbers, _>(
        move |after| Variables {
            account: account.clone(),
            after,
        },
        |data| {
            let list = data.consignments?;
            let edges = list.edges.into_iter();
            let edges =
                edges.map(|edge| edge.map_or((None, None), |edge| (edge.cursor, edge.node)));
            let end_cursor = list.page_info["endCursor"].as_str().map(str::to_owned);
            let more = list.page_info["hasNextPage"].as_bool();
            Some(Connection::new(more, end_cursor, edges).total(list.total_count))
        },
    );
    pager.record_id(|record| Some(record.number.as_str().into()))
}

impl Records for Items<Node> {
    async fn record(&mut self) -> Option<String> {
        Some(self.next().await?.unwrap().number)
    }

    fn place(&self) -> String {
        serde_json::to_string(self.position()).unwrap()
    }
}

#[tokio::test]
async fn an_own_list_is_read_page_by_page_and_resumes_after_any_record() {
    let fake = start_fake().await;
    let client = fake.client().build().unwrap();
    let list = || numbers(&client, fake.account_id());
    let all = assert_resumes(|place| list().start_at(placed(place)).items()).await;
    let before = fake.requests_of::<Numbers>().len();
    let mut items = list().items();
    while items.next().await.is_some() {}
    assert!(all.len() > 3);
    assert_eq!(
        fake.requests_of::<Numbers>().len() - before,
        all.len().div_ceil(3)
    );
}

#[tokio::test]
async fn a_list_that_does_not_end_is_an_error_with_the_operation() {
    // Cursors in a cycle of three, and records without an id.
    let server = serve(|after| match after {
        "a" => ok(page(more("b"), &["1"])),
        "b" => ok(page(more("c"), &["2"])),
        _ => ok(page(more("a"), &["3"])),
    });
    let pager = numbers(account(&server).client(), "envd-1");
    let mut pager = pager.record_id(|_| None);
    let mut read = 0;
    let error = loop {
        match pager.next_page().await {
            Ok(page) => assert!(page.is_some()),
            Err(error) => break error,
        }
        read += 1;
        assert!(read < 50, "the list does not end");
    };
    assert!(error.kind() == ErrorKind::Stalled && error.operation() == Some("Numbers"));
    assert!(read == 4 && server.count() <= 6, "{read} pages");
}

#[tokio::test]
async fn a_reply_without_the_list_is_an_error() {
    let server = serve(|_| ok(json!({"data": {"consignments": null}})));
    let mut pager = numbers(account(&server).client(), "envd-1");
    let error = pager.next_page().await.unwrap_err();
    assert!(error.kind() == ErrorKind::Protocol && error.operation() == Some("Numbers"));
}
