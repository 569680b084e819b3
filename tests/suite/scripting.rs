//! Scripted replies, received requests, and expectations.

use envd_sdk::ErrorKind;
use envd_sdk::fake::Fault;
use envd_sdk::graphql::generated::{Comments, Consignments, UserDetails, comments};
use envd_sdk::ops::ConsignmentFilter;
use serde_json::{Value, json};

use crate::calls::input;
use crate::fixed_date::{fake_builder, start_fake};

const HERDS: &str = "query HerdReport($name: String!) { herdReport(name: $name) }";

#[tokio::test]
async fn an_operation_gets_its_scripted_replies() {
    let fake = start_fake().await;
    let by_number =
        |of: comments::Variables| json!({"comments": [{"commentText": of.consignment_number}]});
    fake.on::<Comments>()
        .respond(json!({"comments": [{"commentText": "one"}]}))
        .respond_with(by_number)
        .expect(2);
    let account = fake.client().build().unwrap().account("envd-100201");
    for (number, text) in [("C-1", "one"), ("C-2", "C-2")] {
        let comments = account.comments(number).await.unwrap().value;
        assert_eq!(comments[0].comment_text.as_deref(), Some(text));
    }
    let sent = fake.variables_of::<Comments>();
    let numbers: Vec<&str> = sent
        .iter()
        .map(|it| it.consignment_number.as_str())
        .collect();
    assert_eq!(numbers, ["C-1", "C-2"]);
}

#[tokio::test]
async fn an_unscripted_operation_is_an_error_with_its_name_and_a_hint() {
    let fake = start_fake().await;
    let client = fake.client().build().unwrap();
    let error = client
        .execute_document::<Value>(HERDS, "HerdReport", &json!({"name": "a"}))
        .await
        .unwrap_err();
    assert!(error.kind() == ErrorKind::SchemaMismatch);

    let fake = fake_builder().scripted_only().start().await.unwrap();
    let client = fake.client().build().unwrap();
    let error = client
        .execute_document::<Value>(HERDS, "HerdReport", &json!({"name": "a"}))
        .await
        .unwrap_err();
    let report = error.report();
    assert!(
        report.contains("no script for the operation HerdReport"),
        "{report}"
    );
    fake.on::<UserDetails>()
        .respond(json!({"userDetails": {"email": "kim@example.com"}}));
    let user = client.user_details().await.unwrap().value;
    assert_eq!(user.email.as_deref(), Some("kim@example.com"));
}

#[tokio::test]
async fn a_scripted_refusal_is_decoded_like_a_real_one() {
    let fake = start_fake().await;
    fake.on_operation("createOrSaveConsignment")
        .refuse("origin.pic", "QAZZ777 is not a valid value for PIC");
    let client = fake.client().build().unwrap();
    let saved = client.account("envd-100201").save_consignment(input());
    let error = saved.await.unwrap_err();
    assert!(!error.server_errors().is_empty());
    let report = envd_sdk::validate::Report::from_server_errors(error.server_errors());
    assert_eq!(report.at("origin.pic").count(), 1);
}

#[tokio::test]
async fn variables_of_our_operations_are_typed() {
    let fake = start_fake().await;
    let account = fake.client().build().unwrap().account("envd-100201");
    let filter = ConsignmentFilter::default().page_size(3);
    let _ = account.consignments_page(&filter, None).await.unwrap();
    let variables = fake.variables_of::<Consignments>();
    assert_eq!(variables.len(), 1);
    assert_eq!(variables[0].first, Some(3));
    assert_eq!(variables[0].envd_account_id.as_str(), "envd-100201");
    let received = &fake.requests_of::<Consignments>()[0];
    let untyped: Value = received.variables().unwrap();
    assert_eq!(untyped["first"], 3);
    let body: Value = serde_json::from_slice(received.body()).unwrap();
    let document = body["query"].as_str().unwrap();
    assert!(document.starts_with("query Consignments"));
    assert!(received.variables::<u32>().unwrap_err().kind() == ErrorKind::Config);
}

#[tokio::test]
async fn debug_of_a_received_request_hides_token_and_body() {
    let fake = start_fake().await;
    let account = fake.client().build().unwrap().account("envd-100201");
    let _ = account.comments("C-900000101").await.unwrap();
    let received = &fake.requests()[0];
    let token = fake.access_token();
    let sent = received.header("authorization").unwrap();
    assert!(sent.contains(token.expose()));
    let shown = format!("{received:?} {:?}", fake.on::<Comments>());
    assert!(shown.contains("Comments") && shown.contains("authorization"));
    assert!(
        !shown.contains(token.expose()) && !shown.contains("C-900000101"),
        "{shown}"
    );
}

