//! A record that was read can be saved: the input created from it has the formats of section 2 of the specification.

use envd_sdk::AccountClient;
use envd_sdk::fake::{Fake, World};
use envd_sdk::model::{Consignment, ConsignmentInput, Day, ServerError, Timestamp};
use envd_sdk::ops::ConsignmentFilter;
use envd_sdk::validate::{Context, Operation, Questionnaire, Report, compare};
use serde_json::{Value, json};
use test_support::script::rows;

use crate::fixed_date::{fixture, fixtures, manual};

const ACCOUNT: &str = "envd-100201";

/// Records in the formats of public material, as the service may return them.
fn records() -> Vec<(String, Value)> {
    fixtures("records")
}

fn record(name: &str) -> Value {
    fixture(&format!("records/{name}.json"))
}

/// A record as a world expects it: form types by name, the rest unchanged.
fn stored(mut record: Value) -> Value {
    let forms = record["forms"].as_array().unwrap().iter();
    record["forms"] = forms.map(|form| form["type"].clone()).collect();
    record
}

/// A fake on 2026-11-20 that holds these consignments, and an account at it.
async fn serving(
    consignments: impl IntoIterator<Item = Value>,
) -> (Fake, AccountClient, Context, Questionnaire) {
    let mut world = World::sample();
    for input in consignments {
        world = world.consignment(ACCOUNT, input);
    }
    let fake = manual().0.world(world).start().await.unwrap();
    let client = fake.client().build().unwrap();
    let user = client.user_details().await.unwrap().value;
    let context = Context::of(&user, ACCOUNT, Day::parse("2026-11-20").unwrap())
        .operation(Operation::Update)
        .account_pic("QAZZ7777");
    let questions = client.questions().await.unwrap().value;
    let questionnaire = Questionnaire::prepare(&questions.items);
    let account = client.account(ACCOUNT);
    (fake, account, context, questionnaire)
}

/// All consignments of the account with all fields.
async fn all(account: &AccountClient) -> Vec<Consignment> {
    let mut found = Vec::new();
    let mut items = account.consignments(&ConsignmentFilter::default()).items();
    while let Some(item) = items.next().await {
        let number = item.unwrap().number.unwrap();
        found.push(account.consignment(&number).await.unwrap().value);
    }
    found
}

async fn save(account: &AccountClient, input: &ConsignmentInput) -> Result<(), Vec<ServerError>> {
    match account.save_consignment(input.clone()).await {
        Ok(saved) if saved.problems.is_empty() => Ok(()),
        Ok(saved) => Err(saved.problems),
        Err(error) => Err(error.server_errors().to_vec()),
    }
}

/// The expected record after it was read and saved: in the formats of the input, otherwise unchanged.
fn saved_form(
    mut record: Consignment,
    input: &ConsignmentInput,
    again: &Consignment,
) -> Consignment {
    record.movement_date = input.movement_date.value().cloned();
    record.movement_time = input.movement_time.value().cloned();
    if let (Some(record), Some(input)) = (&mut record.declaration, input.declaration.value()) {
        record.date = input
            .date
            .value()
            .map(|date| Timestamp::from(date.as_str()));
        record.signature = input.signature.value().cloned();
    }
    // Time and author of the last save change.
    record.updated_at.clone_from(&again.updated_at);
    record.updated_by.clone_from(&again.updated_by);
    record
}

/// Also with a form that can no longer be created (spec 9.4).
#[tokio::test]
async fn every_record_can_be_read_and_saved_without_a_finding() {
    let public = records().into_iter().map(|(_, record)| stored(record));
    // The 16 consignments of the data set are in the sample world, in two accounts.
    let (fake, account, context, questionnaire) = serving(public).await;
    let second = fake.client().build().unwrap().account("envd-100202");
    let mut records = Vec::new();
    for (account, pic) in [(account, "QAZZ7777"), (second, "QBZZ2222")] {
        let context = context.clone().account_pic(pic);
        let read = all(&account).await.into_iter();
        records.extend(read.map(|record| (account.clone(), context.clone(), record)));
    }
    assert_eq!(records.len(), 16 + 3);
    for (account, context, record) in records {
        let number = record.number.clone().unwrap();
        let input = ConsignmentInput::from(&record);
        let report = questionnaire.validate(&input, &context);
        assert!(report.findings().is_empty(), "{number}: {report}");
        assert_eq!(save(&account, &input).await, Ok(()), "{number}");

        let again = account.consignment(&number).await.unwrap().value;
        assert_eq!(again, saved_form(record, &input, &again), "{number}");
        assert_eq!(ConsignmentInput::from(&again), input, "{number}");
    }
}

