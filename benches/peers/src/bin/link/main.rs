//! Wall time per page over lines of limited speed, with replies compressed and not, and the CPU time of a page either way.
//!
//! `cargo run --release --manifest-path benches/peers/Cargo.toml --bin link`
//!
//! A page has 100 records as the list brings them. Between client and server stands a TCP proxy that delays and limits the
//! bytes in both directions; all connections share the speed. It simulates neither TLS nor the slow start of TCP, which costs
//! large replies more round trips. Exits with an error when a goal is missed.

mod link;
#[path = "../../measure/mod.rs"]
mod measure;
mod page;
#[path = "../walk/record.rs"]
mod record;
#[path = "../walk/sample.rs"]
mod sample;
mod server;
mod walk;

use std::process::ExitCode;

use measure::{goal, header};

fn main() -> ExitCode {
    let (plain, compressed) = page::sizes();
    header(&format!(
        "wall ms per page of 100, {:.1} KB, {:.1} KB compressed",
        plain as f64 / 1e3,
        compressed as f64 / 1e3
    ));
    println!("{:34} {:>8} {:>8} {:>7}", "", "plain", "gzip", "ratio");
    let mut is_met = true;
    for row in walk::rows() {
        println!(
            "{:34} {:8.1} {:8.1} {:7.1}",
            row.name(),
            row.plain,
            row.gzip,
            row.plain / row.gzip
        );
        if let Some(least) = row.line.goal {
            let (ratio, what) = (
                row.plain / row.gzip,
                format!("at least {least} times faster"),
            );
            goal(&what, ratio, ratio >= least);
            is_met &= ratio >= least;
        }
    }
    header("CPU µs per page, without a line between client and server");
    let [plain, gzip] = walk::cpu();
    println!("{:34} {plain:8.0} {gzip:8.0} {:7.2}", "", plain / gzip);
    ExitCode::from(u8::from(!is_met))
}
