//! `Total` (spec 2.10) against the records that come with it.

use envd_sdk::register::{PagePosition, PropertySearch};
use envd_sdk::{Error, ErrorKind};
use equipment::Server;
use serde_json::{Value, json};

use super::{PropertyPager, all_pics, by_index, client, first, pic};
use crate::scripted::ok;

fn always(value: &Value) -> Server {
    Server::script([ok(json!({ "Value": value }))])
}

fn search(server: &Server) -> PropertyPager {
    client(server).search(&PropertySearch::text("x"))
}

fn records(count: usize) -> Value {
    let records = (0..count).map(|number| json!({"PIC": format!("QZ{number:06}")}));
    records.collect()
}

fn contradiction(error: &Error) -> bool {
    error.kind() == ErrorKind::Protocol && error.operation() == Some("PICRegister")
}

#[tokio::test]
async fn a_first_page_that_contradicts_its_total_is_an_error() {
    for value in [
        json!({"Total": 5}),
        json!({"Total": 5, "SubSet": null}),
        json!({"Offset": 0, "Limit": 50, "Total": 1, "SubSet": []}),
        json!({"Offset": 0, "Limit": 50, "Total": 0, "SubSet": records(50)}),
        json!({"Offset": 1, "Limit": 50, "Total": 49, "SubSet": records(50)}),
    ] {
        let error = first(search(&always(&value))).await.unwrap_err();
        assert!(contradiction(&error), "{value}");
    }
    for value in [
        json!({}),
        json!({"Total": 0}),
        json!({"Total": 0, "SubSet": []}),
        json!({"Offset": 1, "Limit": 50, "Total": 50, "SubSet": records(50)}),
        json!({"Total": 1, "SubSet": [null]}),
    ] {
        assert!(first(search(&always(&value))).await.is_ok(), "{value}");
    }
}

#[tokio::test]
async fn a_page_beyond_the_last_is_empty_whatever_the_total() {
    let server = always(&json!({"Offset": 500, "Limit": 50, "Total": 120, "SubSet": []}));
    let beyond = search(&server).start_at(PagePosition::from_index(10));
    assert!(first(beyond).await.unwrap().records.is_empty());
    // An empty page before the end is an error.
    let server = always(&json!({"Offset": 50, "Limit": 50, "Total": 120, "SubSet": []}));
    let within = search(&server).start_at(PagePosition::from_index(1));
    assert!(contradiction(&first(within).await.unwrap_err()));
}

#[tokio::test]
async fn a_later_page_that_contradicts_the_totals_is_an_error() {
    let all = records(4);
    let part = |from: usize| all.as_array().unwrap()[from..from + 2].to_vec();
    for (first, second) in [
        (
            json!({"Offset": 0, "Limit": 2, "Total": 1_499, "SubSet": part(0)}),
            json!({"Offset": 2, "Limit": 2, "Total": 0, "SubSet": part(2)}),
        ),
        // An empty page before the last.
        (
            json!({"Offset": 0, "Total": 5, "SubSet": records(1)}),
            json!({"Offset": 1, "Total": 5}),
        ),
    ] {
        let server = by_index(move |index| {
            let value = if index == Some(1) { &second } else { &first };
            ok(json!({ "Value": value }))
        });
        let error = all_pics(search(&server)).await.unwrap_err();
        assert!(contradiction(&error), "{error}");
    }
}

#[tokio::test]
async fn a_look_up_that_contradicts_its_total_is_an_error() {
    for value in [
        json!({"Total": 1}),
        json!({"Total": 3, "SubSet": []}),
        json!({"Total": 1, "SubSet": [null]}),
        json!({"Total": 0, "SubSet": [{"PIC": "QAZZ7777"}]}),
        json!({"Total": 1, "SubSet": [{"PIC": "QAZZ7777"}, {"PIC": "QAZZ7777"}]}),
    ] {
        let error = client(&always(&value)).lookup(&pic("QAZZ7777")).await;
        assert!(contradiction(&error.unwrap_err()), "{value}");
    }
}

#[tokio::test]
async fn errors_of_settings_name_the_operation() {
    let server = always(&json!({"Offset": 0, "Total": 5, "SubSet": records(1)}));
    // A position of another page size, and a search without a value.
    let position = first(search(&server)).await.unwrap().next.unwrap();
    let other_size = client(&server).search(&PropertySearch::text("x").page_size(7));
    let empty = client(&server).search(&PropertySearch::text(" "));
    for search in [other_size.start_at(position), empty] {
        let error = first(search).await.unwrap_err();
        assert!(error.kind() == ErrorKind::Config && error.operation() == Some("PICRegister"));
    }
}
