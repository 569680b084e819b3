//! A list is read page by page, with the look-ahead of the SDK.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use envd_sdk::auth::StaticToken;
use envd_sdk::ops::ConsignmentFilter;
use envd_sdk::{Client, HttpOptions};

use crate::measure::timed;
use crate::page::PAGE_SIZE;
use crate::record::{ACCOUNT, TOKEN};
use crate::{link, server};

/// A line, and how many pages are read over it.
pub struct Line {
    pub bits_per_second: u64,
    pub round_trip: Duration,
    pages: usize,
    /// How many times faster compressed replies should be.
    pub goal: Option<f64>,
}

/// Milliseconds per page over a line.
pub struct Row {
    pub line: Line,
    pub plain: f64,
    pub gzip: f64,
}

impl Row {
    pub fn name(&self) -> String {
        let megabits = self.line.bits_per_second as f64 / 1e6;
        format!(
            "{megabits} Mbit/s, {} ms round trip",
            self.line.round_trip.as_millis()
        )
    }
}

/// Measures all lines.
pub fn rows() -> Vec<Row> {
    let lines = [(500_000, 8), (2_000_000, 20), (100_000_000, 40)];
    let lines = lines.iter().flat_map(|(bits_per_second, pages)| {
        [50, 300].map(|round_trip| Line {
            bits_per_second: *bits_per_second,
            round_trip: Duration::from_millis(round_trip),
            pages: *pages,
            goal: (*bits_per_second == 2_000_000).then_some(5.0),
        })
    });
    lines
        .map(|line| {
            let [plain, gzip] = [false, true].map(|gzip| milliseconds(&line, gzip));
            Row { line, plain, gzip }
        })
        .collect()
}

/// Microseconds of CPU time per page, plain and compressed; the minimum of some rounds, without a line.
pub fn cpu() -> [f64; 2] {
    const PAGES: usize = 200;
    let server = server::start(PAGES);
    let mut least = [Duration::MAX; 2];
    for _ in 0..9 {
        for (least, gzip) in least.iter_mut().zip([false, true]) {
            let (time, records) = timed(walk(server, gzip));
            assert_eq!(records, PAGES * PAGE_SIZE);
            *least = time.min(*least);
        }
    }
    least.map(|time| time.as_secs_f64() * 1e6 / PAGES as f64)
}

fn milliseconds(line: &Line, gzip: bool) -> f64 {
    let server = server::start(line.pages);
    let address = link::start(server, line.bits_per_second, line.round_trip);
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let begun = Instant::now();
    let records = runtime.block_on(walk(address, gzip));
    assert_eq!(records, line.pages * PAGE_SIZE);
    begun.elapsed().as_secs_f64() * 1e3 / line.pages as f64
}

async fn walk(address: SocketAddr, gzip: bool) -> usize {
    let client = Client::builder(format!("http://{address}/graphql"))
        .token_source(StaticToken::new(TOKEN).unwrap())
        .http(HttpOptions::default().gzip(gzip))
        .build()
        .unwrap();
    let account = client.account(ACCOUNT);
    let mut pager = account.consignments(&ConsignmentFilter::default().page_size(100));
    let mut records = 0;
    while let Some(page) = pager.next_page().await.unwrap() {
        records += page.records.len();
    }
    records
}
