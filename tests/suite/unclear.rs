//! Replies to changes that are no clear answer: what the client reports, and how often the change reaches the server.
//!
//! A declaration that is sent twice is a second declaration, so every reply is tried with every kind of change.

mod around;

use std::time::{Duration, SystemTime};

use envd_sdk::auth::{AccessToken, BoxFuture, TokenSource};
use envd_sdk::model::{CommentInput, ConsignmentInput, FormType, PartyInput, TemplateInput};
use envd_sdk::{Account, Client, ClientBuilder, Clock, Error, Result, RetryPolicy};
use serde_json::{Value, json};
use wiremock::matchers::any;
use wiremock::{Mock, MockServer, ResponseTemplate};

const JSON: &str = "application/json";
const GRAPHQL: &str = "application/graphql-response+json";

/// Has a new token whenever one is refused.
struct Renewing;

impl TokenSource for Renewing {
    fn token(&self) -> BoxFuture<'_, Result<AccessToken>> {
        Box::pin(async { AccessToken::new("old") })
    }

    fn renew(&self, _rejected: &AccessToken) -> BoxFuture<'_, Result<AccessToken>> {
        Box::pin(async { AccessToken::new("new") })
    }
}

/// A server that always gives this reply, and a client of it that waits for nothing.
async fn serve_to(reply: ResponseTemplate) -> (MockServer, ClientBuilder) {
    let server = MockServer::start().await;
    Mock::given(any()).respond_with(reply).mount(&server).await;
    let client = Client::builder(server.uri())
        .token_source(Renewing)
        .clock(Clock::manual(SystemTime::UNIX_EPOCH))
        .retry(RetryPolicy::default().base_wait(Duration::ZERO));
    (server, client)
}

