//! Cost of the token manager: `cargo bench --bench tokens`. Prints figures and ratios, and exits with an error when a goal is
//! missed. Each comparison runs in one process on one clock. It builds faster as a program of `benches/peers`.

#![allow(clippy::cast_precision_loss)] // Counts are small.

#[path = "tokens/accounts.rs"]
mod accounts;
#[path = "tokens/allocations.rs"]
mod allocations;
#[path = "tokens/hanging_refresh.rs"]
mod hanging_refresh;
#[path = "tokens/managers.rs"]
mod managers;
#[path = "tokens/reads.rs"]
mod reads;
mod row;
#[path = "tokens/waiters.rs"]
mod waiters;

use std::process::ExitCode;

use row::Goal;

/// Prints a row of the token manager.
fn row(case: &str, figure: f64, unit: &str, goal: Goal) -> bool {
    row::row("token manager", case, figure, unit, goal)
}

fn main() -> ExitCode {
    // `cargo test --benches` only checks that it builds and starts.
    if !std::env::args().any(|argument| argument == "--bench") {
        return ExitCode::SUCCESS;
    }
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    let met = [
        runtime.block_on(reads::run()),
        runtime.block_on(allocations::run()),
        runtime.block_on(hanging_refresh::run()),
        runtime.block_on(waiters::run()),
        runtime.block_on(accounts::run()),
    ];
    if met.iter().all(|met| *met) {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}
