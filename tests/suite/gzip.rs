//! Replies compressed with gzip (RFC 1952); `replies.rs` has those that break the rules.

use envd_sdk::HttpOptions;
use envd_sdk::fake::Received;
use envd_sdk::ops::ConsignmentFilter;
use envd_sdk::register::PropertySearch;
use zlib_rs::{DeflateConfig, ReturnCode, compress_bound, compress_slice};

use crate::fixed_date::start_fake;
use crate::scripted::register_at;

/// One member.
pub(crate) fn gzip(body: &[u8]) -> Vec<u8> {
    let mut buffer = vec![0; compress_bound(body.len()) + 18];
    let config = DeflateConfig {
        // With the head and the end of gzip.
        window_bits: 16 + 15,
        ..DeflateConfig::default()
    };
    let (compressed, code) = compress_slice(&mut buffer, body, config);
    assert_eq!(code, ReturnCode::Ok);
    compressed.to_vec()
}

#[tokio::test]
async fn both_clients_ask_for_gzip_unless_it_is_off_and_the_token_endpoint_never() {
    for (options, expected) in [
        (HttpOptions::default(), Some("gzip")),
        (HttpOptions::default().gzip(false), None),
    ] {
        let fake = start_fake().await;
        let client = fake
            .client()
            .token_source(fake.token_manager().await.unwrap())
            .http(options.clone())
            .build()
            .unwrap();
        let _ = client.questions().await.unwrap();
        fake.expire_access_tokens();
        let _ = client.questions().await.unwrap();
        let register = register_at(fake.register_url()).http(options);
        let search = PropertySearch::text("QLD");
        let mut pager = register.build().unwrap().search(&search);
        pager.next_page().await.unwrap();
        let headers = client.questions().dry_run().unwrap().headers;
        let header = headers.iter().find(|(name, _)| name == "accept-encoding");
        assert_eq!(header.map(|(_, value)| value.as_str()), expected);
        let requests = fake.requests();
        for request in &requests {
            let expected = expected.filter(|_| !request.path().starts_with("/oauth"));
            let path = request.path();
            assert_eq!(request.header("accept-encoding"), expected, "{path}");
        }
        let of_tokens = |request: &&Received| request.path() == "/oauth/token";
        assert!(requests.iter().filter(of_tokens).count() >= 2);
    }
}

#[tokio::test]
async fn what_is_read_is_the_same_with_and_without() {
    let fake = start_fake().await;
    let mut seen = Vec::new();
    for gzip in [true, false] {
        let client = fake
            .client()
            .http(HttpOptions::default().gzip(gzip))
            .build()
            .unwrap();
        let questions = client.questions().await.unwrap().value;
        let account = client.account(fake.account_id());
        let mut pager = account.consignments(&ConsignmentFilter::default().page_size(5));
        let mut numbers = Vec::new();
        while let Some(page) = pager.next_page().await.unwrap() {
            numbers.extend(page.records.into_iter().map(|record| record.number));
        }
        seen.push((format!("{questions:?}"), numbers));
    }
    assert_eq!(seen[0], seen[1]);
    assert_eq!(seen[0].1.len(), 8);
}
