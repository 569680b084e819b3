//! Start-up time and throughput of the fake: `cargo bench --bench fake`, or with client and fake on one core,
//! `taskset -c 0 cargo bench --bench fake`.

use std::error::Error;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use envd_sdk::fake::{Fake, World};
use envd_sdk::graphql::TypedOperation as _;
use envd_sdk::graphql::generated::{Consignments, consignments};
use serde_json::{Value, json};

const PAGE: usize = 20;
const CONNECTIONS: usize = 4;
const TIME: Duration = Duration::from_secs(3);

fn main() -> Result<(), Box<dyn Error>> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let first = timed(|| drop(runtime.block_on(Fake::start())));
    let mut later: Vec<Duration> = (0..20)
        .map(|_| timed(|| drop(runtime.block_on(Fake::start()))))
        .collect();
    later.sort();
    println!(
        "start-up: first {first:?}, then {:?} (median of 20)",
        later[10]
    );

    let input: Value = serde_json::from_str(include_str!(
        "../tests/fixtures/consignments/lpac1-hsc2.json"
    ))?;
    let mut world = World::sample();
    for _ in 0..40 {
        world = world.consignment("envd-100201", &input["input"]);
    }
    let fake = runtime.block_on(Fake::builder().world(world).start())?;
    let pages = [
        ("the fields of the typed query", Consignments::body(consignments::Variables::default()).document.to_owned()),
        (
            "id, number and status",
            "query Consignments($envdAccountId: String!, $first: Int) {
              consignments(envdAccountId: $envdAccountId, first: $first) { edges { cursor node { id number status } } } }"
                .to_owned(),
        ),
    ];
    for (name, query) in pages {
        let request = request(&fake, &query)?;
        let bytes = Connection::open(&fake)?.send(&request)?;
        let counts: Vec<usize> = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..CONNECTIONS)
                .map(|_| scope.spawn(|| count(&fake, &request).unwrap_or_default()))
                .collect();
            threads
                .into_iter()
                .map(|thread| thread.join().unwrap_or_default())
                .collect()
        });
        let rate = counts.iter().sum::<usize>() as u64 / TIME.as_secs();
        println!(
            "a page of {PAGE} ({name}, {bytes} bytes): {rate} per second on {CONNECTIONS} connections, the same query repeated"
        );
    }
    Ok(())
}

fn timed(work: impl FnOnce()) -> Duration {
    let start = Instant::now();
    work();
    start.elapsed()
}

fn request(fake: &Fake, query: &str) -> Result<Vec<u8>, Box<dyn Error>> {
    let variables = json!({"envdAccountId": fake.account_id(), "first": PAGE});
    let body = json!({"query": query, "operationName": "Consignments", "variables": variables})
        .to_string();
    let mut request = Vec::new();
    write!(
        request,
        "POST /v2/graphql HTTP/1.1\r\nhost: fake\r\nauthorization: Bearer {}\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
        fake.access_token().expose(),
        body.len()
    )?;
    Ok(request)
}

fn count(fake: &Fake, request: &[u8]) -> Result<usize, Box<dyn Error>> {
    let mut connection = Connection::open(fake)?;
    let start = Instant::now();
    let mut count = 0;
    while start.elapsed() < TIME {
        connection.send(request)?;
        count += 1;
    }
    Ok(count)
}

/// A minimal client, so that its own cost does not distort the figures.
struct Connection {
    stream: TcpStream,
    buffer: Vec<u8>,
}

impl Connection {
    fn open(fake: &Fake) -> Result<Self, Box<dyn Error>> {
        let address = fake.graphql_url().socket_addrs(|| None)?[0];
        let stream = TcpStream::connect(address)?;
        stream.set_nodelay(true)?;
        Ok(Self {
            stream,
            buffer: vec![0; 1 << 20],
        })
    }

    /// Sends the request and returns the length of the body; anything but a page with status 200 is an error.
    fn send(&mut self, request: &[u8]) -> Result<usize, Box<dyn Error>> {
        self.stream.write_all(request)?;
        let mut filled = 0;
        loop {
            let read = self.stream.read(&mut self.buffer[filled..])?;
            if read == 0 {
                return Err("the fake closed the connection".into());
            }
            filled += read;
            let text = &self.buffer[..filled];
            let Some(end) = text.windows(4).position(|window| window == b"\r\n\r\n") else {
                continue;
            };
            let head = std::str::from_utf8(&text[..end])?.to_ascii_lowercase();
            let length = head
                .lines()
                .find_map(|line| line.strip_prefix("content-length: "));
            let length: usize = length.ok_or("no length")?.parse()?;
            if filled == end + 4 + length {
                let body = &text[end + 4..];
                let is_page =
                    head.starts_with("http/1.1 200") && body.starts_with(b"{\"data\":{\"cons");
                return if is_page {
                    Ok(length)
                } else {
                    Err("unexpected reply".into())
                };
            }
        }
    }
}
