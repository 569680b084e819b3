//! The same client with reqwest instead of hyper: the lower bound for clients based on reqwest.

use std::time::Duration;

use crate::measure::timed;
use crate::record::{Record, Reply, TOKEN, body};

pub fn walk<T: Record>(base: &str) -> (Duration, usize) {
    timed(async {
        let client = reqwest::Client::new();
        let mut after: Option<String> = None;
        let mut records = 0;
        loop {
            let body = serde_json::to_vec(&body::<T>(after.as_deref())).unwrap();
            let request = client
                .post(format!("{base}/graphql"))
                .bearer_auth(TOKEN)
                .header("content-type", "application/json")
                .body(body);
            let bytes = request.send().await.unwrap().bytes().await.unwrap();
            let text = std::str::from_utf8(&bytes).unwrap();
            let page = serde_json::from_str::<Reply<T>>(text)
                .unwrap()
                .data
                .consignments;
            records += page.edges.len();
            if !page.page_info.has_next_page {
                return records;
            }
            after = page.page_info.end_cursor;
        }
    })
}
