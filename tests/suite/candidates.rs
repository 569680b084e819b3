//! Candidates after a save without a clear answer: the records that match the input. An incomplete list is an error.

use envd_sdk::fake::{Fake, Fault};
use envd_sdk::graphql::generated::Consignment;
use envd_sdk::model::{
    AnswerInput, ConsignmentId, ConsignmentInput, ConsignmentSummary, PartyInput,
};
use envd_sdk::{AccountClient, RetryPolicy};
use test_support::script::play;
use test_support::table;

use crate::calls::{self, Calls};
use crate::fixed_date::manual;

async fn fake() -> Fake {
    manual().0.start().await.unwrap()
}

fn account(fake: &Fake) -> AccountClient {
    let client = fake.client().retry(RetryPolicy::none()).build().unwrap();
    client.account(fake.account_id())
}

fn input(date: &str) -> ConsignmentInput {
    calls::input().movement(date, "05:15")
}

fn ids(records: Vec<ConsignmentSummary>) -> Vec<ConsignmentId> {
    records.into_iter().filter_map(|record| record.id).collect()
}

async fn save(account: &AccountClient, input: ConsignmentInput) -> ConsignmentId {
    let saved = account.save_consignment(input).await.unwrap().value;
    saved.id.unwrap()
}

#[tokio::test]
async fn candidates_are_the_records_that_do_not_differ_from_the_input() {
    let fake = fake().await;
    let account = account(&fake);
    save(&account, input("2027-02-01")).await;
    let id = save(&account, input("2027-02-02")).await;
    let search = account.candidates(&input("2027-02-02"));
    assert_eq!(ids(search.find().await.unwrap()), [id]);
    let other = account.candidates(&input("2027-02-03"));
    assert!(other.find().await.unwrap().is_empty());
    // The list has all fields of the input, so the search reads no single record.
    assert!(fake.requests_of::<Consignment>().is_empty());
}

#[tokio::test]
async fn after_a_lost_reply_the_record_is_found() {
    let fake = fake().await;
    let account = account(&fake);
    fake.on_operation("CreateOrSaveConsignment")
        .fault(Fault::dropped_after());
    let error = account.save_consignment(input("2026-12-01")).await;
    assert!(error.unwrap_err().may_have_applied());
    let search = account.candidates(&input("2026-12-01"));
    assert_eq!(search.find().await.unwrap().len(), 1);
}

#[tokio::test]
async fn known_records_are_left_out_unless_the_input_has_their_id() {
    let fake = fake().await;
    let account = account(&fake);
    let before = save(&account, input("2027-02-02")).await;
    let search = account.candidates(&input("2027-02-02")).known([&before]);
    assert!(search.find().await.unwrap().is_empty());
    let after = save(&account, input("2027-02-02")).await;
    assert_eq!(ids(search.find().await.unwrap()), [after]);

    // An update of a known record: a candidate only if it was applied.
    let mut update = input("2027-02-09");
    update.id = before.to_string().into();
    let search = account.candidates(&update).known([&before]);
    assert!(search.find().await.unwrap().is_empty());
    save(&account, update).await;
    assert_eq!(ids(search.find().await.unwrap()), [before]);
}

#[tokio::test]
async fn full_records_are_compared_if_the_list_lacks_fields() {
    let fake = fake().await;
    let account = account(&fake);
    let answered = |heads: &str| {
        let heads = AnswerInput::new("3", heads).row(0);
        input("2027-02-02")
            .answer(AnswerInput::new("17", "Yes"))
            .answer(heads)
    };
    let mut owned = answered("24");
    owned.owner = PartyInput::default().name("Pat Sample").into();
    let first = save(&account, answered("24")).await;
    save(&account, answered("25")).await;
    save(&account, owned.clone()).await;
    save(&account, input("2027-02-03")).await;

    let mut input_with_owner = answered("24");
    input_with_owner.owner = PartyInput::default().name("Sam Sample").into();
    let search = account.candidates(&input_with_owner);
    // One record has a different owner, one has different answers; the record without an owner still matches.
    assert_eq!(ids(search.find().await.unwrap()), [first]);
    assert_eq!(fake.requests_of::<Consignment>().len(), 2);
}

const INCOMPLETE: &str = r#"
each: with retry none;
An incomplete list is an error: null
  reply {"data": {"consignments": null}}; candidates 2027-02-02 -> Protocol, operation consignments;
  reply {"data": {}}; candidates 2027-02-02 -> Protocol, operation consignments;
  reply {"data": {"consignments": {"pageInfo": {"hasNextPage": false}, "edges": null}}}; candidates 2027-02-02 -> operation consignments;
  reply {"data": {"consignments": {"totalCount": 1, "pageInfo": {"hasNextPage": false}, "edges": [{"node": null}]}}}; candidates 2027-02-02 -> operation consignments
Fewer records than the total, also by one that comes twice
  reply {"data": {"consignments": {"totalCount": 2, "pageInfo": {"hasNextPage": false}, "edges": [{"node": {"id": "1"}}]}}}; candidates 2027-02-02 -> operation consignments;
  reply {"data": {"consignments": {"totalCount": 2, "pageInfo": {"hasNextPage": false}, "edges": [{"node": {"id": "1"}}, {"node": {"id": "1"}}]}}};
  candidates 2027-02-02 -> operation consignments
A record that cannot be read, and problems beside the list
  reply {"data": {"consignments": {"pageInfo": {"hasNextPage": false}, "edges": [{"node": {"origin": 5}}]}}}; candidates 2027-02-02 -> operation consignments;
  reply {"data": {"consignments": {"totalCount": 0, "pageInfo": {"hasNextPage": false}, "edges": []}}, "errors": [{"message": "partial"}]};
  candidates 2027-02-02 -> operation consignments
A list that does not end
  reply {"data": {"consignments": {"pageInfo": {"hasNextPage": true}, "edges": []}}}; candidates 2027-02-02 -> Stalled;
  reply {"data": {"consignments": {"edges": []}}}; candidates 2027-02-02 -> Stalled;
  reply {"data": {"consignments": {"totalCount": 2, "pageInfo": {"hasNextPage": true, "endCursor": "p2"}, "edges": [{"node": {"id": "1"}}]}}}; reply 500;
  candidates 2027-02-02 -> NoAnswer again, operation consignments, sent 2
A record that cannot be read in full
  reply {"data": {"consignments": {"totalCount": 1, "pageInfo": {"hasNextPage": false}, "edges": [{"node": {"id": "1"}}]}}}; reply 500;
  candidates 2027-02-02 -> NoAnswer again, operation consignment

A field that the record lacks does not exclude it
  reply {"data": {"consignments": {"totalCount": 1, "pageInfo": {"hasNextPage": false}, "edges": [{"node": {"id": "1"}}]}}}; reply {"data": {"consignment": {"id": "1"}}};
  candidates 2027-02-02 -> ok, sent 2, value /0/id "1"
A date filter is sent only if the caller sets it
  reply {"data": {"consignments": {"totalCount": 0, "pageInfo": {"hasNextPage": false}, "edges": []}}}; candidates 2027-02-02 -> ok, sends /variables/fromDate none, sends /variables/toDate none;
  candidates 2027-02-02 from 2027-03-01T00:00:00Z -> ok, sends /variables/fromDate "2027-03-01T00:00:00Z"
"#;

#[tokio::test]
async fn an_incomplete_list_is_an_error() {
    play::<Calls>(table!(const INCOMPLETE)).await;
}
