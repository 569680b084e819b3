//! Records, pages and lists of questions as received: byte for byte, with the same errors as the typed calls.

use std::time::Duration;

use envd_sdk::graphql::generated::{Consignments, consignments};
use envd_sdk::model::{Connection, ConsignmentSummary, Question, QuestionList};
use envd_sdk::ops::ConsignmentFilter;
use envd_sdk::{AccountClient, ErrorKind};
use serde_json::{Value, json};
use test_support::{Reply, Server};

use crate::scripted::client;

fn account(server: &Server) -> AccountClient {
    client(server).build().unwrap().account("envd-1")
}

/// A reply whose data is this text.
fn data(text: &str) -> Reply {
    Reply::json(200, format!(r#"{{"data": {text}}}"#))
}

/// Unknown fields, and digits and white space that parsing to a `Value` would lose.
const RECORD: &str = "{ \"id\" : \"c-1\",\n\t\"later\": 1.50, \"number\":\"C-1\", \"big\": 12345678901234567890123 }";

#[tokio::test]
async fn every_call_gives_the_json_that_its_value_was_read_from() {
    let list = format!(r#"{{"items": [], "later": {RECORD}}}"#);
    let server = Server::script([
        data(&format!(r#"{{"consignment": {RECORD}}}"#)),
        data(&format!(r#"{{"questions": {list}}}"#)),
        data(&format!(r#"{{"copyConsignment": {{"data": {RECORD}}}}}"#)),
        data(r#"{"deleteConsignment": {"data": true}}"#),
        data(&format!(r#"{{"own": {RECORD}}}"#)),
    ]);
    let account = account(&server);
    let client = account.client();

    let record = account.consignment("c-1").received().await.unwrap().value;
    assert_eq!(record.json(), RECORD);
    assert_eq!(record.typed().number, Some("C-1".into()));
    let questions = client.questions().received().await.unwrap().value;
    assert_eq!(questions.into_parts().1, list);
    let copy = account.copy_consignment("c-1").received().await.unwrap();
    assert_eq!(copy.value.json(), RECORD);
    let deleted = account.delete_consignment("c-1").received().await.unwrap();
    assert_eq!(deleted.value.json(), "true");
    let own = client.execute_document::<Value>("query Own { own }", "Own", &json!({}));
    let own = own.received().await.unwrap().value;
    assert_eq!(own.json(), format!(r#"{{"own": {RECORD}}}"#));
}

#[tokio::test]
async fn settings_before_and_after_count_alike() {
    let server = Server::script([data(&format!(r#"{{"consignment": {RECORD}}}"#))]);
    let read = account(&server).consignment("c-1");
    let read = read.deadline(Duration::from_secs(5)).received().optional();
    assert!(format!("{read:?}").contains("5s"));
    let outcome = read.header("x-office", "Roma").await.unwrap();
    assert_eq!(outcome.attempts(), 1);
    assert_eq!(outcome.value.unwrap().json(), RECORD);
    assert_eq!(server.requests()[0].header("x-office"), Some("Roma"));
}

/// A page of a list with these edges; `next` is the cursor of the next page.
fn page(edges: &str, next: Option<&str>) -> Reply {
    let info = json!({"hasNextPage": next.is_some(), "endCursor": next});
    data(&format!(
        r#"{{"consignments": {{"totalCount": 3, "pageInfo": {info}, "edges": {edges}}}}}"#
    ))
}

#[tokio::test]
async fn each_record_of_a_page_has_its_own_json_beside_gaps_and_unreadable_ones() {
    let other = r#"{"id": "c-2", "later": [1,  2]}"#;
    let edges = format!(
        r#"[null, {{"node": {RECORD}}}, {{"node": null}}, {{"node": {{"id": [], "later": 1}}}}, {{"cursor": "x", "node": {other}}}]"#
    );
    let server = Server::script([page(&edges, None)]);
    let pager = account(&server).consignments(&ConsignmentFilter::default());
    let mut pager = pager.received();
    let page = pager.next_page().await.unwrap().unwrap();
    let records = page.records.iter();
    let records: Vec<_> = records
        .map(|record| (record.typed().id.as_ref().map(AsRef::as_ref), record.json()))
        .collect();
    assert_eq!(records, [(Some("c-1"), RECORD), (Some("c-2"), other)]);
    assert_eq!((page.missing, page.unreadable.len()), (2, 1));
    let unreadable = &page.unreadable[0];
    assert!(unreadable.kind() == ErrorKind::UnreadableRecord);
    assert_eq!(unreadable.raw_data().unwrap()["node"]["later"], 1);
    assert!(pager.next_page().await.unwrap().is_none());
    let list = account(&server).consignments(&ConsignmentFilter::default());
    let first = list.received().items().next().await;
    assert_eq!(first.unwrap().unwrap().json(), RECORD);
}

#[tokio::test]
async fn a_list_that_does_not_end_fails_behind_its_last_page_and_an_end_does_not() {
    for (next, is_stalled) in [(None, false), (Some("same"), true)] {
        let edges = format!(r#"[{{"node": {RECORD}}}]"#);
        let server = Server::script([page(&edges, Some("same")), page(&edges, next)]);
        let pager = account(&server).consignments(&ConsignmentFilter::default());
        let mut pager = pager.received().look_ahead(0);
        let first = pager.next_page().await.unwrap().unwrap();
        let last = pager.next_page().await.unwrap().unwrap();
        assert!(first.next.is_some() && last.next.is_none());
        assert_eq!(last.notices.len(), 1, "the record came twice");
        // The pager knows without a further request whether the list has ended.
        match pager.next_page().await {
            Ok(end) => assert!(end.is_none() && !is_stalled),
            Err(error) => assert!(error.kind() == ErrorKind::Stalled && is_stalled),
        }
        assert_eq!(server.count(), 2);
    }
}

#[tokio::test]
async fn a_list_of_a_document_of_your_own_holds_its_json_itself() {
    let server = Server::script([page(&format!(r#"[{{"node": {RECORD}}}]"#), None)]);
    let variables = |after| consignments::Variables {
        envd_account_id: "envd-1".into(),
        after,
        ..consignments::Variables::default()
    };
    let client = client(&server).build().unwrap();
    let pager = client.pager::<Consignments, ConsignmentSummary>(variables, |data| {
        let page = data.consignments?;
        let edges = page.edges.into_iter().map(|edge| (edge.cursor, edge.node));
        Some(Connection::new(false, None, edges))
    });
    let error = pager.received().next_page().await.unwrap_err();
    assert!(
        error.kind() == ErrorKind::Config && error.to_string().contains("RawValue"),
        "{error}"
    );
}

#[tokio::test]
async fn another_type_is_read_within_the_memory_of_a_reply() {
    // The capacity of a list doubles, and the lists of a reply may take 16 MiB.
    let most = ((16 << 20) / size_of::<Question>() + 1).next_power_of_two() / 2;
    for (count, is_read) in [(most, true), (most + 1, false)] {
        let items = vec!["{}"; count].join(",");
        let record = format!(r#"{{"consignment": {{"id": "c-1", "items": [{items}]}}}}"#);
        let server = Server::script([data(&record)]);
        let record = account(&server)
            .consignment("c-1")
            .received()
            .await
            .unwrap();
        match record.value.read::<QuestionList>() {
            Ok(read) => assert!(is_read && read.items.len() == count),
            Err(error) => assert!(!is_read && error.kind() == ErrorKind::Decode, "{error}"),
        }
    }
    let server = Server::script([data(&format!(r#"{{"consignment": {RECORD}}}"#))]);
    let record = account(&server)
        .consignment("c-1")
        .received()
        .await
        .unwrap()
        .value;
    let error = record.read::<[u8; 1]>().err().unwrap();
    assert!(error.kind() == ErrorKind::Decode && !format!("{error:?} {record:?}").contains("c-1"));
}

#[tokio::test]
async fn a_change_whose_record_lacks_a_name_was_carried_out_all_the_same() {
    let named = r#"{"copyConsignment": {"data": {"id": "c-2", "number": "C-900000102"}}}"#;
    let without_number = r#"{"copyConsignment": {"data": {"id": "c-2"}}}"#;
    let template = r#"{"deleteTemplate": {"data": {"name": "To the works"}}}"#;
    let server = Server::script([data(named), data(without_number), data(template)]);
    let account = account(&server);

    let copied = account.copy_consignment("C-900000101").await.unwrap();
    assert_eq!(copied.id().unwrap(), "c-2");
    assert_eq!(copied.number().unwrap(), "C-900000102");

    let copied = account.copy_consignment("C-900000101").await.unwrap();
    assert_eq!(copied.id().unwrap(), "c-2");
    let deleted = account.delete_template("t-1").await.unwrap();
    for error in [
        copied.number().unwrap_err(),
        deleted.id().unwrap_err(),
        deleted.number().unwrap_err(),
    ] {
        assert_eq!(error.kind(), ErrorKind::Protocol);
        assert!(error.may_have_applied() && !error.is_retryable());
        assert_eq!((error.attempts(), error.http_status()), (1, Some(200)));
    }
}
