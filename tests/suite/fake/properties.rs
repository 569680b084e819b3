//! The property register.

use envd_sdk::fake::Fake;
use serde_json::Value;
use url::Url;

use super::http::{fixture, get, post, send};
use crate::fixed_date::{fake_builder, start_fake};
use crate::profiles::paged_from;

fn address(fake: &Fake, call: &str) -> Url {
    fake.register_url().join(call).unwrap()
}

async fn pics(fake: &Fake, query: &str) -> Vec<String> {
    let response = get(address(fake, &format!("/api/v2/PICRegister?{query}"))).await;
    assert_eq!(response.status, 200, "{query}: {}", response.body);
    let records = response.body["Value"]["SubSet"].as_array().unwrap().clone();
    records
        .iter()
        .map(|record| record["PIC"].as_str().unwrap().to_owned())
        .collect()
}

#[tokio::test]
async fn requests_of_the_fixtures_get_the_literal_bodies() {
    let fake = start_fake().await;
    for case in fixture("register/index.json").as_array().unwrap() {
        let file = case["file"].as_str().unwrap();
        let call = case["request"]
            .as_str()
            .unwrap()
            .strip_prefix("GET ")
            .unwrap();
        let page = file
            .strip_prefix("register/page-")
            .and_then(|rest| rest.get(..1));
        let page = page
            .filter(|page| ["1", "2", "3"].contains(page))
            .unwrap_or("4");
        let response = get(address(&fake, &call.replace("...", page))).await;
        assert_eq!(response.status, 200, "{file}");
        assert_eq!(response.body, fixture(file), "{file}");
    }
}

#[tokio::test]
async fn refusals_have_the_literal_bodies() {
    let fake = start_fake().await;
    for (call, status, file) in [
        ("?SearchText=yards&State=NSW", 400, "register-bad-request"),
        ("/(PIC=QZZZ0000)", 404, "register-not-found"),
    ] {
        let response = get(address(&fake, &format!("/api/v2/PICRegister{call}"))).await;
        assert_eq!(response.status, status);
        assert_eq!(response.body, fixture(&format!("errors/{file}.json")));
    }
    for call in [
        "?pagesize=many",
        "?pageindex=0",
        "?pagesize=0",
        "?Colour=red",
    ] {
        let response = get(address(&fake, &format!("/api/v2/PICRegister{call}"))).await;
        assert_eq!(response.status, 400, "{call}");
    }
}

#[tokio::test]
async fn parameters_match_exactly_or_partially_in_any_case() {
    let fake = start_fake().await;
    for (query, found) in [
        ("pic=qazz7777", &["QAZZ7777"][..]),
        ("PIC=QAZZ777", &[]),
        ("Lastname=o%27sample&Town=springs", &["TBZZ0001"]),
        ("FirstName=zo%C3%AB", &["TBZZ0001"]),
        ("BusinessName=pastoral&PropertyName=station", &["QAZZ7777"]),
        ("Brand=ZE3", &["QBZZ2222"]),
        // The match is exact, and the Northern Territory has no postcode in the format of spec 2.2.
        ("Postcode=499", &[]),
        ("Postcode=49990", &[]),
        ("Postcode=4999&State=VIC", &[]),
        ("Postcode=0800", &[]),
        ("SearchText=test%20QLD%20yards", &["QCZZ8888"]),
        ("Pagesize=2&PageIndex=2", &["QCZZ8888", "QDZZ3333"]),
    ] {
        assert_eq!(pics(&fake, query).await, found, "{query}");
    }
    for (one, other, count) in [
        ("PICStatus=Blocked", "picstatus=b", None),
        ("Postcode=4999&pagesize=100", "State=QLD&pagesize=100", None),
        ("PICStatus=Amalgamated", "picstatus=Amalgamated", Some(2)),
        ("Pagesize=1000", "pagesize=60", Some(60)),
    ] {
        let found = pics(&fake, one).await;
        assert_eq!(found, pics(&fake, other).await, "{one}");
        assert!(
            !found.is_empty() && count.is_none_or(|count| found.len() == count),
            "{one}"
        );
    }
    let from_zero = fake_builder().profile(&paged_from(0));
    let from_zero = from_zero.start().await.unwrap();
    let first = pics(&from_zero, "pagesize=2&pageindex=0").await;
    assert_eq!(first, ["QAZZ7777", "QBZZ2222"]);
}

#[tokio::test]
async fn an_unchanged_response_is_304() {
    let fake = start_fake().await;
    for call in [
        "/api/v2/PICRegister?State=NSW",
        "/api/v2/PICRegister/%28PIC%3DQAZZ7777%29",
    ] {
        let url = address(&fake, call);
        let first = get(url.clone()).await;
        assert_eq!(first.status, 200, "{call}");
        let since = first.header("last-modified").unwrap();
        let again = send("GET", &url, &[("if-modified-since", since)], "").await;
        assert_eq!((again.status, again.body), (304, Value::Null));
        let old = ("if-modified-since", "Sat, 01 Jan 2000 00:00:00 GMT");
        assert_eq!(send("GET", &url, &[old], "").await.status, 200);
    }
}

#[tokio::test]
async fn a_token_is_required_only_when_one_is_set() {
    let fake = fake_builder()
        .register_token("key-1".into())
        .start()
        .await
        .unwrap();
    let url = address(&fake, "/api/v2/PICRegister?PIC=QAZZ7777");
    let response = get(url.clone()).await;
    assert_eq!(response.status, 401);
    assert_eq!(response.body, fixture("errors/register-unauthorised.json"));
    let bearer = [("authorization", "Bearer key-1")];
    assert_eq!(send("GET", &url, &bearer, "").await.status, 200);
    assert_eq!(post(url, &"key-1".into(), "{}").await.status, 404);
}
