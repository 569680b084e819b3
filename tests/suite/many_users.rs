//! Many users of one connection pool.

use std::time::Duration;

use envd_sdk::auth::{MemoryStore, StaticToken, TokenManager, TokenSource};
use envd_sdk::fake::Fault;
use envd_sdk::model::SavedConsignment;
use envd_sdk::{Call, Client, ErrorKind, Outcome};
use serde_json::json;
use test_support::Server;

use crate::calls::input;
use crate::fixed_date::{log_in, manual};
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

/// Does the same as a server that creates a token manager and a client for each request.
#[tokio::test]
async fn a_limit_defers_the_next_request_of_its_user_with_the_next_token_too() {
    let (builder, clock) = manual();
    let fake = builder.start().await.unwrap();
    let busy = Fault::status(429).header("retry-after", "600");
    fake.on_operation("userDetails").fault(busy);
    let template = TokenManager::builder(fake.provider().build().unwrap());
    let template = template.store(MemoryStore::new());
    let manager = |user: &str| template.clone().account(user).build().unwrap();
    for user in ["sam", "kim"] {
        log_in(&fake, &manager(user)).await.unwrap();
    }
    let shared = fake.client().build().unwrap();
    let request = |user: &str| shared.with_token_source(manager(user));

    let refused = request("sam").user_details().await.unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::RateLimited);
    let renewed = manager("sam");
    let used = renewed.access_token().await.unwrap();
    assert!(renewed.renew(&used).await.unwrap().generation() > used.generation());
    assert_eq!(request("sam").paused_for(), Some(Duration::from_secs(600)));
    let deferred = request("sam").user_details().await.unwrap_err();
    assert_eq!(
        (deferred.kind(), deferred.attempts()),
        (ErrorKind::RateLimited, 0)
    );
    assert!(request("kim").user_details().await.is_ok());

    clock.advance(Duration::from_secs(600));
    assert!(request("sam").user_details().await.is_ok());
}
