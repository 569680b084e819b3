//! The client of the property register (spec 2.10, 4.2, 7.1) against the fake, and against scripted replies.

mod backpressure;
mod conditional;
mod errors;
mod lookup_many;
mod paging;
mod tokens;
mod totals;
mod traces;
mod unreadable;

use std::time::Duration;

use envd_sdk::fake::Fake;
use envd_sdk::model::{Pic, Property, PropertyStatus, PropertyTypeCode};
use envd_sdk::register::{Lookup, PagePosition, PropertySearch, Register};
use envd_sdk::{Page, Pager, Result, RetryPolicy};
use wiremock::matchers::{any, path, query_param};
use wiremock::{Mock, MockServer, ResponseTemplate};

use crate::fixed_date::start_fake;

fn register(fake: &Fake) -> Register {
    Register::builder(fake.register_url()).build().unwrap()
}

/// A client for scripted replies that retries without waits.
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

type PropertyPager = Pager<Property, PagePosition>;

/// The first page of a search.
async fn first(mut search: PropertyPager) -> Result<Page<Property, PagePosition>> {
    Ok(search.next_page().await?.expect("a first page"))
}

async fn all_pics(mut search: PropertyPager) -> Result<Vec<String>> {
    let mut pics = Vec::new();
    while let Some(page) = search.next_page().await? {
        pics.extend(page.records.into_iter().filter_map(|property| property.pic));
    }
    Ok(pics)
}

#[tokio::test]
async fn a_property_is_found_by_its_pic_and_an_unknown_one_is_none() {
    let fake = start_fake().await;
    let register = register(&fake);
    let found = register.property(&pic("qazz7777")).await.unwrap().unwrap();
    assert_eq!(found.pic.as_deref(), Some("QAZZ7777"));
    assert_eq!(found.name.as_deref(), Some("Sample Station"));
    assert_eq!(found.admin_status, Some(PropertyStatus::Active));
    assert_eq!(*found.property_types, [PropertyTypeCode::Property]);
    assert!(register.property(&pic("QZZZ9999")).await.unwrap().is_none());
}

#[tokio::test]
async fn searches_by_words_and_fields_find_the_matching_properties() {
    let fake = start_fake().await;
    let register = register(&fake);
    let page = first(register.search(&PropertySearch::text("test yards")))
        .await
        .unwrap();
    assert!(
        page.records
            .iter()
            .any(|found| found.pic.as_deref() == Some("QCZZ8888"))
    );
    let search = PropertySearch::new()
        .pic_type(PropertyTypeCode::Feedlot)
        .status(PropertyStatus::Active);
    let page = first(register.search(&search)).await.unwrap();
    assert!(!page.records.is_empty());
    for found in page.records {
        assert!(found.property_types.contains(&PropertyTypeCode::Feedlot));
        assert!(found.is_active());
    }
    let by_code = first(register.search(&PropertySearch::new().status_code("B")))
        .await
        .unwrap();
    assert!(!by_code.records.is_empty());
    for found in by_code.records {
        assert_eq!(found.admin_status, Some(PropertyStatus::Blocked));
    }
    let mut nothing = register.search(&PropertySearch::new().town("no such town"));
    assert!(
        nothing
            .next_page()
            .await
            .unwrap()
            .unwrap()
            .records
            .is_empty()
    );
    assert!(nothing.next_page().await.unwrap().is_none());
}

#[tokio::test]
async fn any_text_is_sent_as_given() {
    let server = MockServer::start().await;
    Mock::given(any())
        .respond_with(page(0, 0, &[]))
        .mount(&server)
        .await;
    let register = client(&server);
    let texts = [
        "O'Brien & Sons",
        "a/b\\c",
        "1+1=2",
        "100%",
        "Gö 水",
        "?#;&=%41",
    ];
    for text in texts {
        let search = PropertySearch::new().business_name(text).state("QLD");
        first(register.search(&search)).await.unwrap();
    }
    let requests = server.received_requests().await.unwrap();
    for (request, text) in requests.iter().zip(texts) {
        let pairs: Vec<_> = request.url.query_pairs().into_owned().collect();
        let given = [("BusinessName", text), ("State", "QLD")];
        assert_eq!(
            pairs,
            given.map(|(name, value)| (name.to_owned(), value.to_owned()))
        );
    }
}

#[tokio::test]
async fn invalid_values_are_refused_unless_unchecked() {
    let server = MockServer::start().await;
    let register = client(&server);
    let bad = PropertySearch::new().postcode("400").pic("QAZZ77777");
    let error = first(register.search(&bad)).await.unwrap_err();
    assert!(error.is_config() && error.attempts() == 0);
    let empty = first(register.search(&PropertySearch::text(" "))).await;
    assert!(empty.unwrap_err().is_config());
    assert!(server.received_requests().await.unwrap().is_empty());
    Mock::given(query_param("Postcode", "400"))
        .and(query_param("PIC", "QAZZ77777"))
        .respond_with(page(0, 0, &[]))
        .expect(1)
        .mount(&server)
        .await;
    first(register.search(&bad.unchecked())).await.unwrap();
}

#[tokio::test]
async fn not_found_empty_and_several_are_distinguished() {
    let server = MockServer::start().await;
    let at = |pic: &str| Mock::given(path(format!("/api/v2/PICRegister/(PIC={pic})")));
    let two = page(0, 2, &["QAZZ7777", "QAZZ7777"]);
    at("QAZZ7777").respond_with(two).mount(&server).await;
    at("QBZZ2222")
        .respond_with(page(0, 0, &[]))
        .mount(&server)
        .await;
    at("QCZZ8888")
        .respond_with(ResponseTemplate::new(404))
        .mount(&server)
        .await;
    Mock::given(any())
        .respond_with(page(0, 1, &["QAZZ7777"]))
        .mount(&server)
        .await;
    let register = client(&server);
    let look_up = async |text| register.lookup(&pic(text)).await;
    assert!(
        matches!(look_up("QAZZ7777").await, Ok(Lookup::Several(records)) if records.len() == 2)
    );
    assert_eq!(look_up("QBZZ2222").await.unwrap(), Lookup::Empty);
    assert_eq!(look_up("QCZZ8888").await.unwrap(), Lookup::NotFound);
    // The register ignored the PIC.
    assert!(look_up("QDZZ3333").await.unwrap_err().is_protocol());
    assert!(
        register
            .property(&pic("QAZZ7777"))
            .await
            .unwrap_err()
            .is_protocol()
    );
    assert!(register.property(&pic("QBZZ2222")).await.unwrap().is_none());
}

#[tokio::test]
async fn status_204_is_none_and_a_web_page_is_an_error() {
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
async fn a_short_outage_is_retried() {
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
async fn the_error_has_the_retry_after_of_the_register() {
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
