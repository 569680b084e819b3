//! Many users of one connection pool.

use envd_sdk::auth::StaticToken;
use envd_sdk::model::SavedConsignment;
use envd_sdk::{Call, Client, Outcome};
use equipment::Server;
use serde_json::json;

use crate::calls::input;
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
    client.account("envd-1").save_consignment(input())
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
