//! Replies compressed with gzip (RFC 1952); `replies.rs` has invalid ones.

use envd_sdk::HttpOptions;
use envd_sdk::fake::Received;
use envd_sdk::register::PropertySearch;
use zlib_rs::{DeflateConfig, ReturnCode, compress_bound, compress_slice};

use crate::fixed_date::start_fake;
use crate::scripted::register_at;

/// Compresses a body into one member.
pub(crate) fn gzip(body: &[u8]) -> Vec<u8> {
    let mut buffer = vec![0; compress_bound(body.len()) + 18];
    let config = DeflateConfig {
        // With gzip header and trailer.
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
        let manager = fake.token_manager().await.unwrap();
        let client = fake.client().token_source(manager).http(options.clone());
        let client = client.build().unwrap();
        assert!(!client.questions().await.unwrap().value.items.is_empty());
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
