//! Replies compressed with gzip (RFC 1952), from the fake and from servers that break the rules.

use std::time::Duration;

use envd_sdk::fake::{Fault, Received};
use envd_sdk::ops::ConsignmentFilter;
use envd_sdk::register::{IfModified, PropertySearch};
use envd_sdk::{ErrorKind, HttpOptions, RetryPolicy};
use zlib_rs::{DeflateConfig, ReturnCode, compress_bound, compress_slice};

use crate::fixed_date::fake_builder;
use crate::fixed_date::start_fake;
use crate::replies::Server;
use crate::scripted::register_at;
use crate::wire;

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

/// A reply of JSON with this line of its head, and the body as it is.
fn reply(status: &str, head: &str, body: &[u8]) -> Vec<u8> {
    let length = body.len();
    let head = format!(
        "HTTP/1.1 {status}\r\ncontent-type: application/json\r\n{head}\r\ncontent-length: {length}\r\n\r\n"
    );
    [head.as_bytes(), body].concat()
}

const GZIP: &str = "content-encoding: gzip";
const USER: &str = r#"{"data": {"userDetails": {"firstName": "Sam"}}}"#;

/// The first name that a client of the server reads.
async fn first_name(server: &Server) -> Option<String> {
    let user = server.client().user_details().await.unwrap().value;
    user.first_name
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
async fn the_fake_compresses_for_those_who_accept_it() {
    let [on, off] = [fake_builder(), fake_builder().gzip(false)];
    let (on, off) = (on.start().await.unwrap(), off.start().await.unwrap());
    let query = r#"{"query": "{ questions { items { id text help } } }"}"#;
    let mut bodies = Vec::new();
    for (fake, accepts) in [(&on, "br, gzip"), (&on, "br"), (&off, "gzip")] {
        let token = format!("Bearer {}", fake.access_token().expose());
        let headers = [
            ("authorization", token.as_str()),
            ("content-type", "application/json"),
            ("accept-encoding", accepts),
        ];
        let reply = wire::send(&fake.graphql_url(), "POST", &headers, query).await;
        bodies.push(reply.unwrap());
    }
    let encodings: Vec<_> = bodies
        .iter()
        .map(|reply| reply.header("content-encoding"))
        .collect();
    assert_eq!(encodings, [Some("gzip"), None, None]);
    assert_eq!(bodies[1].json(), bodies[2].json());
    assert!(bodies[0].body.len() * 2 < bodies[1].body.len());
    assert!(bodies[0].body.starts_with(b"\x1f\x8b"));
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

/// Errors are compressed like other replies.
#[tokio::test]
async fn compressed_errors_are_read() {
    let fake = start_fake().await;
    let client = fake.client().retry(RetryPolicy::none()).build().unwrap();
    let filler = " ".repeat(2_000);
    let body = gzip(format!(r#"{{"Message": "Rate limit exceeded."{filler}}}"#).as_bytes());
    let fault = Fault::status(429).header("content-encoding", "gzip");
    let fault = fault
        .header("retry-after", "7")
        .body("application/json", body);
    fake.on_operation("UserDetails").fault(fault);
    let error = client.user_details().await.unwrap_err();
    assert!(error.kind() == ErrorKind::RateLimited, "{error}");
    assert_eq!(error.retry_after(), Some(Duration::from_secs(7)));
    assert!(error.server_message().is_some(), "{error:?}");
}

#[tokio::test]
async fn bodies_of_several_members_in_chunks_of_any_size_are_read() {
    let (start, end) = USER.as_bytes().split_at(20);
    let members = [gzip(b""), gzip(start), gzip(end)].concat();
    for head in [GZIP, "Content-Encoding: X-GZip"] {
        let server = Server::start(reply("200 OK", head, &members));
        assert_eq!(first_name(&server).await.as_deref(), Some("Sam"));
    }
    let mut chunked = format!("HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n{GZIP}\r\ntransfer-encoding: chunked\r\n\r\n").into_bytes();
    for byte in &members {
        chunked.extend([b"1\r\n".as_slice(), &[*byte], b"\r\n"].concat());
    }
    chunked.extend(b"0\r\n\r\n");
    let server = Server::start(chunked);
    assert_eq!(first_name(&server).await.as_deref(), Some("Sam"));
}

#[tokio::test]
async fn an_empty_body_needs_no_gzip() {
    for status in ["200 OK", "401 Unauthorized", "502 Bad Gateway"] {
        let plain = Server::start(reply(status, "x: y", b"")).query().await;
        let compressed = Server::start(reply(status, GZIP, b"")).query().await;
        assert_eq!(compressed.to_string(), plain.to_string());
    }
    // HTTP 304 repeats the headers of the page, and has no body.
    let head = format!("HTTP/1.1 304 Not Modified\r\n{GZIP}\r\ncontent-length: 900\r\n\r\n");
    let server = Server::start(head);
    let since = std::time::SystemTime::UNIX_EPOCH;
    let changed = server
        .register()
        .search_since(&PropertySearch::text("x"), since)
        .await;
    assert!(matches!(changed.unwrap(), IfModified::Unchanged));
}

/// The limit of these clients is 10,000 bytes.
#[tokio::test]
async fn the_limit_counts_what_comes_out() {
    let user = |length: usize| format!("{USER}{}", " ".repeat(length - USER.len()));
    let fits = gzip(user(10_000).as_bytes());
    let server = Server::start(reply("200 OK", GZIP, &fits));
    assert_eq!(first_name(&server).await.as_deref(), Some("Sam"));
    // 1 GB in 1 MB.
    let bomb = gzip(&vec![0; 1 << 20]).repeat(1_000);
    for body in [gzip(user(10_001).as_bytes()), bomb] {
        for status in [200, 503] {
            let server = Server::start(reply(&format!("{status} Told"), GZIP, &body));
            let says = ["larger than the limit", &format!("HTTP {status}")];
            server
                .assert(["Transport", "Transport ?", "Transport"], &says)
                .await;
        }
    }
}

/// Bodies that are not what their `content-encoding` says: nothing is cut silently, and a change is in doubt.
#[tokio::test]
async fn a_body_that_ends_early_is_a_transport_error() {
    let body = gzip(USER.as_bytes());
    let lost = ["Transport x4", "Transport ?", "Transport x4"];
    // As HTTP the reply is complete.
    for length in [1, 10, body.len() / 2, body.len() - 8, body.len() - 1] {
        let server = Server::start(reply("200 OK", GZIP, &body[..length]));
        let says = ["the gzip body of the reply ends too early (HTTP 200)"];
        server.assert(lost, &says).await;
    }
    // The connection ends too early as well.
    let cut = reply("200 OK", GZIP, &body);
    let server = Server::start(&cut[..cut.len() - 9]);
    server.assert(lost, &["the connection was lost"]).await;
}

const PROTOCOL: [&str; 3] = ["Protocol", "Protocol ?", "Protocol"];

#[tokio::test]
async fn a_damaged_body_is_a_protocol_error() {
    let body = gzip(USER.as_bytes());
    let changed = |place: usize| {
        let mut body = body.clone();
        body[place] ^= 1;
        body
    };
    for body in [
        // The method, the checksum, the length, and the checksum of a second member.
        changed(2),
        changed(body.len() - 8),
        changed(body.len() - 1),
        [gzip(b" "), changed(body.len() - 5)].concat(),
        // Zeros and a text at the end.
        [body.as_slice(), &[0; 20]].concat(),
        [body.as_slice(), b"{\"data\": null}"].concat(),
        USER.into(),
    ] {
        let server = Server::start(reply("200 OK", GZIP, &body));
        let says = ["gzip body of the reply is damaged"];
        server.assert(PROTOCOL, &says).await;
        assert!(!format!("{:?}", server.query().await).contains("Sam"));
    }
    // All of it twice, as one header says once.
    let server = Server::start(reply("200 OK", GZIP, &gzip(&body)));
    server
        .assert(["Protocol", "Protocol ?", "Decode"], &[])
        .await;
    // RFC 9110 section 15.5.2: the request was not applied, whatever the body.
    let server = Server::start(reply("401 Unauthorized", GZIP, b"{}"));
    server
        .assert(["Protocol", "Protocol", "Protocol"], &[])
        .await;
}

#[tokio::test]
async fn other_encodings_are_refused() {
    let twice = gzip(&gzip(USER.as_bytes()));
    for (head, says) in [
        ("gzip, gzip", "an unknown content-encoding"),
        (
            "gzip\r\ncontent-encoding: gzip",
            "an unknown content-encoding",
        ),
        (
            "identity\r\ncontent-encoding: gzip",
            "an unknown content-encoding",
        ),
        ("br", "content-encoding br"),
        ("deflate", "content-encoding deflate"),
    ] {
        let head = format!("content-encoding: {head}");
        let server = Server::start(reply("200 OK", &head, &twice));
        server.assert(PROTOCOL, &[says]).await;
    }
}

#[tokio::test]
async fn without_the_setting_a_compressed_reply_is_refused_by_name() {
    let server = Server::start(reply("200 OK", GZIP, &gzip(USER.as_bytes())));
    assert_eq!(first_name(&server).await.as_deref(), Some("Sam"));
    let client = server.builder().http(HttpOptions::default().gzip(false));
    let error = client.build().unwrap().user_details().await.unwrap_err();
    let told = "content-encoding gzip, which was not requested";
    assert!(error.to_string().contains(told), "{error}");
}
