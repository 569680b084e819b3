//! A service in the same process, and its replies.

use serde_json::{Value, json};

use envd_sdk::fake::{InProcess, InProcessReply, NoReply};
use envd_sdk::{Client, ClientBuilder};
use envd_sdk::{HttpOptions, RetryPolicy};

/// A client whose requests go to this service.
pub(crate) fn client_of(service: InProcess) -> ClientBuilder {
    Client::builder("http://127.0.0.1:9/")
        .http(HttpOptions::default().in_process(service))
        .retry(RetryPolicy::none())
}

/// Answers each request from its bearer token and body; `None`: the connection is lost. Other tasks run before and after.
pub(crate) fn service(
    answer: impl Fn(&str, &Value) -> Option<InProcessReply> + Clone + Send + Sync + 'static,
) -> InProcess {
    InProcess::new(move |request| {
        let answer = answer.clone();
        async move {
            tokio::task::yield_now().await;
            let token = request.header("authorization").unwrap();
            let body = serde_json::from_slice(request.body()).unwrap();
            let reply = answer(token.trim_start_matches("Bearer "), &body);
            tokio::task::yield_now().await;
            reply.ok_or(NoReply::ConnectionLost)
        }
    })
}

pub(crate) fn json_reply(status: u16, body: &Value) -> InProcessReply {
    InProcessReply::status(status).json(body)
}

/// A reply with this error instead of a field.
pub(crate) fn error_reply(field: &str, code: &str, message: &str) -> InProcessReply {
    let data =
        json!({"Code": code, "Message": message, "Description": null, "OutcomeStatus": "ERROR"});
    let error = json!({"message": message, "path": [field], "extensions": {"data": data}});
    json_reply(200, &json!({"data": {field: null}, "errors": [error]}))
}

/// The reply "not found" as in specification 7.2.
pub(crate) fn not_found(field: &str) -> InProcessReply {
    error_reply(field, "", "Internal server error")
}
