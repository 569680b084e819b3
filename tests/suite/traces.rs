//! Traces have operation, kind, page, attempt, status and codes, and never variables, bodies or tokens.

use envd_sdk::Client;
use envd_sdk::auth::StaticToken;
use envd_sdk::model::{AnswerInput, ConsignmentInput, FormType, PartyInput};
use envd_sdk::ops::ConsignmentFilter;
use equipment::{Reply, Server};
use serde_json::json;

use super::trace_recorder::{recorded_by_us, trace_in_separate_process};
use crate::fixed_date::fake_builder;
use crate::scripted::{client, ok, typed};

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
    trace_in_separate_process(name, async {
        paged().await;
        let all = recorded_by_us();
        for part in [
            "envd.call operation=consignments kind=\"query\" page=1",
            "envd.attempt attempt=1",
            "envd.attempt attempt=2",
            "status=503",
            "status=200",
            "attempts=2",
        ] {
            assert!(all.contains(part), "{part} is not in\n{all}");
        }
        for hidden in ["s3cr3t", "private", "PRIVATE", "envdAccountId"] {
            assert!(!all.contains(hidden), "{hidden} is in\n{all}");
        }
    });
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
    trace_in_separate_process(name, async {
        refused().await;
        let all = recorded_by_us();
        for part in [
            "operation=createOrSaveConsignment kind=\"mutation\"",
            "codes=\"answers.17,",
            ",INVALID_VALUE\"",
            "status=500",
            "error=the server answered HTTP 500",
            "path=\"data.createOrSaveConsignment.data.id\"",
        ] {
            assert!(all.contains(part), "{part} is not in\n{all}");
        }
        for hidden in ["s3cr3t", "Hidden", "HIDDEN", "<p>", "mutation Create"] {
            assert!(!all.contains(hidden), "{hidden} is in\n{all}");
        }
    });
}

#[test]
fn an_adapted_document_is_traced_with_the_fields_it_leaves_out() {
    let name = "traces::an_adapted_document_is_traced_with_the_fields_it_leaves_out";
    trace_in_separate_process(name, async {
        let schema = envd_sdk::graphql::SCHEMA.replacen("  help: String\n", "  aid: String\n", 1);
        let fake = fake_builder().schema(schema);
        let fake = fake.start().await.unwrap();
        let _ = fake.client().build().unwrap().questions().await.unwrap();
        let traced = recorded_by_us();
        for part in [
            "the document was adapted",
            "operation=\"questions\"",
            "questions.items.help",
        ] {
            assert!(traced.contains(part), "{part}: {traced}");
        }
    });
}
