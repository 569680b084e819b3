//! Ambiguous replies to mutations: the reported result, and how often the mutation reaches the server.
//!
//! A declaration that is sent twice is created twice, so every reply is tested with every kind of mutation.

mod statuses_and_queries;

use envd_sdk::model::{CommentInput, ConsignmentInput, FormType, PartyInput, TemplateInput};
use envd_sdk::{Account, Client, Error, ErrorKind, Result};
use equipment::{Reply, Server};
use serde_json::{Value, json};

use crate::scripted::{Renewing, client, typed};

const JSON: &str = "application/json";
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

    fn record(self) -> Value {
        match self {
            Self::Comment => json!({"commentId": "k-9"}),
            _ => json!({"id": "c-9", "number": "C9"}),
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
    /// Refused by a page with HTTP 401 for two tokens and three retries, not applied.
    TokenPage,
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
            (false, 5) if retryable && error.kind() == ErrorKind::NoAnswer => Self::TokenPage,
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
    body: fn(Mutation) -> String,
    verdicts: [Verdict; 3],
    /// The verdict on 2xx for a custom document, whose result only the caller can interpret.
    custom: Verdict,
}

fn row(
    name: &'static str,
    media_type: &'static str,
    body: fn(Mutation) -> String,
    verdicts: [Verdict; 3],
) -> Row {
    Row {
        name,
        media_type,
        body,
        verdicts,
        custom: verdicts[0],
    }
}

impl Row {
    fn custom(self, custom: Verdict) -> Self {
        Self { custom, ..self }
    }

    fn verdict(&self, mutation: Mutation, status: u16) -> Verdict {
        match status {
            400 | 404 if self.name == "JSON of a gateway" => Verdict::Refused,
            200..=299 if mutation == Mutation::Custom => self.custom,
            200..=299 => self.verdicts[0],
            400..=499 => self.verdicts[1],
            _ => self.verdicts[2],
        }
    }
}

fn data(mutation: Mutation, result: Value) -> String {
    json!({"data": {mutation.field(): result}}).to_string()
}

/// A refusal with a null result and these errors.
fn errors(mutation: Mutation, errors: Value) -> String {
    json!({"data": {mutation.field(): null}, "errors": errors}).to_string()
}

/// An error in the shape of spec 7.2.
fn error(mutation: Mutation, message: &str, code: &str, below: &[&str]) -> Value {
    let path: Vec<&str> = std::iter::once(mutation.field())
        .chain(below.iter().copied())
        .collect();
    json!({"message": message, "path": path,
           "extensions": {"data": {"Code": code, "OutcomeStatus": "ERROR"}}})
}

fn pic(mutation: Mutation) -> Value {
    let message = "QAZZ777 is not a valid value for PIC";
    error(mutation, message, "origin.pic", &["origin", "pic"])
}

fn internal(mutation: Mutation) -> Value {
    error(mutation, "Internal server error", "", &[])
}

fn rows() -> Vec<Row> {
    let mut rows = without_record();
    rows.extend(records());
    rows.extend(refusals_with_reason());
    rows.extend(refusals_without_reason());
    rows.extend(unexpected_replies());
    rows
}

fn all(verdict: Verdict) -> [Verdict; 3] {
    [verdict; 3]
}

/// Replies without a record.
#[rustfmt::skip]
fn without_record() -> Vec<Row> {
    use Verdict::MayHaveApplied;
    vec![
        row("an empty object", JSON, |_| "{}".into(), all(MayHaveApplied)),
        row("an empty object, GraphQL", GRAPHQL, |_| "{}".into(), all(MayHaveApplied)),
        row("null", JSON, |_| r#"{"data": null}"#.into(), all(MayHaveApplied)),
        row("no field", JSON, |_| r#"{"data": {}}"#.into(), all(MayHaveApplied)),
        row("no field, GraphQL", GRAPHQL, |_| r#"{"data": {}}"#.into(), all(MayHaveApplied)),
        row("a null field", JSON, |mutation| data(mutation, json!(null)), all(MayHaveApplied)),
        row("a null field, GraphQL", GRAPHQL, |mutation| data(mutation, json!(null)), all(MayHaveApplied)),
        row("a null record", JSON, |mutation| data(mutation, json!({"data": null})), all(MayHaveApplied)),
        row("an empty record", JSON, |mutation| data(mutation, json!({"data": {}})), all(MayHaveApplied)),
        row("a record of nulls", JSON, |mutation| data(mutation, json!({"data": {"id": null}})), all(MayHaveApplied)),
        row("a list of records", JSON, |mutation| data(mutation, json!({"data": [mutation.record()]})), all(MayHaveApplied)).custom(Verdict::Value),
        row("data is a text", JSON, |_| r#"{"data": "done"}"#.into(), all(MayHaveApplied)).custom(Verdict::Value),
        row("something else", JSON, |mutation| data(mutation, json!({"done": true})), all(MayHaveApplied)).custom(Verdict::Value),
    ]
}

/// The record, in each place where it is accepted.
#[rustfmt::skip]
fn records() -> Vec<Row> {
    use Verdict::{MayHaveApplied, Record};
    vec![
        row("a record", JSON, |mutation| data(mutation, json!({"data": mutation.record()})), [Record, MayHaveApplied, MayHaveApplied]),
        row("a record, GraphQL", GRAPHQL, |mutation| data(mutation, json!({"data": mutation.record()})), all(Record)),
        row("an unwrapped record", JSON, |mutation| data(mutation, mutation.record()), [Record, MayHaveApplied, MayHaveApplied]),
        row("a record beside errors", JSON, |mutation| json!({
            "data": {mutation.field(): {"data": mutation.record()}}, "errors": [internal(mutation)],
        }).to_string(), all(Record)),
    ]
}

/// Refusals that name their reason.
#[rustfmt::skip]
fn refusals_with_reason() -> Vec<Row> {
    use Verdict::{Limit, MayHaveApplied, Refused, Token};
    vec![
        row("a field", JSON, |mutation| errors(mutation, json!([pic(mutation)])), [Refused, Refused, MayHaveApplied]),
        row("a field without a known rule", JSON, |mutation| errors(mutation, json!([
            error(mutation, "String 'x' exceeds maximum length of 1.", "origin.name", &["origin", "name"]),
        ])), [Refused, Refused, MayHaveApplied]),
        row("an answer", JSON, |mutation| errors(mutation, json!([
            error(mutation, "Required", "answers.17", &["answers", "17"]),
        ])), [Refused, Refused, MayHaveApplied]),
        row("access denied", JSON, |mutation| errors(mutation, json!([
            error(mutation, "Access denied", "", &[]),
        ])), [Refused, Refused, MayHaveApplied]),
        row("the schema", JSON, |_| json!({"errors": [
            {"message": "no such field", "extensions": {"code": "FIELDS_ON_CORRECT_TYPE", "number": "5.3.1"}},
        ]}).to_string(), [Refused, Refused, MayHaveApplied]),
        row("the token", JSON, |mutation| errors(mutation, json!([
            error(mutation, "The access token is invalid.", "Unauthorized", &[]),
        ])), [Token, Token, MayHaveApplied]),
        row("a limit", JSON, |_| json!({"errors": [
            {"message": "slower", "extensions": {"code": "RATE_LIMITED"}},
        ]}).to_string(), [Limit, Limit, MayHaveApplied]),
    ]
}

/// Refusals without a usable reason.
#[rustfmt::skip]
fn refusals_without_reason() -> Vec<Row> {
    use Verdict::MayHaveApplied;
    vec![
        row("internal", JSON, |mutation| errors(mutation, json!([internal(mutation)])), all(MayHaveApplied)),
        row("internal, bare", JSON, |_| r#"{"errors": [{"message": "Internal Server Error."}]}"#.into(), all(MayHaveApplied)),
        row("internal, with a code", JSON, |mutation| errors(mutation, json!([
            error(mutation, "Internal server error", "Unauthorized", &[]),
        ])), all(MayHaveApplied)),
        row("an unknown reason", JSON, |mutation| errors(mutation, json!([{"message": "no"}])), all(MayHaveApplied)),
        row("a code that is no field", JSON, |mutation| errors(mutation, json!([
            error(mutation, "Timeout", "Timeout", &[]),
        ])), all(MayHaveApplied)),
        row("a known reason and internal", JSON, |mutation| errors(mutation, json!([pic(mutation), internal(mutation)])), all(MayHaveApplied)),
        row("the token and internal", JSON, |mutation| errors(mutation, json!([
            error(mutation, "The access token is invalid.", "Unauthorized", &[]), internal(mutation),
        ])), all(MayHaveApplied)),
        row("a limit and internal", JSON, |mutation| errors(mutation, json!([
            {"message": "slower", "extensions": {"code": "RATE_LIMITED"}}, internal(mutation),
        ])), all(MayHaveApplied)),
        row("a known reason and an unknown one", JSON, |mutation| errors(mutation, json!([pic(mutation), {"message": "no"}])), all(MayHaveApplied)),
        row("a field of the result", JSON, |mutation| errors(mutation, json!([{
            "message": "no", "path": [mutation.field(), "data", "number"], "extensions": {"code": "ACCESS_DENIED"},
        }])), all(MayHaveApplied)),
        row("another field without a reason", JSON, |mutation| json!({
            "data": {mutation.field(): null, "second": null}, "errors": [pic(mutation)],
        }).to_string(), all(MayHaveApplied)),
    ]
}

/// Replies that do not follow the interface.
#[rustfmt::skip]
fn unexpected_replies() -> Vec<Row> {
    use Verdict::{MayHaveApplied, Record};
    vec![
        row("nothing", JSON, |_| String::new(), all(MayHaveApplied)),
        row("a page", "text/html", |_| "<html>Sample".into(), all(MayHaveApplied)),
        row("a page with media type JSON", JSON, |_| "<html>Sample".into(), all(MayHaveApplied)),
        row("a text", "text/plain", |_| "try later".into(), all(MayHaveApplied)),
        row("JSON of a gateway", JSON, |_| r#"{"message": "Forbidden"}"#.into(), all(MayHaveApplied)),
        row("a cut reply", JSON, |mutation| data(mutation, json!({"data": mutation.record()}))[..20].to_owned(), all(MayHaveApplied)),
        row("a cut refusal", GRAPHQL, |mutation| errors(mutation, json!([pic(mutation)]))[..40].to_owned(), all(MayHaveApplied)),
        row("a record without its field", JSON, |_| r#"{"data": {"id": "c-9"}}"#.into(), all(MayHaveApplied)).custom(Record),
    ]
}

#[tokio::test]
async fn each_reply_to_a_mutation_has_the_verdict_of_the_table() {
    let mut wrong = Vec::new();
    for row in rows() {
        for mutation in MUTATIONS {
            for status in [200, 201, 400, 404, 422, 500, 502, 503, 504] {
                let body = (row.body)(mutation);
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