#[tokio::test]
async fn the_validator_has_no_finding_for_a_stored_record_that_the_server_lacks() {
    let invalid = fixtures("consignments/invalid").into_iter();
    let invalid: Vec<Value> = invalid
        .map(|(_, mut seed)| seed["input"].take())
        .filter(Value::is_object)
        .collect();
    assert!(invalid.len() >= 15);
    let (_fake, account, context, questionnaire) = serving(invalid).await;
    for record in all(&account).await {
        let input = ConsignmentInput::from(&record);
        let mirror = questionnaire.validate(&input, &context);
        let server = save(&account, &input).await.err().unwrap_or_default();
        let comparison = compare(&mirror, &Report::from_server_errors(&server));
        assert!(
            comparison.only_mirror.is_empty(),
            "{:?}: {comparison}",
            record.number
        );
    }
}

/// The wire names of all fields with a value, without list indices.
fn leaves(value: &Value, at: &str, found: &mut Vec<String>) {
    match value {
        Value::Null => {}
        Value::Object(fields) => {
            for (name, value) in fields {
                let at = if at.is_empty() {
                    name.clone()
                } else {
                    format!("{at}.{name}")
                };
                leaves(value, &at, found);
            }
        }
        Value::Array(items) => items.iter().for_each(|item| leaves(item, at, found)),
        _ => found.push(at.to_owned()),
    }
    found.sort();
    found.dedup();
}

#[test]
fn not_carried_over_lists_all_fields_that_an_input_lacks() {
    let mut json = record("with-zones");
    // Every field of the record has a value.
    for (name, value) in [
        ("updatedBy", json!("dana.demo@example.com")),
        (
            "owner",
            json!({"name": "a", "pic": "b", "address": {"line1": "c", "town": "d", "state": "e", "postcode": "f"}}),
        ),
        ("consignee", json!({"name": "a"})),
        ("questions", json!([{"id": "3", "text": "How many?"}])),
    ] {
        json[name] = value;
    }
    let record: Consignment = serde_json::from_value(json).unwrap();
    let mut read = Vec::new();
    let mut sent = Vec::new();
    leaves(&serde_json::to_value(&record).unwrap(), "", &mut read);
    leaves(
        &serde_json::to_value(ConsignmentInput::from(&record)).unwrap(),
        "",
        &mut sent,
    );
    let mut lost: Vec<String> = read
        .into_iter()
        .filter(|name| !sent.contains(name))
        // An input has form types by name, and the check counts questions as one field.
        .filter(|name| name != "forms.type")
        .map(|name| {
            name.replace("questions.id", "questions")
                .replace("questions.text", "questions")
        })
        .collect();
    lost.dedup();
    let mut listed = record.not_carried_over();
    listed.sort_unstable();
    assert_eq!(listed, lost);
}

#[test]
fn not_carried_over_lists_truncated_values() {
    let listed = |json: Value| {
        let record: Consignment = serde_json::from_value(json).unwrap();
        record.not_carried_over()
    };
    let field = |name: &str, value: &str| match name.split_once('.') {
        Some((parent, name)) => json!({parent: {name: value}}),
        None => json!({name: value}),
    };
    for row in rows(
        "
        movementDate     | 2023-06-10T00:00:00Z          | 2023-06-10T14:00:00
        movementTime     | 05:15:00                      | 05:15:30
        declaration.date | 2023-06-10T14:00:00.000+00:00 | 2023-06-10T14:00:00.5Z
        declaration.date | 2023-06-10T14:00:00           | 2023-06-10T14:00:00+10:00
        ",
    ) {
        assert_eq!(listed(field(row[0], row[1])), [""; 0], "{row:?}");
        assert_eq!(listed(field(row[0], row[2])), [row[0]]);
    }
    assert_eq!(
        listed(json!({"answers": [], "forms": [{"type": "LPAC1"}]})),
        [""; 0]
    );
    assert_eq!(listed(json!({"forms": [{}]})), ["forms"]);
}
