//! A custom query of the application, with the derive of graphql_client.

use std::collections::BTreeMap;

use envd_sdk::model::{AccountId, Day, Jurisdiction, Timestamp};
use envd_sdk::{Client, Error};
use graphql_client::GraphQLQuery;

/// The scalar of the schema, in the type of the SDK.
type DateTime = Timestamp;

#[derive(GraphQLQuery)]
#[graphql(
    schema_path = "graphql/schema.graphql",
    query_path = "graphql/heads.graphql"
)]
struct Heads;

pub(crate) async fn by_day(
    client: &Client,
    account: &AccountId,
    since: Day,
) -> Result<Vec<(String, i64)>, Error> {
    let variables = heads::Variables {
        account: account.to_string(),
        since: Some(since.start_in(Jurisdiction::Nsw)),
    };
    let data = client.execute::<Heads>(variables).await?.value;
    let edges = data.consignments.and_then(|page| page.edges);
    let mut days = BTreeMap::new();
    for node in edges.into_iter().flatten().flatten().filter_map(|e| e.node) {
        if let (Some(day), Some(heads)) = (node.movement_date, node.heads) {
            *days.entry(day).or_insert(0) += heads;
        }
    }
    Ok(days.into_iter().collect())
}
