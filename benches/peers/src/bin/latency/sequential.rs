//! A sequential client by hand with hyper and serde: fetches a page, processes it, then fetches the next one.

use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::Request;
use hyper::header::{AUTHORIZATION, CONTENT_TYPE};
use hyper_util::client::legacy::Client;
use hyper_util::rt::TokioExecutor;

use crate::record::{Reply, Summary, TOKEN, body};

pub async fn walk(url: &str, work: Duration) -> usize {
    let client: Client<_, Full<Bytes>> = Client::builder(TokioExecutor::new()).build_http();
    let mut after = None;
    let mut records = 0;
    loop {
        let body = serde_json::to_vec(&body::<Summary>(after.as_deref())).unwrap();
        let request = Request::post(url)
            .header(AUTHORIZATION, format!("Bearer {TOKEN}"))
            .header(CONTENT_TYPE, "application/json")
            .body(Full::from(body))
            .unwrap();
        let reply = client.request(request).await.unwrap();
        let bytes = reply.into_body().collect().await.unwrap().to_bytes();
        let text = std::str::from_utf8(&bytes).unwrap();
        let page = serde_json::from_str::<Reply<Summary>>(text)
            .unwrap()
            .data
            .consignments;
        records += page.edges.len();
        tokio::time::sleep(work).await;
        if !page.page_info.has_next_page {
            return records;
        }
        after = page.page_info.end_cursor;
    }
}
