//! `Total` (spec 2.10) against the records that come with it.

use envd_sdk::Error;
use envd_sdk::register::{PagePosition, PropertySearch};
use serde_json::{Value, json};
use wiremock::matchers::{any, query_param};
use wiremock::{Mock, MockServer, ResponseTemplate};

use super::{all_pics, client, first, pic};

fn reply(value: &Value) -> ResponseTemplate {
    ResponseTemplate::new(200).set_body_json(json!({ "Value": value }))
}

/// A server with one reply to all requests.
async fn always(value: Value) -> MockServer {
    let server = MockServer::start().await;
    Mock::given(any())
        .respond_with(reply(&value))
        .mount(&server)
        .await;
    server
}

fn records(count: usize) -> Value {
    let records = (0..count).map(|number| json!({"PIC": format!("QZ{number:06}")}));
    records.collect()
}

fn contradiction(error: &Error) -> bool {
    error.is_protocol() && error.operation() == Some("PICRegister")
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
        let server = always(value.clone()).await;
        let error = first(client(&server).search(&PropertySearch::text("x"))).await;
        assert!(contradiction(&error.unwrap_err()), "{value}");
    }
    for value in [
        json!({}),
        json!({"Total": 0}),
        json!({"Total": 0, "SubSet": []}),
        json!({"Offset": 1, "Limit": 50, "Total": 50, "SubSet": records(50)}),
        json!({"Total": 1, "SubSet": [null]}),
    ] {
        let server = always(value.clone()).await;
        let page = first(client(&server).search(&PropertySearch::text("x"))).await;
        assert!(page.is_ok(), "{value}");
    }
}

#[tokio::test]
async fn a_page_beyond_the_last_is_empty_whatever_the_total() {
    let server = always(json!({"Offset": 500, "Limit": 50, "Total": 120, "SubSet": []})).await;
    let search = client(&server)
        .search(&PropertySearch::text("x"))
        .start_at(PagePosition::from_index(10));
    assert!(first(search).await.unwrap().records.is_empty());
    // An empty page before the end is an error.
    let server = always(json!({"Offset": 50, "Limit": 50, "Total": 120, "SubSet": []})).await;
    let search = client(&server)
        .search(&PropertySearch::text("x"))
        .start_at(PagePosition::from_index(1));
    assert!(contradiction(&first(search).await.unwrap_err()));
}

#[tokio::test]
async fn a_later_page_that_contradicts_its_total_is_an_error() {
    let server = MockServer::start().await;
    let page = |offset: usize, total: u64| {
        let all = records(4);
        let part = &all.as_array().unwrap()[offset..offset + 2];
        reply(&json!({"Offset": offset, "Limit": 2, "Total": total, "SubSet": part}))
    };
    Mock::given(query_param("pageindex", "1"))
        .respond_with(page(2, 0))
        .mount(&server)
        .await;
    Mock::given(any())
        .respond_with(page(0, 1_499))
        .mount(&server)
        .await;
    let walk = all_pics(client(&server).search(&PropertySearch::text("x"))).await;
    assert!(contradiction(&walk.unwrap_err()));
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
        let server = always(value.clone()).await;
        let error = client(&server).lookup(&pic("QAZZ7777")).await;
        assert!(contradiction(&error.unwrap_err()), "{value}");
    }
}

#[tokio::test]
async fn errors_of_paging_name_the_operation() {
    // An empty page before the last.
    let server = MockServer::start().await;
    Mock::given(query_param("pageindex", "1"))
        .respond_with(reply(&json!({"Offset": 1, "Total": 5})))
        .mount(&server)
        .await;
    Mock::given(any())
        .respond_with(reply(
            &json!({"Offset": 0, "Total": 5, "SubSet": records(1)}),
        ))
        .mount(&server)
        .await;
    let walk = all_pics(client(&server).search(&PropertySearch::text("x"))).await;
    assert_eq!(walk.unwrap_err().operation(), Some("PICRegister"));
    // A position of another page size, and a search without a value.
    let page = first(client(&server).search(&PropertySearch::text("x"))).await;
    let position = page.unwrap().next.unwrap();
    let search = client(&server).search(&PropertySearch::text("x").page_size(7));
    let error = first(search.start_at(position)).await.unwrap_err();
    assert_eq!(
        (error.is_config(), error.operation()),
        (true, Some("PICRegister"))
    );
    let error = first(client(&server).search(&PropertySearch::text(" "))).await;
    assert_eq!(error.unwrap_err().operation(), Some("PICRegister"));
}
