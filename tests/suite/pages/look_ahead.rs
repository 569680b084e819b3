//! Look-ahead: when requests are sent. A dropped future loses no page.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::atomic::Ordering;
use std::task::Poll;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use super::{account, end, filter, more, ok, page, serve};
use crate::gzip::gzip;

/// Polls a future once and drops it.
async fn poll_once(future: impl Future) {
    let mut future = pin!(future);
    poll_fn(|context| {
        assert!(future.as_mut().poll(context).is_pending());
        Poll::Ready(())
    })
    .await;
}

/// Runs other tasks until the condition holds.
async fn until(holds: impl Fn() -> bool) {
    while !holds() {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn nothing_is_sent_before_a_page_is_requested() {
    let (server, requests) = serve(|_| ok(page(end(), &["1"]))).await;
    let pager = account(&server.uri()).consignments(&filter());
    let items = account(&server.uri()).consignments(&filter()).items();
    drop((pager, items));
    assert_eq!(requests.load(Ordering::SeqCst), 0);
}

#[tokio::test]
async fn a_dropped_future_does_not_lose_its_page() {
    for ahead in [0, 1] {
        let (server, requests) = serve(|after| match after {
            "" => ok(page(more("a"), &["1"])),
            _ => ok(page(end(), &["2"])),
        })
        .await;
        let mut pager = account(&server.uri())
            .consignments(&filter())
            .look_ahead(ahead);
        poll_once(pager.next_page()).await;
        until(|| requests.load(Ordering::SeqCst) > 0).await;
        for number in ["1", "2"] {
            let page = pager.next_page().await.unwrap().unwrap();
            assert_eq!(page.records[0].number.as_ref().unwrap(), &number);
        }
        assert!(pager.next_page().await.unwrap().is_none());
        assert_eq!(requests.load(Ordering::SeqCst), 2);
    }
}

#[tokio::test]
async fn the_look_ahead_fetches_as_many_pages_as_set() {
    for (ahead, expected) in [(0, 1), (1, 2), (3, 4)] {
        let (server, requests) = serve(|after| ok(page(more(&format!("{after}x")), &["1"]))).await;
        let mut pager = account(&server.uri())
            .consignments(&filter())
            .look_ahead(ahead);
        pager.next_page().await.unwrap().unwrap();
        until(|| requests.load(Ordering::SeqCst) >= expected).await;
        // A further request would be sent while these run: each takes turns of both threads.
        account(&server.uri())
            .consignments_page(&filter(), None)
            .await
            .unwrap();
        for _ in 0..200 {
            tokio::task::yield_now().await;
        }
        assert_eq!(requests.load(Ordering::SeqCst), expected + 1, "{ahead}");
    }
}

#[tokio::test]
async fn the_decoded_page_overrides_the_cursor_of_its_beginning() {
    let (server, _) = serve(|after| match after {
        "" => {
            let list = page(more("a"), &["1"])["data"].to_string();
            let hint = r#"{"extensions": {"pageInfo": {"hasNextPage": true, "endCursor": "wrong"}}, "data": "#;
            let body = format!("{hint}{list}}}");
            wiremock::ResponseTemplate::new(200).set_body_raw(body, "application/json")
        }
        "a" => ok(page(end(), &["2"])),
        _ => ok(page(end(), &["of the wrong page"])),
    })
    .await;
    let mut pager = account(&server.uri()).consignments(&filter());
    pager.next_page().await.unwrap().unwrap();
    let second = pager.next_page().await.unwrap().unwrap();
    assert_eq!(second.records[0].number.as_ref().unwrap(), &"2");
    assert_eq!(second.number, 2);
}

/// Reads one request; the body is the part after the empty line.
async fn request(stream: &mut TcpStream) -> String {
    let (mut text, mut buffer) = (Vec::new(), [0; 8_192]);
    loop {
        let read = stream.read(&mut buffer).await.unwrap();
        text.extend_from_slice(&buffer[..read]);
        let all = String::from_utf8_lossy(&text);
        let Some((head, body)) = all.split_once("\r\n\r\n") else {
            continue;
        };
        let length = head.lines().find_map(|line| {
            line.to_lowercase()
                .strip_prefix("content-length: ")?
                .parse()
                .ok()
        });
        if body.len() >= length.unwrap_or(0) {
            return body.to_owned();
        }
    }
}

/// The head of a reply whose body has this length.
fn head(length: usize) -> String {
    format!("HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n")
}

/// A reply with a page in two parts, of which the first shows the cursor.
fn parts(is_last: bool, number: &str, is_compressed: bool) -> (Vec<u8>, Vec<u8>) {
    let (more, cursor) = (!is_last, if is_last { "b" } else { "a" });
    // Edges behind `pageInfo`, as in our document.
    let start = format!(
        r#"{{"data": {{"consignments": {{"totalCount": 2, "pageInfo": {{"hasNextPage": {more}, "endCursor": "{cursor}"}}"#
    );
    let rest =
        format!(r#", "edges": [{{"cursor": "{number}", "node": {{"number": "{number}"}}}}]}}}}}}"#);
    let (mut body, mut at) = ([start.as_bytes(), rest.as_bytes()].concat(), start.len());
    let mut head = head(body.len());
    if is_compressed {
        body = gzip(&body);
        // The end of the only member, checksum and length.
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
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
        let address = format!("http://{}/", listener.local_addr().unwrap());
        let server = tokio::spawn(async move {
            let (mut first, _) = listener.accept().await.unwrap();
            assert!(!request(&mut first).await.contains("\"after\""));
            let (start, rest) = parts(false, "1", is_compressed);
            first.write_all(&start).await.unwrap();
            // The rest of the first page is sent after the request for the second one.
            let (mut second, _) = listener.accept().await.unwrap();
            assert!(request(&mut second).await.contains("\"after\":\"a\""));
            first.write_all(&rest).await.unwrap();
            let (start, rest) = parts(true, "2", is_compressed);
            second.write_all(&[start, rest].concat()).await.unwrap();
        });
        let mut pager = account(&address).consignments(&filter());
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
    let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
    let mut pager = account(&format!("http://{}/", listener.local_addr().unwrap()))
        .consignments(&filter())
        .look_ahead(3);
    let reader = tokio::spawn(async move { pager.next_page().await.map(|page| (page, pager)) });
    // The beginnings of replies, with the cursors.
    let mut begun = Vec::new();
    for cursor in ["a", "b"] {
        let (mut stream, _) = listener.accept().await.unwrap();
        request(&mut stream).await;
        let start = format!(
            r#"{{"data": {{"consignments": {{"pageInfo": {{"hasNextPage": true, "endCursor": "{cursor}"}}"#
        );
        let rest = r#", "edges": []}}}"#;
        let reply = format!("{}\r\n{start}", head(start.len() + rest.len()));
        stream.write_all(reply.as_bytes()).await.unwrap();
        begun.push((stream, rest));
    }
    for _ in 0..200 {
        tokio::task::yield_now().await;
    }
    let (mut first, rest) = begun.remove(0);
    first.write_all(rest.as_bytes()).await.unwrap();
    // The third request uses the free connection; sent earlier, it would need a new one.
    tokio::select! {
        body = request(&mut first) => assert!(body.contains("\"after\":\"b\"")),
        _ = listener.accept() => panic!("three pages are in transfer"),
    }
    let (page, _) = reader.await.unwrap().unwrap();
    assert!(page.is_some());
}
