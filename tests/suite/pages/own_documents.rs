//! Lists of the caller's own documents.

use envd_sdk::graphql::generated::{Consignments, consignments};
use envd_sdk::model::ConsignmentSummary;
use envd_sdk::{Client, ErrorKind, Pager};
use serde_json::json;

use super::{account, assert_resumes, more, ok, page, placed, serve};
use crate::fixed_date::start_fake;

/// A pager for a document and its variables, like generated code, with three records per page.
fn numbers(client: &Client, account: &str) -> Pager<ConsignmentSummary> {
    let account = account.to_owned();
    let variables = move |after| consignments::Variables {
        envd_account_id: account.as_str().into(),
        first: Some(3),
        after,
        ..consignments::Variables::default()
    };
    let pager = client.pager::<Consignments, _>(variables, |data| data.consignments);
    pager.record_id(|record| Some(record.number.as_ref()?.as_str().into()))
}

#[tokio::test]
async fn an_own_list_is_read_page_by_page_and_resumes_after_any_record() {
    let fake = start_fake().await;
    let client = fake.client().build().unwrap();
    let list = || numbers(&client, fake.account_id());
    let all = assert_resumes(|place| list().start_at(placed(place)).items()).await;
    let before = fake.requests_of::<Consignments>().len();
    let mut items = list().items();
    while items.next().await.is_some() {}
    assert!(all.len() > 3);
    assert_eq!(
        fake.requests_of::<Consignments>().len() - before,
        all.len().div_ceil(3)
    );
}

#[tokio::test]
async fn a_list_that_does_not_end_is_an_error_with_the_operation() {
    // Cursors in a cycle of three, and records without an id.
    let server = serve(|after| match after {
        "a" => ok(page(more("b"), &["1"])),
        "b" => ok(page(more("c"), &["2"])),
        _ => ok(page(more("a"), &["3"])),
    });
    let pager = numbers(account(&server).client(), "envd-1");
    let mut pager = pager.record_id(|_| None);
    let mut read = 0;
    let error = loop {
        match pager.next_page().await {
            Ok(page) => assert!(page.is_some()),
            Err(error) => break error,
        }
        read += 1;
        assert!(read < 50, "the list does not end");
    };
    assert!(error.kind() == ErrorKind::Stalled && error.operation() == Some("Consignments"));
    assert!(read == 4 && server.count() <= 6, "{read} pages");
}

#[tokio::test]
async fn a_reply_without_the_list_is_an_error() {
    let server = serve(|_| ok(json!({"data": {"consignments": null}})));
    let mut pager = numbers(account(&server).client(), "envd-1");
    let error = pager.next_page().await.unwrap_err();
    assert!(error.kind() == ErrorKind::Protocol && error.operation() == Some("Consignments"));
}
