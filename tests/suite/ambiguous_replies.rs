//! Ambiguous replies to mutations: the reported result, and the number of requests that reach the server.
//!
//! Sending a declaration twice creates it twice, so every reply is tested with every kind of mutation.

mod queries;

use envd_sdk::Error;
use serde_json::Value;
use test_support::script::rows;

use crate::calls::Calls;
use crate::scripted::typed;

const GRAPHQL: &str = "application/graphql-response+json";

/// Each mutation with its field.
const MUTATIONS: [(&str, &str); 7] = [
    ("save", "createOrSaveConsignment"),
    ("copy c-1", "copyConsignment"),
    ("delete c-1", "deleteConsignment"),
    ("comment Gate", "createComment"),
    ("save_template a", "createOrSaveTemplate"),
    ("delete_template t-1", "deleteTemplate"),
    (CUSTOM, "addViewer"),
];

/// A custom document.
const CUSTOM: &str = "own mutation Mine { addViewer { data { id } } }";

/// The result of a mutation in one word, which also implies the number of requests: `record`; `value` without an id, which only
/// the caller of a custom document can interpret; `refused`, not applied; `token`, refused with two tokens; `limit`, refused
/// four times because of a rate limit; `doubt`, may have been applied and must not be sent again.
fn verdict(calls: &Calls) -> String {
    let pointers = ["/id", "/commentId", "/addViewer/data/id", "/addViewer/id"];
    let mut ids = pointers
        .iter()
        .filter_map(|pointer| calls.value()?.pointer(pointer)?.as_str());
    let verdict = calls.verdict();
    let word = match (verdict.as_str(), calls.sent()) {
        ("ok", 1) => match ids.next() {
            Some("c-9" | "k-9") => "record",
            Some(_) => "another record",
            None => "value",
        },
        ("Unauthorized", 2) => "token",
        ("RateLimited x4 again", 4) => "limit",
        (reported, 1) if reported.ends_with(" ?") && reported.split(' ').count() == 2 => "doubt",
        (reported, 1) if !reported.contains(' ') && calls.error().operation().is_some() => {
            "refused"
        }
        (reported, sent) => return format!("{reported}, sent {sent}"),
    };
    word.to_owned()
}

/// A body, and the verdicts on a mutation that gets this reply with HTTP 2xx, 4xx and 5xx.
struct Row {
    name: &'static str,
    media_type: &'static str,
    body: &'static str,
    verdicts: [&'static str; 3],
    /// The verdict on 2xx for a custom document, whose result only the caller can interpret.
    custom: &'static str,
}

impl Row {
    fn verdict(&self, mutation: &str, status: u16) -> &'static str {
        match status {
            400 | 404 if self.name == "JSON of a gateway" => "refused",
            200..=299 if mutation == CUSTOM => self.custom,
            200..=299 => self.verdicts[0],
            400..=499 => self.verdicts[1],
            _ => self.verdicts[2],
        }
    }

