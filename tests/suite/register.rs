//! The client of the property register (spec 2.10, 4.2, 7.1) against the fake, and against scripted replies.

mod many;
mod tokens;

use std::time::Duration;

use envd_sdk::fake::Fake;
use envd_sdk::model::{Pic, PropertyStatus, PropertyTypeCode};
use envd_sdk::register::{FieldSearch, PropertyPage, Register, TextSearch};
use envd_sdk::{Result, RetryPolicy};
use wiremock::matchers::{any, path, query_param};
use wiremock::{Mock, MockServer, ResponseTemplate};

fn register(fake: &Fake) -> Register {
    Register::builder(fake.register_url()).build().unwrap()
}

/// A client for scripted replies that waits for nothing.
fn client(server: &MockServer) -> Register {
    let retry = RetryPolicy::default().base_wait(Duration::ZERO);
    Register::builder(server.uri())
        .retry(retry)
        .build()
        .unwrap()
}

fn pic(text: &str) -> Pic {
    Pic::parse(text).unwrap()
}

fn page(offset: u64, total: u64, pics: &[&str]) -> ResponseTemplate {
    let records: Vec<_> = pics
        .iter()
        .map(|pic| serde_json::json!({"PIC": pic}))
        .collect();
    ResponseTemplate::new(200).set_body_json(serde_json::json!({
        "Value": {"Offset": offset, "Limit": 1, "Total": total, "SubSet": records}
    }))
}

async fn all_pics(mut page: PropertyPage) -> Result<Vec<String>> {
    let mut pics = Vec::new();
    loop {
        pics.extend(
            page.records()
                .iter()
                .filter_map(|property| property.pic.clone()),
        );
        match page.next_page().await? {
            Some(next) => page = next,
            None => return Ok(pics),
        }
    }
}

#[tokio::test]
async fn a_property_is_found_by_its_pic_and_an_unknown_one_is_none() {
    let fake = Fake::start().await;
    let register = register(&fake);
    let found = register.property(&pic("qazz7777")).await.unwrap().unwrap();
    assert_eq!(found.pic.as_deref(), Some("QAZZ7777"));
    assert_eq!(found.name.as_deref(), Some("Sample Station"));
    assert_eq!(found.admin_status, Some(PropertyStatus::Active));
    assert_eq!(*found.property_types, [PropertyTypeCode::Property]);
    assert!(register.property(&pic("QZZZ9999")).await.unwrap().is_none());
}

#[tokio::test]
async fn paging_gives_each_property_once_whether_pages_count_from_zero_or_one() {
    for first in [0, 1] {
        let fake = Fake::builder()
            .register_pages_from(first)
            .start()
            .await
            .unwrap();
        let register = register(&fake);
        // The second search knows what the first has found out.
        for size in [7, 60] {
            let search = FieldSearch::new().state("QLD").page_size(size);
            let page = register.search(&search).await.unwrap();
            let total = page.total().unwrap();
            let mut pics = all_pics(page).await.unwrap();
            assert_eq!(pics.len() as u64, total, "from {first}, by {size}");
            pics.sort();
            pics.dedup();
            assert_eq!(pics.len() as u64, total, "from {first}, by {size}");
        }
    }
}

#[tokio::test]
async fn a_first_page_number_that_is_set_is_sent() {
    let fake = Fake::builder()
        .register_pages_from(1)
        .start()
        .await
        .unwrap();
    let builder = Register::builder(fake.register_url());
    let register = builder.first_page_index(1).build().unwrap();
    let page = register
        .search_text(&TextSearch::new("QLD").page_size(9))
        .await
        .unwrap();
    let total = page.total().unwrap();
    assert_eq!(all_pics(page).await.unwrap().len() as u64, total);
}

#[tokio::test]
async fn words_and_fields_find_what_they_describe() {
    let fake = Fake::start().await;
    let register = register(&fake);
    let page = register
        .search_text(&TextSearch::new("test yards"))
        .await
        .unwrap();
    assert!(
        page.records()
            .iter()
            .any(|found| found.pic.as_deref() == Some("QCZZ8888"))
    );
    let search = FieldSearch::new()
        .pic_type(PropertyTypeCode::Feedlot)
        .status(PropertyStatus::Active);
    let page = register.search(&search).await.unwrap();
    assert!(!page.records().is_empty());
    for found in page.records() {
        assert!(found.property_types.contains(&PropertyTypeCode::Feedlot));
        assert!(found.is_active());
    }
    let page = register
        .search(&FieldSearch::new().town("no such town"))
        .await
        .unwrap();
    assert!(page.records().is_empty() && page.next_page().await.unwrap().is_none());
}

