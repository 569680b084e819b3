//! envd-sdk as in its documentation: the typed list, and a custom document for more fields.

use std::time::Duration;

use envd_sdk::Client;
use envd_sdk::auth::StaticToken;
use envd_sdk::model::{Consignment, List, PageInfo};
use envd_sdk::ops::ConsignmentFilter;
use serde::{Deserialize, Serialize};

use crate::measure::Run;
use crate::record::{ACCOUNT, Record, TOKEN};

pub fn walk(run: &Run<'_>) -> (Duration, usize) {
    let base = run.base();
    run.timed(async move {
        let account = client(&base).account(ACCOUNT);
        let filter = ConsignmentFilter::default().page_size(100);
        let mut pager = account.consignments(&filter);
        let mut records = 0;
        while let Some(page) = pager.next_page().await.unwrap() {
            records += page.records.len();
        }
        records
    })
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Variables<'a> {
    envd_account_id: &'a str,
    first: u32,
    after: Option<String>,
}

#[derive(Deserialize)]
struct Data {
    consignments: Connection,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
#[allow(dead_code)]
struct Connection {
    total_count: Option<i64>,
    page_info: PageInfo,
    edges: List<Edge>,
}

#[derive(Deserialize)]
#[allow(dead_code)]
struct Edge {
    cursor: Option<String>,
    node: Option<Consignment>,
}

pub fn walk_full(run: &Run<'_>) -> (Duration, usize) {
    type FullRecords = crate::record::Consignment;
    let base = run.base();
    run.timed(async move {
        let client = client(&base);
        let mut after = None;
        let mut records = 0;
        loop {
            let variables = Variables {
                envd_account_id: ACCOUNT,
                first: 100,
                after,
            };
            let page = client.execute_document::<Data>(
                FullRecords::DOCUMENT,
                FullRecords::OPERATION,
                &variables,
            );
            let page = page.await.unwrap().value.consignments;
            records += page.edges.len();
            if page.page_info.has_next_page != Some(true) {
                return records;
            }
            after = page.page_info.end_cursor;
        }
    })
}

fn client(base: &str) -> Client {
    let token = StaticToken::new(TOKEN).unwrap();
    let builder = Client::builder(format!("{base}/graphql"));
    builder.token_source(token).build().unwrap()
}
