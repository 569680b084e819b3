//! The inputs and literal responses of the fixtures.

use envd_sdk::Clock;
use envd_sdk::fake::{Fake, User, World};
use serde_json::{Value, json};

use super::http::{at, call, data, fixture, fixture_day};
use crate::fixed_date::{fake_builder, start_fake};

/// The name has four letters, so that the variables are at the positions in the fixtures.
const SAVE: &str = "mutation Save($envdAccountId: String!, $input: CreateOrSaveConsignmentInput!) {
  createOrSaveConsignment(envdAccountId: $envdAccountId, input: $input) { data { id number status } }
}";

async fn fake_for(context: &Value) -> Fake {
    let mut builder = fake_builder().clock(fixture_day());
    for (name, granted) in context["accreditations"].as_object().into_iter().flatten() {
        builder = builder.accreditation(name, granted == true);
    }
    builder.start().await.unwrap()
}

/// Ids and numbers differ from run to run; the rest must be equal.
fn without_ids(mut body: Value) -> Value {
    if let Some(record) = body.pointer_mut("/data/createOrSaveConsignment/data") {
        assert!(record["id"].is_string() && record["number"].is_string());
        record["id"] = Value::Null;
        record["number"] = Value::Null;
    }
    body
}

#[tokio::test]
async fn every_invalid_fixture_gets_its_literal_response() {
    for case in fixture("consignments/index.json")["invalid"]
        .as_array()
        .unwrap()
    {
        let file = case["file"].as_str().unwrap();
        let fake = fake_for(&case["context"]).await;
        let response = call(&fake, SAVE, fixture(file)).await;
        let expected = fixture(case["response"].as_str().unwrap());
        assert_eq!(without_ids(response.body), without_ids(expected), "{file}");
        assert_eq!(response.status, case["http_status"], "{file}");
    }
}

#[tokio::test]
async fn every_valid_fixture_is_saved_without_errors() {
    let fake = fake_for(&Value::Null).await;
    for case in fixture("consignments/index.json")["valid"]
        .as_array()
        .unwrap()
    {
        let file = case["file"].as_str().unwrap();
        let variables = fixture(file);
        let saved = data(&fake, SAVE, variables.clone()).await;
        let saved = &saved["createOrSaveConsignment"]["data"];
        assert_eq!(saved["status"], case["status"], "{file}");
        let read = data(
            &fake,
            "query($id: String!, $account: String!) {
              consignment(id: $id, envdAccountId: $account) {
                heads species forms { type } answers { questionId index value } origin { name pic address { line1 town state postcode } }
                updatedAt submittedAt movementDate declaration { email }
              }
            }",
            json!({"id": saved["number"], "account": variables["envdAccountId"]}),
        )
        .await;
        let (read, input) = (&read["consignment"], &variables["input"]);
        assert_eq!(read["heads"], case["heads"], "{file}");
        assert_eq!(read["species"], case["species"], "{file}");
        assert_eq!(read["answers"], input["answers"], "{file}");
        assert_eq!(read["origin"], input["origin"], "{file}");
        assert_eq!(read["updatedAt"], "2026-11-20T03:00:00.0000000+00:00");
        assert_eq!(read["submittedAt"].is_null(), case["status"] != "SUBMITTED");
    }
}

#[tokio::test]
async fn a_form_is_copied_only_if_the_user_may_create_it() {
    const COPY: &str = "mutation($id: String!) {
      copyConsignment(envdAccountId: \"envd-100201\", id: $id) { data { status } }
    }";
    let variables = fixture("consignments/euc1.json");
    for (granted, status) in [(true, 200), (false, 403)] {
        let world = World::sample().consignment("envd-100201", &variables["input"]);
        let builder = fake_builder().clock(fixture_day()).world(world);
        let fake = builder.accreditation("eU", granted).start().await.unwrap();
        let list = "{ consignments(envdAccountId: \"envd-100201\", first: 1) { edges { node { id forms { type } } } } }";
        let listed = data(&fake, list, json!({})).await;
        let node = &listed["consignments"]["edges"][0]["node"];
        assert_eq!(node["forms"], json!([{"type": "EUC1"}]));
        let response = call(&fake, COPY, json!({"id": node["id"]})).await;
        assert_eq!(response.status, status, "{}", response.body);
    }
}

#[tokio::test]
async fn goat_forms_follow_their_dates() {
    let mut variables = fixture("consignments/invalid/lpag2-after-2024.json");
    // A day of the fake begins at UTC+11:00.
    for (day, form, good) in [
        ("2024-11-18T12:59:59Z", "LPAG2", true),
        ("2024-11-18T13:00:00Z", "LPAG2", false),
        ("2024-11-18T12:59:59Z", "LPAG3", false),
        ("2024-11-18T13:00:00Z", "LPAG3", true),
        ("2024-09-30T12:59:59Z", "LPAHRG0", false),
        ("2024-09-30T13:00:00Z", "LPAHRG0", true),
    ] {
        variables["input"]["forms"] = json!([form]);
        variables["input"]["answers"] = json!([]);
        let fake = fake_builder()
            .clock(Clock::manual(at(day)))
            .start()
            .await
            .unwrap();
        let response = call(&fake, SAVE, variables.clone()).await;
        let saved = !response.body["data"]["createOrSaveConsignment"].is_null();
        assert_eq!(saved, good, "{form} on {day}: {}", response.body);
    }
}

#[tokio::test]
async fn only_the_lpa_account_of_a_producer_creates() {
    let producer = start_fake().await;
    let receiver = fake_builder().user(User::Receiver).start().await.unwrap();
    for (fake, account) in [
        (&producer, "envd-100203"),
        (&producer, "envd-100301"),
        (&receiver, "envd-100301"),
    ] {
        let mut variables = fixture("consignments/lpac1.json");
        variables["envdAccountId"] = account.into();
        let response = call(fake, SAVE, variables).await;
        assert_eq!(response.status, 403, "{account}");
        let error = &response.body["errors"][0];
        assert_eq!(error["message"], "Access denied");
        assert_eq!(error["path"], json!(["createOrSaveConsignment"]));
    }
}
