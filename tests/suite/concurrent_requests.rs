//! The limit of requests in transfer, and with it of connections.

use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Waker};
use std::time::{Duration, SystemTime};

use envd_sdk::auth::StaticToken;
use envd_sdk::model::ConsignmentInput;
use envd_sdk::ops::ConsignmentFilter;
use envd_sdk::{Client, ClientBuilder, Clock, ErrorKind, HttpOptions};
use equipment::{Reply, Server};
use serde_json::json;
use tokio::sync::{Barrier, mpsc, oneshot};
use tokio::task::JoinSet;

use crate::fixed_date::start_fake;
use crate::scripted::client_at;
use crate::scripted::{body, ok};

const WALKS: usize = 64;
const LIMIT: usize = 8;

/// A list of two pages. The first requests, so many, are answered together.
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

/// Walks through many lists at once.
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
    // As many again may be idle.
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

/// A server that reports each request to the test, which sends the reply.
fn serve_by_hand() -> (String, mpsc::UnboundedReceiver<oneshot::Sender<Reply>>) {
    let (sender, requests) = mpsc::unbounded_channel();
    let server = Server::start(move |_| {
        let (reply, sent) = oneshot::channel();
        sender.send(reply).unwrap();
        async { sent.await.unwrap() }
    });
    (server.url(), requests)
}

fn nothing() -> Reply {
    ok(json!({"data": {"consignments": {"totalCount": 0, "edges": []}}}))
}

#[tokio::test]
async fn a_change_whose_time_runs_out_before_its_turn_was_not_sent() {
    let (address, mut requests) = serve_by_hand();
    let clock = Clock::manual(SystemTime::UNIX_EPOCH);
    let client = builder(&address).http(at_most(1)).clock(clock.clone());
    let account = client.build().unwrap().account("envd-1");
    let first = account.consignments_page(&ConsignmentFilter::default(), None);
    let first = tokio::spawn(first.into_future());
    let reply = requests.recv().await.unwrap();
    let save = account.save_consignment(ConsignmentInput::default());
    let mut save = pin!(save.deadline(Duration::from_secs(10)).into_future());
    let mut context = Context::from_waker(Waker::noop());
    assert!(save.as_mut().poll(&mut context).is_pending());
    clock.advance(Duration::from_secs(11));
    let error = save.await.unwrap_err();
    assert!(error.kind() == ErrorKind::Timeout && !error.may_have_applied());
    assert_eq!(error.attempts(), 0);
    reply.send(nothing()).unwrap();
    let _ = first.await.unwrap().unwrap();
    assert!(requests.is_empty());
}

#[tokio::test]
async fn a_call_that_waits_for_its_retry_leaves_its_turn_to_others() {
    let (address, mut requests) = serve_by_hand();
    let clock = Clock::manual(SystemTime::UNIX_EPOCH);
    let client = builder(&address).http(at_most(1)).clock(clock).build();
    let account = client.unwrap().account("envd-1");
    let list = || account.consignments_page(&ConsignmentFilter::default(), None);
    let first = tokio::spawn(list().into_future());
    let reply = requests.recv().await.unwrap();
    reply.send(Reply::json(502, "{}")).unwrap();
    // The clock stands still, and so the first call waits for its second attempt.
    let second = tokio::spawn(list().into_future());
    let reply = requests.recv().await.unwrap();
    reply.send(nothing()).unwrap();
    let _ = second.await.unwrap().unwrap();
    assert!(!first.is_finished());
    first.abort();
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

#[test]
fn a_limit_of_zero_is_refused_and_the_largest_is_not() {
    let build = |limit| builder("http://127.0.0.1:1/").http(at_most(limit)).build();
    let error = build(0).unwrap_err();
    assert!(
        error.kind() == ErrorKind::Config && error.to_string().contains("max_concurrent_requests")
    );
    assert!(build(usize::MAX).is_ok());
}
