//! Clients by hand: hyper or reqwest. Replies are checked to be UTF-8 once and then read by serde.

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderValue};
use hyper::{Request, Uri};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;

use crate::records::TOKEN;

pub trait Hand: Send + Sync + 'static {
    fn to(url: &str) -> Self;
    /// The reply to a body of JSON.
    fn post(&self, body: Vec<u8>) -> impl Future<Output = Bytes> + Send;
    /// The reply to a query of the same address.
    fn get(&self, query: &str) -> impl Future<Output = Bytes> + Send;
}

const JSON: HeaderValue = HeaderValue::from_static("application/json");

fn bearer() -> HeaderValue {
    HeaderValue::from_str(&format!("Bearer {}", *TOKEN)).unwrap()
}

pub struct Hyper {
    client: Client<HttpConnector, Full<Bytes>>,
    url: Uri,
    token: HeaderValue,
}

impl Hyper {
    async fn bytes(&self, request: Request<Full<Bytes>>) -> Bytes {
        let reply = self.client.request(request).await.unwrap();
        reply.into_body().collect().await.unwrap().to_bytes()
    }
}

impl Hand for Hyper {
    fn to(url: &str) -> Self {
        let client = Client::builder(TokioExecutor::new()).build_http();
        Self {
            client,
            url: url.parse().unwrap(),
            token: bearer(),
        }
    }

    async fn post(&self, body: Vec<u8>) -> Bytes {
        let request = Request::post(self.url.clone())
            .header(AUTHORIZATION, self.token.clone())
            .header(ACCEPT, JSON)
            .header(CONTENT_TYPE, JSON)
            .body(Full::from(body));
        self.bytes(request.unwrap()).await
    }

    async fn get(&self, query: &str) -> Bytes {
        let request = Request::get(format!("{}?{query}", self.url)).header(ACCEPT, JSON);
        self.bytes(request.body(Full::default()).unwrap()).await
    }
}

/// The lower bound of clients that use reqwest.
pub struct Reqwest {
    client: reqwest::Client,
    url: reqwest::Url,
    token: HeaderValue,
}

impl Hand for Reqwest {
    fn to(url: &str) -> Self {
        let client = reqwest::Client::new();
        Self {
            client,
            url: url.parse().unwrap(),
            token: bearer(),
        }
    }

    async fn post(&self, body: Vec<u8>) -> Bytes {
        let request = self
            .client
            .post(self.url.clone())
            .header(AUTHORIZATION, self.token.clone())
            .header(ACCEPT, JSON)
            .header(CONTENT_TYPE, JSON)
            .body(body);
        request.send().await.unwrap().bytes().await.unwrap()
    }

    async fn get(&self, query: &str) -> Bytes {
        let request = self.client.get(format!("{}?{query}", self.url));
        let request = request.header(ACCEPT, JSON);
        request.send().await.unwrap().bytes().await.unwrap()
    }
}

/// reqwest as in its documentation, with the request and the reply of a crate for GraphQL.
pub struct Json(reqwest::Client, String);

impl Json {
    pub fn to(url: &str) -> Self {
        Self(reqwest::Client::new(), url.to_owned())
    }

    pub async fn post<B: serde::Serialize, R: serde::de::DeserializeOwned>(&self, body: B) -> R {
        let request = self.0.post(&self.1).bearer_auth(&*TOKEN).json(&body);
        request.send().await.unwrap().json().await.unwrap()
    }
}
