//! The canned pages.

use std::thread;

use serde_json::Value;

use crate::measure::{Request, Server};

pub const PAGES: usize = 200;
pub const PAGE_SIZE: usize = 100;

/// A server of pages of sample records, and the size of a page in bytes.
pub fn serve(sample: fn(usize) -> Value) -> (Server, usize) {
    // On a separate thread, so that a profiler can distinguish it from the clients.
    let made = thread::spawn(move || (0..PAGES).map(|page| self::page(page, sample)).collect());
    let pages: Vec<String> = made.join().unwrap();
    let bytes = pages[0].len();
    let server = Server::start(move |request: &Request<'_>, reply| {
        let body: Value = serde_json::from_slice(request.body).unwrap();
        // The cursor `after` is the number of the requested page.
        let after = body["variables"]["after"].as_str();
        let page = after.map_or(0, |after| after.parse::<usize>().unwrap());
        reply.extend_from_slice(pages[page].as_bytes());
    });
    (server, bytes)
}

fn page(page: usize, sample: fn(usize) -> Value) -> String {
    // Formatted by hand: a server replies in the order of the selection.
    let edges: Vec<String> = (0..PAGE_SIZE)
        .map(|row| {
            let node = sample(page * PAGE_SIZE + row);
            format!(r#"{{"cursor":"c{page}-{row}","node":{node}}}"#)
        })
        .collect();
    format!(
        r#"{{"data":{{"consignments":{{"totalCount":{},"pageInfo":{{"hasNextPage":{},"endCursor":"{}"}},"edges":[{}]}}}}}}"#,
        PAGES * PAGE_SIZE,
        page + 1 < PAGES,
        page + 1,
        edges.join(","),
    )
}
