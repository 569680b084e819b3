//! Scripted faults, and the client's reaction.

use std::time::Duration;

use envd_sdk::fake::{Fake, Fault};
use test_support::script::play;
use test_support::table;

use crate::calls::Calls;
use crate::fixed_date::manual;
use crate::wire::{Raw, send};

const FAULTS: &str = r#"
each: fake; with retry none;
Two failures are followed by normal replies
  on UserDetails 503 {"message": "later"} x2; user -> Unavailable again, status 503, message later; user -> Unavailable again; user -> ok;
  on UserDetails 429 retry-after=7; user -> RateLimited again, after 7s

Pages and garbage are errors
  on UserDetails html 200; user -> NoAnswer again, status 200, reports body:; on UserDetails garbage; user -> Protocol, status 200, reports body:

A change is made only if the connection drops after it
  on CreateComment dropped_before; comment x -> Transport ?; comments C-900000101 -> count 1;
  on CreateComment dropped_after; comment x -> Transport ?; comments C-900000101 -> count 2;
  on CreateComment processed 502; comment x -> NoAnswer ?; comments C-900000101 -> count 3;
  on CreateComment internal createComment; comment x -> NotFound ?, reports Internal server error; comments C-900000101 -> count 3;
  on CreateComment processed internal createComment; comment x -> NotFound ?, reports Internal server error; comments C-900000101 -> count 4

A change can be made after further requests
  on CreateComment later 2 dropped_before; comment x -> Transport ?; comments C-900000101 -> count 1; comments C-900000101 -> count 1; comments C-900000101 -> count 2;
  on CreateComment later 18446744073709551615 502 x2; on CreateComment later 0 502; comment x -> NoAnswer ?; comment x -> NoAnswer ?; comment x -> NoAnswer ?;
  comments C-900000101 -> count 3, late 2, late 0; comments C-900000101 -> count 5

A truncated body is a reply, and a cut one or none is lost
  on UserDetails truncated 10; user -> Decode; on UserDetails cut 10; user -> Transport again; on /v2/graphql dropped_before; user -> Transport again; user -> ok

One invalid element of a list does not fail the client
  on Consignments replaced /data/consignments/edges/1 {"cursor":7,"node":"?"}; list -> value . 8

Paths of the register have faults too
  on /api/v2/PICRegister 400 {"Message": "no"}; search QLD -> Rejected, sent 1; search QLD -> ok
"#;

#[tokio::test]
async fn a_change_is_made_only_if_the_connection_drops_after_it() {
    play::<Calls>(table!(const FAULTS)).await;
}

async fn query(fake: &Fake) -> Option<Raw> {
    let bearer = format!("Bearer {}", fake.access_token().expose());
    let headers = [
        ("authorization", bearer.as_str()),
        ("content-type", "application/json"),
    ];
    let query = r#"{"query": "query UserDetails { userDetails { email } }"}"#;
    send(&fake.graphql_url(), "POST", &headers, query).await
}

#[tokio::test]
async fn a_cut_body_is_shorter_than_announced_and_a_slow_one_comes_in_chunks_by_the_clock() {
    let (fake, clock) = manual();
    let fake = fake.start().await.unwrap();
    let fast = query(&fake).await.unwrap().body;
    let second = Duration::from_secs(1);
    let on = fake.on_operation("UserDetails");
    on.fault(Fault::cut(10))
        .fault(Fault::slow(30, second))
        .fault(Fault::latency(second));
    let cut = query(&fake).await.unwrap();
    let announced: usize = cut.header("content-length").unwrap().parse().unwrap();
    assert!(cut.body.len() == 10 && announced == fast.len());
    assert_eq!(cut.header("x-fake-delivery"), None);
    for least in [fast.len().div_ceil(30), 1] {
        let mut moves = 0;
        let mut slow = std::pin::pin!(query(&fake));
        let reply = loop {
            tokio::select! {
                reply = &mut slow => break reply.unwrap(),
                () = fake.until_delayed() => {
                    moves += 1;
                    clock.advance(second);
                    tokio::task::yield_now().await;
                }
            }
        };
        assert_eq!(reply.body, fast);
        assert!(moves >= least, "{moves}");
    }
}

#[test]
#[should_panic(expected = "only a fault that replaces the reply")]
fn a_real_reply_cannot_come_before_the_processing() {
    let _ = Fault::cut(3).processed_after(1);
}

#[test]
#[should_panic(expected = "invalid header no spaces")]
fn a_header_that_http_forbids_is_refused_at_once() {
    let _ = Fault::status(200).header("no spaces", "x");
}

#[test]
#[should_panic(expected = "99 is not an HTTP status")]
fn an_invalid_status_is_refused_at_once() {
    let _ = Fault::status(99);
}
