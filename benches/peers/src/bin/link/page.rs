//! The canned pages, plain and compressed.

use serde_json::json;
use zlib_rs::{DeflateConfig, ReturnCode, compress_bound, compress_slice};

use crate::record::{Record, Summary};

pub const PAGE_SIZE: usize = 100;

/// The page with this number, of so many.
pub fn plain(number: usize, pages: usize) -> String {
    let edges: Vec<String> = (0..PAGE_SIZE)
        .map(|row| edge(number * PAGE_SIZE + row))
        .collect();
    // Formatted by hand: a server replies in the order of the selection.
    format!(
        r#"{{"data":{{"consignments":{{"totalCount":{},"pageInfo":{{"hasNextPage":{},"endCursor":"{}"}},"edges":[{}]}}}}}}"#,
        pages * PAGE_SIZE,
        number + 1 < pages,
        number + 1,
        edges.join(","),
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
fn edge(number: usize) -> String {
    let mut node = Summary::sample(number);
    let mut random = Random(number as u64);
    let (id, low) = (random.next(), random.next());
    node["id"] = json!(format!(
        "{:08x}-{:04x}-4{:03x}-8{:03x}-{:012x}",
        id >> 32,
        id >> 16 & 0xffff,
        id & 0xfff,
        low >> 48 & 0xfff,
        low & 0xffff_ffff_ffff
    ));
    node["number"] = json!(format!("C-{:09}", random.below(1_000_000_000)));
    node["heads"] = json!(random.below(400));
    let day = |random: &mut Random, month| format!("2026-{month:02}-{:02}", 1 + random.below(28));
    let time = |random: &mut Random| format!("{:02}:{:02}", random.below(24), random.below(60));
    let month = 1 + random.below(12);
    node["movementDate"] = json!(day(&mut random, month));
    node["movementTime"] = json!(time(&mut random));
    let (date, minute) = (day(&mut random, 11), time(&mut random));
    node["updatedAt"] = json!(format!("{date}T{minute}:{:02}Z", random.below(60)));
    node["createdBy"] = json!(format!("Sam Sample {}", random.below(9)));
    for party in ["owner", "origin", "destination", "consignee"] {
        // Of a few hundred that a saleyard deals with.
        let which = random.below(300);
        let place = ["Sample", "Testbrook", "Example", "Nowhere"][(which % 4) as usize];
        node[party]["name"] = json!(format!("{place} {} Pastoral", which * 7_919 % 1_000));
        node[party]["pic"] = json!(format!("QAZZ{:04}", which * 7_919 % 10_000));
        node[party]["address"]["line1"] = json!(format!("{} {place} Road", which * 31));
    }
    for form in 0..2 {
        node["forms"][form]["serialNumber"] = json!(format!("{:08}", random.below(100_000_000)));
    }
    format!(r#"{{"cursor":"{:016x}","node":{node}}}"#, random.next())
}

/// SplitMix64.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, end: u64) -> u64 {
        self.next() % end
    }
}
