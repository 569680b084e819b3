//! Ambiguous replies to mutations: the reported result, and how often the mutation reaches the server.
//!
//! A declaration that is sent twice is created twice, so every reply is tested with every kind of mutation.

mod queries;

use envd_sdk::model::{CommentInput, ConsignmentInput, FormType, PartyInput, TemplateInput};
use envd_sdk::{Account, Client, Error, ErrorKind, Result};
use equipment::script::rows;
use equipment::{Reply, Server};
use serde_json::{Value, json};

use crate::scripted::{Renewing, client, typed};

const GRAPHQL: &str = "application/graphql-response+json";

/// A server with this reply to all requests, and a client with a new token after a refusal.
fn serve(reply: Reply) -> (Server, Client) {
    let server = Server::script([reply]);
    let client = client(&server).token_source(Renewing).build().unwrap();
    (server, client)
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Mutation {
    Create,
    Copy,
    Delete,
    Comment,
    SaveTemplate,
    DeleteTemplate,
    /// A custom document.
    Custom,
}

const MUTATIONS: [Mutation; 7] = [
    Mutation::Create,
    Mutation::Copy,
    Mutation::Delete,
    Mutation::Comment,
    Mutation::SaveTemplate,
    Mutation::DeleteTemplate,
    Mutation::Custom,
];

impl Mutation {
    fn field(self) -> &'static str {
        match self {
            Self::Create => "createOrSaveConsignment",
            Self::Copy => "copyConsignment",
            Self::Delete => "deleteConsignment",
            Self::Comment => "createComment",
            Self::SaveTemplate => "createOrSaveTemplate",
            Self::DeleteTemplate => "deleteTemplate",
            Self::Custom => "addViewer",
        }
    }

    fn record(self) -> &'static str {
        match self {
            Self::Comment => r#"{"commentId": "k-9"}"#,
            _ => r#"{"id": "c-9", "number": "C9"}"#,
        }
    }

    /// Sends the mutation and returns the id of the record in the reply.
    async fn send(self, client: &Client) -> Result<String> {
        let account: Account = client.account("envd-1");
        let id = match self {
            Self::Create => id_of(account.save_consignment(input()).await?.value.id),
            Self::Copy => id_of(account.copy_consignment("c-1").await?.value.id),
            Self::Delete => id_of(account.delete_consignment("c-1").await?.value.id),
            Self::Comment => {
                let comment = CommentInput::new("C-1", "once");
                account.create_comment(comment).await?.value.comment_id
            }
            Self::SaveTemplate => {
                let template = TemplateInput::new("To the works", [FormType::Lpac1]);
                id_of(account.save_template(template).await?.value.id)
            }
            Self::DeleteTemplate => id_of(account.delete_template("t-1").await?.value.id),
            Self::Custom => {
                let document = "mutation Mine { addViewer { data { id } } }";
                let variables = json!({});
                let call = client.execute_document::<Value>(document, "Mine", &variables);
                let data = call.await?.value;
                let pointers = ["/addViewer/data/id", "/addViewer/id", "/id"];
                let id = pointers
                    .into_iter()
                    .find_map(|pointer| data.pointer(pointer)?.as_str());
                id.map(str::to_owned)
            }
        };
        Ok(id.unwrap_or_default())
    }
}

fn id_of(id: Option<impl ToString>) -> Option<String> {
    id.map(|id| id.to_string())
}

fn input() -> ConsignmentInput {
    let (from, to) = (PartyInput::new("QAZZ7777"), PartyInput::new("QDZZ3333"));
    ConsignmentInput::new([FormType::Lpac1], from, to)
}

/// The result that the client reports for a mutation, and how often the mutation reached the server.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Verdict {
    /// The record is returned.
    Record,
    /// A value without an id is returned, which only the caller of a custom document can interpret.
    Value,
    /// Refused, not applied.
    Refused,
    /// Refused with two tokens, not applied.
    Token,
    /// Refused four times because of a rate limit, not applied.
    Limit,
    /// It may have been applied, and must not be sent again.
    MayHaveApplied,
}

