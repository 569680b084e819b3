//! The replies of the service, and their failures on the way.

use serde_json::json;
use test_support::plain_service::{Outcome, Service};

use super::network::Fate;
use super::service::shown;
use crate::tests::replies::{error_reply, json_reply, not_found};
use envd_sdk::fake::{InProcessReply, NoReply};

fn field(operation: &str) -> String {
    operation[..1].to_lowercase() + &operation[1..]
}

pub(super) fn reply_to(operation: &str, outcome: &Outcome, service: &Service) -> InProcessReply {
    let field = field(operation);
    match outcome {
        Outcome::Saved(id) => {
            let mut record = shown(service, id);
            if service.habits.replies_briefly {
                record = json!({"id": id, "status": record["status"]});
            }
            json_reply(200, &json!({"data": {field: {"data": record}}}))
        }
        Outcome::NotFound => not_found(&field),
        Outcome::Refused => refused(&field, "status"),
    }
}

fn refused(field: &str, code: &str) -> InProcessReply {
    error_reply(field, code, "Question 17 is not valid")
}

pub(super) fn failed(fate: Fate, operation: &str) -> Result<InProcessReply, NoReply> {
    let field = field(operation);
    Ok(match fate {
        Fate::Unreachable => return Err(NoReply::Unreachable),
        Fate::Refused => refused(&field, "answers.17"),
        Fate::TooMany => json_reply(429, &json!({})).header("retry-after", "30"),
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
        _ => return Err(NoReply::ConnectionLost),
    })
}
