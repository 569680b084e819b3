//! Replies that are not a success, and the result of the call.
//!
//! A verdict is the kind of the error, `x4` for the number of requests, and `?` if the change may have applied.

use test_support::Reply;
use test_support::script::{play, rows};
use test_support::table;

use crate::calls::Calls;
use crate::scripted::typed;

const CALLS: [(&str, &str); 4] = [
    ("comment x idempotent", "idempotent"),
    ("comment x", "change"),
    ("user", "query"),
    ("search x", "search"),
];

/// The bodies of each column of the matrix, with their media types.
const BODIES: &str = r#"
1 |                                   |
1 | text/html                         | <html>hidden</html>
1 | application/json                  | <html>hidden</html>
1 | text/plain                        | hidden
2 | application/json                  | {"Message": "hidden words"}
2 | application/xml                   | <Error><Message>hidden words</Message></Error>
3 | application/json                  | {"errors": [{"message": "hidden"}]}
3 | application/graphql-response+json | {"errors": [{"message": "hidden"}]}
4 | application/graphql-response+json | {}
5 | application/graphql-response+json | {"errors": [{"mess
6 | application/json                  | {"errors": [{"message": "hidden", "extensions": {"code": "RATE_LIMITED"}}]}
7 | application/json                  | {"errors": [{"message": "hidden", "extensions": {"code": "INVALID_VALUE"}}]}
8 | application/json                  | {"data": {
"#;

#[tokio::test]
async fn each_status_with_each_body_has_the_verdict_of_the_matrix() {
    let mut wrong = Vec::new();
    let mut checked = 0;
    for row in rows(include_str!("replies.txt")) {
        let statuses = row[0].split(' ').map(|status| status.parse().unwrap());
        let bodies = |status: u16| rows(BODIES).map(move |body| (status, body));
        for (status, of) in statuses.flat_map(bodies) {
            let (column, media_type): (usize, _) = (of[0].parse().unwrap(), of[1]);
            let body = if status == 304 { "" } else { of[2] };
            for (call, name) in CALLS {
                let expected = match name {
                    "idempotent" => row[column].to_owned(),
                    "change" if row[column].ends_with('?') => row[column].replace(" x4", ""),
                    // The register can read only a list here.
                    "search" if column > 2 => continue,
                    _ => row[column].replace(" ?", ""),
                };
                let again = if expected.ends_with("x4") {
                    " again"
                } else {
                    ""
                };
                let reply = typed(status, media_type, body);
                let calls = Calls::after(reply, &["with token old/new", call]).await;
                let verdict = calls.verdict();
                let error = calls.error();
                // One of the requests may be a repetition with another token.
                let renewals = calls.sent() - error.attempts() as usize;
                assert!(renewals == 0 || renewals == 1 && status == 401);
                assert!(error.operation().is_some());
                assert!(
                    !format!("{error} {error:?}").contains("hidden"),
                    "{error:?}"
                );
                // For support: if the body was read, the report has its beginning and the server's message.
                let report = error.report();
                let is_shown = report.contains("hidden") == body.contains("hidden");
                let message = error.server_message();
                let has_message = body.contains("words") && status >= 400;
                let is_reported = message.as_deref() == Some("hidden words") || !has_message;
                let is_so = is_shown && is_reported && error.http_status() == Some(status);
                if verdict != expected.clone() + again || !is_so {
                    wrong.push(format!(
                        "{call}: {status} {body}: {verdict}, not {expected}: {report}"
                    ));
                }
                checked += 1;
            }
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
    assert!(checked > 1_000, "{checked}");
}

const OTHERS: &str = r#"
Bodies of other media types are named
  with retry none;
  reply 502 content-type={application/json |text/html <!DOCTYPE html><p>Bad gateway|application/json <HTML>|application/xml <?xml version="1.0"?><Error/>|text/plain text try later};
  user -> {NoAnswer|NoAnswer|NoAnswer|Unavailable|NoAnswer} again, says {HTTP 502 with an empty body|HTTP 502 with an HTML page|an HTML page|an XML document|an unexpected body (text/plain)};
  reply 502 {"Message": "x"}; user -> Unavailable again, says the server refused with HTTP 502 (application/json), message x;
  reply 500 {"Message": "No", "StackTrace": "at x"}; search x -> says PICRegister: the server refused with HTTP 500 (application/json), message No, says Error::report()
Only known media types are shown
  with retry none; reply {418|502} content-type={application/vnd.api+json|text/s3cr3t|s3cr3t} text words; user -> says (another media type), hides s3cr3t;
  reply {418|502} text words; user -> says (no media type); reply {418|502} content-type={application/vnd.api+json|text/s3cr3t|s3cr3t} {"Message": "words"}; user -> says (another media type)

Another protocol is reported and not sent again
  reply raw {SSH-2.0-OpenSSH_9.2\r\n|220 mail.example ESMTP ready\r\n|HTTP/9.9 200 OK\r\n\r\n|HTTP/1.1 twohundred OK\r\n\r\n|HTTP/1.1 200 OK\r\ncontent-length: one\r\n\r\nx|HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\nx\r\n|HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\nxxx\r\n0\r\n\r\n};
  {user|comment x|search x} -> {Protocol|Protocol ?|Protocol}, lacks lost

A connection that ends before its reply is lost
  reply {close|raw HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nx}; {user|comment x|search x} -> {Transport x4 again|Transport ?|Transport x4 again}, says lost, status {0|200}

A redirect names its host and is not followed
  reply {301|302|307|308} content-type=text/html location={https://login.example/?token=s3cr3t|https://clerk:s3cr3t@Login.Example:8443/|//login.example/s3cr3t|/login?token=s3cr3t|https://} <html>s3cr3t;
  {user|comment x|search x} -> {NoAnswer x4 again|NoAnswer ?|NoAnswer x4 again}, says redirects are not followed, hides s3cr3t,
  says a redirect {to login.example|to login.example:8443|to login.example|within the same host|to an address that cannot be read}
A redirect without an address
  reply 300; user -> says without a Location

A reply over the limit keeps its status, which says nothing
  with limit 10; reply {500|503|200|403} content-type=text/html text xxxxxxxxxxxxxxxxxxxxxxxx;
  {user|comment x|search x} -> {Transport|Transport ?|Transport}, says larger than the limit, says HTTP {500|503|200|403}, status {500|503|200|403}
A reply over the limit in chunks
  with limit 10; reply raw HTTP/1.1 {500|503|200|403} Told\r\ncontent-type: text/html\r\ntransfer-encoding: chunked\r\n\r\n18\r\nxxxxxxxxxxxxxxxxxxxxxxxx\r\n0\r\n\r\n;
  {user|comment x|search x} -> {Transport|Transport ?|Transport}, says larger than the limit, says HTTP {500|503|200|403}, status {500|503|200|403}

An encoding that was not requested is named
  reply content-encoding={br|zstd|deflate|s3cr3t|gzip,gzip|identity,gzip} content-type=application/json text xx;
  {user|comment x|search x} -> {Protocol|Protocol ?|Protocol}, says {content-encoding br|content-encoding zstd|content-encoding deflate|an unknown content-encoding|an unknown content-encoding|an unknown content-encoding}
Two headers of encodings
  reply content-encoding={gzip|identity} content-encoding=gzip content-type=application/json text xx; user -> Protocol, says an unknown content-encoding
An encoding that leaves the body as it is
  reply content-encoding=identity {"data": {"userDetails": {"firstName": "Sam"}}}; user -> ok, value /firstName "Sam"

# RFC 1952, of whose errors `decoder.rs` has the rest.
Compressed replies are read, also those of errors
  reply gzip=whole {"data": {"userDetails": {"firstName": "Sam"}}}; user -> ok, value /firstName "Sam", header accept-encoding gzip;
  with retry none; reply 429 retry-after=7 gzip=whole {"Message": "Rate limit exceeded."}; user -> RateLimited again, after 7s, message Rate limit exceeded.
An empty body needs no gzip
  with retry none; reply {200|401|502} content-encoding=gzip; user -> {NoAnswer again|NoAnswer again|NoAnswer again}, says with an empty body;
  reply 304 content-encoding=gzip; since QAZZ7777 -> value . "unchanged"
The limit counts what comes out
  with limit 47; reply gzip=whole {"data": {"userDetails": {"firstName": "Sam"}}}; user -> ok;
  with limit 46; {user|comment x|search x} -> {Transport|Transport ?|Transport}, says larger than the limit, says HTTP 200
A body that ends early is lost
  reply gzip=cut {"data": {"userDetails": {"firstName": "Sam"}}};
  {user|comment x|search x} -> {Transport x4 again|Transport ?|Transport x4 again}, says the gzip body of the reply ends too early (HTTP 200)
A damaged body is a protocol error
  reply {gzip=damaged|content-encoding=gzip} {"data": {"userDetails": {"firstName": "Sam"}}};
  {user|comment x|search x} -> {Protocol|Protocol ?|Protocol}, says gzip body of the reply is damaged, hides Sam
A body that was compressed twice
  reply gzip=twice {"data": {"userDetails": {"firstName": "Sam"}}}; {user|comment x|search x} -> {Protocol|Protocol ?|Decode}
# RFC 9110 section 15.5.2: the request was not applied, whatever the body.
A damaged refusal of the token
  reply 401 content-encoding=gzip {}; {user|comment x|search x} -> Protocol
Without the setting a compressed reply is refused by name
  with gzip off; reply gzip=whole {"data": {"userDetails": {"firstName": "Sam"}}}; user -> says content-encoding gzip, says which was not requested, header accept-encoding none
"#;

#[tokio::test]
async fn other_replies_are_named_for_what_they_are() {
    play::<Calls>(table!(const OTHERS)).await;
}

/// The reply of a TLS server to plain HTTP, and more headers than the HTTP library accepts.
#[tokio::test]
async fn bytes_that_are_no_reply_are_reported() {
    let many = format!("HTTP/1.1 200 OK\r\n{}\r\n", "x: 1\r\n".repeat(200));
    for bytes in ["\u{15}\u{3}\u{1}\u{0}\u{2}\u{2}\u{28}", &many] {
        for (call, expected) in [("user", "Protocol"), ("comment x", "Protocol ?")] {
            let calls = Calls::after(Reply::raw(bytes), &[call]).await;
            assert_eq!(calls.verdict(), expected);
        }
    }
}
