//! By hand: with hyper, with reqwest, and with reqwest's `json` method.

use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt, Empty};
use hyper::Request;
use hyper::header::ACCEPT;
use hyper_util::client::legacy::Client;
use hyper_util::rt::TokioExecutor;

use super::PAGES;
use super::property::Reply;
use crate::LANES;
use crate::measure::{side_by_side, timed};

pub fn hyper(base: &str) -> (Duration, usize) {
    timed(async {
        let client: Client<_, Empty<Bytes>> = Client::builder(TokioExecutor::new()).build_http();
        side_by_side((0..LANES).map(|_| {
            let (client, base) = (client.clone(), base.to_owned());
            async move {
                let mut records = 0;
                for page in 0..PAGES {
                    let request = Request::get(url(&base, page))
                        .header(ACCEPT, "application/json")
                        .body(Empty::new())
                        .unwrap();
                    let reply = client.request(request).await.unwrap();
                    let bytes = reply.into_body().collect().await.unwrap().to_bytes();
                    records += count(&bytes);
                }
                records
            }
        }))
        .await
    })
}

pub fn reqwest(base: &str) -> (Duration, usize) {
    timed(async {
        let client = reqwest::Client::new();
        side_by_side((0..LANES).map(|_| {
            let (client, base) = (client.clone(), base.to_owned());
            async move {
                let mut records = 0;
                for page in 0..PAGES {
                    let request = client.get(url(&base, page));
                    let request = request.header(ACCEPT, "application/json");
                    let bytes = request.send().await.unwrap().bytes().await.unwrap();
                    records += count(&bytes);
                }
                records
            }
        }))
        .await
    })
}

pub fn json(base: &str) -> (Duration, usize) {
    timed(async {
        let client = reqwest::Client::new();
        side_by_side((0..LANES).map(|_| {
            let (client, base) = (client.clone(), base.to_owned());
            async move {
                let mut records = 0;
                for page in 0..PAGES {
                    let request = client.get(url(&base, page));
                    let request = request.header(ACCEPT, "application/json");
                    let reply: Reply = request.send().await.unwrap().json().await.unwrap();
                    records += reply.value.sub_set.len();
                }
                records
            }
        }))
        .await
    })
}

fn url(base: &str, page: usize) -> String {
    format!("{base}/api/v2/PICRegister?SearchText=yards&pageindex={page}&pagesize=100")
}

fn count(bytes: &[u8]) -> usize {
    let text = std::str::from_utf8(bytes).unwrap();
    let reply: Reply = serde_json::from_str(text).unwrap();
    reply.value.sub_set.len()
}
