//! By hand: hyper or reqwest, and serde. A page is checked to be UTF-8 once and then read by `from_str`.

use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::Request;
use hyper::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE};
use hyper_util::client::legacy::Client;
use hyper_util::rt::TokioExecutor;

use crate::measure::Run;
use crate::record::{Record, TOKEN, body};

/// Reads a page: the number of its records, and the cursor of the next page.
type Read = fn(&str) -> (usize, Option<String>);

pub fn hyper<T: Record>(run: &Run<'_>, read: Read) -> (Duration, usize) {
    let url = format!("{}/graphql", run.base());
    run.timed(async move {
        let client: Client<_, Full<Bytes>> = Client::builder(TokioExecutor::new()).build_http();
        let mut after = None;
        let mut records = 0;
        loop {
            let body = serde_json::to_vec(&body::<T>(after.as_deref())).unwrap();
            let request = Request::post(&url)
                .header(AUTHORIZATION, format!("Bearer {TOKEN}"))
                .header(ACCEPT, "application/json")
                .header(CONTENT_TYPE, "application/json")
                .body(Full::from(body))
                .unwrap();
            let reply = client.request(request).await.unwrap();
            let bytes = reply.into_body().collect().await.unwrap().to_bytes();
            let (count, next) = read(std::str::from_utf8(&bytes).unwrap());
            records += count;
            if next.is_none() {
                return records;
            }
            after = next;
        }
    })
}

/// The lower bound of clients that use reqwest.
pub fn reqwest<T: Record>(run: &Run<'_>, read: Read) -> (Duration, usize) {
    let url = format!("{}/graphql", run.base());
    run.timed(async move {
        let client = reqwest::Client::new();
        let mut after: Option<String> = None;
        let mut records = 0;
        loop {
            let body = serde_json::to_vec(&body::<T>(after.as_deref())).unwrap();
            let request = client
                .post(&url)
                .bearer_auth(TOKEN)
                .header(ACCEPT, "application/json")
                .header(CONTENT_TYPE, "application/json")
                .body(body);
            let bytes = request.send().await.unwrap().bytes().await.unwrap();
            let (count, next) = read(std::str::from_utf8(&bytes).unwrap());
            records += count;
            if next.is_none() {
                return records;
            }
            after = next;
        }
    })
}
