//! A server of canned pages: HTTP/1.1 by hand, so that it is never what is measured.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use serde_json::{Value, json};

pub struct Server {
    url: String,
    page_bytes: usize,
    connections: Arc<AtomicUsize>,
}

impl Server {
    pub fn start(pages: usize, page_size: usize) -> Self {
        let replies: Arc<[Vec<u8>]> = (0..pages)
            .map(|page| reply(page, pages, page_size))
            .collect();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/graphql", listener.local_addr().unwrap());
        let page_bytes = replies[0].len();
        let connections = Arc::new(AtomicUsize::new(0));
        let counter = Arc::clone(&connections);
        thread::spawn(move || {
            for stream in listener.incoming() {
                counter.fetch_add(1, Ordering::Relaxed);
                let replies = Arc::clone(&replies);
                thread::spawn(move || serve(&stream.unwrap(), &replies));
            }
        });
        Self {
            url,
            page_bytes,
            connections,
        }
    }

    pub fn url(&self) -> &str {
        &self.url
    }

    pub fn page_bytes(&self) -> usize {
        self.page_bytes
    }

    pub fn connections(&self) -> usize {
        self.connections.load(Ordering::Relaxed)
    }
}

fn serve(stream: &TcpStream, replies: &[Vec<u8>]) {
    stream.set_nodelay(true).unwrap();
    let mut reader = BufReader::new(stream);
    loop {
        let mut length = 0;
        let mut line = String::new();
        loop {
            line.clear();
            if reader.read_line(&mut line).unwrap_or(0) == 0 {
                return;
            }
            let head = line.to_ascii_lowercase();
            if let Some(value) = head.strip_prefix("content-length:") {
                length = value.trim().parse().unwrap();
            }
            if line == "\r\n" {
                break;
            }
        }
        let mut body = vec![0; length];
        reader.read_exact(&mut body).unwrap();
        let body: Value = serde_json::from_slice(&body).unwrap();
        // The cursor of a page is its number, so the page after it is wanted.
        let after = body["variables"]["after"].as_str();
        let page = after.map_or(0, |after| after.parse::<usize>().unwrap());
        if (&mut &*stream).write_all(&replies[page]).is_err() {
            return;
        }
    }
}

fn reply(page: usize, pages: usize, page_size: usize) -> Vec<u8> {
    let edges: Vec<Value> = (0..page_size)
        .map(|row| json!({"cursor": format!("c{page}-{row}"), "node": consignment(page * page_size + row)}))
        .collect();
    // By hand where order matters: a server answers in the order of the selection.
    let body = format!(
        r#"{{"data":{{"consignments":{{"totalCount":{},"pageInfo":{{"hasNextPage":{},"endCursor":"{}"}},"edges":{}}}}}}}"#,
        pages * page_size,
        page + 1 < pages,
        page + 1,
        Value::from(edges),
    );
    let head = format!(
        "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n",
        body.len()
    );
    [head.into_bytes(), body.into_bytes()].concat()
}

fn consignment(number: usize) -> Value {
    let party = |name: &str, pic: &str| {
        json!({
            "name": name,
            "pic": pic,
            "address": {"line1": "101 Example Road", "town": "Sampleton", "state": "QLD", "postcode": "4999"},
        })
    };
    json!({
        "id": format!("00000000-0000-4000-8000-{number:012}"),
        "number": format!("C-{number:09}"),
        "status": if number % 3 == 0 { "DRAFT" } else { "SUBMITTED" },
        "species": "CATTLE",
        "movementDate": "2026-11-23",
        "movementTime": "05:15",
        "heads": number % 400,
        "createdBy": "Sam Sample",
        "updatedAt": "2026-11-20T09:26:00Z",
        "owner": party("Sample Pastoral", "QAZZ7777"),
        "origin": party("Sample Station", "QAZZ7777"),
        "destination": party("Testbrook Meats", "ND000003"),
        "consignee": party("Sample Livestock Buyers", "QDZZ3333"),
        "forms": [
            {"type": "LPAC1", "serialNumber": format!("{number:08}")},
            {"type": "HSC2", "serialNumber": format!("A{number:08}")},
        ],
    })
}
