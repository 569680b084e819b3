//! Candidates after a save whose result is unknown: the records that match the input; an incomplete list is an error.

use std::time::{Duration, SystemTime};

use envd_sdk::fake::{Fake, Fault};
use envd_sdk::graphql::generated::{Consignment, Consignments};
use envd_sdk::model::{
    AnswerInput, ConsignmentId, ConsignmentInput, ConsignmentSummary, Day, FormType, PartyInput,
};
use envd_sdk::{Account, Clock, ErrorKind, RetryPolicy};
use equipment::script::rows;
use equipment::{Reply, Server};
use serde_json::{Value, json};

use crate::fixed_date::fake_builder;
use crate::scripted::{client, ok};

/// A fake on 2026-11-20.
async fn fake() -> Fake {
    let clock = Clock::manual(SystemTime::UNIX_EPOCH + Duration::from_secs(1_795_132_800));
    fake_builder().clock(clock).start().await.unwrap()
}

fn account(fake: &Fake) -> Account {
    let client = fake.client().retry(RetryPolicy::none()).build().unwrap();
    client.account(fake.account_id())
}

fn input(date: &str) -> ConsignmentInput {
    let (from, to) = (PartyInput::new("QAZZ7777"), PartyInput::new("QDZZ3333"));
    ConsignmentInput::new([FormType::Lpac1], from, to).movement(date, "05:15")
}

fn ids(records: Vec<ConsignmentSummary>) -> Vec<ConsignmentId> {
    records.into_iter().filter_map(|record| record.id).collect()
}

async fn save(account: &Account, input: ConsignmentInput) -> ConsignmentId {
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
    // The list has all fields of the input, so no record is read.
    assert!(fake.requests_of::<Consignment>().is_empty());
}

#[tokio::test]
async fn after_a_lost_reply_the_record_is_found_without_a_date_filter() {
    let fake = fake().await;
    let account = account(&fake);
    fake.on_operation("CreateOrSaveConsignment")
        .fault(Fault::dropped_after());
    let error = account.save_consignment(input("2026-12-01")).await;
    assert!(error.unwrap_err().may_have_applied());
    let search = account.candidates(&input("2026-12-01"));
    assert_eq!(search.find().await.unwrap().len(), 1);
    let sent = fake.variables_of::<Consignments>();
    assert!(
        sent.iter()
            .all(|sent| sent.from_date.is_none() && sent.to_date.is_none())
    );

    // With the date filter that the caller sets.
    let filtered = search.clone().from(Day::parse("2026-11-20").unwrap());
    assert_eq!(filtered.find().await.unwrap().len(), 1);
    let sent = fake.variables_of::<Consignments>();
    let from = sent.last().unwrap().from_date.as_ref().unwrap();
    assert_eq!(from.as_str(), "2026-11-20T00:00:00Z");
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
    // One record has another owner, one has other answers; the record without an owner does not differ.
    assert_eq!(ids(search.find().await.unwrap()), [first]);
    assert_eq!(fake.requests_of::<Consignment>().len(), 2);
}

fn node(id: &str) -> Value {
    json!({
        "id": id, "number": format!("C-{id}"), "movementDate": "2027-02-02T00:00:00", "movementTime": "05:15",
        "origin": {"pic": "QAZZ7777"}, "destination": {"pic": "qdzz3333"}, "forms": [{"type": "LPAC1"}],
    })
}

fn list(total: Option<u64>, next: Option<&str>, nodes: &[Value]) -> Value {
    let edges: Vec<Value> = nodes
        .iter()
        .map(|node| json!({"cursor": null, "node": node}))
        .collect();
    let info = json!({"hasNextPage": next.is_some(), "endCursor": next});
    json!({"consignments": {"totalCount": total, "pageInfo": info, "edges": edges}})
}

