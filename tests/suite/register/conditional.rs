//! If-Modified-Since and status 304 (spec 7.1).

use std::time::{Duration, SystemTime};

use envd_sdk::Clock;
use envd_sdk::register::{IfModified, Lookup, PropertySearch};
use wiremock::matchers::{any, headers};
use wiremock::{Mock, MockServer, ResponseTemplate};

use super::{client, page, pic, register};
use crate::fixed_date::fake_builder;

#[tokio::test]
async fn an_unchanged_register_is_reported() {
    let now = SystemTime::UNIX_EPOCH + Duration::from_secs(1_795_132_800);
    let fake = fake_builder()
        .clock(Clock::manual(now))
        .start()
        .await
        .unwrap();
    let register = register(&fake);
    let before = now - Duration::from_secs(1);
    let IfModified::Changed {
        value,
        last_modified,
        ..
    } = register
        .lookup_since(&pic("QAZZ7777"), before)
        .await
        .unwrap()
    else {
        panic!("the register changed");
    };
    assert!(matches!(value, Lookup::Found(_)));
    assert_eq!(last_modified, Some(now));
    let again = register.lookup_since(&pic("QAZZ7777"), now).await.unwrap();
    assert_eq!(again, IfModified::Unchanged);

    let search = PropertySearch::text("QLD").page_size(5);
    let unchanged = register.search_since(&search, now).await.unwrap();
    assert!(matches!(unchanged, IfModified::Unchanged));
    let mut pager = register
        .search_since(&search, before)
        .await
        .unwrap()
        .value()
        .unwrap();
    let page = pager.next_page().await.unwrap().unwrap();
    assert_eq!((page.offset, page.last_modified), (Some(0), Some(now)));
    assert_eq!(page.number, 1);
    let page = pager.next_page().await.unwrap().unwrap();
    assert_eq!((page.offset, page.number), (Some(5), 2));
    let long_ago = SystemTime::UNIX_EPOCH - Duration::from_secs(1);
    let error = register.search_since(&search, long_ago).await.unwrap_err();
    assert!(error.is_config());
}

#[tokio::test]
async fn the_date_is_sent_in_the_form_of_http() {
    let server = MockServer::start().await;
    // The matcher splits the value at the comma.
    Mock::given(headers(
        "if-modified-since",
        vec!["Sun", "06 Nov 1994 08:49:37 GMT"],
    ))
    .respond_with(ResponseTemplate::new(304))
    .expect(1)
    .mount(&server)
    .await;
    Mock::given(any())
        .respond_with(page(0, 1, &["QAZZ7777"]))
        .expect(1)
        .mount(&server)
        .await;
    let register = client(&server);
    let date = SystemTime::UNIX_EPOCH + Duration::from_secs(784_111_777);
    let answer = register.lookup_since(&pic("QAZZ7777"), date).await.unwrap();
    assert_eq!(answer.value(), None);
    assert!(register.lookup(&pic("QAZZ7777")).await.is_ok());
    let long_ago = SystemTime::UNIX_EPOCH - Duration::from_secs(1);
    let error = register
        .lookup_since(&pic("QAZZ7777"), long_ago)
        .await
        .unwrap_err();
    assert!(error.is_config());
}

#[tokio::test]
async fn a_304_without_a_condition_is_an_error() {
    let server = MockServer::start().await;
    Mock::given(any())
        .respond_with(ResponseTemplate::new(304))
        .mount(&server)
        .await;
    let error = client(&server).lookup(&pic("QAZZ7777")).await.unwrap_err();
    assert_eq!(error.http_status(), Some(304));
}
