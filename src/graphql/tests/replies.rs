//! Literal replies, each with its expected outcome.

use serde_json::{Value, json};
use test_support::script::rows;

use super::decode;
use crate::error::{Error, ErrorKind};
use crate::graphql::Outcome;
use crate::model::Condition;

pub(super) const GRAPHQL: &str = "application/graphql-response+json";
pub(super) const JSON: &str = "application/json";

/// Data with an optional field, like most of our replies.
#[derive(Clone, Debug, PartialEq, serde::Deserialize)]
struct Data {
    count: Option<i64>,
}

fn read(status: u16, media_type: &str, body: &str) -> Option<Result<Outcome<Data>, Error>> {
    decode(status, Some(media_type), body.as_bytes())
}

fn refused(status: u16, media_type: &str, body: &str) -> Error {
    read(status, media_type, body).unwrap().unwrap_err()
}

#[test]
fn the_media_type_and_the_status_say_what_is_of_the_interface() {
    let data = r#"{"data": {"count": 1}}"#;
    let both = r#"{"data": {"count": 1}, "errors": [{"message": "m"}]}"#;
    let validation = r#"{"errors": {"query": ["is required"]}}"#;
    for (status, media_type, body, wanted) in [
        (200, JSON, data, true),
        (201, JSON, data, true),
        (294, GRAPHQL, both, true),
        (200, "text/json", data, true),
        // From the draft: this media type with any status, the plain one with statuses other than 2xx only with errors.
        (500, GRAPHQL, data, true),
        (500, JSON, data, false),
        (400, JSON, both, true),
        (400, JSON, validation, false),
        (200, "text/html", data, false),
        (200, "text/plain", data, false),
        (400, "application/problem+json", both, false),
        (200, JSON, "<html></html>", false),
        (200, GRAPHQL, "<?xml version='1.0'?>", false),
        (200, JSON, "", false),
        (200, JSON, " \n", false),
        (200, JSON, "Service unavailable", false),
        (200, JSON, "[1]", false),
        (200, JSON, "null", false),
        (502, JSON, r#"{"errors": [{"mess"#, false),
    ] {
        let read = read(status, media_type, body);
        assert_eq!(read.is_some(), wanted, "{status} {media_type} {body}");
    }
    let without: Option<Result<Outcome<Data>, _>> = decode(200, None, data.as_bytes());
    assert!(without.unwrap().is_ok());
    // A byte order mark is not part of the reply.
    let marked = read(200, JSON, &format!("\u{feff}{data}")).unwrap();
    assert_eq!(marked.unwrap().value.count, Some(1));
}

#[test]
fn partial_data_comes_with_the_problems_and_the_status() {
    let body =
        r#"{"data": {"count": 1}, "errors": [{"message": "Required"}], "extensions": {"took": 3}}"#;
    let outcome = read(201, JSON, body).unwrap().unwrap();
    assert_eq!(outcome.value.count, Some(1));
    assert_eq!(outcome.problems[0].message(), "Required");
    assert_eq!(outcome.http_status(), 201);
    let error = outcome.strict().unwrap_err();
    // Only the request knows whether it was a change.
    assert!(!error.server_errors().is_empty() && !error.may_have_applied());
    assert_eq!(error.http_status(), Some(201));
}

#[test]
fn odd_errors_are_kept_whole_and_do_not_spoil_the_data() {
    for odd in [
        json!({}),
        json!({"message": null, "extensions": []}),
        json!({"message": "m", "locations": [{"line": 1}], "path": null}),
        json!({"message": "m", "locations": "here", "extensions": 7}),
        json!({"message": "m", "path": ["a", 18_446_744_073_709_551_615_u64, -1, 1.5, null, {}]}),
        json!({"message": {"text": "m"}, "path": "a.b"}),
        json!("m"),
        json!(5),
        json!(null),
        json!([["m"]]),
    ] {
        let body = json!({"data": {"count": 1}, "errors": [odd, {"message": "second"}]});
        let outcome = read(200, JSON, &body.to_string()).unwrap().unwrap();
        assert_eq!(outcome.value.count, Some(1), "{odd}");
        assert_eq!(outcome.problems.len(), 2, "{odd}");
        assert_eq!(outcome.problems[0].raw(), &odd);
        assert_eq!(outcome.problems[1].message(), "second");
    }
    // Not a list.
    let outcome = read(200, JSON, r#"{"data": {"count": 1}, "errors": "no"}"#).unwrap();
    assert_eq!(outcome.unwrap().problems[0].message(), "no");
}

#[test]
fn json_that_no_value_can_hold_is_kept_as_its_text() {
    let deep = "[".repeat(200) + &"]".repeat(200);
    for odd in ["1e999", deep.as_str()] {
        let body = format!(
            r#"{{"data": {{"count": 1, "x": {odd}}}, "extensions": {odd}, "errors": [{{"message": "m", "x": {odd}}}, {{"message": "second"}}]}}"#
        );
        let outcome = read(200, JSON, &body).unwrap().unwrap();
        assert_eq!(outcome.value.count, Some(1));
        assert!(outcome.problems[0].message().contains(odd));
        assert_eq!(outcome.problems[1].message(), "second");
    }
}

#[test]
fn a_shape_that_does_not_fit_hides_neither_the_errors_nor_the_data() {
    let body = r#"{"data": {"count": "many"}, "errors": [{"message": "Sam Sample"}]}"#;
    let error = refused(200, JSON, body);
    assert!(error.kind() == ErrorKind::Decode);
    assert_eq!(error.json_path(), Some("data.count"));
    assert_eq!(error.server_errors()[0].message(), "Sam Sample");
    assert_eq!(error.raw_data().unwrap()["count"], "many");
    assert_eq!(error.body_excerpt(), Some(body));
    let shown = format!("{error} {error:?}");
    assert!(!shown.contains("many") && !shown.contains("Sample"));
    let error = refused(200, JSON, r#"{"data": "text"}"#);
    assert_eq!(error.json_path(), Some("data"));
    assert_eq!(error.raw_data().unwrap(), "text");
}

#[test]
fn neither_data_nor_errors_breaks_the_protocol_and_keeps_what_came() {
    for body in [
        "{}",
        r#"{"data": null}"#,
        r#"{"data": null, "errors": []}"#,
        r#"{"errors": null}"#,
        r#"{"message": "Unauthorized"}"#,
    ] {
        let error = refused(200, JSON, body);
        assert!(error.kind() == ErrorKind::Protocol, "{body}");
        assert_eq!(error.http_status(), Some(200));
        assert_eq!(error.body_excerpt(), Some(body));
        assert!(!error.to_string().contains("Unauthorized"));
    }
}

#[test]
fn what_is_wrong_with_the_json_is_named_and_located() {
    for row in rows(
        r#"
        {"data": {"count": 1}, "err                    | .          | ends too early, line 1
        {"data" {}}                                    | .          | not JSON
        {"data": {}, "data": {"count": 2}}             | .          | duplicate key, line 1 column 19
        {"errors": [{}], "data": null, "errors": []}   | .          | duplicate key
        {"data": {"count": "\ud83d"}}                  | data.count | another type
        {"data": {"count": 1e999}}                     | data.count | out of range
        "#,
    ) {
        let [body, path, reported] = row[..] else {
            panic!("{row:?}");
        };
        let error = refused(200, JSON, body);
        assert!(error.kind() == ErrorKind::Decode, "{error}");
        assert_eq!(error.json_path(), Some(path), "{body}");
        let end = &body[body.len() - 4..];
        assert!(error.body_excerpt().unwrap().ends_with(end), "{error}");
        assert!(error.to_string().contains(reported), "{error}");
    }
}

#[test]
fn half_of_a_surrogate_pair_and_a_key_that_comes_twice_cost_nothing_else() {
    let body = r#"{"data": {"count": 5, "x": "\ud83d", "count": 1}, "extensions": {"x": "\ude00"}, "errors": [{"message": "a\ud83d",
        "path": ["save", "x"], "path": ["save"], "extensions": {"data": {"Code": "Unauthorized", "Description": "\ud83d"}}}]}"#;
    let outcome = read(200, JSON, body).unwrap().unwrap();
    assert_eq!(outcome.value.count, Some(1));
    let problem = &outcome.problems[0];
    assert_eq!((problem.message(), problem.path().len()), ("a\u{fffd}", 1));
    assert_eq!(problem.condition(), Condition::InvalidToken);
    assert_eq!(problem.description(), Some("\u{fffd}"));
}

#[test]
fn bytes_that_are_not_utf8_cost_the_data_but_not_the_errors() {
    let body = b"{\"data\": {\"count\": 1}, \"errors\": [{\"message\": \"Caf\xe9\"}]}";
    let read: Option<Result<Outcome<Data>, Error>> = decode(200, Some(JSON), body);
    let error = read.unwrap().unwrap_err();
    assert!(error.kind() == ErrorKind::Decode);
    assert_eq!(error.server_errors()[0].message(), "Caf\u{fffd}");
    assert_eq!(error.raw_data().unwrap()["count"], 1);
}

#[test]
fn a_token_that_the_body_refuses_is_as_refused_as_by_401() {
    let refusal = json!({"message": "The access token is invalid", "path": ["save"],
                         "extensions": {"data": {"Code": "Unauthorized"}}});
    for data in [
        json!(null),
        json!({"save": null}),
        json!({"save": {"data": null}}),
        json!({"comments": []}),
    ] {
        let body = json!({"data": data, "errors": [refusal]}).to_string();
        let read = decode::<Value>(200, Some(JSON), body.as_bytes());
        let error = read.unwrap().unwrap_err();
        assert!(error.kind() == ErrorKind::Unauthorized, "{data}");
        assert!(error.has(Condition::InvalidToken));
    }
    // An empty list next to another problem is a valid result.
    let body = r#"{"data": {"comments": []}, "errors": [{"message": "slow"}]}"#;
    let read = decode::<Value>(200, Some(JSON), body.as_bytes());
    assert!(read.unwrap().is_ok());
}
