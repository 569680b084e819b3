//! `Debug` output has no personal data and no secrets.

use std::fmt::Debug;

use envd_sdk::auth::StaticToken;
use envd_sdk::fake::{User, WebsiteEdit};
use envd_sdk::model::{ConsignmentInput, UserDetails};
use envd_sdk::register::PropertySearch;
use serde_json::{Value, json};

use crate::fixed_date::{fake_builder, start_fake};
use crate::scripted::register_at;

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
fn debug_of_an_input_hides_personal_data_signature_and_answers() {
    let text = include_str!("../fixtures/consignments/lpahrg0.json");
    let wire = fixture(text, "/input");
    let input: ConsignmentInput = serde_json::from_value(wire.clone()).unwrap();
    let keys = ["name", "line1", "fullName", "phone", "email", "signature"];
    assert_hidden(&input, &wire, &keys);
    // Most answers are short words that occur elsewhere, so one distinctive answer is searched for.
    let shown = format!("{input:?}");
    assert!(!shown.contains("Rangeland"), "{shown}");
}

#[test]
fn debug_of_user_details_hides_personal_data() {
    let text = include_str!("../fixtures/user-details.json");
    let wire = fixture(text, "/data/userDetails");
    let user: UserDetails = serde_json::from_value(wire.clone()).unwrap();
    let keys = ["auth0Id", "email", "firstName", "lastName", "mobilePhone"];
    assert_hidden(&user, &wire, &keys);
}

#[tokio::test]
async fn debug_of_a_client_hides_the_token() {
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

#[tokio::test]
async fn debug_of_a_fake_and_of_an_edit_hides_tokens_and_values() {
    let fake = fake_builder().user(User::Receiver).start().await.unwrap();
    assert!(!format!("{fake:?}").contains(fake.access_token().expose()));
    let builder = fake_builder().register_token("hush".into());
    let edits = [
        WebsiteEdit::change("C-900000101", json!({"owner": {"name": "hush"}})),
        WebsiteEdit::insert(json!({"owner": "hush"})),
    ];
    let shown = format!("{builder:?} {edits:?}");
    assert!(
        shown.contains("owner") && !shown.contains("hush"),
        "{shown}"
    );
}

#[tokio::test]
async fn debug_of_a_register_hides_token_and_records() {
    let fake = start_fake().await;
    let source = StaticToken::new("s3cr3t").unwrap();
    let builder = register_at(fake.register_url())
        .token_source(source)
        .header("x-api-key", "s3cr3t");
    assert!(!format!("{builder:?}").contains("s3cr3t"));
    let register = builder.build().unwrap();
    assert!(!format!("{register:?}").contains("s3cr3t"));
    let mut search = register.search(&PropertySearch::text("sampleton"));
    let page = search.next_page().await.unwrap().unwrap();
    let answers = register.lookup_many(["QAZZ7777"]).collect().await;
    let shown = format!("{search:?} {page:?} {:?} {answers:?}", page.records);
    assert!(!shown.contains("Sam") && !shown.contains("sample"));
}
