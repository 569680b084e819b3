//! envd-sdk as in its documentation.

use std::time::Duration;

use envd_sdk::Client;
use envd_sdk::auth::StaticToken;
use envd_sdk::ops::ConsignmentFilter;

use crate::record::{ACCOUNT, TOKEN};

pub async fn walk(url: &str, work: Duration) -> usize {
    let token = StaticToken::new(TOKEN).unwrap();
    let client = Client::builder(url).token_source(token).build().unwrap();
    let account = client.account(ACCOUNT);
    let filter = ConsignmentFilter::default().page_size(100);
    let mut pager = account.consignments(&filter);
    let mut records = 0;
    while let Some(page) = pager.next_page().await.unwrap() {
        records += page.records.len();
        tokio::time::sleep(work).await;
    }
    records
}
