//! The derive of `graphql_client` with reqwest.

use graphql_client::{GraphQLQuery, Response};
use tokio::runtime::Runtime;

use crate::record::{ACCOUNT, TOKEN};

type DateTime = String;

#[derive(GraphQLQuery)]
#[graphql(
    schema_path = "../../graphql/schema.graphql",
    query_path = "src/bin/walk/consignments.graphql"
)]
struct Consignments;

pub fn walk(runtime: &Runtime, url: &str) -> usize {
    runtime.block_on(async {
        let client = reqwest::Client::new();
        let mut after = None;
        let mut records = 0;
        loop {
            let body = Consignments::build_query(consignments::Variables {
                envd_account_id: ACCOUNT.to_owned(),
                first: Some(100),
                after,
            });
            let request = client.post(url).bearer_auth(TOKEN).json(&body);
            let reply: Response<consignments::ResponseData> =
                request.send().await.unwrap().json().await.unwrap();
            let page = reply.data.unwrap().consignments.unwrap();
            records += page.edges.unwrap().len();
            let info = page.page_info;
            if !info.has_next_page {
                return records;
            }
            after = info.end_cursor;
        }
    })
}
