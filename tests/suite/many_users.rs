//! Many users of one connection pool, shared pauses, and headers of a client.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use envd_sdk::auth::{AccessToken, StaticToken};
use envd_sdk::model::{ConsignmentInput, FormType, PartyInput, SavedConsignment};
use envd_sdk::{Call, Client, ErrorKind, Outcome};
use equipment::{Reply, Server};
use serde_json::json;

use crate::scripted::client_at;
use crate::scripted::ok;

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
}
