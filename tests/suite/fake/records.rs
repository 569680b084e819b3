//! Saved records can be listed, read, changed, copied and deleted.

use std::time::Duration;

use envd_sdk::Clock;
use envd_sdk::fake::{Fake, User};
use serde_json::{Value, json};

use super::http::{at, call, data, fixture, fixture_day, post};
use crate::fixed_date::{fake_builder, start_fake};

const LIST: &str = "query($account: String!, $first: Int, $after: String, $status: ConsignmentStatus,
    $species: ConsignmentSpecies, $text: String, $from: DateTime, $to: DateTime, $sent: Boolean) {
  consignments(envdAccountId: $account, first: $first, after: $after, status: $status, species: $species,
      searchText: $text, fromDate: $from, toDate: $to, onlySubmitted: $sent) {
    totalCount pageInfo { hasNextPage hasPreviousPage startCursor endCursor }
    edges { cursor node { id number status species updatedAt submittedAt } } items { number }
  }
}";
const SAVE: &str = "mutation($account: String!, $input: CreateOrSaveConsignmentInput!) {
  createOrSaveConsignment(envdAccountId: $account, input: $input) {
    data { id number status submittedAt updatedBy movementTime owner { name } forms { type serialNumber } }
  }
}";
const ACCOUNT: &str = "envd-100201";

async fn list(fake: &Fake, mut variables: Value) -> Value {
    if variables["account"].is_null() {
        variables["account"] = ACCOUNT.into();
    }
    data(fake, LIST, variables).await["consignments"].take()
}

fn numbers(list: &Value) -> Vec<String> {
    let items = list["items"].as_array().unwrap().iter();
    let numbers = items.map(|item| item["number"].as_str().unwrap());
    numbers.map(str::to_owned).collect()
}

async fn save(fake: &Fake, input: Value) -> Value {
    let response = call(fake, SAVE, json!({"account": ACCOUNT, "input": input})).await;
    response.body["data"]["createOrSaveConsignment"]["data"].clone()
}

/// The literal body of spec 7.2, row 2, for another operation.
fn assert_not_found(response: &Value, operation: &str) {
    let text = fixture("errors/consignment-not-found.json").to_string();
    let expected: Value =
        serde_json::from_str(&text.replace("createOrSaveConsignment", operation)).unwrap();
    assert_eq!(*response, expected);
}

#[tokio::test]
async fn lists_are_newest_first_and_pages_join_without_gap() {
    let fake = start_fake().await;
    let all = list(&fake, json!({})).await;
    assert_eq!(all["totalCount"], 8);
    assert_eq!(numbers(&all).first().unwrap(), "C-900000108");
    let last = &all["edges"][7]["node"]["id"];
    assert_eq!(*last, "00000000-0000-4000-8000-000000000101");
    let mut seen = Vec::new();
    let mut after = Value::Null;
    loop {
        let page = list(&fake, json!({"first": 3, "after": after})).await;
        assert_eq!(page["totalCount"], 8);
        seen.extend(numbers(&page));
        after = page["pageInfo"]["endCursor"].clone();
        assert_eq!(page["pageInfo"]["hasPreviousPage"], seen.len() > 3);
        if page["pageInfo"]["hasNextPage"] == false {
            break;
        }
    }
    assert_eq!(seen, numbers(&all));
}

#[tokio::test]
async fn filters_narrow_the_list() {
    let fake = start_fake().await;
    for (filter, total) in [
        (json!({"status": "DRAFT"}), 5),
        (json!({"sent": true}), 3),
        (json!({"species": "GOAT"}), 3),
        (json!({"species": "GOAT", "status": "SUBMITTED"}), 1),
        (json!({"text": "c-900000103"}), 1),
        (json!({"text": "fixture flats"}), 1),
        (json!({"text": "no such text"}), 0),
        (
            json!({"from": "2026-11-18T11:00:00Z", "to": "2026-11-19T11:00:00Z"}),
            2,
        ),
        (json!({"from": "2026-11-30"}), 0),
        (json!({"status": "DELETED"}), 0),
        (json!({"first": 0}), 8),
    ] {
        let listed = list(&fake, filter.clone()).await;
        assert_eq!(listed["totalCount"], total, "{filter}");
    }
    let nobody = list(&fake, json!({"account": "envd-100203"})).await;
    assert_eq!(nobody["items"], json!([]));
    assert_eq!(nobody["pageInfo"]["endCursor"], Value::Null);
}