#[tokio::test]
async fn bad_values_are_refused_before_anything_is_sent() {
    let server = MockServer::start().await;
    let register = client(&server);
    let error = register
        .search(&FieldSearch::new().postcode("40"))
        .await
        .unwrap_err();
    assert!(error.is_config() && error.attempts() == 0);
    assert!(
        register
            .search_text(&TextSearch::new(" "))
            .await
            .unwrap_err()
            .is_config()
    );
    assert!(server.received_requests().await.unwrap().is_empty());
}

#[tokio::test]
async fn a_register_that_repeats_a_page_does_not_make_a_loop() {
    let server = MockServer::start().await;
    Mock::given(any())
        .respond_with(page(0, 5, &["QAZZ7777"]))
        .mount(&server)
        .await;
    let page = client(&server)
        .search_text(&TextSearch::new("x"))
        .await
        .unwrap();
    assert!(page.next_page().await.unwrap_err().is_protocol());
}

#[tokio::test]
async fn an_empty_page_before_the_last_is_not_taken_for_the_end() {
    let server = MockServer::start().await;
    Mock::given(query_param("pageindex", "1"))
        .respond_with(page(1, 5, &[]))
        .mount(&server)
        .await;
    Mock::given(any())
        .respond_with(page(0, 5, &["QAZZ7777"]))
        .mount(&server)
        .await;
    let page = client(&server)
        .search_text(&TextSearch::new("x"))
        .await
        .unwrap();
    assert!(page.next_page().await.unwrap_err().is_protocol());
}

#[tokio::test]
async fn several_properties_for_one_pic_are_an_error() {
    let server = MockServer::start().await;
    let reply = page(0, 2, &["QAZZ7777", "QAZZ7777"]);
    Mock::given(path("/api/v2/PICRegister/(PIC=QAZZ7777)"))
        .respond_with(reply)
        .mount(&server)
        .await;
    Mock::given(any())
        .respond_with(page(0, 1, &["QAZZ7777"]))
        .mount(&server)
        .await;
    let register = client(&server);
    assert!(
        register
            .property(&pic("QAZZ7777"))
            .await
            .unwrap_err()
            .is_protocol()
    );
    // The register ignored what it was asked for.
    assert!(
        register
            .property(&pic("QBZZ2222"))
            .await
            .unwrap_err()
            .is_protocol()
    );
}

#[tokio::test]
async fn no_content_is_none_and_a_web_page_is_an_error() {
    let server = MockServer::start().await;
    let html = ResponseTemplate::new(404).set_body_raw("<html>hidden</html>", "text/html");
    Mock::given(path("/api/v2/PICRegister/(PIC=QAZZ7777)"))
        .respond_with(html)
        .mount(&server)
        .await;
    Mock::given(any())
        .respond_with(ResponseTemplate::new(204))
        .mount(&server)
        .await;
    let register = client(&server);
    let error = register.property(&pic("QAZZ7777")).await.unwrap_err();
    assert_eq!(
        (error.http_status(), error.media_type()),
        (Some(404), Some("text/html"))
    );
    assert!(!format!("{error} {error:?}").contains("hidden"));
    assert!(register.property(&pic("QBZZ2222")).await.unwrap().is_none());
}

#[tokio::test]
async fn a_register_that_is_down_for_a_moment_is_asked_again() {
    let server = MockServer::start().await;
    let down = ResponseTemplate::new(503).insert_header("retry-after", "0");
    Mock::given(any())
        .respond_with(down)
        .up_to_n_times(2)
        .mount(&server)
        .await;
    Mock::given(any())
        .respond_with(page(0, 1, &["QAZZ7777"]))
        .mount(&server)
        .await;
    assert!(
        client(&server)
            .property(&pic("QAZZ7777"))
            .await
            .unwrap()
            .is_some()
    );
}

#[tokio::test]
async fn the_error_says_how_long_the_register_asked_to_wait() {
    let server = MockServer::start().await;
    let busy = ResponseTemplate::new(429).insert_header("retry-after", "600");
    Mock::given(any())
        .respond_with(busy)
        .expect(1)
        .mount(&server)
        .await;
    let error = client(&server)
        .property(&pic("QAZZ7777"))
        .await
        .unwrap_err();
    assert_eq!(error.retry_after(), Some(Duration::from_secs(600)));
    assert_eq!((error.http_status(), error.attempts()), (Some(429), 1));
    assert_eq!(error.operation(), Some("PICRegister"));
}
