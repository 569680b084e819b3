//! Lists that do not end, change while they are read, or have null records.

use serde_json::{Value, json};

use envd_sdk::ErrorKind;
use envd_sdk::model::ListNotice;

use super::{account, collect_up_to, end, filter, more, ok, page, serve};

/// Reads until the failure: the number of pages, the failure, and the number of requests.
async fn read(
    info: impl Fn(&str) -> Value + Send + Sync + 'static,
) -> (usize, envd_sdk::Error, usize) {
    // Each page has a different record.
    let server = serve(move |after| ok(page(info(after), &[&format!("1{after}")])));
    let mut pager = account(&server).consignments(&filter());
    let mut read = 0;
    loop {
        match pager.next_page().await {
            Ok(page) => assert!(page.is_some(), "the list ended"),
            Err(error) => return (read, error, server.count()),
        }
        read += 1;
        assert!(read < 50, "the list does not end");
    }
}

#[tokio::test]
async fn repeated_cursors_end_the_list_with_an_error() {
    let (pages, error, requests) = read(|_| more("a")).await;
    assert_eq!((pages, requests), (2, 2));
    assert!(error.kind() == ErrorKind::Stalled && !error.is_retryable());
    assert_eq!(error.resume_from().unwrap().cursor(), Some("a"));
    assert_eq!(error.operation(), Some("consignments"));
    // In a cycle.
    let (pages, error, _) = read(|after| match after {
        "a" => more("b"),
        "b" => more("c"),
        _ => more("a"),
    })
    .await;
    assert!(error.kind() == ErrorKind::Stalled && pages < 12, "{pages}");
}

#[tokio::test]
async fn a_missing_cursor_is_an_error_after_the_page_was_returned() {
    for info in [
        json!({"hasNextPage": true}),
        json!({"hasNextPage": true, "endCursor": null}),
        json!({"hasNextPage": true, "endCursor": ""}),
        json!({"endCursor": "a"}),
        json!(null),
    ] {
        let (pages, error, requests) = read(move |_| info.clone()).await;
        assert_eq!((pages, requests), (1, 1));
        assert!(error.kind() == ErrorKind::Stalled);
        assert_eq!(error.resume_from().unwrap().cursor(), None);
    }
}

#[tokio::test]
async fn a_last_page_needs_no_cursor() {
    let info = json!({"hasNextPage": false, "endCursor": null});
    let server = serve(move |_| ok(page(info.clone(), &[])));
    let mut pager = account(&server).consignments(&filter());
    assert!(pager.next_page().await.unwrap().unwrap().records.is_empty());
    assert!(pager.next_page().await.unwrap().is_none());
}

#[tokio::test]
async fn a_changed_total_and_null_records_are_reported() {
    let server = serve(|after| {
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
    });
    let mut pager = account(&server).consignments(&filter());
    let first = pager.next_page().await.unwrap().unwrap();
    assert_eq!((first.total_drift, first.missing), (Some(0), 0));
    let second = pager.next_page().await.unwrap().unwrap();
    assert_eq!((second.total, second.total_drift), (Some(7), Some(-2)));
    assert_eq!((second.records.len(), second.missing), (1, 2));
    assert_eq!(second.position_after(0).unwrap().cursor(), Some("3"));
}

#[tokio::test]
async fn pages_without_new_records_end_the_list_with_an_error() {
    let repeated = |after: &str| page(more(&format!("{after}x")), &["1"]);
    let empty = |after: &str| page(more(&format!("{after}x")), &[]);
    let nulls = |after: &str| {
        let mut body = page(more(&format!("{after}x")), &["1"]);
        body["data"]["consignments"]["edges"] = json!([null, {"cursor": "c", "node": null}]);
        body
    };
    let kinds: [fn(&str) -> Value; 3] = [repeated, empty, nulls];
    for (kind, (most, given)) in kinds
        .into_iter()
        .zip([(None, 20), (Some(5), 5), (Some(0), 1)])
    {
        // The first page has a record.
        let answer = move |after: &str| match after {
            "" => ok(page(more("x"), &["1"])),
            after => ok(kind(after)),
        };
        let server = serve(answer);
        let mut pager = account(&server).consignments(&filter()).look_ahead(0);
        if let Some(most) = most {
            pager = pager.max_empty_pages(most);
        }
        let mut read = 0;
        let error = loop {
            match pager.next_page().await {
                Ok(page) => assert!(page.unwrap().next.is_some()),
                Err(error) => break error,
            }
            read += 1;
            assert!(read < 50, "the list does not end");
        };
        assert_eq!((read, server.count()), (1 + given, 1 + given));
        assert!(error.kind() == ErrorKind::Stalled && error.operation() == Some("consignments"));
        // The error has the position, and the caller may continue.
        assert_eq!(error.resume_from(), Some(pager.position()));
        assert_eq!(
            pager.position().cursor(),
            Some("x".repeat(1 + given).as_str())
        );
        assert!(pager.next_page().await.unwrap().is_some());
    }
}

#[tokio::test]
async fn a_list_with_some_empty_pages_is_read_to_its_end() {
    let server = serve(|after| match after.len() {
        40 => ok(page(end(), &["last"])),
        length if length % 20 == 0 => ok(page(more(&format!("{after}x")), &[&format!("{length}")])),
        _ => ok(page(more(&format!("{after}x")), &[])),
    });
    let mut records = Vec::new();
    let mut items = account(&server).consignments(&filter()).items();
    assert!(!collect_up_to(&mut items, 9, &mut records).await.unwrap());
    assert_eq!(records.len(), 3);
}

#[tokio::test]
async fn a_changed_total_and_repeated_records_are_reported() {
    let server = serve(|after| match after {
        "" => ok(page(more("2"), &["1", "2"])),
        "2" => {
            // A record was added at the start of the list.
            let mut body = page(more("3"), &["2", "3"]);
            body["data"]["consignments"]["totalCount"] = json!(10);
            ok(body)
        }
        _ => {
            let mut body = page(end(), &["4", "4"]);
            body["data"]["consignments"]["totalCount"] = json!(10);
            ok(body)
        }
    });
    let mut pager = account(&server).consignments(&filter());
    let mut notices = Vec::new();
    while let Some(page) = pager.next_page().await.unwrap() {
        notices.push(page.notices);
    }
    assert!(notices[0].is_empty());
    let [
        ListNotice::TotalChanged {
            page: 2,
            before: 9,
            now: 10,
            ..
        },
        ListNotice::Repeated { page: 2, ids, .. },
    ] = &notices[1][..]
    else {
        panic!("{notices:?}");
    };
    assert_eq!(ids, &["2"]);
    let [ListNotice::Repeated { page: 3, ids, .. }] = &notices[2][..] else {
        panic!("{notices:?}");
    };
    assert_eq!(ids, &["4"]);
    let mut items = account(&server).consignments(&filter()).items();
    while let Some(item) = items.next().await {
        item.unwrap();
    }
    assert_eq!(items.notices(), notices.concat());
}
