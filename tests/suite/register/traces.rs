//! Traces have no personal data.

use envd_sdk::register::{PropertySearch, Register};

use crate::fixed_date::start_fake;
use crate::trace_recorder::{recorded_by_us, trace_in_separate_process};

/// A search and two look-ups.
async fn search_and_look_up() {
    let fake = start_fake().await;
    let builder = Register::builder(fake.register_url()).header("x-api-key", "s3cr3t");
    let register = builder.build().unwrap();
    let search = PropertySearch::new().last_name("Sample").town("Sampleton");
    register.search(&search).next_page().await.unwrap();
    register
        .lookup_many(["QAZZ7777", "QZZZ9999"])
        .collect()
        .await;
}

#[test]
fn spans_have_operation_and_status_but_neither_names_nor_tokens() {
    trace_in_separate_process(
        "register::traces::spans_have_operation_and_status_but_neither_names_nor_tokens",
        async {
            search_and_look_up().await;
            // The HTTP libraries record their own traces, with addresses.
            let text = recorded_by_us();
            for part in [
                "envd.call",
                "PICRegister",
                "search",
                "lookup",
                "envd.attempt",
                "status=200",
                "status=404",
            ] {
                assert!(text.contains(part), "{part}: {text}");
            }
            for part in ["Sample", "s3cr3t", "QAZZ7777", "QZZZ9999", "api/v2"] {
                assert!(!text.contains(part), "{part}: {text}");
            }
        },
    );
}
