//! By hand: with hyper, and with reqwest.

use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt, Empty};
use hyper::Request;
use hyper::header::ACCEPT;
use hyper_util::client::legacy::Client;
use hyper_util::rt::TokioExecutor;

use super::PAGES;
use super::property::read;
use crate::LANES;
use crate::measure::{Run, side_by_side};

/// With a function that reads a page: the number of its records.
pub fn hyper(run: &Run<'_>, read: fn(&str) -> usize) -> (Duration, usize) {
    let base = run.base();
    run.timed(async move {
        let client: Client<_, Empty<Bytes>> = Client::builder(TokioExecutor::new()).build_http();
        side_by_side((0..LANES).map(|_| {
            let (client, base) = (client.clone(), base.clone());
            async move {
                let mut records = 0;
                for page in 0..PAGES {
                    let request = Request::get(url(&base, page))
                        .header(ACCEPT, "application/json")
                        .body(Empty::new())
                        .unwrap();
                    let reply = client.request(request).await.unwrap();
                    let bytes = reply.into_body().collect().await.unwrap().to_bytes();
                    records += read(std::str::from_utf8(&bytes).unwrap());
                }
                records
            }
        }))
        .await
    })
}

pub fn reqwest(run: &Run<'_>) -> (Duration, usize) {
    let base = run.base();
    run.timed(async move {
        let client = reqwest::Client::new();
        side_by_side((0..LANES).map(|_| {
            let (client, base) = (client.clone(), base.clone());
            async move {
                let mut records = 0;
                for page in 0..PAGES {
                    let request = client.get(url(&base, page));
                    let request = request.header(ACCEPT, "application/json");
                    let bytes = request.send().await.unwrap().bytes().await.unwrap();
                    records += read::<String>(std::str::from_utf8(&bytes).unwrap());
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
