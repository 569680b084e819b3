//! envd-sdk.

use std::time::Duration;

use envd_sdk::register::{Register, TextSearch};

use crate::LANES;
use crate::measure::{side_by_side, timed};

pub fn pages(base: &str) -> (Duration, usize) {
    timed(async {
        let register = Register::builder(base).build().unwrap();
        side_by_side((0..LANES).map(|_| {
            let search = register.search(TextSearch::new("yards"));
            let mut search = search.page_size(100);
            async move {
                let mut records = 0;
                while let Some(page) = search.next_page().await.unwrap() {
                    records += page.records.len();
                }
                records
            }
        }))
        .await
    })
}

pub fn look_up(base: &str, pics: &[String]) -> (Duration, usize) {
    timed(async {
        let register = Register::builder(base).build().unwrap();
        let mut answers = register.lookup_many(pics).concurrency(LANES);
        let mut found = 0;
        while let Some(answer) = answers.next().await {
            found += usize::from(answer.property().is_some());
        }
        found
    })
}
