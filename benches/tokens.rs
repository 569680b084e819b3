//! What the token manager costs: `cargo bench --bench tokens`. Prints figures with their ratios, and ends with an error
//! when a goal is missed. Each comparison runs in the same process on the same clock. Quicker to build as a program of
//! `benches/peers`.

#[path = "tokens/accounts.rs"]
mod accounts;
#[path = "tokens/allocations.rs"]
mod allocations;
#[path = "tokens/hanging.rs"]
mod hanging;
#[path = "tokens/reads.rs"]
mod reads;
#[path = "tokens/session.rs"]
mod session;
#[path = "tokens/waiters.rs"]
mod waiters;

use std::process::ExitCode;

fn main() -> ExitCode {
    // `cargo test --benches` only wants to see that it builds and starts.
    if !std::env::args().any(|argument| argument == "--bench") {
        return ExitCode::SUCCESS;
    }
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    let met = [
        runtime.block_on(reads::run()),
        runtime.block_on(allocations::run()),
        runtime.block_on(hanging::run()),
        runtime.block_on(waiters::run()),
        runtime.block_on(accounts::run()),
    ];
    if met.iter().all(|met| *met) {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

/// Prints whether a goal is met.
fn goal(met: bool, what: &str) -> bool {
    println!("{} {what}", if met { "met:   " } else { "MISSED:" });
    met
}