#[tokio::test]
async fn the_newest_records_of_the_sample_are_of_the_day_of_the_clock() {
    for (now, yesterday) in [
        ("2026-11-20T03:00:00Z", "2026-11-19T00:00:00Z"),
        ("2031-06-30T23:59:59Z", "2031-06-29T00:00:00Z"),
    ] {
        let clock = Clock::manual(at(now));
        let fake = Fake::builder().clock(clock).start().await.unwrap();
        for account in ["envd-100201", "envd-100202"] {
            let variables = json!({"account": account, "from": yesterday});
            assert_eq!(list(&fake, variables).await["totalCount"], 2, "{now}");
            let variables = json!({"account": account, "from": now});
            assert_eq!(list(&fake, variables).await["totalCount"], 0, "{now}");
        }
    }
}

#[tokio::test]
async fn an_unknown_cursor_is_refused() {
    let fake = start_fake().await;
    for variables in [
        json!({"account": ACCOUNT, "after": "bm90aGluZw=="}),
        json!({"account": ACCOUNT, "first": -1}),
    ] {
        let response = call(&fake, LIST, variables).await;
        assert_eq!(response.body["errors"][0]["message"], "Bad request");
        assert_eq!(response.body["data"]["consignments"], Value::Null);
    }
}

#[tokio::test]
async fn an_update_replaces_the_given_fields_and_keeps_the_others() {
    let clock = fixture_day();
    let fake = fake_builder().clock(clock.clone()).start().await.unwrap();
    let mut input = fixture("consignments/lpac1.json")["input"].take();
    let made = save(&fake, input.clone()).await;
    clock.advance(Duration::from_secs(60));
    for name in ["id", "number"] {
        let change = json!({
            name: made[name], "forms": ["LPAC1"], "origin": input["origin"], "destination": input["destination"],
            "status": "SUBMITTED", "owner": null,
        });
        let saved = save(&fake, change).await;
        assert_eq!(saved["number"], made["number"]);
        assert_eq!(saved["status"], "SUBMITTED");
        assert_eq!(saved["submittedAt"], "2026-11-20T03:01:00.0000000+00:00");
        assert_eq!(saved["owner"], Value::Null);
        assert_eq!(saved["movementTime"], input["movementTime"]);
        assert_eq!(saved["forms"], made["forms"]);
        assert_eq!(saved["updatedBy"], "sam.sample@example.com");
    }
    assert_eq!(list(&fake, json!({})).await["totalCount"], 9);
    input["id"] = "00000000-0000-4000-8000-000000000999".into();
    let response = call(&fake, SAVE, json!({"account": ACCOUNT, "input": input})).await;
    assert_not_found(&response.body, "createOrSaveConsignment");
}

#[tokio::test]
async fn locked_and_deleted_records_refuse_changes() {
    let fake = start_fake().await;
    for status in ["LOCKED", "DELETED"] {
        let mut input = fixture("consignments/lpac1.json")["input"].take();
        input["status"] = status.into();
        let made = save(&fake, input.clone()).await;
        input["id"] = made["id"].clone();
        let response = call(&fake, SAVE, json!({"account": ACCOUNT, "input": input})).await;
        assert_not_found(&response.body, "createOrSaveConsignment");
    }
}

#[tokio::test]
async fn a_copy_is_a_new_draft_and_a_deleted_record_leaves_the_list() {
    let fake = start_fake().await;
    let copy = "mutation($id: String!) { copyConsignment(envdAccountId: \"envd-100201\", id: $id) {
      data { id number status submittedAt species heads } } }";
    let copied = data(&fake, copy, json!({"id": "C-900000102"})).await;
    let copied = &copied["copyConsignment"]["data"];
    assert_eq!(copied["status"], "DRAFT");
    assert_eq!(copied["submittedAt"], Value::Null);
    assert_eq!(copied["heads"], 25);
    assert_ne!(copied["number"], "C-900000102");
    let delete = "mutation($id: String!) {
      deleteConsignment(envdAccountId: \"envd-100201\", id: $id) { data { status } } }";
    let deleted = data(&fake, delete, json!({"id": copied["id"]})).await;
    assert_eq!(deleted["deleteConsignment"]["data"]["status"], "DELETED");
    for (filter, total) in [(json!({}), 8), (json!({"status": "DELETED"}), 1)] {
        assert_eq!(list(&fake, filter).await["totalCount"], total);
    }
    for (document, operation) in [(copy, "copyConsignment"), (delete, "deleteConsignment")] {
        for id in [&copied["id"], &json!("C-1")] {
            let reply = call(&fake, document, json!({"id": id})).await;
            assert_not_found(&reply.body, operation);
        }
    }
}

