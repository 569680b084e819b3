//! One walk, in a child process.

use std::time::Duration;

use envd_sdk::auth::StaticToken;
use envd_sdk::model::ConsignmentSummary;
use envd_sdk::ops::ConsignmentFilter;
use envd_sdk::{Client, Pager};

use crate::record::{ACCOUNT, TOKEN};
use crate::sequential;

pub const WALKS: [&str; 3] = ["hyper by hand", "envd-sdk by page", "envd-sdk by record"];

/// Prints the number of records, and the growth of the resident set in bytes.
pub fn run(walk: &str, url: &str) {
    // Resets the peak of the resident set to its current size.
    std::fs::write("/proc/self/clear_refs", "5").unwrap();
    let before = resident("VmRSS:");
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let records = match WALKS.iter().position(|name| *name == walk).unwrap() {
        0 => runtime.block_on(sequential::walk(url, Duration::ZERO)),
        1 => runtime.block_on(by_page(pager(url))),
        _ => runtime.block_on(by_record(pager(url))),
    };
    println!("{records} {}", resident("VmHWM:") - before);
}

fn pager(url: &str) -> Pager<ConsignmentSummary> {
    let token = StaticToken::new(TOKEN).unwrap();
    let client = Client::builder(url).token_source(token).build().unwrap();
    let filter = ConsignmentFilter::default().page_size(100);
    client.account(ACCOUNT).consignments(&filter)
}

async fn by_page(mut pager: Pager<ConsignmentSummary>) -> usize {
    let mut records = 0;
    while let Some(page) = pager.next_page().await.unwrap() {
        records += page.records.len();
    }
    records
}

async fn by_record(pager: Pager<ConsignmentSummary>) -> usize {
    let mut items = pager.items();
    let mut records = 0;
    while let Some(record) = items.next().await {
        record.unwrap();
        records += 1;
    }
    records
}

/// A value of /proc/self/status, in bytes.
fn resident(line: &str) -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let value = status.lines().find_map(|text| text.strip_prefix(line));
    let kilobytes = value.unwrap().trim().trim_end_matches(" kB");
    kilobytes.parse::<u64>().unwrap() * 1024
}
