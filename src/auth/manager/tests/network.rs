//! Network failures between the manager and the token endpoint.

use test_support::{Reply, Server, refusing_address};

use super::bench::{Bench, SECOND, call_after_loss, event, refusal, renewed};
use crate::auth::TokenManager;
use crate::transport::HttpOptions;

/// A manager with this token endpoint.
fn manager_at(bench: &Bench, url: impl Into<String>) -> TokenManager {
    let provider = bench.provider().http(HttpOptions::default());
    bench.manager_of(provider.token_url(url))
}

/// Row 29.
#[tokio::test]
async fn an_unsent_request_is_retried_later() {
    let deaf = Server::connections(async |connection| drop(connection));
    for url in [
        format!("http://{}/token", refusing_address()),
        // Never completes a TLS handshake.
        format!("https://{}/token", deaf.address()),
        // Too long for a host name, so that no name server is contacted.
        format!("https://{}.invalid/token", "a".repeat(64)),
    ] {
        let bench = Bench::expired().await;
        let manager = manager_at(&bench, &url);
        let mut events = manager.events();
        let error = refusal(&manager).await;
        assert!(error.is_retryable() && error.retry_after().is_some());
        event(&mut events, "RefreshFailed").await;
        assert!(bench.record().await.record.refresh_mark.is_none(), "{url}");
        assert_eq!(bench.stored_refresh_token().await.unwrap(), "rt-1");
    }
}

/// Row 30. Row 33. Row 36.
#[tokio::test]
async fn a_reply_that_the_network_spoils_is_retried_without_a_login() {
    let tokens = renewed(2).to_string();
    let (start, _) = tokens.split_once("scope").unwrap();
    let huge = format!("{{\"x\":\"{}\"}}", "a".repeat(2 << 20));
    for (spoiled, sent_again) in [
        // Cannot be distinguished from a processed request.
        (Reply::close(), "rt-1"),
        // Exceeds the limit of one mebibyte.
        (Reply::json(200, huge), "rt-1"),
        // A rotated token is salvaged.
        (Reply::json(200, &tokens).cut(start.len()), "rt-2"),
    ] {
        let bench = Bench::expired().await;
        let server = Server::script([spoiled, Reply::json(200, renewed(3))]);
        let manager = manager_at(&bench, server.url());
        let retried = call_after_loss(&bench, &manager).await;
        assert_eq!(retried.unwrap(), "at-3");
        let requests = server.requests();
        assert_eq!(requests.len(), 2);
        assert!(requests[1].body.contains(sent_again), "{sent_again}");
    }
}

/// Row 36.
#[tokio::test]
async fn a_redirect_is_not_followed() {
    let target = Server::script([Reply::json(200, renewed(2))]);
    for status in [302, 307, 308] {
        let bench = Bench::expired().await;
        let redirect = Reply::new(status).header("location", target.url());
        let server = Server::script([redirect]);
        let error = refusal(&manager_at(&bench, server.url())).await;
        assert!(!error.is_reauth_required(), "{status}");
        bench.clock.advance(SECOND);
        assert_eq!((server.count(), target.count()), (1, 0));
    }
}