#[tokio::test]
async fn templates_can_be_made_changed_and_deleted() {
    let fake = start_fake().await;
    let save = "mutation($input: CreateOrSaveTemplateInput!) {
      createOrSaveTemplate(envdAccountId: \"envd-100201\", input: $input) { data { id number name species forms { type } } } }";
    let save = async |input: Value| {
        let saved = data(&fake, save, json!({"input": input})).await;
        saved["createOrSaveTemplate"]["data"].clone()
    };
    let made =
        save(json!({"name": "Goats", "forms": ["LPAG3"], "origin": {"pic": "QAZZ7777"}})).await;
    assert_eq!(made["species"], "GOAT");
    let changed = save(json!({"number": made["number"], "name": "Goats 2"})).await;
    assert_eq!(
        (&changed["id"], &changed["forms"]),
        (&made["id"], &made["forms"])
    );
    assert_eq!(changed["name"], "Goats 2");
    let read = "query($id: String!) { template(id: $id, envdAccountId: \"envd-100201\") { name origin { pic } } }";
    let named = json!({"id": made["id"]});
    let template = data(&fake, read, named.clone()).await;
    assert_eq!(template["template"]["origin"]["pic"], "QAZZ7777");
    let count = async || {
        let list = "{ templates(envdAccountId: \"envd-100201\") { totalCount items { name } } }";
        data(&fake, list, json!({})).await["templates"]["totalCount"].clone()
    };
    assert_eq!(count().await, 2);
    let delete = "mutation($id: String!) { deleteTemplate(envdAccountId: \"envd-100201\", id: $id) { data { name } } }";
    data(&fake, delete, named.clone()).await;
    assert_eq!(count().await, 1);
    for (document, operation) in [(delete, "deleteTemplate"), (read, "template")] {
        assert_not_found(&call(&fake, document, named.clone()).await.body, operation);
    }
}

#[tokio::test]
async fn comments_mappings_and_edecs_are_listed() {
    let fake = start_fake().await;
    let comment = "mutation($number: String!) { createComment(envdAccountId: \"envd-100201\",
      input: {consignmentNumber: $number, commentText: \"Gate 3\"}) { data { commentId role createdAt } } }";
    let made = data(&fake, comment, json!({"number": "C-900000101"})).await;
    assert_eq!(made["createComment"]["data"]["role"], "Producer");
    let around = data(
        &fake,
        "{ comments(envdAccountId: \"envd-100201\", consignmentNumber: \"C-900000101\") { commentText }
           none: comments(envdAccountId: \"envd-100201\", consignmentNumber: \"C-900000102\") { commentText }
           consignmentUserMapping(envdAccountId: \"envd-100201\", consignmentNumber: \"C-900000101\", role: \"AUTHVIEWER\") { email numOfHeads }
           edecs { number } }",
        json!({}),
    )
    .await;
    assert_eq!(around["comments"].as_array().unwrap().len(), 2);
    assert_eq!(around["none"], json!([]));
    assert_eq!(around["consignmentUserMapping"][0]["numOfHeads"], 24);
    assert_eq!(around["edecs"].as_array().unwrap().len(), 2);
    assert_not_found(
        &call(&fake, comment, json!({"number": "C-1"})).await.body,
        "createComment",
    );
}

#[tokio::test]
async fn user_details_are_plain_and_under_data() {
    let fake = start_fake().await;
    let query = "{ userDetails { email accounts { envdAccountId properties { propertyName } } data { email accreditations { hRG } } }
                   userDetailsQuery { data { isNewUser defaultAccount } } }";
    let plain = data(&fake, query, json!({})).await;
    let (user, wrapped) = (&plain["userDetails"], &plain["userDetailsQuery"]["data"]);
    assert_eq!(user["email"], user["data"]["email"]);
    assert_eq!(user["data"]["accreditations"]["hRG"], true);
    assert_eq!(wrapped["defaultAccount"], fake.account_id());
    let body = json!({"query": query}).to_string();
    let other = post(fake.graphql_url(), &fake.access_token_for(User::New), body).await;
    let other = &other.body["data"];
    assert_eq!(other["userDetailsQuery"]["data"]["isNewUser"], true);
    assert_eq!(other["userDetails"]["accounts"], json!([]));
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
    let is_of_form = |question: &Value| {
        question["forms"]
            .as_array()
            .unwrap()
            .contains(&json!("LPAC1"))
    };
    assert!(questions.iter().all(is_of_form));
    assert!(questions.len() < read["questions"]["items"].as_array().unwrap().len());
    let rows = questions.iter().find(|q| q["id"] == "1").unwrap();
    let below = rows["childQuestions"].as_array().unwrap().iter();
    assert_eq!(below.filter(|q| q["id"] == "5").count(), 1);
    assert!(
        consignment["pdfUrl"]
            .as_str()
            .unwrap()
            .contains("?authToken=")
    );
    let number = consignment["forms"][0]["serialNumber"].as_str().unwrap();
    assert_eq!(number.len(), 8);
}
