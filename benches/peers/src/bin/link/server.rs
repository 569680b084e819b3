//! A server of canned pages, compressed for clients that accept it.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::thread;

use serde_json::Value;

use crate::page;

/// Serves so many pages.
pub fn start(pages: usize) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let reply = |head: &str, body: &[u8]| {
        let length = body.len();
        let head = format!(
            "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n{head}content-length: {length}\r\n\r\n"
        );
        [head.as_bytes(), body].concat()
    };
    let replies: Vec<[Vec<u8>; 2]> = (0..pages)
        .map(|number| {
            let plain = page::plain(number, pages).into_bytes();
            let gzip = page::gzip(&plain);
            [
                reply("", &plain),
                reply("content-encoding: gzip\r\n", &gzip),
            ]
        })
        .collect();
    let replies = Arc::new(replies);
    thread::spawn(move || {
        for stream in listener.incoming() {
            let replies = Arc::clone(&replies);
            thread::spawn(move || serve(&stream.unwrap(), &replies));
        }
    });
    address
}

/// Serves requests until the client closes the connection.
fn serve(mut stream: &TcpStream, replies: &[[Vec<u8>; 2]]) -> Option<()> {
    stream.set_nodelay(true).ok()?;
    let mut reader = BufReader::new(stream);
    loop {
        let (mut length, mut accepts_gzip, mut line) = (0, false, String::new());
        while line != "\r\n" {
            line.clear();
            if reader.read_line(&mut line).ok()? == 0 {
                return None;
            }
            line.make_ascii_lowercase();
            if let Some(value) = line.strip_prefix("content-length:") {
                length = value.trim().parse().ok()?;
            }
            accepts_gzip |= line.starts_with("accept-encoding:") && line.contains("gzip");
        }
        let mut body = vec![0; length];
        reader.read_exact(&mut body).ok()?;
        let body: Value = serde_json::from_slice(&body).ok()?;
        // The cursor `after` is the number of the requested page.
        let after = body["variables"]["after"].as_str();
        let page: usize = after.map_or(0, |after| after.parse().unwrap());
        stream
            .write_all(&replies[page][usize::from(accepts_gzip)])
            .ok()?;
    }
}
