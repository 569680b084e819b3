//! The limit of concurrent requests, and so of connections.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use envd_sdk::auth::StaticToken;
use envd_sdk::ops::ConsignmentFilter;
use envd_sdk::{Client, ClientBuilder, HttpOptions};
use serde_json::json;
use test_support::Server;
use tokio::sync::Barrier;
use tokio::task::JoinSet;

use crate::fixed_date::start_fake;
use crate::scripted::client_at;
use crate::scripted::{body, ok};

const WALKS: usize = 64;
const LIMIT: usize = 8;

/// Serves a list of two pages. It answers the first requests, `first` in number, together.
fn serve_lists(first: usize) -> Server {
    let state = Arc::new((AtomicUsize::new(0), Barrier::new(first)));
    Server::start(move |request| {
        let state = Arc::clone(&state);
        async move {
            let (served, together) = &*state;
            if served.fetch_add(1, Ordering::SeqCst) < first {
                together.wait().await;
            }
            let is_second = body(&request)["variables"]["after"] == "c1";
            let info = json!({"hasNextPage": !is_second, "endCursor": "c1"});
            let node = json!({"id": if is_second { "b" } else { "a" }});
            ok(json!({"data": {"consignments": {"pageInfo": info, "edges": [{"node": node}]}}}))
        }
    })
}

fn builder(address: &str) -> ClientBuilder {
    client_at(address).token_source(StaticToken::new("b34r3r").unwrap())
}

fn at_most(limit: usize) -> HttpOptions {
    HttpOptions::default().max_concurrent_requests(limit)
}

/// Reads many lists concurrently.
async fn walk(client: &Client) {
    let mut walks = JoinSet::new();
    for number in 0..WALKS {
        let account = client.account(format!("envd-{number}"));
        walks.spawn(async move {
            let mut pager = account.consignments(&ConsignmentFilter::default());
            let mut seen = 0;
            while let Some(page) = pager.next_page().await.unwrap() {
                seen += page.records.len();
            }
            seen
        });
    }
    assert!(walks.join_all().await.into_iter().all(|seen| seen == 2));
}

#[tokio::test]
async fn sixty_four_walks_have_no_more_requests_in_transfer_than_the_limit() {
    let server = serve_lists(LIMIT);
    let client = builder(&server.url()).http(at_most(LIMIT)).build().unwrap();
    walk(&client).await;
    assert_eq!(server.most_requests(), LIMIT);
    // The same number of connections may be idle.
    let connections = server.most_connections();
    assert!(connections <= 2 * LIMIT, "{connections} connections");
}

#[tokio::test]
async fn without_a_limit_each_walk_has_a_connection() {
    let server = serve_lists(WALKS);
    walk(&builder(&server.url()).build().unwrap()).await;
    assert!(server.most_requests() >= WALKS && server.most_connections() >= WALKS);
}

#[tokio::test]
async fn the_limit_is_that_of_all_clients_made_from_one() {
    let server = serve_lists(1);
    let client = builder(&server.url()).http(at_most(1)).build().unwrap();
    let other = client.with_token_source(StaticToken::new("0th3r").unwrap());
    tokio::join!(walk(&client), walk(&other));
    assert_eq!(server.most_requests(), 1);
}

#[tokio::test]
async fn a_token_is_renewed_within_the_only_turn() {
    let fake = start_fake().await;
    let manager = fake.token_manager().await.unwrap();
    let client = fake.client().token_source(manager).http(at_most(1));
    let client = client.build().unwrap();
    fake.expire_access_tokens();
    assert!(client.user_details().await.is_ok());
}
