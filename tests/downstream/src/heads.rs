//! A custom query of the application, of which `build.rs` writes the types.

use std::collections::BTreeMap;

use envd_sdk::model::{AccountId, Day, Jurisdiction};
use envd_sdk::{Client, Error};

use crate::queries::{Heads, heads};

pub(crate) async fn by_day(
    client: &Client,
    account: &AccountId,
    since: Day,
) -> Result<Vec<(String, i64)>, Error> {
    let variables = heads::Variables {
        account: account.clone(),
        since: Some(since.start_in(Jurisdiction::Nsw)),
    };
    let data = client.execute::<Heads>(variables).await?.value;
    let edges = data.consignments.map(|page| page.edges);
    let mut days = BTreeMap::new();
    for node in edges.into_iter().flatten().filter_map(|edge| edge.node) {
        if let (Some(day), Some(heads)) = (node.movement_date, node.heads) {
            *days.entry(day).or_insert(0) += heads;
        }
    }
    Ok(days.into_iter().collect())
}
