//! The limit of requests in transfer, and with it of connections.

use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Waker};
use std::time::{Duration, SystemTime};

use envd_sdk::auth::StaticToken;
use envd_sdk::model::ConsignmentInput;
use envd_sdk::ops::ConsignmentFilter;
use envd_sdk::{Client, ClientBuilder, Clock, HttpOptions};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Barrier, mpsc};
use tokio::task::JoinSet;

use crate::fixed_date::start_fake;

const WALKS: usize = 64;
const LIMIT: usize = 8;

/// A number of things and the most there were at once.
#[derive(Default)]
struct Gauge {
    now: AtomicUsize,
    most: AtomicUsize,
}

impl Gauge {
    fn enter(&self) {
        let now = self.now.fetch_add(1, Ordering::SeqCst) + 1;
        self.most.fetch_max(now, Ordering::SeqCst);
    }

    fn leave(&self) {
        self.now.fetch_sub(1, Ordering::SeqCst);
    }

    fn most(&self) -> usize {
        self.most.load(Ordering::SeqCst)
    }
}

#[derive(Default)]
struct Counts {
    connections: Gauge,
    requests: Gauge,
    served: AtomicUsize,
}

/// A list of two pages. The first requests, so many, are answered together.
async fn serve_lists(first: usize) -> (String, Arc<Counts>) {
    let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
    let address = format!("http://{}/", listener.local_addr().unwrap());
    let counts = Arc::<Counts>::default();
    let (shared, together) = (Arc::clone(&counts), Arc::new(Barrier::new(first)));
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let (counts, together) = (Arc::clone(&shared), Arc::clone(&together));
            counts.connections.enter();
            tokio::spawn(async move {
                pages(stream, &counts, &together, first).await;
                counts.connections.leave();
            });
        }
    });
    (address, counts)
}

async fn pages(mut stream: TcpStream, counts: &Counts, together: &Barrier, first: usize) {
    while let Some(request) = request(&mut stream).await {
        counts.requests.enter();
        if counts.served.fetch_add(1, Ordering::SeqCst) < first {
            together.wait().await;
        }
        let is_second = request.contains(r#""after":"c1""#);
        let (id, more) = if is_second { ("b", false) } else { ("a", true) };
        let body = format!(
            r#"{{"data":{{"consignments":{{"pageInfo":{{"hasNextPage":{more},"endCursor":"c1"}},"edges":[{{"node":{{"id":"{id}"}}}}]}}}}}}"#
        );
        counts.requests.leave();
        reply(&mut stream, 200, &body).await;
    }
}

/// A request with a JSON body; `None` at the end of the connection.
async fn request(stream: &mut TcpStream) -> Option<String> {
    let (mut seen, mut buffer) = (String::new(), [0; 8_192]);
    while !seen.ends_with("}}") {
        let read @ 1.. = stream.read(&mut buffer).await.ok()? else {
            return None;
        };
        seen.push_str(std::str::from_utf8(&buffer[..read]).unwrap());
    }
    Some(seen)
}

async fn reply(stream: &mut TcpStream, status: u16, body: &str) {
    let length = body.len();
    let head = format!("HTTP/1.1 {status} Status\r\ncontent-type: application/json\r\n");
    let reply = format!("{head}content-length: {length}\r\n\r\n{body}");
    stream.write_all(reply.as_bytes()).await.unwrap();
}

fn builder(address: &str) -> ClientBuilder {
    Client::builder(address).token_source(StaticToken::new("b34r3r").unwrap())
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
    let (address, counts) = serve_lists(LIMIT).await;
    let client = builder(&address).http(at_most(LIMIT)).build().unwrap();
    walk(&client).await;
    assert_eq!(counts.requests.most(), LIMIT);
    // As many again may be idle.
    let connections = counts.connections.most();
    assert!(connections <= 2 * LIMIT, "{connections} connections");
}

#[tokio::test]
async fn without_a_limit_each_walk_has_a_connection() {
    let (address, counts) = serve_lists(WALKS).await;
    walk(&builder(&address).build().unwrap()).await;
    assert!(counts.requests.most() >= WALKS && counts.connections.most() >= WALKS);
}

#[tokio::test]
async fn the_limit_is_that_of_all_clients_made_from_one() {
    let (address, counts) = serve_lists(1).await;
    let client = builder(&address).http(at_most(1)).build().unwrap();
    let other = client.with_token_source(StaticToken::new("0th3r").unwrap());
    tokio::join!(walk(&client), walk(&other));
    assert_eq!(counts.requests.most(), 1);
}

/// A server that reports each request to the test, which answers it by hand.
async fn serve_by_hand() -> (String, mpsc::UnboundedReceiver<TcpStream>) {
    let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
    let address = format!("http://{}/", listener.local_addr().unwrap());
    let (sender, requests) = mpsc::unbounded_channel();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let sender = sender.clone();
            tokio::spawn(async move {
                if request(&mut stream).await.is_some() {
                    sender.send(stream).unwrap();
                }
            });
        }
    });
    (address, requests)
}

const NOTHING: &str = r#"{"data":{"consignments":{"totalCount":0,"edges":[]}}}"#;

#[tokio::test]
async fn a_change_whose_time_runs_out_before_its_turn_was_not_sent() {
    let (address, mut requests) = serve_by_hand().await;
    let clock = Clock::manual(SystemTime::UNIX_EPOCH);
    let client = builder(&address).http(at_most(1)).clock(clock.clone());
    let account = client.build().unwrap().account("envd-1");
    let first = account.consignments_page(&ConsignmentFilter::default(), None);
    let first = tokio::spawn(first.into_future());
    let mut stream = requests.recv().await.unwrap();
    let save = account.save_consignment(ConsignmentInput::default());
    let mut save = pin!(save.deadline(Duration::from_secs(10)).into_future());
    let mut context = Context::from_waker(Waker::noop());
    assert!(save.as_mut().poll(&mut context).is_pending());
    clock.advance(Duration::from_secs(11));
    let error = save.await.unwrap_err();
    assert!(error.is_timeout() && !error.may_have_applied());
    assert_eq!(error.attempts(), 0);
    reply(&mut stream, 200, NOTHING).await;
    first.await.unwrap().unwrap();
    assert!(requests.is_empty());
}

#[tokio::test]
async fn a_call_that_waits_for_its_retry_leaves_its_turn_to_others() {
    let (address, mut requests) = serve_by_hand().await;
    let clock = Clock::manual(SystemTime::UNIX_EPOCH);
    let client = builder(&address).http(at_most(1)).clock(clock).build();
    let account = client.unwrap().account("envd-1");
    let list = || account.consignments_page(&ConsignmentFilter::default(), None);
    let first = tokio::spawn(list().into_future());
    let mut stream = requests.recv().await.unwrap();
    reply(&mut stream, 502, "{}").await;
    drop(stream);
    // The clock stands still, and so the first call waits for its second attempt.
    let second = tokio::spawn(list().into_future());
    let mut stream = requests.recv().await.unwrap();
    reply(&mut stream, 200, NOTHING).await;
    second.await.unwrap().unwrap();
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
    assert!(error.is_config() && error.to_string().contains("max_concurrent_requests"));
    assert!(build(usize::MAX).is_ok());
}