/// A server that sends the first of these replies whose text is in the request.
fn serve(replies: Vec<(&'static str, Reply)>) -> Account {
    let server = Server::start(move |request| {
        let of_it = replies.iter().find(|(part, _)| request.body.contains(part));
        let reply = of_it.unwrap().1.clone();
        async { reply }
    });
    let client = client(&server).retry(RetryPolicy::none());
    client.build().unwrap().account("envd-1")
}

fn data(data: Value) -> Reply {
    ok(json!({ "data": data }))
}

#[tokio::test]
async fn a_date_filter_is_sent_only_if_the_caller_sets_it() {
    let account = serve(vec![
        ("\"fromDate\":", data(list(Some(0), None, &[]))),
        ("", data(list(Some(1), None, &[node("1")]))),
    ]);
    let search = account.candidates(&input("2027-02-02"));
    assert_eq!(search.find().await.unwrap().len(), 1);
    let filtered = search.from(Day::parse("2027-03-01").unwrap());
    assert!(filtered.find().await.unwrap().is_empty());
}

/// What is said of a list with a record 1 or without.
const INCOMPLETE: &str = r#"
nothing                                 | {}
null                                    | {"consignments": null}
null edges                              | {"consignments": {"pageInfo": {"hasNextPage": false}, "edges": null}}
a null node                             | {"consignments": {"totalCount": 1, "pageInfo": {"hasNextPage": false}, "edges": [{"node": null}]}}
fewer than the total                    | {"consignments": {"totalCount": 2, "pageInfo": {"hasNextPage": false}, "edges": [{"node": ONE}]}}
a record that cannot be read            | {"consignments": {"pageInfo": {"hasNextPage": false}, "edges": [{"node": {"origin": 5}}]}}
one record twice in place of another    | {"consignments": {"totalCount": 2, "pageInfo": {"hasNextPage": false}, "edges": [{"node": ONE}, {"node": ONE}]}}
no next cursor                          | {"consignments": {"pageInfo": {"hasNextPage": true}, "edges": []}}
no page info                            | {"consignments": {"edges": []}}
a second page that fails                | {"consignments": {"totalCount": 2, "pageInfo": {"hasNextPage": true, "endCursor": "p2"}, "edges": [{"node": ONE}]}}
problems                                | {"consignments": {"totalCount": 0, "pageInfo": {"hasNextPage": false}, "edges": []}}
"#;

#[tokio::test]
async fn an_incomplete_list_is_an_error() {
    for row in rows(INCOMPLETE) {
        let (name, text) = (row[0], row[1].replace("ONE", &node("1").to_string()));
        let mut body = json!({"data": serde_json::from_str::<Value>(&text).unwrap()});
        if name == "problems" {
            body["errors"] = json!([{"message": "partial data"}]);
        }
        let account = serve(vec![("\"after\":\"p2\"", Reply::new(500)), ("", ok(body))]);
        let found = account.candidates(&input("2027-02-02")).find().await;
        let error = found.expect_err(name);
        let is_named =
            error.operation() == Some("consignments") || error.kind() == ErrorKind::Stalled;
        assert!(is_named, "{name}: {error}");
        assert!(!error.may_have_applied(), "{name}");
    }
}

#[tokio::test]
async fn a_record_that_cannot_be_read_is_an_error() {
    let lists = || data(list(Some(2), None, &[node("1"), node("2")]));
    let answered = input("2027-02-02").answer(AnswerInput::new("17", "Yes"));
    let account = serve(vec![("\"id\":", Reply::new(500)), ("", lists())]);
    let error = account.candidates(&answered).find().await.unwrap_err();
    assert_eq!(error.operation(), Some("consignment"));

    // A field that the record lacks does not exclude it.
    let record = |id| data(json!({"consignment": node(id)}));
    let (one, two) = (("\"id\":\"1\"", record("1")), ("\"id\":\"2\"", record("2")));
    let account = serve(vec![one, two, ("", lists())]);
    assert_eq!(account.candidates(&answered).find().await.unwrap().len(), 2);
}
