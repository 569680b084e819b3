//! reqwest with its `json` methods and the records written by hand.

use std::time::Duration;

use crate::measure::timed;
use crate::record::{Record, Reply, TOKEN, body};

pub fn walk<T: Record>(base: &str) -> (Duration, usize) {
    timed(async {
        let client = reqwest::Client::new();
        let mut after: Option<String> = None;
        let mut records = 0;
        loop {
            let request = client
                .post(format!("{base}/graphql"))
                .bearer_auth(TOKEN)
                .json(&body::<T>(after.as_deref()));
            let reply: Reply<T> = request.send().await.unwrap().json().await.unwrap();
            let page = reply.data.consignments;
            records += page.edges.len();
            if !page.page_info.has_next_page {
                return records;
            }
            after = page.page_info.end_cursor;
        }
    })
}
