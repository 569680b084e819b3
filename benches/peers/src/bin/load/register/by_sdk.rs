//! envd-sdk.

use std::time::Duration;

use envd_sdk::register::{PropertySearch, Register};

use crate::LANES;
use crate::measure::{Run, side_by_side};

pub fn pages(run: &Run<'_>) -> (Duration, usize) {
    let base = run.base();
    run.timed(async move {
        let register = Register::builder(base).build().unwrap();
        side_by_side((0..LANES).map(|_| {
            let search = PropertySearch::text("yards").page_size(100);
            let mut pager = register.search(&search);
            async move {
                let mut records = 0;
                while let Some(page) = pager.next_page().await.unwrap() {
                    records += page.records.len();
                }
                records
            }
        }))
        .await
    })
}

pub fn look_up(run: &Run<'_>, pics: Vec<String>) -> (Duration, usize) {
    let base = run.base();
    run.timed(async move {
        let register = Register::builder(base).build().unwrap();
        let mut look_ups = register.lookup_many(pics).concurrency(LANES);
        let mut found = 0;
        while let Some(look_up) = look_ups.next().await {
            found += usize::from(look_up.property().is_some());
        }
        found
    })
}
