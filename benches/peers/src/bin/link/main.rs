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

use measure::{Goal, row};
use page::PAGE_SIZE;

fn main() -> ExitCode {
    let (plain, compressed) = page::sizes();
    let page = format!(
        "page of {PAGE_SIZE}, {:.0} KB, {:.0} KB with gzip",
        plain as f64 / 1e3,
        compressed as f64 / 1e3
    );
    let mut met = true;
    for measured in walk::rows() {
        let work = format!("{page}, over {}", measured.name());
        row(
            &work,
            "without gzip, wall time",
            measured.plain,
            "ms",
            Goal::None,
        );
        row(
            &work,
            "with gzip, wall time",
            measured.gzip,
            "ms",
            Goal::None,
        );
        let ratio = measured.plain / measured.gzip;
        let goal = measured.line.goal.map_or(Goal::None, Goal::AtLeast);
        met &= row(&work, "without gzip beside with it", ratio, "times", goal);
    }
    let [plain, gzip] = walk::cpu();
    let work = format!("{page}, with no link between");
    row(&work, "without gzip, CPU time", plain, "µs", Goal::None);
    row(
        &work,
        "with gzip beside without it",
        gzip / plain,
        "times",
        Goal::None,
    );
    ExitCode::from(u8::from(!met))
}
