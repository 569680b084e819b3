//! Bound on memory: a sync keeps no more for many records than for few.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};

use envd_sdk::Client;
use envd_sdk::auth::StaticToken;
use envd_sdk::auth::StoreFuture;
use envd_sdk::sync::store::{
    Batch, ChangeRange, ChangeRow, Document, MemorySync, Query, Row, SyncStore,
};
use serde_json::{Value, json};

/// Serves a list of so many records, page by page, on threads that are not counted.
fn serve(records: usize) -> String {
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            std::thread::spawn(move || connection(&stream.unwrap(), records));
        }
    });
    address
}

fn connection(stream: &TcpStream, records: usize) -> Option<()> {
    let mut reader = BufReader::new(stream);
    loop {
        let (mut length, mut line) = (0, String::new());
        while line != "\r\n" {
            line.clear();
            if reader.read_line(&mut line).ok()? == 0 {
                return None;
            }
            if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
                length = value.trim().parse().ok()?;
            }
        }
        let mut body = vec![0; length];
        reader.read_exact(&mut body).ok()?;
        let reply = page(&serde_json::from_slice(&body).ok()?, records).to_string();
        let length = reply.len();
        let head = format!(
            "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\r\n"
        );
        (&mut &*stream).write_all((head + &reply).as_bytes()).ok()?;
    }
}

fn page(request: &Value, records: usize) -> Value {
    let variables = &request["variables"];
    let after = variables["after"].as_str().unwrap_or("0");
    let start: usize = after.parse().unwrap();
    let end = (start + 100).min(records);
    let node = |number: usize| json!({"node": {"id": format!("r{number:06}"), "updatedAt": "2026-11-20T00:00:00Z"}});
    let edges: Vec<Value> = (start..end).map(node).collect();
    let info = json!({"hasNextPage": end < records, "endCursor": end.to_string()});
    json!({"data": {"consignments": {"totalCount": records, "pageInfo": info, "edges": edges}}})
}

/// Keeps the documents alone, so that what is counted is the memory of the sync. Memory that one thread takes and another one
/// frees, as a store in a file does, cannot be counted here; `benches/peers`, `--bin replica`, measures it in a process.
struct Documents(MemorySync);

impl SyncStore for Documents {
    fn documents<'a>(
        &'a self,
        account: &'a str,
        prefix: &'a str,
    ) -> StoreFuture<'a, Vec<Document>> {
        self.0.documents(account, prefix)
    }

    fn rows<'a>(&'a self, _: &'a str, _: &'a [String]) -> StoreFuture<'a, Vec<Row>> {
        Box::pin(async { Ok(Vec::new()) })
    }

    fn query<'a>(&'a self, _: &'a str, _: &'a Query) -> StoreFuture<'a, Vec<Row>> {
        Box::pin(async { Ok(Vec::new()) })
    }

    fn count<'a>(&'a self, _: &'a str, _: &'a Query) -> StoreFuture<'a, u64> {
        Box::pin(async { Ok(0) })
    }

    fn changes<'a>(
        &'a self,
        _: &'a str,
        _: ChangeRange,
        _: usize,
    ) -> StoreFuture<'a, Vec<ChangeRow>> {
        Box::pin(async { Ok(Vec::new()) })
    }

    fn commit<'a>(&'a self, account: &'a str, batch: &'a Batch) -> StoreFuture<'a, bool> {
        Box::pin(async move {
            let documents = Batch {
                expected: batch.expected.clone(),
                documents: batch.documents.clone(),
                ..Batch::default()
            };
            self.0.commit(account, &documents).await
        })
    }
}

/// The greatest number of bytes that are held during a first sync.
fn bytes_of_a_sync(records: usize) -> u64 {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let client = Client::builder(serve(records))
        .token_source(StaticToken::new("b34r3r").unwrap())
        .build()
        .unwrap();
    let replica = client
        .account("envd-100201")
        .replica(Documents(MemorySync::new()));
    let memory = allocation_counter::measure(|| {
        let report = runtime.block_on(replica.sync()).unwrap();
        assert_eq!(report.appeared, u64::try_from(records).unwrap());
    });
    memory.bytes_max
}

#[test]
fn the_memory_of_a_sync_does_not_grow_with_the_records() {
    let (few, many) = (bytes_of_a_sync(1_000), bytes_of_a_sync(20_000));
    // The pager keeps a hash of each id, to find repeated ones: 9 to 18 bytes, and half as much again while its table grows.
    let hashes = 27 * 20_000;
    assert!(many < few + hashes + (64 << 10), "{few} bytes, then {many}");
}