impl Verdict {
    /// The verdict, or a contradiction between properties of the error.
    fn of(result: &Result<String>, received: usize) -> std::result::Result<Self, String> {
        let error = match result {
            Ok(id) if id.is_empty() => return Ok(Self::Value),
            Ok(id) if id == "c-9" || id == "k-9" => return Ok(Self::Record),
            Ok(id) => return Err(format!("the id is {id}")),
            Err(error) => error,
        };
        let retryable = error.is_retryable();
        Ok(match (error.may_have_applied(), received) {
            _ if error.attempts() == 0 || error.operation().is_none() => {
                return Err(format!("not sent, or no operation: {error:?}"));
            }
            (true, 1) if !retryable => Self::MayHaveApplied,
            (false, 1) if !retryable => Self::Refused,
            (false, 2) if !retryable && error.kind() == ErrorKind::Unauthorized => Self::Token,
            (false, 4) if retryable && error.kind() == ErrorKind::RateLimited => Self::Limit,
            (applied, sent) => {
                return Err(format!(
                    "sent {sent} times, may have applied: {applied}, retryable: {retryable}: {error:?}"
                ));
            }
        })
    }
}

/// A body, and the verdict on a mutation with this reply and HTTP 2xx, 4xx and 5xx.
struct Row {
    name: &'static str,
    media_type: &'static str,
    body: &'static str,
    verdicts: [Verdict; 3],
    /// The verdict on 2xx for a custom document, whose result only the caller can interpret.
    custom: Verdict,
}

impl Row {
    fn verdict(&self, mutation: Mutation, status: u16) -> Verdict {
        match status {
            400 | 404 if self.name == "JSON of a gateway" => Verdict::Refused,
            200..=299 if mutation == Mutation::Custom => self.custom,
            200..=299 => self.verdicts[0],
            400..=499 => self.verdicts[1],
            _ => self.verdicts[2],
        }
    }

    /// The body, with the field, the record and the errors that it names.
    fn body(&self, mutation: Mutation) -> String {
        let refused = r#"{"data": {"FIELD": null}, "errors": ["#;
        let mut body = match self.body.split_once(" bytes of ") {
            Some((_, whole)) => whole.to_owned(),
            None => self.body.to_owned(),
        };
        if let Some(errors) = body.strip_prefix("refused: ") {
            body = format!("{refused}{errors}]}}");
        }
        for row in rows(ERRORS) {
            body = body.replace(row[0], row[1]);
        }
        body = body
            .replace("FIELD", mutation.field())
            .replace("RECORD", mutation.record());
        if let Some((length, _)) = self.body.split_once(" bytes of ") {
            body.truncate(length.parse().unwrap());
        }
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

/// By its name in a table.
fn verdict(text: &str) -> Verdict {
    match text {
        "record" => Verdict::Record,
        "value" => Verdict::Value,
        "refused" => Verdict::Refused,
        "token" => Verdict::Token,
        "limit" => Verdict::Limit,
        "doubt" => Verdict::MayHaveApplied,
        _ => panic!("no verdict {text}"),
    }
}

fn table() -> impl Iterator<Item = Row> {
    rows(include_str!("ambiguous_replies/table.txt")).map(move |row| {
        let mut verdicts = row[3].split(' ').map(verdict);
        let first = verdicts.next().unwrap();
        let [second, third] = [(); 2].map(|()| verdicts.next().unwrap_or(first));
        Row {
            name: row[0],
            media_type: if row[1] == "GraphQL" { GRAPHQL } else { row[1] },
            body: row[2],
            verdicts: [first, second, third],
            custom: row.get(4).map_or(first, |custom| verdict(custom)),
        }
    })
}

#[tokio::test]
async fn each_reply_to_a_mutation_has_the_verdict_of_the_table() {
    let mut wrong = Vec::new();
    for row in table() {
        for mutation in MUTATIONS {
            for status in [200, 201, 400, 404, 422, 500, 502, 503, 504] {
                let body = row.body(mutation);
                let (server, client) = serve(typed(status, row.media_type, body.clone()));
                let result = mutation.send(&client).await;
                let verdict = Verdict::of(&result, server.count());
                let expected = row.verdict(mutation, status);
                if verdict.as_ref() != Ok(&expected) {
                    let name = row.name;
                    wrong.push(format!(
                        "{name}, {mutation:?}, {status}: {verdict:?}, not {expected:?}"
                    ));
                }
                if let Err(error) = result {
                    let has_data = status < 300 || row.media_type == GRAPHQL;
                    assert_data_is_hidden(&error, &body, has_data);
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
