//! The canned pages, plain and compressed.

use std::sync::LazyLock;

use serde_json::{Value, json};
use zlib_rs::{DeflateConfig, ReturnCode, compress_bound, compress_slice};

use crate::record::{Record, Summary};

pub const PAGE_SIZE: usize = 100;

/// The edges of every page: one text of the records is enough, since clients do not compare pages.
static EDGES: LazyLock<String> = LazyLock::new(|| {
    let edges: Vec<String> = (0..PAGE_SIZE)
        .map(|row| format!(r#"{{"cursor":"c-{row}","node":{}}}"#, varied(row)))
        .collect();
    edges.join(",")
});

/// The page with this number, of so many.
pub fn plain(number: usize, pages: usize) -> String {
    // Formatted by hand: a server replies in the order of the selection.
    format!(
        r#"{{"data":{{"consignments":{{"totalCount":{},"pageInfo":{{"hasNextPage":{},"endCursor":"{}"}},"edges":[{}]}}}}}}"#,
        pages * PAGE_SIZE,
        number + 1 < pages,
        number + 1,
        *EDGES,
    )
}

pub fn gzip(body: &[u8]) -> Vec<u8> {
    let mut buffer = vec![0; compress_bound(body.len()) + 18];
    let config = DeflateConfig {
        // With the head and the end of gzip.
        window_bits: 16 + 15,
        ..DeflateConfig::default()
    };
    let (compressed, code) = compress_slice(&mut buffer, body, config);
    assert_eq!(code, ReturnCode::Ok);
    compressed.to_vec()
}

/// The bytes of a page, plain and compressed.
pub fn sizes() -> (usize, usize) {
    let page = plain(0, 2);
    (page.len(), gzip(page.as_bytes()).len())
}

/// A sample record with values that differ as those of a real list do: without them it would shrink too well.
fn varied(number: usize) -> Value {
    let mut record = Summary::sample(number);
    let mut state = number as u64;
    // SplitMix64.
    let mut random = || {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    };
    let (id, low) = (random(), random());
    record["id"] = json!(format!(
        "{:08x}-{:04x}-4{:03x}-8{:03x}-{:012x}",
        id >> 32,
        id >> 16 & 0xffff,
        id & 0xfff,
        low >> 48 & 0xfff,
        low & 0xffff_ffff_ffff
    ));
    record["number"] = json!(format!("C-{:09}", random() % 1_000_000_000));
    record["heads"] = json!(random() % 400);
    record["movementDate"] = json!(format!(
        "2026-{:02}-{:02}",
        random() % 12 + 1,
        random() % 28 + 1
    ));
    record["movementTime"] = json!(format!("{:02}:{:02}", random() % 24, random() % 60));
    record["updatedAt"] = json!(format!(
        "2026-11-{:02}T{:02}:{:02}:{:02}Z",
        random() % 28 + 1,
        random() % 24,
        random() % 60,
        random() % 60
    ));
    for party in ["owner", "origin", "destination", "consignee"] {
        let which = random() % 40;
        record[party]["name"] = json!(format!(
            "{} {} Pastoral",
            ["Sample", "Testbrook", "Example", "Nowhere"][(which % 4) as usize],
            which * 7_919 % 1_000
        ));
        record[party]["pic"] = json!(format!(
            "Q{}ZZ{:04}",
            ['A', 'B', 'C', 'D'][(which % 4) as usize],
            which * 7_919 % 10_000
        ));
        record[party]["address"]["line1"] = json!(format!("{} Example Road", which * 31));
    }
    for form in 0..2 {
        record["forms"][form]["serialNumber"] = json!(format!("{:08}", random() % 100_000_000));
    }
    record
}
