//! The derive of `graphql_client` with reqwest.

use std::time::Duration;

use graphql_client::{GraphQLQuery, Response};

use crate::measure::Run;
use crate::record::{ACCOUNT, TOKEN};

type DateTime = String;

#[derive(GraphQLQuery)]
#[graphql(
    schema_path = "../../graphql/schema.graphql",
    query_path = "src/bin/walk/summary.graphql"
)]
struct Consignments;

#[derive(GraphQLQuery)]
#[graphql(
    schema_path = "../../graphql/schema.graphql",
    query_path = "src/bin/walk/full.graphql"
)]
struct FullConsignments;

/// The derive generates separate types for each document, without a common trait.
macro_rules! walk {
    ($walk:ident, $query:ident, $module:ident) => {
        pub fn $walk(run: &Run<'_>) -> (Duration, usize) {
            let url = format!("{}/graphql", run.base());
            run.timed(async move {
                let client = reqwest::Client::new();
                let mut after = None;
                let mut records = 0;
                loop {
                    let body = $query::build_query($module::Variables {
                        envd_account_id: ACCOUNT.to_owned(),
                        first: Some(100),
                        after,
                    });
                    let request = client.post(&url).bearer_auth(TOKEN).json(&body);
                    let reply: Response<$module::ResponseData> =
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
    };
}

walk!(walk, Consignments, consignments);
walk!(walk_full, FullConsignments, full_consignments);
