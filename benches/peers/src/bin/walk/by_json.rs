//! reqwest with its `json` methods and the records written by hand.

use tokio::runtime::Runtime;

use crate::record::{Reply, TOKEN, body};

pub fn walk(runtime: &Runtime, url: &str) -> usize {
    runtime.block_on(async {
        let client = reqwest::Client::new();
        let mut after: Option<String> = None;
        let mut records = 0;
        loop {
            let request = client
                .post(url)
                .bearer_auth(TOKEN)
                .json(&body(after.as_deref()));
            let reply: Reply = request.send().await.unwrap().json().await.unwrap();
            let page = reply.data.consignments;
            records += page.edges.len();
            if !page.page_info.has_next_page {
                return records;
            }
            after = page.page_info.end_cursor;
        }
    })
}