#[tokio::test]
async fn scripted_replies_are_sent_in_order_before_the_default_ones() {
    let fake = start_fake().await;
    let none = json!({"comments": []});
    fake.on::<Comments>()
        .respond(&none)
        .times(2)
        .fault(Fault::none())
        .respond(&none);
    let account = fake.client().build().unwrap().account("envd-100201");
    let mut counts = Vec::new();
    for _ in 0..5 {
        counts.push(account.comments("C-900000101").await.unwrap().value.len());
    }
    assert_eq!(counts, [0, 0, 1, 0, 1]);
}

#[tokio::test]
async fn an_unmet_expectation_is_reported_with_all_received_calls() {
    let fake = start_fake().await;
    fake.on::<Comments>().expect(2);
    fake.on_path("/oauth/token").expect(0);
    let _ = fake.client().build().unwrap().user_details().await.unwrap();
    let caught = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| fake.verify()));
    let text = *caught.unwrap_err().downcast::<String>().unwrap();
    assert_eq!(
        text,
        "the fake expected other calls:\n  Comments: expected 2 calls, received no call\nreceived in all: UserDetails 1"
    );
    fake.clear_scripts();
}

#[tokio::test]
#[should_panic(expected = "Comments: expected 1 call, received no call")]
async fn an_unmet_expectation_fails_the_test_when_the_fake_is_dropped() {
    let fake = start_fake().await;
    fake.on::<Comments>().expect(1);
}

#[tokio::test]
#[should_panic(expected = "invalid data for Comments")]
async fn data_that_the_operation_cannot_read_panics_at_once() {
    let fake = start_fake().await;
    fake.on::<Comments>().respond(json!({"comments": "none"}));
}

#[tokio::test]
#[should_panic(expected = "the fake has no operation Consigments; it has comments, consignment, ")]
async fn a_script_for_an_operation_that_is_misspelt_fails_at_once() {
    let fake = start_fake().await;
    let _ = fake.on_operation("Consigments");
}

#[tokio::test]
async fn scripts_name_operations_or_root_fields_in_any_case() {
    let schema = "type Query { herdReport: Int } type Mutation { closeHerd: Int }";
    let fake = fake_builder().schema(schema).start().await.unwrap();
    let names = "Consignments createorsaveconsignment userDetails questions HerdReport closeHerd";
    for name in names.split(' ') {
        let _ = fake.on_operation(name);
    }
    assert!(fake.unused_scripts().is_empty());
}

#[tokio::test]
async fn unused_scripts_are_listed() {
    let fake = start_fake().await;
    fake.on_operation("UserDetails").fault(Fault::none());
    fake.on::<Comments>().fault(Fault::status(503)).times(2);
    fake.on_path("/oauth/token").fault(Fault::status(500));
    // These are not unused scripts: an expectation of no call, and a removed step.
    fake.on_operation("consignments").expect(0);
    fake.on_operation("edecs").fault(Fault::none()).times(0);
    let names = ["UserDetails", "Comments", "/oauth/token"];
    assert_eq!(fake.unused_scripts(), names);
    let _ = fake.client().build().unwrap().user_details().await.unwrap();
    assert_eq!(fake.unused_scripts(), names[1..]);
    // A later script for the same call is not used either.
    fake.clear_scripts();
    fake.on_operation("userDetails")
        .fault(Fault::none())
        .forever();
    fake.on_operation("UserDetails").fault(Fault::status(503));
    let _ = fake.client().build().unwrap().user_details().await.unwrap();
    assert_eq!(fake.unused_scripts(), ["UserDetails"]);
}

#[tokio::test]
async fn the_fault_of_every_request_stands_around_the_scripts() {
    let fake = start_fake().await;
    let script = || fake.on_operation("UserDetails");
    script().respond(json!({"userDetails": {"firstName": "Robin", "lastName": "Roe"}}));
    fake.on_every_request(|received| {
        let is_refused =
            received.method() == "POST" && received.header("x-network") == Some("barn");
        is_refused.then(|| Fault::status(403).json(json!({"Message": "no"})))
    });
    let client = |network: &str| {
        let client = fake.client().header("x-network", network);
        client.build().unwrap()
    };
    // The reply is replaced, but the script keeps its step.
    assert!(client("barn").user_details().await.is_err());
    assert_eq!(fake.unused_scripts(), ["UserDetails"]);
    fake.clear_scripts();
    script().respond(json!({"userDetails": {"firstName": "Robin", "lastName": "Roe"}}));
    let user = client("barn").user_details().await.unwrap().value;
    assert_eq!(user.first_name.as_deref(), Some("Robin"));
    // First the script's reply, then the real reply, both with the change.
    fake.on_every_request(|_| Some(Fault::replaced("/data/userDetails/lastName", "Hill")));
    script().respond(json!({"userDetails": {"firstName": "Robin", "lastName": "Roe"}}));
    for name in ["Robin", "Sam"] {
        let user = client("hill").user_details().await.unwrap().value;
        assert_eq!(user.first_name.as_deref(), Some(name));
        assert_eq!(user.last_name.as_deref(), Some("Hill"));
    }
    assert_eq!(fake.request_count("UserDetails"), 4);
}
