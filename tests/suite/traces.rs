//! Traces have operation, kind, page, attempt, status and codes, and never variables, bodies or tokens.

use envd_sdk::ops::ConsignmentFilter;
use test_support::script::play;
use test_support::table;

use super::trace_recorder::{recorded, recorded_by_us, trace_in_separate_process};
use crate::calls::Calls;
use crate::fixed_date::start_fake;

const SESSION: &str = r#"
each: with header x-gateway-key=s3cr3t;
A page at the second attempt
  with token s3cr3t-token; reply 503; reply {"data": {"consignments": {"pageInfo": {"hasNextPage": false}, "edges": [{"cursor": "x", "node": {"number": "C-HIDDEN"}}]}}};
  list search:hidden x-office=s3cr3t -> ok x2
A refusal, an unreadable reply, and a web page
  with token s3cr3t-token; reply 400 {"data": null, "errors": [{"message": "Question 17: Hidden is not valid", "extensions": {"data": {"Code": "answers.17"}}},
  {"message": "Hidden", "extensions": {"data": {"Code": "Pat Hidden, 0491"}}}, {"message": "Hidden", "extensions": {"code": "INVALID_VALUE", "codes": ["INVALID_VALUE"]}}]};
  save hidden-id -> Rejected ?;
  reply {"data": {"createOrSaveConsignment": {"data": {"id": {"Hidden": "Hidden"}}}}}; save -> Decode ?; reply 500 content-type=text/html <p>Hidden</p>; save -> NoAnswer ?
Pages and look-ups of the register
  with token s3cr3t-token; reply pics QAZZ7777; search Hidden -> ok; lookup QAZZ7777 -> ok; reply 404 {}; lookup QZZZ9999 -> ok
A document that was adapted
  fake Question.help; questions -> ok x2
"#;

const TRACED: [&str; 18] = [
    "envd.call operation=consignments kind=\"query\" page=1",
    "envd.attempt attempt=1",
    "envd.attempt attempt=2",
    "status=503",
    "status=200",
    "attempts=2",
    "operation=createOrSaveConsignment kind=\"mutation\"",
    "codes=\"answers.17,",
    ",INVALID_VALUE\"",
    "status=500",
    "error=the server answered HTTP 500",
    "path=\"data.createOrSaveConsignment.data.id\"",
    "operation=PICRegister kind=\"search\"",
    "operation=PICRegister kind=\"lookup\"",
    "status=404",
    "the document was adapted",
    "operation=\"questions\"",
    "questions.items.help",
];

#[test]
fn calls_are_traced_with_names_numbers_and_codes_and_without_what_they_carry() {
    let name = "traces::calls_are_traced_with_names_numbers_and_codes_and_without_what_they_carry";
    trace_in_separate_process(name, async {
        play::<Calls>(table!(const SESSION)).await;
        let fake = start_fake().await;
        let account = fake.client().build().unwrap().account(fake.account_id());
        let mut pager = account.consignments(&ConsignmentFilter::default());
        pager.next_page().await.unwrap();
        let traced = recorded_by_us();
        let all = recorded();
        for part in TRACED {
            assert!(traced.contains(part), "{part} is not in\n{traced}");
        }
        // The HTTP libraries record their own traces, with addresses.
        let hidden =
            "hidden HIDDEN Hidden <p> mutation_Create envdAccountId QAZZ7777 QZZZ9999 api/v2";
        for part in hidden.split(' ') {
            assert!(
                !traced.contains(&part.replace('_', " ")),
                "{part} is in\n{traced}"
            );
        }
        assert!(!all.contains("s3cr3t"), "{all}");
    });
}
