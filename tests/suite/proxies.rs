//! Which requests are sent through a proxy, and what the proxy receives.

use std::time::Duration;

use envd_sdk::auth::{Provider, StaticToken};
use envd_sdk::{Client, ConnectCause, ErrorKind, HttpOptions, RetryPolicy};
use test_support::{Reply, Server};
use url::Url;

use crate::fixed_date::start_fake;
use crate::scripted::client_at;
use crate::scripted::register_at;

/// A server that acts as a proxy and refuses all requests.
fn start_proxy() -> Server {
    Server::script([Reply::new(403)])
}

fn through(proxy: &Server) -> HttpOptions {
    let url = format!("http://clerk:pa55w0rd@{}", proxy.address());
    HttpOptions::default()
        .connect_timeout(Duration::from_secs(1))
        .proxy(Url::parse(&url).unwrap())
}

fn client(endpoint: &str, http: HttpOptions) -> envd_sdk::Result<Client> {
    client_at(endpoint)
        .token_source(StaticToken::new("b34r3r").unwrap())
        .http(http)
        .retry(RetryPolicy::none())
        .build()
}

fn provider(token_url: &str, http: HttpOptions) -> envd_sdk::Result<Provider> {
    Provider::builder("app")
        .authorize_url("https://id.example/authorize")
        .token_url(token_url)
        .revoke_url(token_url)
        .audience("https://api.example")
        .redirect_uri("https://app.example/callback")
        .http(http)
        .build()
}

/// Asks the provider to revoke a token.
async fn revoke(provider: Provider) {
    provider.revoke(&"c0de".into()).await.unwrap_err();
}

#[tokio::test]
async fn loopback_hosts_are_never_proxied() {
    let fake = start_fake().await;
    let proxy = start_proxy();
    let port = fake.graphql_url().port().unwrap();
    // Some of these addresses may be unreachable here; in any case the proxy receives no request.
    let origins = "http://127.0.0.1 http://127.1.2.3 http://localhost http://LOCALHOST. http://[::1] \
        http://[::ffff:127.0.0.1] https://127.0.0.1";
    for origin in origins.split(' ') {
        let address = |path: &str| format!("{origin}:{port}{path}");
        let _ = client(&address("/graphql"), through(&proxy))
            .unwrap()
            .user_details()
            .await;
        let register = register_at(address(""))
            .token_source(StaticToken::new("b34r3r").unwrap())
            .http(through(&proxy))
            .retry(RetryPolicy::none())
            .build()
            .unwrap();
        let _ = register.property(&"QDZZ3333".parse().unwrap()).await;
        revoke(provider(&address("/token"), through(&proxy)).unwrap()).await;
    }
    assert_eq!(proxy.count(), 0);
}

#[tokio::test]
async fn other_hosts_are_proxied_and_the_proxy_receives_no_token() {
    let proxy = start_proxy();
    let client = client("https://api.example.invalid/graphql", through(&proxy)).unwrap();
    let error = client.user_details().await.unwrap_err();
    assert!(error.kind() == ErrorKind::Connect, "{error}");
    assert_eq!(error.connect_cause(), Some(ConnectCause::Proxy), "{error}");
    revoke(provider("https://id.example.invalid/token", through(&proxy)).unwrap()).await;
    let requests = proxy.requests();
    for (request, host) in requests.into_iter().zip(["api", "id"]) {
        let connect = format!("CONNECT {host}.example.invalid:443 HTTP/1.1\r\n");
        assert!(request.head.starts_with(&connect), "{request:?}");
        let request = request.head + &request.body;
        // RFC 7617: clerk:pa55w0rd.
        assert!(request.contains("Y2xlcms6cGE1NXcwcmQ="), "{request}");
        assert!(!request.contains("b34r3r") && !request.contains("c0de"));
    }
}

#[test]
fn a_proxy_of_another_scheme_is_refused_at_build() {
    for (address, expected) in [
        ("ftp://proxy.example:21", "http or https"),
        ("htp://proxy.example:8080", "http or https"),
        ("file:///etc/hosts", "http or https"),
        ("socks5://proxy.example:1080", "SOCKS"),
        ("socks5h://clerk:pa55w0rd@proxy.example", "SOCKS"),
        ("socks4a://proxy.example", "SOCKS"),
    ] {
        let http = HttpOptions::default().proxy(Url::parse(address).unwrap());
        let errors = [
            client("https://api.example/graphql", http.clone()).err(),
            provider("https://id.example/token", http.clone()).err(),
            register_at("https://register.example")
                .http(http)
                .build()
                .err(),
        ];
        for error in errors {
            let error = error.unwrap_or_else(|| panic!("{address} was accepted"));
            assert!(error.kind() == ErrorKind::Config, "{error}");
            assert!(error.to_string().contains(expected), "{error}");
            assert!(!format!("{error:?}").contains("pa55w0rd"));
        }
    }
    for address in ["http://proxy.example:8080", "https://proxy.example"] {
        let http = HttpOptions::default().proxy(Url::parse(address).unwrap());
        client("https://api.example/graphql", http).unwrap();
    }
}