async fn serve(reply: ResponseTemplate) -> (MockServer, Client) {
    let (server, client) = serve_to(reply).await;
    (server, client.build().unwrap())
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Change {
    Create,
    Copy,
    Delete,
    Comment,
    SaveTemplate,
    DeleteTemplate,
    /// A document of the caller's.
    Own,
}

const CHANGES: [Change; 7] = [
    Change::Create,
    Change::Copy,
    Change::Delete,
    Change::Comment,
    Change::SaveTemplate,
    Change::DeleteTemplate,
    Change::Own,
];

impl Change {
    fn field(self) -> &'static str {
        match self {
            Self::Create => "createOrSaveConsignment",
            Self::Copy => "copyConsignment",
            Self::Delete => "deleteConsignment",
            Self::Comment => "createComment",
            Self::SaveTemplate => "createOrSaveTemplate",
            Self::DeleteTemplate => "deleteTemplate",
            Self::Own => "addViewer",
        }
    }

    fn record(self) -> Value {
        match self {
            Self::Comment => json!({"commentId": "k-9"}),
            _ => json!({"id": "c-9", "number": "C9"}),
        }
    }

    /// Sends the change; the id of the record that came back.
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
            Self::Own => {
                let document = "mutation Mine { addViewer { data { id } } }";
                let variables = json!({});
                let call = client.execute_document::<Value>(document, "Mine", &variables);
                let data = call.await?.value;
                let places = ["/addViewer/data/id", "/addViewer/id", "/id"];
                let id = places
                    .into_iter()
                    .find_map(|place| data.pointer(place)?.as_str());
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

/// What the client reports of a change, and how often it reached the server.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Verdict {
    /// The record.
    Record,
    /// A value without an id: only the caller of an own document knows what it means.
    Value,
    /// It was refused and not carried out.
    Refused,
    /// It was refused with two tokens, and not carried out.
    Token,
    /// It was refused for a limit, four times, and not carried out.
    Limit,
    /// It may have been carried out, and is not to be sent again.
    Doubt,
}

impl Verdict {
    /// The verdict, or how two statements of the error contradict each other.
    fn of(result: &Result<String>, received: usize) -> std::result::Result<Self, String> {
        let error = match result {
            Ok(id) if id.is_empty() => return Ok(Self::Value),
            Ok(id) if id == "c-9" || id == "k-9" => return Ok(Self::Record),
            Ok(id) => return Err(format!("the id is {id}")),
            Err(error) => error,
        };
        let again = error.is_retryable();
        Ok(match (error.may_have_applied(), received) {
            _ if error.attempts() == 0 || error.operation().is_none() => {
                return Err(format!("not sent, or nothing: {error:?}"));
            }
            (true, 1) if !again => Self::Doubt,
            (false, 1) if !again => Self::Refused,
            (false, 2) if !again && error.is_unauthorized() => Self::Token,
            (false, 4) if again && error.is_rate_limited() => Self::Limit,
            (doubt, sent) => {
                return Err(format!(
                    "sent {sent} times, in doubt {doubt}, again {again}: {error:?}"
                ));
            }
        })
    }
}

/// A body, and the verdict on a change that it answers on HTTP 2xx, 4xx and 5xx.
struct Row {
    name: &'static str,
    media_type: &'static str,
    body: fn(Change) -> String,
    verdicts: [Verdict; 3],
    /// On 2xx for a document of the caller's: only the caller knows what a result of it looks like.
    own: Verdict,
}

fn row(
    name: &'static str,
    media_type: &'static str,
    body: fn(Change) -> String,
    verdicts: [Verdict; 3],
) -> Row {
    Row {
        name,
        media_type,
        body,
        verdicts,
        own: verdicts[0],
    }
}

impl Row {
    fn own(self, own: Verdict) -> Self {
        Self { own, ..self }
    }

    fn verdict(&self, change: Change, status: u16) -> Verdict {
        match status {
            200..=299 if change == Change::Own => self.own,
            200..=299 => self.verdicts[0],
            400..=499 => self.verdicts[1],
            _ => self.verdicts[2],
        }
    }
}

fn data(change: Change, result: Value) -> String {
    json!({"data": {change.field(): result}}).to_string()
}

/// A refusal with these errors, beside a null.
fn errors(change: Change, errors: Value) -> String {
    json!({"data": {change.field(): null}, "errors": errors}).to_string()
}

/// An error in the shape of spec 7.2.
fn error(change: Change, message: &str, code: &str, below: &[&str]) -> Value {
    let path: Vec<&str> = std::iter::once(change.field())
        .chain(below.iter().copied())
        .collect();
    json!({"message": message, "path": path,
           "extensions": {"data": {"Code": code, "OutcomeStatus": "ERROR"}}})
}

fn pic(change: Change) -> Value {
    let message = "QAZZ777 is not a valid value for PIC";
    error(change, message, "origin.pic", &["origin", "pic"])
}

fn internal(change: Change) -> Value {
    error(change, "Internal server error", "", &[])
}

#[rustfmt::skip]
fn rows() -> Vec<Row> {
    use Verdict::{Doubt, Limit, Record, Refused, Token};
    let all = |verdict| [verdict, verdict, verdict];
    vec![
        // No record.
        row("an empty object", JSON, |_| "{}".into(), all(Doubt)),
        row("an empty object, GraphQL", GRAPHQL, |_| "{}".into(), all(Doubt)),
        row("null", JSON, |_| r#"{"data": null}"#.into(), all(Doubt)),
        row("no field", JSON, |_| r#"{"data": {}}"#.into(), all(Doubt)),
        row("no field, GraphQL", GRAPHQL, |_| r#"{"data": {}}"#.into(), all(Doubt)),
        row("a null field", JSON, |change| data(change, json!(null)), all(Doubt)),
        row("a null field, GraphQL", GRAPHQL, |change| data(change, json!(null)), all(Doubt)),
        row("a null record", JSON, |change| data(change, json!({"data": null})), all(Doubt)),
        row("an empty record", JSON, |change| data(change, json!({"data": {}})), all(Doubt)),
        row("a record of nulls", JSON, |change| data(change, json!({"data": {"id": null}})), all(Doubt)),
        row("a list of records", JSON, |change| data(change, json!({"data": [change.record()]})), all(Doubt)).own(Verdict::Value),
        row("data is a text", JSON, |_| r#"{"data": "done"}"#.into(), all(Doubt)).own(Verdict::Value),
        row("something else", JSON, |change| data(change, json!({"done": true})), all(Doubt)).own(Verdict::Value),
        // The record, and where it may stand.
        row("a record", JSON, |change| data(change, json!({"data": change.record()})), [Record, Doubt, Doubt]),
        row("a record, GraphQL", GRAPHQL, |change| data(change, json!({"data": change.record()})), all(Record)),
        row("an unwrapped record", JSON, |change| data(change, change.record()), [Record, Doubt, Doubt]),
        row("a record beside errors", JSON, |change| json!({
            "data": {change.field(): {"data": change.record()}}, "errors": [internal(change)],
        }).to_string(), all(Record)),
        // Refusals that name their reason.
        row("a field", JSON, |change| errors(change, json!([pic(change)])), [Refused, Refused, Doubt]),
        row("a field without a rule of its own", JSON, |change| errors(change, json!([
            error(change, "String 'x' exceeds maximum length of 1.", "origin.name", &["origin", "name"]),
        ])), [Refused, Refused, Doubt]),
        row("an answer", JSON, |change| errors(change, json!([
            error(change, "Required", "answers.17", &["answers", "17"]),
        ])), [Refused, Refused, Doubt]),
        row("access denied", JSON, |change| errors(change, json!([
            error(change, "Access denied", "", &[]),
        ])), [Refused, Refused, Doubt]),
        row("the schema", JSON, |_| json!({"errors": [
            {"message": "no such field", "extensions": {"code": "FIELDS_ON_CORRECT_TYPE", "number": "5.3.1"}},
        ]}).to_string(), [Refused, Refused, Doubt]),
        row("the token", JSON, |change| errors(change, json!([
            error(change, "The access token is invalid.", "Unauthorized", &[]),
        ])), [Token, Token, Doubt]),
        row("a limit", JSON, |_| json!({"errors": [
            {"message": "slower", "extensions": {"code": "RATE_LIMITED"}},
        ]}).to_string(), [Limit, Limit, Doubt]),
        // Refusals that do not.
        row("internal", JSON, |change| errors(change, json!([internal(change)])), all(Doubt)),
        row("internal, bare", JSON, |_| r#"{"errors": [{"message": "Internal Server Error."}]}"#.into(), all(Doubt)),
        row("internal, with a code", JSON, |change| errors(change, json!([
            error(change, "Internal server error", "Unauthorized", &[]),
        ])), all(Doubt)),
        row("an unknown reason", JSON, |change| errors(change, json!([{"message": "no"}])), all(Doubt)),
        row("a code that is no field", JSON, |change| errors(change, json!([
            error(change, "Timeout", "Timeout", &[]),
        ])), all(Doubt)),
        row("a known reason and internal", JSON, |change| errors(change, json!([pic(change), internal(change)])), all(Doubt)),
        row("the token and internal", JSON, |change| errors(change, json!([
            error(change, "The access token is invalid.", "Unauthorized", &[]), internal(change),
        ])), all(Doubt)),
        row("a limit and internal", JSON, |change| errors(change, json!([
            {"message": "slower", "extensions": {"code": "RATE_LIMITED"}}, internal(change),
        ])), all(Doubt)),
        row("a known reason and an unknown one", JSON, |change| errors(change, json!([pic(change), {"message": "no"}])), all(Doubt)),
        row("a field of the result", JSON, |change| errors(change, json!([{
            "message": "no", "path": [change.field(), "data", "number"], "extensions": {"code": "ACCESS_DENIED"},
        }])), all(Doubt)),
        row("another field without a reason", JSON, |change| json!({
            "data": {change.field(): null, "second": null}, "errors": [pic(change)],
        }).to_string(), all(Doubt)),
        // Not of the interface.
        row("nothing", JSON, |_| String::new(), all(Doubt)),
        row("a page", "text/html", |_| "<html>Sample".into(), all(Doubt)),
        row("a page that claims to be JSON", JSON, |_| "<html>Sample".into(), all(Doubt)),
        row("a text", "text/plain", |_| "try later".into(), all(Doubt)),
        row("JSON of a gateway", JSON, |_| r#"{"message": "Forbidden"}"#.into(), all(Doubt)),
        row("a cut reply", JSON, |change| data(change, json!({"data": change.record()}))[..20].to_owned(), all(Doubt)),
        row("a cut refusal", GRAPHQL, |change| errors(change, json!([pic(change)]))[..40].to_owned(), all(Doubt)),
        row("a record without its field", JSON, |_| r#"{"data": {"id": "c-9"}}"#.into(), all(Doubt)).own(Record),
    ]
}

#[tokio::test]
async fn each_reply_to_a_change_is_judged_as_the_table_defines_and_none_is_sent_twice_in_doubt() {
    let mut wrong = Vec::new();
    for row in rows() {
        for change in CHANGES {
            for status in [200, 201, 400, 404, 422, 500, 502, 503, 504] {
                let body = (row.body)(change);
                let reply =
                    ResponseTemplate::new(status).set_body_raw(body.clone(), row.media_type);
                let (server, client) = serve(reply).await;
                let result = change.send(&client).await;
                let received = server.received_requests().await.unwrap().len();
                let (verdict, wanted) =
                    (Verdict::of(&result, received), row.verdict(change, status));
                if verdict.as_ref() != Ok(&wanted) {
                    let name = row.name;
                    wrong.push(format!(
                        "{name}, {change:?}, {status}: {verdict:?}, not {wanted:?}"
                    ));
                }
                if let Err(error) = result {
                    let of_the_interface = status < 300 || row.media_type == GRAPHQL;
                    conceals(&error, &body, of_the_interface);
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

/// The data that came can be read, and nothing shows it.
fn conceals(error: &Error, body: &str, of_the_interface: bool) {
    let body: Value = serde_json::from_str(body).unwrap_or_default();
    if of_the_interface && !body["data"].is_null() {
        assert_eq!(error.raw_data(), Some(&body["data"]), "{error:?}");
    }
    for shown in [error.to_string(), format!("{error:?}")] {
        for secret in ["c-9", "QAZZ777", "Sample", "done"] {
            assert!(!shown.contains(secret), "{shown}");
        }
    }
}
