//! Allocations of a token read.

use std::future::Future;
use std::hint::black_box;
use std::pin::pin;
use std::task::{Context, Waker};

use allocation_counter::measure;
use envd_sdk::Clock;
use envd_sdk::auth::{TokenManager, TokenSource};
use envd_sdk::fake::Fake;

use crate::managers::{FixedStore, provider};
use crate::row;
use crate::row::Goal;

pub(crate) async fn run() -> bool {
    let fake = Fake::start().await;
    let builder = TokenManager::builder(provider(&fake, Clock::system()));
    let manager = builder.store(FixedStore::new()).account("sam").build();
    let manager = manager.expect("a manager");
    manager.access_token().await.expect("a token");
    let mut context = Context::from_waker(Waker::noop());
    let counts = [
        measure(|| {
            black_box(manager.current());
        }),
        measure(|| {
            black_box(manager.current());
        }),
        measure(|| {
            black_box(pin!(manager.access_token()).poll(&mut context).is_ready());
        }),
    ]
    .map(|measured| measured.count_total);
    let most = counts.into_iter().max().unwrap_or_default();
    row(
        "allocations of a read, by any of the three ways",
        most as f64,
        "in all",
        Goal::AtMost(0.0),
    )
}
