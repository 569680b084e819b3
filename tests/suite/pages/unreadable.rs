//! Unreadable records: the others are returned, and the list continues.

use envd_sdk::model::Position;
use envd_sdk::{Error, ErrorKind};
use serde_json::{Value, json};

use super::{account, client, collect_up_to, end, filter, more, ok, page, serve};
use crate::profiles::moved;

/// A page of 100 records from this number on, of which some have a text as number of heads.
fn hundred(info: Value, from: usize, broken: &[usize]) -> Value {
    let numbers: Vec<String> = (from..from + 100)
        .map(|number| number.to_string())
        .collect();
    let numbers: Vec<&str> = numbers.iter().map(String::as_str).collect();
    let mut body = page(info, &numbers);
    for at in broken {
        body["data"]["consignments"]["edges"][*at]["node"]["heads"] = json!("hidden");
    }
    body
}

fn located(error: &Error) -> &str {
    assert!(error.kind() == ErrorKind::UnreadableRecord);
    assert!(!error.is_retryable() && !error.may_have_applied());
    assert_eq!(error.operation(), Some("consignments"));
    assert!(!format!("{error} {error:?}").contains("hidden"));
    assert_eq!(error.raw_data().unwrap()["node"]["heads"], "hidden");
    error.json_path().unwrap()
}

#[tokio::test]
async fn an_unreadable_record_does_not_lose_its_page() {
    let server = serve(|after| {
        if after.is_empty() {
            return ok(hundred(more("a"), 0, &[37]));
        }
        let mut body = hundred(end(), 100, &[]);
        body["errors"] = json!([{"message": "part of the data is stale"}]);
        ok(body)
    });
    let mut pager = account(&server).consignments(&filter());
    let first = pager.next_page().await.unwrap().unwrap();
    assert_eq!((first.records.len(), first.missing), (99, 0));
    assert_eq!(first.unreadable.len(), 1);
    let path = located(&first.unreadable[0]);
    assert_eq!(path, "data.consignments.edges[37].node.heads");
    assert_eq!(first.position_after(37).unwrap().cursor(), Some("38"));
    let second = pager.next_page().await.unwrap().unwrap();
    assert_eq!((second.records.len(), second.unreadable.len()), (100, 0));
    assert_eq!(second.problems[0].message(), "part of the data is stale");
    assert!(pager.next_page().await.unwrap().is_none());
}

#[tokio::test]
async fn items_return_the_error_in_the_place_of_the_record() {
    let server = serve(|after| match after {
        "" => ok({
            let mut body = hundred(more("99"), 0, &[0, 37, 38, 99]);
            body["data"]["consignments"]["edges"][20] = json!(null);
            body["data"]["consignments"]["edges"][30]["node"] = json!(null);
            body
        }),
        _ => ok(page(end(), &["100"])),
    });
    let mut items = account(&server).consignments(&filter()).items();
    let mut seen = Vec::new();
    while let Some(item) = items.next().await {
        let number = match &item {
            Ok(record) => record.number.as_ref().unwrap().as_str().to_owned(),
            Err(error) => {
                located(error);
                assert_eq!(error.resume_from(), Some(items.position()));
                error.raw_data().unwrap()["cursor"]
                    .as_str()
                    .unwrap()
                    .to_owned()
            }
        };
        assert_eq!(items.position(), &Position::after(number.as_str()));
        seen.push((number, item.is_err()));
    }
    let expected = (0..=100).filter(|number| ![20, 30].contains(number));
    let expected: Vec<_> = expected
        .map(|number| (number.to_string(), [0, 37, 38, 99].contains(&number)))
        .collect();
    assert_eq!(seen, expected);
}

#[tokio::test]
async fn a_stream_resumes_behind_an_unreadable_last_record() {
    let server = serve(|after| match after {
        "" => ok(hundred(more("99"), 0, &[99])),
        "99" => ok(page(end(), &["100"])),
        _ => ok(page(end(), &["of the wrong page"])),
    });
    let mut items = account(&server).consignments(&filter()).items();
    let mut records = Vec::new();
    let error = collect_up_to(&mut items, 500, &mut records)
        .await
        .unwrap_err();
    assert_eq!(
        (located(&error), records.len()),
        ("data.consignments.edges[99].node.heads", 99)
    );
    let position = error.resume_from().unwrap().clone();
    assert_eq!(position.cursor(), Some("99"));
    // The same stream, and a new one from the stored position.
    assert!(!collect_up_to(&mut items, 500, &mut records).await.unwrap());
    assert_eq!(records.len(), 100);
    let mut pager = account(&server).consignments(&filter()).start_at(position);
    let rest = pager.next_page().await.unwrap().unwrap();
    assert_eq!(rest.records[0].number.as_ref().unwrap(), &"100");
}

#[tokio::test]
async fn unpaged_lists_return_their_readable_records() {
    let comments = json!({"data": {"comments": [{"commentText": "a"}, {"commentText": 5}]}});
    let server = serve(move |_| ok(comments.clone()));
    let outcome = account(&server).comments("C-1").await.unwrap();
    assert_eq!((outcome.value.len(), outcome.nulls()), (1, 0));
    let error = outcome.unreadable().next().unwrap();
    assert_eq!(error.json_path(), Some("data.comments[1].commentText"));
    assert_eq!(
        (error.raw_data(), error.operation()),
        (Some(&json!({"commentText": 5})), Some("comments"))
    );
    assert!(outcome.strict().unwrap_err().kind() == ErrorKind::UnreadableRecord);
}

#[tokio::test]
async fn a_record_with_an_unreadable_part_is_an_error() {
    let record =
        json!({"data": {"consignment": {"number": "C-1", "forms": [{"serialNumber": 5}]}}});
    let server = serve(move |_| ok(record.clone()));
    let error = account(&server).consignment("C-1").await.unwrap_err();
    assert!(error.kind() == ErrorKind::Decode);
}

#[tokio::test]
async fn an_override_that_moves_the_list_returns_the_readable_records() {
    let server = serve(|_| {
        let list = hundred(end(), 0, &[37])["data"]["consignments"].take();
        ok(json!({"data": {"all": {"of": list}}}))
    });
    let document = "query All($envdAccountId: String!) { all(a: $envdAccountId) { of } }";
    let client = client(&server).profile(&moved("consignments", document, "/all/of"));
    let client = client.build().unwrap();
    let mut pager = client.account("envd-1").consignments(&filter());
    let page = pager.next_page().await.unwrap().unwrap();
    assert_eq!(page.records.len(), 99);
    assert_eq!(
        located(&page.unreadable[0]),
        "data.all.of.edges[37].node.heads"
    );
}
