//! envd-sdk, as its documentation shows it.

use envd_sdk::Client;
use envd_sdk::auth::StaticToken;
use envd_sdk::ops::ConsignmentFilter;
use tokio::runtime::Runtime;

use crate::record::{ACCOUNT, TOKEN};

pub fn walk(runtime: &Runtime, url: &str) -> usize {
    runtime.block_on(async {
        let token = StaticToken::new(TOKEN).unwrap();
        let client = Client::builder(url).token_source(token).build().unwrap();
        let account = client.account(ACCOUNT);
        let filter = ConsignmentFilter::default().page_size(100);
        let mut pager = account.consignments(&filter);
        let mut records = 0;
        while let Some(page) = pager.next_page().await.unwrap() {
            records += page.records.len();
        }
        records
    })
}
