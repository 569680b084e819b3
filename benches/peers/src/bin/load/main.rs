//! Measures clients under load, in one run against canned servers on this machine:
//!
//! * 2,000 saves, 16 at a time: the SDK, with and without token manager and validation, beside clients with a constant
//!   token that do not validate;
//! * 2,000 pages of the register with 100 properties each, 16 at a time;
//! * users: a save for one of many accounts, and 64 walks at once;
//! * how the SDK's cost grows with the answers of a save, the PICs of a bulk look-up and the records of a walk.
//!
//! `cargo run --release --manifest-path benches/peers/Cargo.toml --bin load [-- ROUNDS [saves|register|users|growth]]`; with
//! `PEER=envd-sdk` before it only that client runs, for a profiler.
//!
//! The servers run on separate threads, whose CPU time is not counted. Rounds are interleaved, and the minimum of each
//! client counts. "reqwest by hand" reads replies like "hyper by hand": it is the lower bound for clients based on reqwest.

mod growth;
mod list;
#[path = "../../measure/mod.rs"]
mod measure;
#[path = "../../../../questions/mod.rs"]
mod questions;
mod register;
mod save;
mod users;

/// The number of concurrent requests.
const LANES: usize = 16;

fn main() {
    let mut arguments = std::env::args().skip(1);
    let rounds = arguments.next().map_or(7, |text| text.parse().unwrap());
    let only = arguments.next();
    let is_selected = |part| only.as_deref().is_none_or(|only| only == part);
    if is_selected("saves") {
        save::compare(rounds);
    }
    if is_selected("register") {
        register::compare(rounds);
    }
    if is_selected("users") {
        users::show(rounds);
    }
    if is_selected("growth") {
        growth::show(rounds.min(3));
    }
}
