//! By hand: with hyper, and with reqwest.

use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::Request;
use hyper::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderValue};
use hyper_util::client::legacy::Client;
use hyper_util::rt::TokioExecutor;

use super::input::{Body, Input, Reply};
use super::token;
use crate::measure::{Run, side_by_side};

pub fn hyper(run: &Run<'_>, lanes: Vec<Vec<Input>>) -> (Duration, usize) {
    let base = run.base();
    run.timed(async move {
        let client: Client<_, Full<Bytes>> = Client::builder(TokioExecutor::new()).build_http();
        let token = HeaderValue::from_str(&format!("Bearer {}", token())).unwrap();
        let url: hyper::Uri = format!("{base}/graphql").parse().unwrap();
        side_by_side(lanes.into_iter().map(|inputs| {
            let (client, token, url) = (client.clone(), token.clone(), url.clone());
            async move {
                let mut saved = 0;
                for input in inputs {
                    let body = serde_json::to_vec(&Body::of(&input)).unwrap();
                    let request = Request::post(url.clone())
                        .header(AUTHORIZATION, token.clone())
                        .header(ACCEPT, "application/json")
                        .header(CONTENT_TYPE, "application/json")
                        .body(Full::from(body))
                        .unwrap();
                    let reply = client.request(request).await.unwrap();
                    let bytes = reply.into_body().collect().await.unwrap().to_bytes();
                    saved += count(&bytes);
                }
                saved
            }
        }))
        .await
    })
}

pub fn reqwest(run: &Run<'_>, lanes: Vec<Vec<Input>>) -> (Duration, usize) {
    let base = run.base();
    run.timed(async move {
        let client = reqwest::Client::new();
        let token = HeaderValue::from_str(&format!("Bearer {}", token())).unwrap();
        let url: reqwest::Url = format!("{base}/graphql").parse().unwrap();
        side_by_side(lanes.into_iter().map(|inputs| {
            let (client, token, url) = (client.clone(), token.clone(), url.clone());
            async move {
                let mut saved = 0;
                for input in inputs {
                    let body = serde_json::to_vec(&Body::of(&input)).unwrap();
                    let request = client
                        .post(url.clone())
                        .header(AUTHORIZATION, token.clone())
                        .header(ACCEPT, "application/json")
                        .header(CONTENT_TYPE, "application/json")
                        .body(body);
                    let bytes = request.send().await.unwrap().bytes().await.unwrap();
                    saved += count(&bytes);
                }
                saved
            }
        }))
        .await
    })
}

fn count(bytes: &[u8]) -> usize {
    let text = std::str::from_utf8(bytes).unwrap();
    let reply: Reply = serde_json::from_str(text).unwrap();
    let record = reply.data.create_or_save_consignment.data;
    usize::from(record.number.is_some())
}
