//! One task over the copy, in a child process, which prints its figures.

use std::time::Instant;

use envd_sdk::Client;
use envd_sdk::auth::StaticToken;
use envd_sdk::model::Day;
use envd_sdk::sync::replica::{LocalQuery, Replica, SyncMode};
use envd_sdk::sync::store::{Order, SqliteSync};

pub fn run(task: &str, url: &str, file: &str) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    // Resets the peak of the resident set to its current size.
    std::fs::write("/proc/self/clear_refs", "5").unwrap();
    let before = resident("VmRSS:");
    let store = SqliteSync::open(file).unwrap();
    let client = Client::builder(url)
        .token_source(StaticToken::new("a-token").unwrap())
        .build()
        .unwrap();
    let replica = client.account("envd-100201").replica(store);
    match task {
        "sync" => runtime.block_on(sync(&replica)),
        "drain" => runtime.block_on(drain(&replica)),
        _ => runtime.block_on(query(&replica)),
    }
    println!(
        "  MB of memory: {:.2}",
        (resident("VmHWM:") - before) as f64 / 1e6
    );
}

async fn sync(replica: &Replica) {
    let begun = Instant::now();
    let report = replica.sync().await.unwrap();
    println!("  seconds: {:.2}", begun.elapsed().as_secs_f64());
    println!("  requests: {}", report.requests);
    println!(
        "  incremental: {}",
        u8::from(report.mode == SyncMode::Incremental)
    );
    println!("  changed: {}", report.appeared + report.changed);
}

/// Reads all changes, then acknowledges them at once.
async fn drain(replica: &Replica) {
    let mut feed = replica.changes("bench");
    let (begun, mut count, mut last) = (Instant::now(), 0, None);
    while let Some(change) = feed.next().await.unwrap() {
        count += 1;
        last = Some(change);
    }
    println!("  ms to read: {:.2}", begun.elapsed().as_secs_f64() * 1e3);
    println!("  changes: {count}");
    if let Some(last) = last {
        feed.acknowledge(&last).await.unwrap();
    }
}

/// The median time of each of several queries for 20 records.
async fn query(replica: &Replica) {
    let all = || replica.consignments().page_size(20);
    let day = Day::new(2025, 6, 2).unwrap();
    let deep = all()
        .order(Order::LastUpdated)
        .page_size(10_000)
        .list()
        .await
        .unwrap()
        .next
        .unwrap();
    let queries: [(&str, LocalQuery); 11] = [
        ("all, by id", all()),
        ("all, latest first", all().order(Order::LastUpdated)),
        (
            "10,000 records further",
            all().order(Order::LastUpdated).after(deep),
        ),
        ("by status", all().status("DRAFT").order(Order::LastUpdated)),
        (
            "by status and species",
            all()
                .status("DRAFT")
                .species("SHEEP")
                .order(Order::LastUpdated),
        ),
        (
            "by PIC of the origin",
            all().pic("QAAA0777").order(Order::LastUpdated),
        ),
        (
            "by PIC of the destination",
            all().pic("QDZZ0077").order(Order::LastUpdated),
        ),
        ("by number", all().number("C-000012345")),
        (
            "by movement day",
            all()
                .movement_from(day)
                .movement_to(day)
                .order(Order::LastUpdated),
        ),
        (
            "by days of movement and status",
            all()
                .movement_from(day)
                .status("LOCKED")
                .order(Order::LastUpdated),
        ),
        ("updated since", all().updated_since("2026-11-19T00:00:00Z")),
    ];
    for (name, query) in queries {
        let mut times = Vec::new();
        for _ in 0..21 {
            let begun = Instant::now();
            let page = query.list().await.unwrap();
            times.push(begun.elapsed().as_secs_f64() * 1e3);
            assert!(
                !page.records.is_empty() && page.records.len() <= 20,
                "{name}"
            );
        }
        times.sort_by(f64::total_cmp);
        println!("  ms of 20 records, {name}: {:.3}", times[10]);
    }
}

/// A value of /proc/self/status, in bytes.
fn resident(line: &str) -> i64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let value = status.lines().find_map(|text| text.strip_prefix(line));
    let kilobytes = value.unwrap().trim().trim_end_matches(" kB");
    kilobytes.parse::<i64>().unwrap() * 1024
}
