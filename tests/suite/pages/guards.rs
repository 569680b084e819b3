//! Lists that do not come to an end, change, or have holes.

use std::sync::atomic::Ordering;

use serde_json::{Value, json};

use super::{account, end, filter, more, ok, page, serve};

/// Reads until the failure: how many pages came, the failure, and how many requests were made.
async fn read(
    info: impl Fn(&str) -> Value + Send + Sync + 'static,
) -> (usize, envd_sdk::Error, usize) {
    let (server, asked) = serve(move |after| ok(page(info(after), &["1"]))).await;
    let mut pager = account(&server.uri()).consignments(&filter());
    let mut read = 0;
    loop {
        match pager.next_page().await {
            Ok(page) => assert!(page.is_some(), "the list came to an end"),
            Err(error) => return (read, error, asked.load(Ordering::SeqCst)),
        }
        read += 1;
        assert!(read < 50, "the list goes on and on");
    }
}

#[tokio::test]
async fn a_cursor_that_stands_still_ends_the_list_with_an_error() {
    let (pages, error, asked) = read(|_| more("a")).await;
    assert_eq!((pages, asked), (2, 2));
    assert!(error.is_pagination_stalled() && error.is_protocol() && !error.is_retryable());
    assert_eq!(error.resume_from().unwrap().cursor(), Some("a"));
}

#[tokio::test]
async fn cursors_that_go_in_a_circle_end_the_list_with_an_error() {
    let (pages, error, _) = read(|after| match after {
        "a" => more("b"),
        "b" => more("c"),
        _ => more("a"),
    })
    .await;
    assert!(error.is_pagination_stalled());
    assert!(pages < 12, "{pages}");
}

#[tokio::test]
async fn another_page_without_a_cursor_is_an_error_after_the_page_was_given() {
    for info in [
        json!({"hasNextPage": true}),
        json!({"hasNextPage": true, "endCursor": null}),
        json!({"hasNextPage": true, "endCursor": ""}),
        json!({"endCursor": "a"}),
        json!(null),
    ] {
        let (pages, error, asked) = read(move |_| info.clone()).await;
        assert_eq!((pages, asked), (1, 1));
        assert!(error.is_pagination_stalled());
        assert_eq!(error.resume_from().unwrap().cursor(), None);
    }
}

#[tokio::test]
async fn a_last_page_needs_no_cursor() {
    let info = json!({"hasNextPage": false, "endCursor": null});
    let (server, _) = serve(move |_| ok(page(info.clone(), &[]))).await;
    let mut pager = account(&server.uri()).consignments(&filter());
    assert!(pager.next_page().await.unwrap().unwrap().records.is_empty());
    assert!(pager.next_page().await.unwrap().is_none());
}

#[tokio::test]
async fn a_total_that_changes_and_places_without_a_record_are_noted() {
    let (server, _) = serve(|after| {
        let mut body = page(
            if after.is_empty() { more("a") } else { end() },
            &["1", "2", "3"],
        );
        let list = &mut body["data"]["consignments"];
        if !after.is_empty() {
            list["totalCount"] = json!(7);
            list["edges"][0] = json!(null);
            list["edges"][1]["node"] = json!(null);
        }
        ok(body)
    })
    .await;
    let mut pager = account(&server.uri()).consignments(&filter());
    let first = pager.next_page().await.unwrap().unwrap();
    assert_eq!((first.total_drift, first.missing), (Some(0), 0));
    let second = pager.next_page().await.unwrap().unwrap();
    assert_eq!((second.total, second.total_drift), (Some(7), Some(-2)));
    assert_eq!((second.records.len(), second.missing), (1, 2));
    assert_eq!(second.position_after(0).unwrap().cursor(), Some("3"));
}

#[tokio::test]
async fn what_the_server_says_beside_a_page_is_kept_on_it() {
    let (server, _) = serve(|_| {
        let mut body = page(end(), &["1"]);
        body["errors"] = json!([{"message": "some of it is old"}]);
        ok(body)
    })
    .await;
    let mut pager = account(&server.uri()).consignments(&filter());
    let page = pager.next_page().await.unwrap().unwrap();
    assert_eq!(page.problems[0].message(), "some of it is old");
}
