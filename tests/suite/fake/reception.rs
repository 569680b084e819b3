//! A fake that stops and starts again on its port.

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use envd_sdk::fake::{Fake, Fault};
use envd_sdk::model::CommentInput;
use envd_sdk::{ErrorKind, RetryPolicy};
use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::http::{data, fixture_day};

use crate::fixed_date::fake_builder;

const HEAD: &str = "POST /v2/graphql HTTP/1.1\r\nhost: fake\r\n";

async fn start() -> Fake {
    fake_builder().clock(fixture_day()).start().await.unwrap()
}

async fn connect(fake: &Fake) -> std::io::Result<TcpStream> {
    let port = fake.graphql_url().port().unwrap();
    TcpStream::connect(SocketAddr::from(([127, 0, 0, 1], port))).await
}

#[tokio::test]
async fn open_connections_end_and_new_ones_are_refused_until_it_starts_again() {
    let query = r#"{"query": "{ userDetails { email } }"}"#;
    let whole = format!(
        "{HEAD}content-type: application/json\r\ncontent-length: {}\r\n\r\n{query}",
        query.len()
    );
    let half = whole[..whole.len() - 9].to_owned();
    for (name, sent, is_late) in [
        ("no request", String::new(), false),
        ("half a request", half, false),
        ("an answered request", whole.clone(), false),
        ("a reply that waits on the clock", whole, true),
    ] {
        let fake = start().await;
        let mut open = connect(&fake).await.unwrap();
        if is_late {
            fake.on_every_request(|_| Some(Fault::latency(Duration::from_secs(60))));
        }
        open.write_all(sent.as_bytes()).await.unwrap();
        if is_late {
            fake.until_delayed().await;
        } else if name.starts_with("an answered") {
            assert!(open.read(&mut [0; 4_096]).await.unwrap() > 0);
        }
        let received = fake.request_count("UserDetails");
        let end = tokio::spawn(async move {
            let mut rest = Vec::new();
            // OK to ignore: a reset also ends the connection.
            let _ = open.read_to_end(&mut rest).await;
            rest
        });
        // A second call has no effect.
        fake.stop().await;
        fake.stop().await;
        assert_eq!(end.await.unwrap(), b"", "{name}");
        let refused = connect(&fake).await.unwrap_err();
        assert_eq!(refused.kind(), io::ErrorKind::ConnectionRefused, "{name}");
        assert_eq!(fake.request_count("UserDetails"), received, "{name}");

        fake.on_every_request(|_| None);
        fake.start_again().await;
        fake.start_again().await;
        let user = data(&fake, "{ userDetails { email } }", Value::Null).await;
        assert!(user["userDetails"]["email"].is_string(), "{name}");
    }
}

#[tokio::test]
async fn a_client_with_open_connections_sends_nothing_while_it_is_stopped() {
    let fake = start().await;
    let client = fake.client().retry(RetryPolicy::none()).build().unwrap();
    let account = client.account(fake.account_id());
    let comment = |text: String| account.create_comment(CommentInput::new("C-900000101", text));
    for round in 0..50 {
        // Several connections are open and idle.
        let (one, other) = tokio::join!(client.user_details(), client.user_details());
        assert!(one.is_ok() && other.is_ok());
        fake.stop().await;
        let error = comment(format!("lost {round}")).await.unwrap_err();
        assert!(
            error.kind() == ErrorKind::Connect && !error.may_have_applied(),
            "{error:?}"
        );
        fake.start_again().await;
        let _ = comment(format!("made {round}")).await.unwrap();
    }
    assert_eq!(fake.request_count("CreateComment"), 50);
}
