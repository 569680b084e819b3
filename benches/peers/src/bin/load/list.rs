//! Lists of any length, and walks over them.

use std::time::Duration;

use envd_sdk::auth::StaticToken;
use envd_sdk::ops::ConsignmentFilter;
use envd_sdk::{Client, HttpOptions};
use serde_json::Value;

use crate::measure::{Request, Run, Server, side_by_side};

const PAGE_SIZE: usize = 100;

/// The account id has the number of records.
pub fn serve() -> Server {
    let (before, after) = NODE.split_once(ID).unwrap();
    Server::start(move |request: &Request<'_>, reply| {
        let body: Value = serde_json::from_slice(request.body).unwrap();
        let variables = &body["variables"];
        let number = |name: &str| {
            variables[name]
                .as_str()
                .map_or(0, |text| text.parse().unwrap())
        };
        let (total, page): (usize, usize) = (number("envdAccountId"), number("after"));
        let more = (page + 1) * PAGE_SIZE < total;
        let head = format!(
            r#"{{"data":{{"consignments":{{"totalCount":{total},"pageInfo":{{"hasNextPage":{more},"endCursor":"{}"}},"edges":["#,
            page + 1,
        );
        reply.extend_from_slice(head.as_bytes());
        for row in 0..PAGE_SIZE {
            let comma = if row == 0 { "" } else { "," };
            // Each record is different: a list that repeats records is refused as endless.
            let id = page * PAGE_SIZE + row;
            let edge = format!(r#"{comma}{{"cursor":"c{row}","node":{before}{id:012}{after}}}"#);
            reply.extend_from_slice(edge.as_bytes());
        }
        reply.extend_from_slice(b"]}}}");
    })
}

/// The part of the id that each record replaces.
const ID: &str = "000000000001";

const NODE: &str = r#"{"id":"00000000-0000-4000-8000-000000000001","number":"C-000000001","status":"DRAFT","species":"CATTLE","movementDate":"2026-11-23","movementTime":"05:15","heads":24,"createdBy":"Sam Sample","updatedAt":"2026-11-20T09:26:00Z","owner":{"name":"Sample Pastoral","pic":"QAZZ7777","address":{"line1":"101 Example Road","town":"Sampleton","state":"QLD","postcode":"4999"}},"origin":{"name":"Sample Station","pic":"QAZZ7777","address":null},"destination":{"name":"Testbrook Meats","pic":"ND000003","address":null},"consignee":null,"forms":[{"type":"LPAC1","serialNumber":"00000001"}]}"#;

/// The CPU time of walks over so many records each: so many at once, and as often in turn.
pub fn walk(run: &Run<'_>, at_once: usize, in_turn: usize, records: usize) -> Duration {
    walk_with(run, at_once, in_turn, records, HttpOptions::default())
}

pub fn walk_with(
    run: &Run<'_>,
    at_once: usize,
    in_turn: usize,
    records: usize,
    options: HttpOptions,
) -> Duration {
    let url = format!("{}/graphql", run.base());
    let (time, seen) = run.timed(async move {
        let token = StaticToken::new("eyJhbGciOi.eyJzdWIi.c2ln").unwrap();
        let builder = Client::builder(url).token_source(token).http(options);
        let client = builder.build().unwrap();
        let account = client.account(records.to_string());
        side_by_side((0..at_once).map(|_| {
            let account = account.clone();
            async move {
                let mut seen = 0;
                for _ in 0..in_turn {
                    let filter = ConsignmentFilter::default().page_size(100);
                    let mut pager = account.consignments(&filter);
                    while let Some(page) = pager.next_page().await.unwrap() {
                        seen += page.records.len();
                    }
                }
                seen
            }
        }))
        .await
    });
    assert_eq!(seen, at_once * in_turn * records);
    time
}
