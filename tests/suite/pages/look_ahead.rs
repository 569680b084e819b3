//! Look-ahead: the time of requests. Dropping a future loses no page.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::task::Poll;

use envd_sdk::AccountClient;
use envd_sdk::auth::StaticToken;
use test_support::{Listener, Reply};

use super::{account, end, filter, more, page, serve};
use crate::gzip::gzip;
use crate::scripted::client_at;
use crate::scripted::{ok, take_turns, until};

/// Polls a future once and drops it.
async fn poll_once(future: impl Future) {
    let mut future = pin!(future);
    poll_fn(|context| {
        assert!(future.as_mut().poll(context).is_pending());
        Poll::Ready(())
    })
    .await;
}

fn account_at(listener: &Listener) -> AccountClient {
    let client = client_at(listener.url()).token_source(StaticToken::new("a-token").unwrap());
    client.build().unwrap().account("envd-1")
}

#[tokio::test]
async fn nothing_is_sent_before_a_page_is_requested() {
    let server = serve(|_| ok(page(end(), &["1"])));
    let pager = account(&server).consignments(&filter());
    let items = account(&server).consignments(&filter()).items();
    drop((pager, items));
    assert_eq!(server.count(), 0);
}

#[tokio::test]
async fn a_dropped_future_does_not_lose_its_page() {
    for ahead in [0, 1] {
        let server = serve(|after| match after {
            "" => ok(page(more("a"), &["1"])),
            _ => ok(page(end(), &["2"])),
        });
        let mut pager = account(&server).consignments(&filter()).look_ahead(ahead);
        poll_once(pager.next_page()).await;
        until(|| server.count() > 0).await;
        for number in ["1", "2"] {
            let page = pager.next_page().await.unwrap().unwrap();
            assert_eq!(page.records[0].number.as_ref().unwrap(), &number);
        }
        assert!(pager.next_page().await.unwrap().is_none());
        assert_eq!(server.count(), 2);
    }
}

#[tokio::test]
async fn the_look_ahead_fetches_as_many_pages_as_set() {
    for (ahead, expected) in [(0, 1), (1, 2), (3, 4)] {
        let server = serve(|after| ok(page(more(&format!("{after}x")), &["1"])));
        let mut pager = account(&server).consignments(&filter()).look_ahead(ahead);
        pager.next_page().await.unwrap().unwrap();
        until(|| server.count() >= expected).await;
        // An additional request would be sent during these calls.
        let _ = account(&server)
            .consignments_page(&filter(), None)
            .await
            .unwrap();
        take_turns().await;
        assert_eq!(server.count(), expected + 1, "{ahead}");
    }
}

#[tokio::test]
async fn the_decoded_page_overrides_the_cursor_of_its_beginning() {
    let server = serve(|after| match after {
        "" => {
            let list = page(more("a"), &["1"])["data"].to_string();
            let hint = r#"{"extensions": {"pageInfo": {"hasNextPage": true, "endCursor": "wrong"}}, "data": "#;
            let body = format!("{hint}{list}}}");
            Reply::json(200, body)
        }
        "a" => ok(page(end(), &["2"])),
        _ => ok(page(end(), &["of the wrong page"])),
    });
    let mut pager = account(&server).consignments(&filter());
    pager.next_page().await.unwrap().unwrap();
    let second = pager.next_page().await.unwrap().unwrap();
    assert_eq!(second.records[0].number.as_ref().unwrap(), &"2");
    assert_eq!(second.number, 2);
}

/// The head of a reply with a body of this length.
fn head(length: usize) -> String {
    format!("HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n")
}

/// A reply with a page in two parts; the first contains the cursor.
fn parts(is_last: bool, number: &str, is_compressed: bool) -> (Vec<u8>, Vec<u8>) {
    let more = !is_last;
    let cursor = if is_last { "b" } else { "a" };
    // Edges after `pageInfo`, as in our document.
    let start = format!(
        r#"{{"data": {{"consignments": {{"totalCount": 2, "pageInfo": {{"hasNextPage": {more}, "endCursor": "{cursor}"}}"#
    );
    let rest =
        format!(r#", "edges": [{{"cursor": "{number}", "node": {{"number": "{number}"}}}}]}}}}}}"#);
    let mut body = [start.as_bytes(), rest.as_bytes()].concat();
    let mut at = start.len();
    let mut head = head(body.len());
    if is_compressed {
        body = gzip(&body);
        // The end of the only member: checksum and length.
        at = body.len() - 9;
        head = format!("{}content-encoding: gzip\r\n", self::head(body.len()));
    }
    let (start, rest) = body.split_at(at);
    let head = format!("{head}\r\n").into_bytes();
    ([&head, start].concat(), rest.to_vec())
}

#[tokio::test]
async fn the_next_request_is_sent_before_the_page_has_arrived() {
    for is_compressed in [false, true] {
        let listener = Listener::bind();
        let mut pager = account_at(&listener).consignments(&filter());
        let server = tokio::spawn(async move {
            let mut first = listener.accept().await;
            let request = first.request().await.unwrap();
            assert!(!request.body.contains("\"after\""));
            let (start, rest) = parts(false, "1", is_compressed);
            first.send(&start).await;
            // Send the rest of the first page only after the request for the second page.
            let mut second = listener.accept().await;
            let request = second.request().await.unwrap();
            assert!(request.body.contains("\"after\":\"a\""));
            first.send(&rest).await;
            let (start, rest) = parts(true, "2", is_compressed);
            second.send(&[start, rest].concat()).await;
        });
        let read = async {
            for number in ["1", "2"] {
                let page = pager.next_page().await.unwrap().unwrap();
                assert_eq!(page.records[0].number.as_ref().unwrap(), &number);
            }
            assert!(pager.next_page().await.unwrap().is_none());
        };
        // Without the look-ahead client and server wait for each other.
        let limit = std::time::Duration::from_secs(20);
        tokio::time::timeout(limit, read)
            .await
            .expect("no request was sent ahead");
        server.await.unwrap();
    }
}

#[tokio::test]
async fn at_most_two_pages_are_in_transfer_for_any_look_ahead() {
    let listener = Listener::bind();
    let pager = account_at(&listener).consignments(&filter());
    let mut pager = pager.look_ahead(3);
    let reader = tokio::spawn(async move { pager.next_page().await.map(|page| (page, pager)) });
    // The beginnings of replies, with the cursors.
    let mut begun = Vec::new();
    for cursor in ["a", "b"] {
        let mut connection = listener.accept().await;
        connection.request().await.unwrap();
        let start = format!(
            r#"{{"data": {{"consignments": {{"pageInfo": {{"hasNextPage": true, "endCursor": "{cursor}"}}"#
        );
        let rest = r#", "edges": []}}}"#;
        let reply = format!("{}\r\n{start}", head(start.len() + rest.len()));
        connection.send(reply.as_bytes()).await;
        begun.push((connection, rest));
    }
    take_turns().await;
    let (mut first, rest) = begun.remove(0);
    first.send(rest.as_bytes()).await;
    // The third request uses the free connection; if it were sent earlier, it would need a new connection.
    tokio::select! {
        request = first.request() => assert!(request.unwrap().body.contains("\"after\":\"b\"")),
        _ = listener.accept() => panic!("three pages are in transfer"),
    }
    let (page, _) = reader.await.unwrap().unwrap();
    assert!(page.is_some());
}
