//! Traces have operation, kind, page, attempt, status and codes, and never variables, bodies or tokens.

use envd_sdk::Client;
use envd_sdk::auth::StaticToken;
use envd_sdk::model::{AnswerInput, ConsignmentInput, FormType, PartyInput};
use envd_sdk::ops::ConsignmentFilter;
use envd_sdk::register::PropertySearch;
use equipment::{Reply, Server};
use serde_json::json;

use super::trace_recorder::assert_traced;
use crate::fixed_date::fake_builder;
use crate::scripted::{client, ok, register_at, typed};

fn serve(replies: impl IntoIterator<Item = Reply>) -> Client {
    let client = client(&Server::script(replies));
    let token = StaticToken::new("s3cr3t-token").unwrap();
    client.token_source(token).build().unwrap()
}

/// One page, at the second attempt.
async fn paged() {
    let page = json!({"data": {"consignments": {"pageInfo": {"hasNextPage": false}, "edges": [
        {"cursor": "x", "node": {"number": "C-PRIVATE"}}]}}});
    let client = serve([Reply::new(503), ok(page)]);
    let filter = ConsignmentFilter::default().search_text("private words");
    let mut pager = client.account("envd-private").consignments(&filter);
    pager.next_page().await.unwrap().unwrap();
}

#[test]
fn a_call_and_its_attempts_are_spans_with_names_numbers_and_codes() {
    let name = "traces::a_call_and_its_attempts_are_spans_with_names_numbers_and_codes";
    let parts = [
        "envd.call operation=consignments kind=\"query\" page=1",
        "envd.attempt attempt=1",
        "envd.attempt attempt=2",
        "status=503",
        "status=200",
        "attempts=2",
    ];
    let hidden = ["s3cr3t", "private", "PRIVATE", "envdAccountId"];
    assert_traced(name, false, paged(), &parts, &hidden);
}

/// A refusal, an unreadable reply, and a web page.
async fn refused() {
    let refusal = json!({"data": null, "errors": [
        {"message": "Question 17: Hidden is not valid", "extensions": {"data": {"Code": "answers.17"}}},
        {"message": "Hidden", "extensions": {"data": {"Code": "Pat Hidden, 0491"}}},
        {"message": "Hidden", "extensions": {"code": "INVALID_VALUE", "codes": ["INVALID_VALUE"]}}]});
    let unreadable =
        json!({"data": {"createOrSaveConsignment": {"data": {"id": {"Hidden": "Hidden"}}}}});
    let client = serve([
        Reply::json(400, refusal),
        ok(unreadable),
        typed(500, "text/html", "<p>Hidden</p>"),
    ]);
    for _ in 0..3 {
        let input = ConsignmentInput::new(
            [FormType::Lpac1],
            PartyInput::new("HIDDEN12").name("Hidden"),
            PartyInput::new("B"),
        )
        .answer(AnswerInput::new("17", "Hidden"));
        client
            .account("envd-1")
            .save_consignment(input)
            .await
            .unwrap_err();
    }
}

#[test]
fn refusals_and_unreadable_replies_are_traced_without_input_data() {
    let name = "traces::refusals_and_unreadable_replies_are_traced_without_input_data";
    let parts = [
        "operation=createOrSaveConsignment kind=\"mutation\"",
        "codes=\"answers.17,",
        ",INVALID_VALUE\"",
        "status=500",
        "error=the server answered HTTP 500",
        "path=\"data.createOrSaveConsignment.data.id\"",
    ];
    let hidden = ["s3cr3t", "Hidden", "HIDDEN", "<p>", "mutation Create"];
    assert_traced(name, false, refused(), &parts, &hidden);
}

#[test]
fn an_adapted_document_is_traced_with_the_fields_it_leaves_out() {
    let name = "traces::an_adapted_document_is_traced_with_the_fields_it_leaves_out";
    let work = async {
        let schema = envd_sdk::graphql::SCHEMA.replacen("  help: String\n", "  aid: String\n", 1);
        let fake = fake_builder().schema(schema);
        let fake = fake.start().await.unwrap();
        let _ = fake.client().build().unwrap().questions().await.unwrap();
    };
    let parts = [
        "the document was adapted",
        "operation=\"questions\"",
        "questions.items.help",
    ];
    assert_traced(name, false, work, &parts, &[]);
}

#[test]
fn calls_of_the_register_are_traced_with_operation_and_status_but_neither_names_nor_tokens() {
    let name = "traces::calls_of_the_register_are_traced_with_operation_and_status_but_neither_names_nor_tokens";
    let work = async {
        let fake = fake_builder().start().await.unwrap();
        let register = register_at(fake.register_url()).header("x-api-key", "s3cr3t");
        let register = register.build().unwrap();
        let search = PropertySearch::new().last_name("Sample").town("Sampleton");
        register.search(&search).next_page().await.unwrap();
        let look_ups = register.lookup_many(["QAZZ7777", "QZZZ9999"]);
        look_ups.collect().await;
    };
    let parts = [
        "envd.call",
        "PICRegister",
        "search",
        "lookup",
        "envd.attempt",
        "status=200",
        "status=404",
    ];
    // The HTTP libraries record their own traces, with addresses.
    let hidden = ["Sample", "s3cr3t", "QAZZ7777", "QZZZ9999", "api/v2"];
    assert_traced(name, false, work, &parts, &hidden);
}

#[test]
fn headers_of_a_client_are_in_no_trace() {
    let work = async {
        let saved = json!({"createOrSaveConsignment": {"data": {"id": "c-9"}}});
        let server = Server::script([ok(json!({ "data": saved }))]);
        let client = client(&server)
            .header("x-gateway-key", "s3cr3t")
            .build()
            .unwrap();
        let input = ConsignmentInput::default();
        let save = client.account("envd-1").save_consignment(input);
        let _ = save.header("x-office", "h1dden").await.unwrap();
    };
    let name = "traces::headers_of_a_client_are_in_no_trace";
    assert_traced(name, true, work, &["status=200"], &["s3cr3t", "h1dden"]);
}
