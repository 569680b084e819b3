//! What the service answers, and what becomes of an answer on its way.

use serde_json::json;

use super::network::Fate;
use super::service::Outcome;
use crate::error::{Error, Unsent};
use crate::sync::tests::replies::{error_reply, json_reply, lost, not_found};
use crate::transport::Reply;
use crate::transport::header::{HeaderValue, RETRY_AFTER};

fn field(operation: &str) -> String {
    operation[..1].to_lowercase() + &operation[1..]
}

pub(super) fn reply_to(operation: &str, outcome: Outcome) -> Reply {
    let field = field(operation);
    match outcome {
        Outcome::Saved(record) => json_reply(200, &json!({"data": {field: {"data": record}}})),
        Outcome::NotFound => not_found(&field),
        Outcome::Refused(code) => refused(&field, code),
    }
}

fn refused(field: &str, code: &str) -> Reply {
    error_reply(field, code, "Question 17 is not valid")
}

pub(super) fn failed(fate: Fate, operation: &str) -> Result<Reply, Error> {
    let field = field(operation);
    Ok(match fate {
        Fate::Unreachable => return Err(lost(Unsent::Surely)),
        Fate::Refused => refused(&field, "answers.17"),
        Fate::TooMany => {
            let mut reply = json_reply(429, &json!({}));
            reply
                .headers
                .insert(RETRY_AFTER, HeaderValue::from_static("30"));
            reply
        }
        Fate::Failed(_, 0) => json_reply(502, &json!("<html>")),
        Fate::Failed(_, 1) => not_found(&field),
        Fate::Failed(_, 2) => json_reply(
            500,
            &json!({"errors": [{"message": "Internal server error"}]}),
        ),
        Fate::Failed(_, 3) => json_reply(
            200,
            &json!({"errors": [{"message": "Internal server error"}]}),
        ),
        // A reply without the record.
        Fate::Failed(..) => json_reply(200, &json!({"data": {field: {"data": null}}})),
        _ => return Err(lost(Unsent::Perhaps)),
    })
}
