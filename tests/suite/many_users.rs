//! Many users of one connection pool, shared pauses, and headers of a client.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, SystemTime};

use envd_sdk::auth::{AccessToken, StaticToken};
use envd_sdk::model::{ConsignmentInput, FormType, PartyInput, Pic, SavedConsignment};
use envd_sdk::{Call, Client, Clock, ErrorKind, Outcome};
use equipment::{Reply, Server};
use serde_json::json;

use crate::scripted::client_at;
use crate::scripted::ok;
use crate::scripted::register_at;

const USERS: usize = 1_000;

fn token(text: &str) -> StaticToken {
    StaticToken::new(text).unwrap()
}

fn saving() -> Server {
    let saved = json!({"createOrSaveConsignment": {"data": {"id": "c-9"}}});
    Server::script([ok(json!({ "data": saved }))])
}

/// The tokens of all requests.
fn tokens(server: &Server) -> Vec<String> {
    let requests = server.requests();
    let tokens = requests.iter().map(|request| {
        let header = request.header("authorization").unwrap();
        header.strip_prefix("Bearer ").unwrap().to_owned()
    });
    tokens.collect()
}

fn save(client: &Client) -> Call<Outcome<SavedConsignment>> {
    let (origin, destination) = (PartyInput::new("QAZZ7777"), PartyInput::new("QDZZ3333"));
    let input = ConsignmentInput::new([FormType::Lpac1], origin, destination);
    client.account("envd-1").save_consignment(input)
}

// On a single thread: with several, the connection may return to the pool shortly after the reply is read.
#[tokio::test]
async fn a_thousand_users_of_one_client_share_a_connection_and_not_a_token() {
    let server = saving();
    let shared = client_at(server.url()).token_source(token("shared-token"));
    let shared = shared.build().unwrap();
    let users: Vec<String> = (0..USERS).map(|user| format!("user-{user}")).collect();
    let clients = users
        .iter()
        .map(|user| shared.with_token_source(token(user)));
    for client in clients.collect::<Vec<_>>() {
        let _ = save(&client).await.unwrap();
    }
    assert_eq!((server.accepted(), tokens(&server)), (1, users));
}

#[tokio::test]
async fn maintenance_defers_all_users_a_limit_one_of_them_and_both_can_be_ended() {
    let body = json!({"message": "not user 1, please"});
    for status in [429, 503] {
        let server = Server::script([Reply::json(status, &body).header("retry-after", "600")]);
        let clock = Clock::manual(SystemTime::UNIX_EPOCH);
        let first = client_at(server.url()).token_source(token("one"));
        let first = first.clock(clock.clone()).build().unwrap();
        let second = first.with_token_source(token("two"));
        let refused = first.questions().await.unwrap_err();
        assert_eq!(
            (refused.http_status(), refused.attempts()),
            (Some(status), 1)
        );
        clock.advance(Duration::from_secs(100));
        let left = Duration::from_secs(500);
        let second = match status {
            // Another user is served, or hears from the server itself.
            429 => {
                assert_eq!(second.paused_for(), None);
                assert!(second.questions().await.is_err());
                assert_eq!(server.count(), 2);
                first.clone()
            }
            _ => second,
        };
        let sent = server.count();
        assert_eq!(second.paused_for(), Some(left));
        // A mutation is deferred as well: it was not sent, so it was not applied.
        let deferred = second.account("envd-1").delete_consignment("c-1").await;
        let deferred = deferred.unwrap_err();
        assert_eq!(
            (deferred.http_status(), deferred.attempts()),
            (Some(status), 0)
        );
        assert_eq!(deferred.retry_after(), Some(left));
        assert_eq!(deferred.operation(), Some("deleteConsignment"));
        assert!(!deferred.may_have_applied() && deferred.is_retryable());
        // The message may contain data of the user of that request.
        assert_eq!(deferred.server_message(), None);
        assert_eq!(server.count(), sent);
        second.end_pause();
        assert_eq!(first.paused_for(), None);
        assert!(second.questions().await.is_err());
        assert_eq!(server.count(), sent + 1);
    }
}

#[tokio::test]
async fn users_of_the_register_share_its_limits_but_not_its_replies() {
    let body = json!({"Value": {"SubSet": [{"PIC": "QAZZ7777"}]}});
    let server = Server::script([ok(body)]);
    let pic = Pic::parse("QAZZ7777").unwrap();
    let first = register_at(server.url()).header("x-api-key", "s3cr3t");
    let first = first.cache(Duration::from_secs(60), 10).build().unwrap();
    let second = first.with_token_source(token("two"));
    let response = first.lookup(&pic).response().await.unwrap();
    assert_eq!((response.status, response.attempts), (Some(200), 1));
    let cached = first.lookup(&pic).response().await.unwrap();
    assert_eq!(
        (cached.status, cached.attempts, &cached.value),
        (None, 0, &response.value)
    );
    second.lookup(&pic).await.unwrap();
    let requests = server.requests();
    assert_eq!(requests.len(), 2);
    assert!(
        requests
            .iter()
            .all(|request| request.header("x-api-key") == Some("s3cr3t"))
    );
    assert_eq!(requests[0].header("authorization"), None);
    assert_eq!(requests[1].header("authorization"), Some("Bearer two"));
}

#[tokio::test]
async fn a_function_is_a_token_source() {
    let server = Server::script([Reply::json(401, r#"{"Message": "no"}"#)]);
    let calls = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&calls);
    let source = move || {
        let number = count.fetch_add(1, Ordering::SeqCst);
        async move { AccessToken::new(&format!("token-{number}")) }
    };
    let client = client_at(server.url()).token_source(source);
    let error = client.build().unwrap().questions().await.unwrap_err();
    assert!(error.kind() == ErrorKind::Unauthorized);
    assert_eq!(tokens(&server), ["token-0", "token-1"]);
}

#[tokio::test]
async fn headers_of_a_client_are_sent_and_cannot_replace_built_in_ones() {
    let server = Server::script([Reply::new(401)]);
    let client = || client_at(server.url()).token_source(token("one"));
    let with = client()
        .header("X-Gateway-Key", "s3cr3t")
        .header("x-office", "Roma");
    assert!(!format!("{with:?}").contains("s3cr3t"));
    let with = with.build().unwrap();
    assert!(!format!("{with:?} {:?}", with.questions()).contains("s3cr3t"));
    let call = with.questions().header("x-office", "Dalby");
    assert!(!format!("{call:?}").contains("Dalby"));
    call.await.unwrap_err();
    for request in server.requests() {
        assert_eq!(request.header("x-gateway-key"), Some("s3cr3t"));
        assert_eq!(request.header("x-office"), Some("Dalby"));
    }
    for (name, value) in [
        ("Authorization", "s3cr3t"),
        ("accept", "s3cr3t"),
        ("Content-Type", "s3cr3t"),
        ("user-agent", "s3cr3t"),
        ("a b", "s3cr3t"),
        ("x-office", "s3cr3t\nx: y"),
    ] {
        let error = client().header(name, value).build().unwrap_err();
        assert!(
            error.kind() == ErrorKind::Config && !format!("{error:?}").contains("s3cr3t"),
            "{name}"
        );
    }
    let register = || register_at(server.url()).header("authorization", "Basic s3cr3t");
    assert!(register().build().is_ok());
    let both = register().token_source(token("one")).build();
    assert!(both.unwrap_err().kind() == ErrorKind::Config);
}
