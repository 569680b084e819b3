//! The inputs and literal responses of the fixtures.

use envd_sdk::fake::Fake;
use serde_json::{Value, json};

use super::http::{call, data, fixture_day};
use crate::fixed_date::{fake_builder, fixture, start_fake};
use crate::wire;

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

/// Removes ids and numbers, which differ from run to run; the rest must be equal.
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
        assert_eq!(
            without_ids(response.json()),
            without_ids(expected),
            "{file}"
        );
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
        let read = &read["consignment"];
        let input = &variables["input"];
        assert_eq!(read["heads"], case["heads"], "{file}");
        assert_eq!(read["species"], case["species"], "{file}");
        assert_eq!(read["answers"], input["answers"], "{file}");
        assert_eq!(read["origin"], input["origin"], "{file}");
        assert_eq!(read["updatedAt"], "2026-11-20T03:00:00.0000000+00:00");
        assert_eq!(read["submittedAt"].is_null(), case["status"] != "SUBMITTED");
    }
}

#[tokio::test]
async fn requests_of_the_fixtures_get_the_literal_bodies() {
    let fake = start_fake().await;
    for case in fixture("register/index.json").as_array().unwrap() {
        let file = case["file"].as_str().unwrap();
        let call = case["request"].as_str().unwrap().replace("GET ", "");
        let page = file
            .strip_prefix("register/page-")
            .and_then(|rest| rest.get(..1));
        let page = page.filter(|page| ["1", "2", "3"].contains(page));
        let call = call.replace("...", page.unwrap_or("4"));
        let url = fake.register_url().join(&call).unwrap();
        let response = wire::send(&url, "GET", &[], "").await.unwrap();
        assert_eq!(response.status, 200, "{file}");
        assert_eq!(response.json(), fixture(file), "{file}");
    }
}

#[tokio::test]
async fn a_consignment_has_the_questions_of_its_forms_only() {
    let fake = start_fake().await;
    let read = data(
        &fake,
        "{ consignment(id: \"C-900000101\", envdAccountId: \"envd-100201\") { pdfUrl forms { type serialNumber }
             questions { id forms childQuestions { id acceptableAnswers { value } } } } questions { items { id } } }",
        json!({}),
    )
    .await;
    let consignment = &read["consignment"];
    let questions = consignment["questions"].as_array().unwrap();
    let forms = |question: &Value| question["forms"].as_array().unwrap().clone();
    let is_of_form = |question: &Value| forms(question).contains(&json!("LPAC1"));
    assert!(questions.iter().all(is_of_form));
    assert!(questions.len() < read["questions"]["items"].as_array().unwrap().len());
    let rows = questions.iter().find(|q| q["id"] == "1").unwrap();
    let below = rows["childQuestions"].as_array().unwrap().iter();
    assert_eq!(below.filter(|q| q["id"] == "5").count(), 1);
    let address = consignment["pdfUrl"].as_str().unwrap();
    assert!(address.contains("?authToken="), "{address}");
    let number = consignment["forms"][0]["serialNumber"].as_str().unwrap();
    assert_eq!(number.len(), 8);
}
