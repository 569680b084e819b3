//! hyper and serde by hand: one UTF-8 check, then `from_str` into owned records.

use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::Request;
use hyper::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE};
use hyper_util::client::legacy::Client;
use hyper_util::rt::TokioExecutor;

use crate::measure::timed;
use crate::record::{Record, Reply, TOKEN, body};

pub fn walk<T: Record>(base: &str) -> (Duration, usize) {
    timed(async {
        let client: Client<_, Full<Bytes>> = Client::builder(TokioExecutor::new()).build_http();
        let mut after = None;
        let mut records = 0;
        loop {
            let body = serde_json::to_vec(&body::<T>(after.as_deref())).unwrap();
            let request = Request::post(format!("{base}/graphql"))
                .header(AUTHORIZATION, format!("Bearer {TOKEN}"))
                .header(ACCEPT, "application/json")
                .header(CONTENT_TYPE, "application/json")
                .body(Full::from(body))
                .unwrap();
            let reply = client.request(request).await.unwrap();
            let bytes = reply.into_body().collect().await.unwrap().to_bytes();
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
