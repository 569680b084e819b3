//! Reads single records from the service; replica and outbox share this reader.

use serde_json::value::RawValue;

use super::LocalRecord;
use envd_sdk::model::{Condition, Consignment, ConsignmentStatus};
use envd_sdk::{AsReceived, Error, ErrorKind, Outcome, Result};

/// The result of reading one record by its id.
#[derive(Debug)]
pub(crate) enum RecordRead {
    /// The service returned the record, and its status is not DELETED.
    Found(ReadRecord),
    /// The service returned null without an error, or a record with the status DELETED. After [`unlisted`](Self::unlisted), "not
    /// found" is included.
    Gone(Option<ReadRecord>),
    /// Any other reply, or none: "not found", which has the same text as any failure; an error; a record that cannot be parsed.
    Failed(Error),
}

/// A record as received and as typed.
#[derive(Debug)]
pub(crate) struct ReadRecord {
    pub(crate) json: Box<RawValue>,
    pub(crate) record: Consignment,
}

impl RecordRead {
    /// Classifies the reply of [`AccountClient::consignment`](envd_sdk::AccountClient::consignment), called with `received` and `optional`.
    pub(crate) fn of(reply: Result<Outcome<Option<AsReceived<Consignment>>>>) -> Self {
        let read = match reply {
            Ok(outcome) => outcome.value.map(ReadRecord::new),
            Err(error) => return Self::Failed(error),
        };
        match read {
            Some(read) if read.record.status != Some(ConsignmentStatus::Deleted) => {
                Self::Found(read)
            }
            deleted => Self::Gone(deleted),
        }
    }

    /// Whether the service returned the record, even in a form that cannot be parsed.
    pub(super) fn is_there(&self) -> bool {
        match self {
            Self::Found(_) => true,
            Self::Gone(_) => false,
            Self::Failed(error) => error.json_path().is_some(),
        }
    }

    /// Treats "not found" as gone. Only for a record that two completed listings did not show either.
    pub(crate) fn unlisted(self) -> Self {
        match self {
            Self::Failed(error) if says_not_found(&error) => Self::Gone(None),
            read => read,
        }
    }
}

impl ReadRecord {
    fn new(received: AsReceived<Consignment>) -> Self {
        let (record, json) = received.into_parts();
        // OK because it was received as JSON.
        let json = RawValue::from_string(json).unwrap_or_default();
        Self { json, record }
    }

    /// Whether the status and the date equal those of the copy.
    pub(super) fn is_as(&self, copy: &LocalRecord) -> bool {
        (&self.record.status, &self.record.updated_at) == (&copy.status(), &copy.updated_at())
    }
}

/// A failure inside the service is recognized by its HTTP status.
fn says_not_found(error: &Error) -> bool {
    let mut errors = error.server_errors().iter();
    error.kind() == ErrorKind::NotFound
        && errors.all(|error| error.condition() == Condition::NotFoundOrForbidden)
}

/// Whether the service answered this request and would answer it the same way again. Not so for a lost connection, an expired login
/// or a busy service.
pub(crate) fn is_answer(error: &Error) -> bool {
    let kind = error.kind();
    let is_about_the_caller = matches!(kind, ErrorKind::Unauthorized | ErrorKind::Forbidden);
    // An error status without a readable body may come from a proxy.
    let breaks_a_rule = matches!(kind, ErrorKind::Protocol | ErrorKind::Stalled)
        && error.http_status().is_none_or(|status| status < 300);
    let answered = !error.server_errors().is_empty()
        || error.json_path().is_some()
        || breaks_a_rule
        || matches!(error.http_status(), Some(400 | 404 | 500));
    answered && !is_about_the_caller && !error.is_retryable()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::tests::replies::{client_of, json_reply, service};
    use crate::tests::script::rows;
    use envd_sdk::auth::StaticToken;

    /// How a reply is classified: alone, and after listings did not show the record either.
    async fn read(status: u16, body: Value) -> [&'static str; 2] {
        let name = |read: &RecordRead| match read {
            RecordRead::Found(_) => "found",
            RecordRead::Gone(Some(_)) => "deleted",
            RecordRead::Gone(None) => "gone",
            RecordRead::Failed(_) => "unclear",
        };
        let client = client_of(service(move |_, _| Some(json_reply(status, &body))));
        let client = client.token_source(StaticToken::new("a-token").unwrap());
        let account = client.build().unwrap().account("envd-1");
        let read = RecordRead::of(account.consignment("1").received().optional().await);
        [name(&read), name(&read.unlisted())]
    }

    #[tokio::test]
    async fn each_reply_is_one_answer() {
        let error = |name: &str| {
            let (code, message) = match name {
                "not-found" => ("", "Internal server error"),
                "no-token" => ("Unauthorized", "The access token is invalid"),
                other => (other, "something"),
            };
            let data = json!({"Code": code, "Message": message});
            json!({"message": message, "path": ["consignment"], "extensions": {"data": data}})
        };
        for line in rows(include_str!("tests/replies.txt")) {
            let has_errors = line[2] != "-";
            let mut body = (if has_errors {
                json!({"data": null})
            } else {
                json!({})
            })
            .clone();
            if let Ok(record) = serde_json::from_str::<Value>(line[1]) {
                body["data"] = json!({"consignment": record});
            }
            if has_errors {
                body["errors"] = line[2].split(' ').map(error).collect();
            }
            let seen = read(line[0].parse().unwrap(), body).await;
            assert_eq!(seen, [line[3], line[4]], "{line:?}");
        }
    }
}