    /// The body, with the placeholders for field, record and errors filled in.
    fn body(&self, field: &str) -> String {
        let (length, whole) = self
            .body
            .split_once(" bytes of ")
            .unwrap_or(("9999", self.body));
        let mut body = match whole.strip_prefix("refused: ") {
            Some(errors) => format!(r#"{{"data": {{"FIELD": null}}, "errors": [{errors}]}}"#),
            None => whole.to_owned(),
        };
        for row in rows(ERRORS) {
            body = body.replace(row[0], row[1]);
        }
        let record = match field {
            "createComment" => r#"{"commentId": "k-9"}"#,
            _ => r#"{"id": "c-9", "number": "C9"}"#,
        };
        body = body.replace("FIELD", field).replace("RECORD", record);
        body.truncate(length.parse().unwrap());
        body
    }
}

/// Errors in the shape of spec 7.2, and others.
const ERRORS: &str = r#"
PIC       | {"message": "QAZZ777 is not a valid value for PIC", "path": ["FIELD", "origin", "pic"], "extensions": {"data": {"Code": "origin.pic", "OutcomeStatus": "ERROR"}}}
LENGTH    | {"message": "String 'x' exceeds maximum length of 1.", "path": ["FIELD", "origin", "name"], "extensions": {"data": {"Code": "origin.name", "OutcomeStatus": "ERROR"}}}
REQUIRED  | {"message": "Required", "path": ["FIELD", "answers", "17"], "extensions": {"data": {"Code": "answers.17", "OutcomeStatus": "ERROR"}}}
DENIED    | {"message": "Access denied", "path": ["FIELD"], "extensions": {"data": {"Code": "", "OutcomeStatus": "ERROR"}}}
TOKEN     | {"message": "The access token is invalid.", "path": ["FIELD"], "extensions": {"data": {"Code": "Unauthorized", "OutcomeStatus": "ERROR"}}}
INTERNAL  | {"message": "Internal server error", "path": ["FIELD"], "extensions": {"data": {"Code": "", "OutcomeStatus": "ERROR"}}}
CODED     | {"message": "Internal server error", "path": ["FIELD"], "extensions": {"data": {"Code": "Unauthorized", "OutcomeStatus": "ERROR"}}}
TIMEOUT   | {"message": "Timeout", "path": ["FIELD"], "extensions": {"data": {"Code": "Timeout", "OutcomeStatus": "ERROR"}}}
SCHEMA    | {"message": "no such field", "extensions": {"code": "FIELDS_ON_CORRECT_TYPE", "number": "5.3.1"}}
LIMIT     | {"message": "slower", "extensions": {"code": "RATE_LIMITED"}}
BELOW     | {"message": "no", "path": ["FIELD", "data", "number"], "extensions": {"code": "ACCESS_DENIED"}}
UNKNOWN   | {"message": "no"}
"#;

fn table() -> impl Iterator<Item = Row> {
    rows(include_str!("ambiguous_replies/table.txt")).map(move |row| {
        let mut verdicts = row[3].split(' ');
        let first = verdicts.next().unwrap();
        let [second, third] = [(); 2].map(|()| verdicts.next().unwrap_or(first));
        Row {
            name: row[0],
            media_type: if row[1] == "GraphQL" { GRAPHQL } else { row[1] },
            body: row[2],
            verdicts: [first, second, third],
            custom: row.get(4).unwrap_or(&first),
        }
    })
}

#[tokio::test]
async fn each_reply_to_a_mutation_has_the_verdict_of_the_table() {
    let mut wrong = Vec::new();
    for row in table() {
        for (mutation, field) in MUTATIONS {
            for status in [200, 201, 400, 404, 422, 500, 502, 503, 504] {
                let body = row.body(field);
                let reply = typed(status, row.media_type, body.clone());
                let calls = Calls::after(reply, &["with token old/new", mutation]).await;
                let verdict = verdict(&calls);
                let expected = row.verdict(mutation, status);
                if verdict != expected {
                    let name = row.name;
                    wrong.push(format!(
                        "{name}, {mutation}, {status}: {verdict}, not {expected}"
                    ));
                }
                if calls.value().is_none() {
                    let has_data = status < 300 || row.media_type == GRAPHQL;
                    assert_data_is_hidden(calls.error(), &body, has_data);
                }
            }
        }
    }
    assert!(
        wrong.is_empty(),
        "{} rows:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

/// Checks that the caller can read the received data, and that the error does not show it.
fn assert_data_is_hidden(error: &Error, body: &str, has_data: bool) {
    let body: Value = serde_json::from_str(body).unwrap_or_default();
    if has_data && !body["data"].is_null() {
        assert_eq!(error.raw_data(), Some(&body["data"]), "{error:?}");
    }
    for shown in [error.to_string(), format!("{error:?}")] {
        for secret in ["c-9", "QAZZ777", "Sample", "done"] {
            assert!(!shown.contains(secret), "{shown}");
        }
    }
}
