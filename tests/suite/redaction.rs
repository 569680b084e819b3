//! Personal data and secrets do not show in `Debug`.

use std::fmt::Debug;

use envd_sdk::auth::StaticToken;
use envd_sdk::model::{ConsignmentInput, UserDetails};
use serde_json::Value;

use crate::dated::start_fake;

fn fixture(text: &str, pointer: &str) -> Value {
    let value: Value = serde_json::from_str(text).unwrap();
    value.pointer(pointer).unwrap().clone()
}

/// Every text of a JSON value at one of these keys.
fn texts<'a>(value: &'a Value, keys: &[&str], found: &mut Vec<&'a str>) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| texts(item, keys, found)),
        Value::Object(fields) => {
            for (key, value) in fields {
                match value.as_str() {
                    Some(text) if keys.contains(&key.as_str()) => found.push(text),
                    _ => texts(value, keys, found),
                }
            }
        }
        _ => {}
    }
}

fn assert_hidden(shown: &impl Debug, wire: &Value, keys: &[&str]) {
    let mut secrets = Vec::new();
    texts(wire, keys, &mut secrets);
    assert!(secrets.len() >= keys.len(), "{secrets:?}");
    for debug in [format!("{shown:?}"), format!("{shown:#?}")] {
        for secret in &secrets {
            assert!(!debug.contains(*secret), "{secret} in {debug}");
        }
    }
}

#[test]
fn an_input_shows_no_person_no_signature_and_no_answer() {
    let text = include_str!("../fixtures/consignments/lpahrg0.json");
    let wire = fixture(text, "/input");
    let input: ConsignmentInput = serde_json::from_value(wire.clone()).unwrap();
    let keys = ["name", "line1", "fullName", "phone", "email", "signature"];
    assert_hidden(&input, &wire, &keys);
    // The answers are short words; they are looked for as what they are.
    let shown = format!("{input:?}");
    assert!(!shown.contains("Rangeland"), "{shown}");
}

#[test]
fn user_details_show_no_person() {
    let text = include_str!("../fixtures/user-details.json");
    let wire = fixture(text, "/data/userDetails");
    let user: UserDetails = serde_json::from_value(wire.clone()).unwrap();
    let keys = ["auth0Id", "email", "firstName", "lastName", "mobilePhone"];
    assert_hidden(&user, &wire, &keys);
}

#[tokio::test]
async fn a_client_shows_no_token() {
    let fake = start_fake().await;
    let token = fake.access_token();
    let source = StaticToken::new(token.expose()).unwrap();
    let shown = format!("{source:?}");
    let builder = fake.client().token_source(source);
    let shown = format!(
        "{shown} {builder:?} {:?} {fake:?}",
        fake.client().build().unwrap()
    );
    assert!(!shown.contains(token.expose()), "{shown}");
}
