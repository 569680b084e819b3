//! Replies of a service in the same process.

use serde_json::{Value, json};

use crate::client::{Client, ClientBuilder};
use crate::error::{Error, Failure, Repr, Unsent};
use crate::transport::header::{AUTHORIZATION, HeaderMap, HeaderValue};
use crate::transport::{HttpOptions, InProcess, Reply, Request, RetryPolicy};

/// A client whose requests are answered by this service.
pub(in crate::sync) fn client_of(service: InProcess) -> ClientBuilder {
    let mut http = HttpOptions::default();
    http.in_process = Some(service);
    let client = Client::builder("http://127.0.0.1:9/").http(http);
    client.retry(RetryPolicy::none())
}

/// Answers each request from its bearer token and body; `None`: the connection is lost. Other programs go on before and after.
pub(in crate::sync) fn service(
    answer: impl Fn(&str, &Value) -> Option<Reply> + Clone + Send + Sync + 'static,
) -> InProcess {
    InProcess::new(move |request: Request| {
        let answer = answer.clone();
        Box::pin(async move {
            tokio::task::yield_now().await;
            let token = request.headers[AUTHORIZATION].to_str().unwrap();
            let body = serde_json::from_slice(&request.body).unwrap();
            let reply = answer(token.trim_start_matches("Bearer "), &body);
            tokio::task::yield_now().await;
            reply.ok_or_else(|| lost(Unsent::Perhaps))
        })
    })
}

pub(in crate::sync) fn lost(unsent: Unsent) -> Error {
    Error::new(Repr::Transport(Failure {
        what: "the connection was lost",
        timeout: false,
        unsent,
        refused_locally: false,
    }))
}

pub(in crate::sync) fn json_reply(status: u16, body: &Value) -> Reply {
    let mut headers = HeaderMap::new();
    headers.insert("content-type", HeaderValue::from_static("application/json"));
    Reply {
        status,
        headers,
        body: body.to_string().into(),
    }
}

/// An error with this code and message in place of a field.
pub(in crate::sync) fn error_reply(field: &str, code: &str, message: &str) -> Reply {
    let data =
        json!({"Code": code, "Message": message, "Description": null, "OutcomeStatus": "ERROR"});
    let error = json!({"message": message, "path": [field], "extensions": {"data": data}});
    json_reply(200, &json!({"data": {field: null}, "errors": [error]}))
}

/// As specification 7.2 shows it.
pub(in crate::sync) fn not_found(field: &str) -> Reply {
    error_reply(field, "", "Internal server error")
}
