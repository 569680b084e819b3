//! Which requests are sent through a proxy, and what the proxy receives.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use envd_sdk::auth::{Provider, StaticToken, TokenManager};
use envd_sdk::register::Register;
use envd_sdk::{Client, HttpOptions, RetryPolicy};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use url::Url;

use crate::fixed_date::start_fake;

/// A listener in place of a proxy, which records and refuses all requests.
struct Proxy {
    address: SocketAddr,
    requests: Arc<Mutex<Vec<String>>>,
}

impl Proxy {
    async fn start() -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
        let address = listener.local_addr().unwrap();
        let requests = Arc::new(Mutex::new(Vec::new()));
        let received = Arc::clone(&requests);
        tokio::spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                let (mut request, mut buffer) = (Vec::new(), [0; 4_096]);
                while !request.windows(4).any(|end| end == b"\r\n\r\n") {
                    match stream.read(&mut buffer).await {
                        Ok(read @ 1..) => request.extend_from_slice(&buffer[..read]),
                        _ => break,
                    }
                }
                let request = String::from_utf8_lossy(&request).into_owned();
                received.lock().unwrap().push(request);
                let refusal = b"HTTP/1.1 403 Forbidden\r\ncontent-length: 0\r\n\r\n";
                // OK to ignore: only the request matters.
                let _ = stream.write_all(refusal).await;
            }
        });
        Self { address, requests }
    }

    fn options(&self) -> HttpOptions {
        let url = format!("http://clerk:pa55w0rd@{}", self.address);
        HttpOptions::default()
            .connect_timeout(Duration::from_secs(1))
            .proxy(Url::parse(&url).unwrap())
    }

    fn requests(&self) -> Vec<String> {
        self.requests.lock().unwrap().clone()
    }
}

fn client(endpoint: &str, http: HttpOptions) -> envd_sdk::Result<Client> {
    Client::builder(endpoint)
        .token_source(StaticToken::new("b34r3r").unwrap())
        .http(http)
        .retry(RetryPolicy::none())
        .build()
}

fn provider(token_url: &str, http: HttpOptions) -> envd_sdk::Result<Provider> {
    Provider::builder("app")
        .authorize_url("https://id.example/authorize")
        .token_url(token_url)
        .audience("https://api.example")
        .redirect_uri("https://app.example/callback")
        .http(http)
        .build()
}

/// Requests a token with an unknown code.
async fn request_token(provider: Provider) -> envd_sdk::Error {
    let manager = TokenManager::builder(provider.clone()).build().unwrap();
    let login = provider.authorization().start().unwrap();
    let state = login.url().query_pairs().find(|(name, _)| name == "state");
    let state = state.unwrap().1.into_owned();
    let callback = format!("https://app.example/callback?code=c0de&state={state}");
    manager.complete_login(login, &callback).await.unwrap_err()
}

#[tokio::test]
async fn loopback_hosts_are_never_proxied() {
    let (fake, proxy) = (start_fake().await, Proxy::start().await);
    let port = fake.graphql_url().port().unwrap();
    // Some of these addresses may be unreachable here; the proxy receives none of the requests.
    for origin in [
        "http://127.0.0.1",
        "http://127.1.2.3",
        "http://localhost",
        "http://LOCALHOST.",
        "http://[::1]",
        "http://[::ffff:127.0.0.1]",
        "https://127.0.0.1",
    ] {
        let address = |path: &str| format!("{origin}:{port}{path}");
        let _ = client(&address("/graphql"), proxy.options())
            .unwrap()
            .user_details()
            .await;
        let register = Register::builder(address(""))
            .token_source(StaticToken::new("b34r3r").unwrap())
            .http(proxy.options())
            .retry(RetryPolicy::none())
            .build()
            .unwrap();
        let _ = register.property(&"QDZZ3333".parse().unwrap()).await;
        request_token(provider(&address("/token"), proxy.options()).unwrap()).await;
    }
    assert_eq!(proxy.requests(), [""; 0]);
}

#[tokio::test]
async fn other_hosts_are_proxied_and_the_proxy_receives_neither_token_nor_code() {
    let proxy = Proxy::start().await;
    let client = client("https://api.example.invalid/graphql", proxy.options()).unwrap();
    let error = client.user_details().await.unwrap_err();
    assert!(error.is_connect(), "{error}");
    request_token(provider("https://id.example.invalid/token", proxy.options()).unwrap()).await;
    let requests = proxy.requests();
    assert!(requests[0].starts_with("CONNECT api.example.invalid:443 HTTP/1.1\r\n"));
    assert!(requests[1].starts_with("CONNECT id.example.invalid:443 HTTP/1.1\r\n"));
    for request in requests {
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
            Register::builder("https://register.example")
                .http(http)
                .build()
                .err(),
        ];
        for error in errors {
            let error = error.unwrap_or_else(|| panic!("{address} was accepted"));
            assert!(error.is_config(), "{error}");
            assert!(error.to_string().contains(expected), "{error}");
            assert!(!format!("{error:?}").contains("pa55w0rd"));
        }
    }
    for address in ["http://proxy.example:8080", "https://proxy.example"] {
        let http = HttpOptions::default().proxy(Url::parse(address).unwrap());
        client("https://api.example/graphql", http).unwrap();
    }
}
